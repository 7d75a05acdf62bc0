// The package on a Debian 13 that has Valkey and no Redis: Valkey is the site's own store, in all that setup makes, the
// doctor looks at, a backup takes along and a purge removes. Needs root, for debootstrap and systemd-nspawn.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import { poll } from '../e2e/support/poll.js';
import { Machine, ROOT, RELEASE, packageReady } from './machine.js';
import { toldBy } from './told.js';

if (process.getuid() !== 0) throw new Error('run this test as root: debootstrap and systemd-nspawn need it');
assert.equal(RELEASE, 13, 'HB_TEST_RELEASE: Debian 12 has no Valkey');

const HOST = 'hongbao.example';
const SETUP = ['hongbao', 'setup', '--non-interactive', '--host', HOST, '--self-signed', '--demo'];
const UNIT = 'valkey-server@hongbao';
const CLIENT = 'valkey-cli -s /run/valkey-hongbao/valkey-server.sock --user hongbao_operator';
const BACKUP = '/var/backups/site';
const machine = new Machine('valkey');
let deb;
let packet;

const { before, test } = toldBy(machine);
before(async () => {
  deb = await packageReady();
  await machine.boot(deb, [], 'valkey');
});
after(() => machine.end());

const curl = (path, ...options) => machine.run('curl', '-sSk', '--resolve', `${HOST}:443:127.0.0.1`, ...options, `https://${HOST}${path}`);
const post = (path, jar, ...fields) => curl(path, '-b', jar, '-c', jar, '-o', '/dev/null', '-w', '%{http_code} %{redirect_url}',
  ...fields.flatMap((field) => ['--data-urlencode', field]));
const mine = (jar) => curl(packet, '-b', jar, '-H', 'Accept: application/json').then((text) => JSON.parse(text).mine?.amount_fen);
const ready = () => poll('the site answers', async () => (await machine.try('curl', '-sk', '--resolve', `${HOST}:443:127.0.0.1`, '-o', '/dev/null',
  '-w', '%{http_code}', `https://${HOST}/readyz`)) === '200');

// What the doctor finds: the mend of each name.
async function found() {
  const { wrong } = JSON.parse(await machine.try('hongbao', 'doctor', '--json'));
  return Object.fromEntries(wrong.map(({ name, mend }) => [name, mend]));
}

// Makes something wrong, which the doctor finds with this mend, and mends it.
async function mended(plant, name, mend) {
  await machine.shell(plant);
  const wrong = await found();
  assert.match(wrong[name] ?? '', mend, JSON.stringify(wrong));
  await machine.shell(wrong[name]);
  await poll('the doctor finds nothing', async () => Object.keys(await found()).length === 0);
}

test('the package installs beside Valkey, without Redis, and setup makes a Valkey of the site’s own', async () => {
  await machine.run('apt-get', 'install', '-y', machine.give(deb, 'hongbao.deb'));
  assert.equal(await machine.try('bash', '-c', 'command -v redis-server redis-cli; true'), '');
  assert.equal((await machine.run(...SETUP)).split('\n').pop(), `https://${HOST}/`);
  assert.equal(await machine.run('systemctl', 'is-active', UNIT), 'active');
  assert.equal(await machine.run('hongbao', 'setting', 'redis'), 'unix:/run/valkey-hongbao/valkey-server.sock');
  assert.match(await machine.run('systemctl', 'show', '-P', 'Wants', 'hongbao.target'), new RegExp(UNIT));
  await machine.run('hongbao', 'doctor'); // finds nothing
  await machine.run(...SETUP); // changes nothing
  await machine.run('hongbao', 'doctor');
});

test('its files have the modes and owners of the reference', async () => {
  const reference = readFileSync(join(ROOT, 'docs/reference/files.md'), 'utf8');
  const rows = [...reference.matchAll(/^\| `(\/[^`]+\/valkey\/[^`]+)` \| ([^|]+) \|/gm)];
  assert.equal(rows.length, 4);
  for (const [, path, what] of rows) assert.equal(await machine.run('stat', '-c', '%a %U:%G', path), what, path);
});

