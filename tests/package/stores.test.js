// Sites that lose their stores, or move them to another machine and back: docs/how-to/two-machines.md and lost.md,
// command by command, on two separate machines that a cable joins. Needs root, as how_to.test.js.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { poll } from '../support/poll.js';
import { MORE, Machine, packageReady, toldBy } from './machine.js';
import { Pages } from './pages.js';
import { HOST, Site } from './site.js';
import { converse, setupDialogue } from './terminal.js';

const TWO = 'two-machines.md';
const site = new Machine('stores-site');
const stores = new Machine('stores-data');
const other = new Machine('stores-new');
const visited = new Site(site); // by people; the machine is another one once
const pages = new Pages(import.meta.url, [TWO, 'lost.md', 'backup.md']);
const PEOPLE = ['ming', 'hong', 'gang', 'lan', 'wang'];
let deb;
let packet;

async function boot(machine) {
  await machine.boot(deb, { packages: MORE, as: 'hongbao_1_all.deb' });
  await machine.shell(`echo '127.0.0.1 ${HOST}' >>/etc/hosts`);
}

const { before, test } = toldBy(site, stores, other);
before(async () => {
  deb = await packageReady();
  await boot(site);
  await boot(stores);
  await site.connect('10.0.0.1', stores, '10.0.0.2');
});

// Stands for `rsync -a FROM:FILE` of a page: no machine here has an ssh server, so the files are in a folder.
function copies(machine, name, from, ...files) {
  for (const file of files) {
    const to = join(machine.folder, 'root', name, file);
    mkdirSync(dirname(to), { recursive: true });
    execFileSync('cp', ['-aT', join(from.folder, file), to]);
  }
  return [`${name}:`, `/root/${name}`];
}

// The doctor of a machine whose stores are elsewhere only reports that it can't see the folder of Redis.
async function nothingIsWrong() {
  await visited.nothingIsWrongSoon(/^(not checked: disk-(redis|mysql): .*\n){0,2}the audit was last clean: .*\n0 wrong, [012] not checked$/);
  await visited.audited();
}

const open = (name) => visited.openSettled(name, packet);

// The amounts that people see: the site is the same when they are the same.
async function seen() {
  const wallets = await Promise.all(PEOPLE.map((name) => visited.balance(name)));
  const { grabbed_count, grabs } = await visited.ask('ming', packet);
  return { wallets, grabbed_count, grabs };
}

// The site is ready, nothing is wrong, and people see the same amounts as before.
async function isAsBefore(before) {
  await visited.ready();
  await nothingIsWrong();
  assert.deepEqual(await seen(), before);
}

