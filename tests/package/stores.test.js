// Sites that lose their stores, or move them to another machine and back: docs/how-to/two-machines.md and lost.md, command
// by command, on machines of their own that a cable joins. Needs root, as how_to.test.js.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after } from 'node:test';
import { poll } from '../e2e/support/poll.js';
import { MORE, Machine, packageReady } from './machine.js';
import { Pages } from './pages.js';
import { converse } from './terminal.js';
import { toldBy } from './told.js';

if (process.getuid() !== 0) throw new Error('run this test as root: debootstrap and systemd-nspawn need it');

const HOST = 'hongbao.example';
const TWO = 'two-machines.md';
const PASSWORD = 'correct-horse-9';
const FORM = ['-H', 'Accept: application/json'];
const site = new Machine('stores-site');
const stores = new Machine('stores-data');
const other = new Machine('stores-new');
const pages = new Pages(import.meta.url, [TWO, 'lost.md', 'backup.md']);
const PEOPLE = ['ming', 'hong', 'gang', 'lan', 'wang'];
let deb;
let packet;
let serving = site; // the machine that people visit

async function boot(machine) {
  await machine.boot(deb, MORE);
  await machine.shell(`echo '127.0.0.1 ${HOST}' >>/etc/hosts; echo 'APT::Get::Assume-Yes "true";' >/etc/apt/apt.conf.d/90test`);
}

const { before, test } = toldBy(site, stores, other);
before(async () => {
  deb = await packageReady();
  await boot(site);
  await boot(stores);
  site.give(deb, 'hongbao_1_all.deb');
  await site.connect('10.0.0.1', stores, '10.0.0.2');
});
after(async () => {
  for (const machine of [site, stores, other]) await machine.end();
});

// What `rsync -a FROM:FILE` of a page needs: no machine here has a server of ssh. The files are in a folder instead.
function copies(machine, name, from, ...files) {
  for (const file of files) {
    const to = join(machine.folder, 'root', name, file);
    mkdirSync(dirname(to), { recursive: true });
    execFileSync('cp', ['-aT', join(from.folder, file), to]);
  }
  return [`${name}:`, `/root/${name}`];
}

const curl = (path, ...options) => serving.run('curl', '-sSk', ...options, `https://${HOST}${path}`);
const status = (path, ...options) => curl(path, '-o', '/dev/null', '-w', '%{http_code}', ...options);
const as = (name) => ['-b', `/root/${name}.jar`, '-c', `/root/${name}.jar`];
const json = async (path, name, ...options) => JSON.parse(await curl(path, ...FORM, ...as(name), ...options));
const isReady = () => poll('the site is ready', async () => (await status('/readyz')) === '200');
const audited = async (machine = site) => assert.match(await machine.run('hongbao', 'audit'), /^I1 +ok[\s\S]*clean$/);

// The doctor of a machine whose stores are elsewhere says that it can't see the folder of Redis.
async function nothingIsWrong(machine = site) {
  let found;
  await poll('nothing is wrong', async () => { found = await machine.try('hongbao', 'doctor'); return /^(not checked: disk-(redis|mysql): .*\n){0,2}the audit was last clean: .*\n0 wrong, [012] not checked$/.test(found); })
    .catch((error) => assert.fail(`${error.message}; the doctor says:\n${found}`));
  await audited(machine);
}

const open = async (name) => (await json(`${packet}/open`, name, '-d', '')).amount_fen;
const settled = (name) => poll(`the grab of ${name} is settled`, async () => (await json(packet, name)).mine?.settled);

const trust = (machine, file) => machine.shell(`cp ${file} /usr/local/share/ca-certificates/site.crt && update-ca-certificates >/dev/null 2>&1`);

// What people see of their money: the site is the same when this is.
async function seen() {
  const wallets = await Promise.all(PEOPLE.map(async (name) => (await json('/wallet', name)).balance_fen));
  const { grabbed_count, grabs } = await json(packet, 'ming');
  return { wallets, grabbed_count, grabs };
}

test('two-machines.md: an empty machine and one with both stores make a site', async () => {
  await pages.run(site, TWO, 0);
  const shared = ['etc/stunnel/hongbao/own.pem', 'usr/share/doc/hongbao/examples/stores', 'usr/share/hongbao/mariadb', 'usr/share/hongbao/redis'];
  await pages.run(stores, TWO, 1, copies(stores, 'site', site, ...shared));
  await pages.run(stores, TWO, 2);
  await pages.run(stores, TWO, 3);
  await pages.run(site, TWO, 4, copies(site, 'stores', stores, 'etc/stunnel/hongbao/own.pem', 'root/stores/admin.conf'));
  await pages.run(site, TWO, 5);
  await site.run('openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '90', '-subj', `/CN=${HOST}`,
    '-addext', `subjectAltName=DNS:${HOST}`, '-keyout', '/etc/ssl/private/site.key', '-out', '/etc/ssl/site.pem');
  await trust(site, '/etc/ssl/site.pem');
  const { code, output } = await converse(site.enter('bash', '-ec', pages.script(TWO, 6)), [
    [/Name of the site.*: $/, HOST],
    [/certificate.*: $/, '/etc/ssl/site.pem'],
    [/File of its key: $/, '/etc/ssl/private/site.key'],
    [/Play money\?.*: $/, 'yes'],
    [/A backup every night.*: $/, ''],
  ]);
  assert.equal(code, 0, output);
  await pages.run(site, TWO, 7);
  await isReady();
  await nothingIsWrong();
});