test('the whole flow works over TLS: register, deposit, send, open', async () => {
  for (const [jar, name] of [['/root/a', 'ming'], ['/root/b', 'hong']]) {
    assert.match(await post('/register', jar, `username=${name}`, `nickname=${name}`, 'password=correct-horse-9'), /^303 /);
  }
  assert.match(await post('/wallet/deposit', '/root/a', 'amount=100', 'request_key=first-deposit'), /^303 /);
  const sent = await post('/send', '/root/a', 'kind=lucky', 'amount=50', 'count=10', 'greeting=x', 'request_key=first-packet');
  packet = new URL(sent.split(' ')[1]).pathname;
  assert.match(await post(`${packet}/open`, '/root/b', 'x='), /^303 /);
  assert.ok(await mine('/root/b') > 0);
  await machine.run('hongbao', 'audit');
});

test('what the doctor finds in Valkey has commands of Valkey, and they mend it', async () => {
  await mended(`systemctl stop ${UNIT}`, 'redis-down', new RegExp(`^systemctl start ${UNIT}$`));
  const asOperator = `REDISCLI_AUTH=$(sed -n 's/^redis_password = //p' /etc/hongbao/rights/operator.conf) ${CLIENT}`;
  await mended(`${asOperator} CONFIG SET appendonly no`, 'redis-appendonly', / valkey-cli -s \/run\/valkey-hongbao\/\S+ /);
  await mended('chown root:root /var/lib/valkey/hongbao', 'file-mode', /valkey:valkey \/var\/lib\/valkey\/hongbao/);
});

test('a backup is verified by a private Valkey, and brings back what both stores have lost', async () => {
  const share = await mine('/root/b');
  await machine.run('hongbao', 'backup', '--verify', BACKUP);
  await machine.shell(`systemctl stop hongbao.target ${UNIT}; rm -rf /var/lib/valkey/hongbao/*; systemctl start ${UNIT}
    mariadb -e 'DROP DATABASE hongbao; CREATE DATABASE hongbao CHARACTER SET utf8mb4 COLLATE utf8mb4_bin'`);
  await machine.run('hongbao', 'restore', BACKUP);
  await machine.run('systemctl', 'start', 'hongbao.target');
  await ready();
  assert.equal(await mine('/root/b'), share);
  await machine.run('hongbao', 'doctor');
  await machine.run('hongbao', 'audit');
});

test('a removal keeps the data, also where Redis is installed later, and an installation brings them back', async () => {
  await machine.run('apt-get', 'remove', '-y', 'hongbao');
  assert.equal(await machine.try('systemctl', 'is-active', UNIT), 'inactive');
  await machine.shell('ln -s /usr/bin/valkey-server /usr/local/bin/redis-server');
  await machine.run('apt-get', 'install', '-y', '/root/hongbao.deb');
  await machine.run(...SETUP);
  await machine.run('rm', '/usr/local/bin/redis-server');
  await ready();
  assert.ok(await mine('/root/b') > 0);
});

test('a purge that may delete the money leaves nothing', async () => {
  await machine.shell(`rm -r ${BACKUP}; echo 'hongbao hongbao/drop-money boolean true' | debconf-set-selections`);
  await machine.run('apt-get', 'purge', '-y', 'hongbao');
  const others = ['/proc', '/root', '/var/log/journal', '/var/cache/man'].map((path) => `-not -path '${path}/*'`);
  assert.equal(await machine.shell(`find / -xdev -name '*hongbao*' ${others.join(' ')}`), '');
  assert.doesNotMatch(await machine.run('mariadb', '-N', '-e', 'SHOW DATABASES; SELECT user FROM mysql.user'), /hongbao/);
});