test('two-machines.md: an empty machine and one with both stores make a site', async () => {
  await pages.run(site, TWO, 0);
  const shared = ['etc/stunnel/hongbao/own.pem', 'usr/share/doc/hongbao/examples/stores', 'usr/share/hongbao/mariadb', 'usr/share/hongbao/redis'];
  await pages.run(stores, TWO, 1, copies(stores, 'site', site, ...shared));
  await pages.run(stores, TWO, 2);
  await pages.run(stores, TWO, 3);
  await pages.run(site, TWO, 4, copies(site, 'stores', stores, 'etc/stunnel/hongbao/own.pem', 'root/stores/admin.conf'));
  await pages.run(site, TWO, 5);
  await visited.sign('/etc/ssl/site.pem', '/etc/ssl/private/site.key');
  const { code, output } = await converse(site.enter('bash', '-ec', pages.script(TWO, 6)),
    setupDialogue(HOST, '/etc/ssl/site.pem', '/etc/ssl/private/site.key', 'yes'));
  assert.equal(code, 0, output);
  await pages.run(site, TWO, 7);
  await visited.ready();
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

test('two-machines.md: while the stores are away people get a calm 503, and the site comes back by itself', async () => {
  await visited.register(...PEOPLE);
  await visited.deposit('ming', 100);
  packet = await visited.send('ming', 'packet', 'kind=lucky', 'amount=40', 'count=5');
  await open('hong');
  const before = await seen();
  await stores.run('ip', 'link', 'set', 'eth1', 'down');
  await poll('the site is not ready', async () => await visited.status('/readyz') === '503');
  const answer = await visited.curl('/wallet', '-i', ...visited.as('hong'));
  assert.match(answer, /^HTTP\/2 503/);
  assert.match(answer, /retry-after: \d+/i);
  assert.equal(await visited.status(`${packet}/open`, '-d', '', ...visited.as('gang')), '503');
  const { wrong } = await visited.doctor();
  for (const name of ['redis-down', 'mysql-down']) assert.ok(wrong.some((one) => one.name === name), JSON.stringify(wrong));
  await stores.run('ip', 'link', 'set', 'eth1', 'up');
  await visited.ready();
  assert.deepEqual(await seen(), before);
  await stores.run('systemctl', 'restart', 'redis-server@hongbao', 'mariadb', 'stunnel@hongbao-stores');
  await isAsBefore(before);
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
  await isAsBefore(before);
});

test('two-machines.md: a site goes from two machines to one with links, sessions and money', async () => {
  const before = await seen();
  await pages.run(site, TWO, 11);
  await isAsBefore(before);
  await open('gang');
  await visited.audited();
});

test('lost.md: Redis is lost alone; people log in again, and no money is missing', async () => {
  const before = await seen();
  await pages.run(site, 'lost.md', 0);
  await visited.ready();
  assert.equal(await visited.status('/wallet', '-H', 'Accept: application/json', ...visited.as('ming')), '401');
  await visited.login(...PEOPLE);
  assert.deepEqual(await seen(), before);
  await nothingIsWrong();
});

test('lost.md: tables that are older than Redis are refused, and the site goes on from them', async () => {
  const before = await seen();
  await site.run('hongbao', 'backup', '/root/older');
  await open('wang');
  await site.shell(`systemctl stop hongbao.target
    mariadb -e 'DROP DATABASE hongbao; CREATE DATABASE hongbao CHARACTER SET utf8mb4 COLLATE utf8mb4_bin'
    gzip -dc /root/older/tables.sql.gz | mariadb hongbao; systemctl start hongbao.target`);
  const { wrong } = await visited.doctor();
  assert.equal(wrong[0].name, 'site-tables-older', JSON.stringify(wrong));
  assert.equal(await visited.status('/wallet'), '503');
  await pages.run(site, 'lost.md', 2);
  await visited.ready();
  await visited.login(...PEOPLE);
  assert.deepEqual(await seen(), before);
  await nothingIsWrong();
});

test('lost.md: the disk is lost; a new machine with a backup and the copy of /etc/hongbao is the site', async () => {
  const before = await seen();
  await site.run('hongbao', 'backup', '--verify', '/var/backups/hongbao-off-site');
  await boot(other);
  const keep = (from, to) => execFileSync('cp', ['-aT', join(site.folder, from), join(other.folder, 'root', to)]);
  keep('etc/hongbao', 'etc-hongbao');
  keep('var/backups/hongbao-off-site', 'hongbao-backup');
  keep('etc/ssl/site.pem', 'fullchain.pem');
  keep('etc/ssl/private/site.key', 'privkey.pem');
  for (const name of PEOPLE) keep(`root/${name}.jar`, `${name}.jar`);
  visited.machine = other;
  await visited.trust('/root/fullchain.pem');
  await pages.run(other, 'lost.md', 1);
  await isAsBefore(before); // with the sessions of before
  visited.machine = site;
});

test('two-machines.md: a site goes from one machine to two with links, sessions and money', async () => {
  copies(site, 'stores', stores, 'root/stores/admin.conf');
  await site.run('cp', '-a', '/root/stores/root/stores/admin.conf', '/etc/hongbao/');
  await pages.run(site, TWO, 5);
  const before = await seen();
  await pages.run(site, TWO, 10);
  await isAsBefore(before);
  await open('lan');
  await site.run('systemctl', 'restart', 'hongbao.target');
  await visited.ready();
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