test('the stores are reached over TLS only, and only by the machine whose certificate they have', async () => {
  const listening = await stores.run('ss', '-Hltn');
  assert.doesNotMatch(listening, /(0\.0\.0\.0|\*|10\.0\.0\.2):(3306|6379)/);
  const ask = (key) => site.try('bash', '-c', `cd /root; printf 'PING\\r\\n' | timeout 10 openssl s_client -quiet -connect 10.0.0.2:6380 ${key} 2>&1`);
  assert.doesNotMatch(await ask(''), /NOAUTH|PONG/);
  await site.shell('cd /root; openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=site -keyout another.key -out another.pem 2>/dev/null');
  assert.doesNotMatch(await ask('-cert another.pem -key another.key'), /NOAUTH|PONG/);
  assert.match(await ask('-cert /etc/stunnel/hongbao/own.pem -key /etc/stunnel/hongbao/own.key'), /NOAUTH/);
});

const register = (name) => json('/register', name, '-d', `username=${name}&nickname=${name}&password=${PASSWORD}`);
const logIn = (name) => json('/login', name, '-d', `username=${name}&password=${PASSWORD}`);

test('two-machines.md: while the stores are away people get a calm 503, and the site comes back by itself', async () => {
  for (const name of PEOPLE) await register(name);
  await json('/wallet/deposit', 'ming', '-d', 'amount=100&request_key=first');
  packet = new URL((await json('/send', 'ming', '-d', 'kind=lucky&amount=40&count=5&request_key=packet')).url).pathname;
  assert.ok(await open('hong') > 0);
  await settled('hong');
  const before = await seen();
  await stores.run('ip', 'link', 'set', 'eth1', 'down');
  await poll('the site is not ready', async () => (await status('/readyz')) === '503');
  const answer = await curl('/wallet', '-i', ...as('hong'));
  assert.match(answer, /^HTTP\/2 503/);
  assert.match(answer, /retry-after: \d+/i);
  assert.equal(await status(`${packet}/open`, '-d', '', ...as('gang')), '503');
  const { wrong } = JSON.parse(await site.try('hongbao', 'doctor', '--json'));
  for (const name of ['redis-down', 'mysql-down']) assert.ok(wrong.some((one) => one.name === name), JSON.stringify(wrong));
  await stores.run('ip', 'link', 'set', 'eth1', 'up');
  await isReady();
  assert.deepEqual(await seen(), before);
  await stores.run('systemctl', 'restart', 'redis-server@hongbao', 'mariadb', 'stunnel@hongbao-stores');
  await isReady();
  await nothingIsWrong();
  assert.deepEqual(await seen(), before);
});

test('two-machines.md: backups are made on the site machine, every night, and after the loss of the store machine one brings all back', async () => {
  await pages.run(site, TWO, 8);
  await site.run('systemctl', 'start', 'hongbao-backup');
  assert.match(await site.run('journalctl', '-u', 'hongbao-backup', '-o', 'cat'), /the audit is clean/);
  const before = await seen();
  await stores.shell(`systemctl stop redis-server@hongbao mariadb; rm -rf /var/lib/redis/hongbao /var/lib/mysql/*
    mariadb-install-db --user=mysql --skip-test-db --datadir=/var/lib/mysql >/dev/null`);
  await pages.run(stores, TWO, 2);
  await pages.run(site, TWO, 4, copies(site, 'stores', stores, 'etc/stunnel/hongbao/own.pem', 'root/stores/admin.conf'));
  await pages.run(site, TWO, 9);
  await isReady();
  await nothingIsWrong();
  assert.deepEqual(await seen(), before);
});

test('two-machines.md: a site goes from two machines to one with links, sessions and money', async () => {
  const before = await seen();
  await pages.run(site, TWO, 11);
  await isReady();
  await nothingIsWrong();
  assert.deepEqual(await seen(), before);
  assert.ok(await open('gang') > 0);
  await settled('gang');
  await audited();
});

test('lost.md: Redis is lost alone; people log in again, and no money is missing', async () => {
  const before = await seen();
  await pages.run(site, 'lost.md', 0);
  await isReady();
  assert.equal(await status('/wallet', ...FORM, ...as('ming')), '401');
  for (const name of PEOPLE) await logIn(name);
  assert.deepEqual(await seen(), before);
  await nothingIsWrong();
});

