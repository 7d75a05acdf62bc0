// The package on a Debian 13 that has Valkey and no Redis: Valkey is the site's store for setup, the doctor, a backup
// and a purge. Needs root, for debootstrap and systemd-nspawn.
import assert from 'node:assert/strict';
import { poll } from '../support/poll.js';
import { Machine, RELEASE, packageReady, toldBy } from './machine.js';
import { Pages } from './pages.js';
import { HOST, SETUP, Site } from './site.js';

assert.equal(RELEASE, 13, 'HB_TEST_RELEASE: Debian 12 has no Valkey');

const PAGE = 'install.md';
const UNIT = 'valkey-server@hongbao';
const CLIENT = 'valkey-cli -s /run/valkey-hongbao/valkey-server.sock --user hongbao_operator';
const BACKUP = '/var/backups/site';
const machine = new Machine('valkey');
const site = new Site(machine);
const pages = new Pages(import.meta.url, [PAGE]);
let packet;

const { before, test } = toldBy(machine);
before(async () => machine.boot(await packageReady(), { store: 'valkey' }));

const mine = () => site.share('hong', packet);

// Plants a fault, which the doctor must find with this mend, and mends it.
async function mended(plant, name, mend) {
  await machine.shell(plant);
  const { wrong } = await site.doctor();
  const found = wrong.find((one) => one.name === name);
  assert.match(found?.mend ?? '', mend, JSON.stringify(wrong));
  await machine.shell(found.mend);
  await site.nothingIsWrongSoon();
}

test('the package installs beside Valkey, without Redis, and setup makes a Valkey of the site’s own', async () => {
  await machine.run('apt-get', 'install', '/root/hongbao.deb');
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
  const paths = await site.hasFiles((path) => path.includes('/valkey/'));
  assert.equal(paths.length, 4);
});

test('the whole flow works over TLS: register, deposit, send, open', async () => {
  await site.register('ming', 'hong');
  await site.deposit('ming', 100);
  packet = await site.send('ming', 'first-packet', 'kind=lucky', 'amount=50', 'count=10');
  assert.equal(await site.open('hong', packet), await mine());
  await machine.run('hongbao', 'audit');
});

test('a restart of Valkey loses no share, also when nobody has settled it', () => site.keepsUnsettled(UNIT, packet));

test('what the doctor finds in Valkey has commands of Valkey, and they mend it', async () => {
  await mended(`systemctl stop ${UNIT}`, 'redis-down', new RegExp(`^systemctl start ${UNIT}$`));
  const asOperator = `REDISCLI_AUTH=$(sed -n 's/^redis_password = //p' /etc/hongbao/rights/operator.conf) ${CLIENT}`;
  await mended(`${asOperator} CONFIG SET appendonly no`, 'redis-appendonly', / valkey-cli -s \/run\/valkey-hongbao\/\S+ /);
  await mended('chown root:root /var/lib/valkey/hongbao', 'file-mode', /valkey:valkey \/var\/lib\/valkey\/hongbao/);
});

test('a backup is verified by a private Valkey, and brings back what both stores have lost', async () => {
  const share = await mine();
  await machine.run('hongbao', 'backup', '--verify', BACKUP);
  await machine.shell(`systemctl stop hongbao.target ${UNIT}; rm -rf /var/lib/valkey/hongbao/*; systemctl start ${UNIT}
    mariadb -e 'DROP DATABASE hongbao; CREATE DATABASE hongbao CHARACTER SET utf8mb4 COLLATE utf8mb4_bin'`);
  await machine.run('hongbao', 'restore', BACKUP);
  await machine.run('systemctl', 'start', 'hongbao.target');
  await site.ready();
  assert.equal(await mine(), share);
  await site.isRight();
});

test('a removal keeps the data, and an installation brings them back, also where Redis is installed now', async () => {
  await machine.run('apt-get', 'remove', '-y', 'hongbao');
  assert.equal(await machine.try('systemctl', 'is-active', UNIT), 'inactive');
  await machine.online('apt-get update; apt-get install --no-install-recommends redis-server redis-tools');
  await machine.run('apt-get', 'install', '-y', '/root/hongbao.deb');
  await machine.run(...SETUP);
  await site.ready();
  assert.ok(await mine() > 0);
  await machine.run('hongbao', 'doctor');
  await machine.run('hongbao', 'backup', '--verify', `${BACKUP}-both`);
});

test('a Valkey whose data are lost stays the store of the site, also where Redis is installed', async () => {
  await machine.shell(`systemctl stop hongbao.target ${UNIT}; rm -r /var/lib/valkey/hongbao`);
  await machine.run(...SETUP);
  assert.equal(await machine.run('systemctl', 'is-active', UNIT), 'active');
  assert.doesNotMatch(await machine.try('cat', '/var/lib/hongbao/stores'), /^redis$/m);
  await site.ready();
  await site.login('hong'); // sessions are lost with the store
  await poll('the packet is rebuilt', async () => /clean$/.test(await machine.try('hongbao', 'audit')));
});

test('install.md: another store takes the place of Valkey, and the money is as before', async () => {
  const share = await mine();
  await pages.run(machine, PAGE, 0);
  await pages.run(machine, PAGE, 1, ['hongbao setup', 'hongbao setup --non-interactive']);
  assert.deepEqual(pages.left, []);
  await machine.run('apt-get', 'purge', 'valkey-server', 'valkey-tools');
  await site.ready();
  assert.equal(await machine.run('hongbao', 'setting', 'redis'), 'unix:/run/redis-hongbao/redis-server.sock');
  await site.login('hong');
  assert.equal(await mine(), share);
  await machine.run('hongbao', 'doctor');
});

test('a purge that may delete the money leaves nothing', async () => {
  await machine.shell(`rm -r ${BACKUP}* /var/backups/hongbao-*`);
  await site.purgesAll();
});