test('lost.md: tables that are older than Redis are refused, and the site goes on from them', async () => {
  const before = await seen();
  await site.run('hongbao', 'backup', '/root/older');
  assert.ok(await open('wang') > 0);
  await settled('wang');
  await site.shell(`systemctl stop hongbao.target
    mariadb -e 'DROP DATABASE hongbao; CREATE DATABASE hongbao CHARACTER SET utf8mb4 COLLATE utf8mb4_bin'
    gzip -dc /root/older/tables.sql.gz | mariadb hongbao; systemctl start hongbao.target`);
  const { wrong } = JSON.parse(await site.try('hongbao', 'doctor', '--json'));
  assert.equal(wrong[0].name, 'site-tables-older', JSON.stringify(wrong));
  assert.equal(await status('/wallet'), '503');
  await pages.run(site, 'lost.md', 2);
  await isReady();
  for (const name of PEOPLE) await logIn(name);
  assert.deepEqual(await seen(), before);
  await nothingIsWrong();
});

test('lost.md: the disk is lost; a new machine with a backup and the copy of /etc/hongbao is the site', async () => {
  const before = await seen();
  await site.run('hongbao', 'backup', '--verify', '/var/backups/hongbao-off-site');
  await boot(other);
  other.give(deb, 'hongbao_1_all.deb');
  const keep = (from, to) => execFileSync('cp', ['-aT', join(site.folder, from), join(other.folder, 'root', to)]);
  keep('etc/hongbao', 'etc-hongbao');
  keep('var/backups/hongbao-off-site', 'hongbao-backup');
  keep('etc/ssl/site.pem', 'fullchain.pem');
  keep('etc/ssl/private/site.key', 'privkey.pem');
  for (const name of PEOPLE) keep(`root/${name}.jar`, `${name}.jar`);
  await trust(other, '/root/fullchain.pem');
  await pages.run(other, 'lost.md', 1);
  serving = other;
  await isReady();
  await nothingIsWrong(other);
  assert.deepEqual(await seen(), before); // with the sessions of before
  serving = site;
});

test('two-machines.md: a site goes from one machine to two with links, sessions and money', async () => {
  copies(site, 'stores', stores, 'root/stores/admin.conf');
  await site.run('cp', '-a', '/root/stores/root/stores/admin.conf', '/etc/hongbao/');
  await pages.run(site, TWO, 5);
  const before = await seen();
  await pages.run(site, TWO, 10);
  await isReady();
  await nothingIsWrong();
  assert.deepEqual(await seen(), before);
  assert.ok(await open('lan') > 0);
  await settled('lan');
  await site.run('systemctl', 'restart', 'hongbao.target');
  await isReady();
  assert.equal(await site.try('systemctl', 'is-active', 'mariadb', 'redis-server@hongbao'), 'inactive\ninactive');
  await nothingIsWrong();
});

test('backup.md: a backup whose audit is violated fails and stays; another machine restores it as evidence', async () => {
  const id = await stores.run('mariadb', '-N', 'hongbao', '-e', 'SELECT id FROM user WHERE username = "hong"');
  await stores.run('mariadb', 'hongbao', '-e', `UPDATE account SET balance_fen = balance_fen + 1 WHERE id = ${id}`);
  await assert.rejects(site.run('systemctl', 'start', 'hongbao-backup'));
  await site.run('journalctl', '--sync');
  const names = (text) => text.match(new RegExp(`^I5 +FAIL.*|^ +account ${id}: .*`, 'gm'));
  const said = await site.run('journalctl', '-u', 'hongbao-backup', '-o', 'cat', '-n', '60');
  const [, kept] = /the copy is kept, but is no good backup: (\S+\.violated)$/m.exec(said);
  const found = names(await site.try('hongbao', 'audit'));
  assert.equal(found.length, 2);
  assert.deepEqual(names(said), found);
  assert.ok(existsSync(join(site.folder, kept)));
  execFileSync('cp', ['-aT', join(site.folder, kept), join(other.folder, 'root/evidence.violated')]);
  const seenThere = await pages.run(other, 'backup.md', 0).catch(({ stdout }) => stdout);
  assert.match(seenThere, /restored, the audit is violated/);
  assert.deepEqual(names(seenThere.slice(seenThere.indexOf('restored, the audit'))), found);
  await stores.run('mariadb', 'hongbao', '-e', `UPDATE account SET balance_fen = balance_fen - 1 WHERE id = ${id}`);
  await site.run('systemctl', 'start', 'hongbao-backup');
  await nothingIsWrong();
});

test('every command of these pages was run', () => {
  assert.deepEqual(pages.left, []);
});
