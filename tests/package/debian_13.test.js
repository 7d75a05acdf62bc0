// A site with money on Debian 12 goes to Debian 13 by docs/how-to/debian-13.md, command by command. Needs root, as
// how_to.test.js, and a mirror for the packages of Debian 13.
import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { after } from 'node:test';
import { poll } from '../e2e/support/poll.js';
import { Machine, packageReady } from './machine.js';
import { Pages } from './pages.js';
import { HOST, People } from './people.js';
import { toldBy } from './told.js';

if (process.getuid() !== 0) throw new Error('run this test as root: debootstrap and systemd-nspawn need it');

const PAGE = 'debian-13.md';
const PEOPLE = ['ming', 'hong', 'gang'];
const pages = new Pages(import.meta.url, [PAGE]);
const machine = new Machine('from-12', 12);
const people = new People(machine);
let next; // the package for Debian 13
let lucky;
let even;
let seen;
let unsettled; // what late opened, in fen

const { before, test } = toldBy(machine);
before(async () => {
  next = await packageReady(13);
  const deb = await packageReady(12);
  await machine.boot(deb);
  await machine.run('apt-get', 'install', '-y', machine.give(deb, basename(deb)));
  await machine.run('hongbao', 'setup', '--non-interactive', '--host', HOST, '--self-signed', '--demo');
  await machine.shell("echo 'APT::Get::Assume-Yes \"true\";' >/etc/apt/apt.conf.d/90test");
});
after(() => machine.end());

const release = () => machine.shell('. /etc/os-release; echo $VERSION_ID');

test('a site with money, and a share that nobody has settled yet, on Debian 12', async () => {
  await people.register(...PEOPLE, 'late');
  await people.ask('ming', '/wallet/deposit', 'amount=1000', 'request_key=first-deposit');
  lucky = await people.send('ming', 'lucky-one', 'kind=lucky', 'amount=50', 'count=5');
  even = await people.send('ming', 'even-one', 'kind=even', 'amount=1.50', 'count=2');
  for (const packet of [lucky, even]) await people.open('hong', packet);
  const settled = async () => (await people.ask('hong', '/records/received')).count === 2;
  await poll('all is settled', settled);
  seen = await people.money(PEOPLE, [even]);
  assert.ok(Object.keys(seen).length > 10, JSON.stringify(seen));
  assert.equal(await release(), '12');

  await machine.run('systemctl', 'stop', 'hongbao-settle');
  unsettled = await people.open('late', lucky);
  assert.equal((await people.ask('late', '/wallet')).balance_fen, 0);
});

test('debian-13.md: the machine gets Debian 13 and the package for it, and every amount stays', async (t) => {
  const begun = performance.now();
  await pages.run(machine, PAGE, 0);
  await machine.online(pages.script(PAGE, 1));
  assert.equal(await release(), '13');
  await machine.reboots(() => machine.run('systemctl', 'reboot'));
  assert.equal(await machine.run('systemctl', 'list-units', '--plain', '--no-legend', '--state=active', 'hongbao*', 'redis-server@hongbao*'), '');
  await machine.run('mkdir', '/root/debian-13');
  await machine.online(`apt-get install --download-only --reinstall ${machine.give(next, `debian-13/${basename(next)}`)}`); // what it depends on
  await pages.run(machine, PAGE, 2, ['hongbao setup', 'hongbao setup --non-interactive']);
  t.diagnostic(`closed for ${((performance.now() - begun) / 1000).toFixed(0)} s`);
  assert.match(await machine.run('redis-server', '--version'), /v=8\./);
  assert.match(await machine.run('mariadbd', '--version'), /Ver 11\.8/);
  await poll('what was not settled is', async () => (await people.ask('late', '/wallet')).balance_fen === unsettled);
  assert.match(await pages.run(machine, PAGE, 3), /clean[\s\S]*^0 wrong, 0 not checked$/m);
  const now = await people.money(PEOPLE, [even]);
  assert.deepEqual(Object.fromEntries(Object.keys(seen).map((where) => [where, now[where]])), seen);
  assert.deepEqual(pages.left, []);
  await people.open('gang', lucky);
  await poll('the share is in the wallet', async () => (await people.ask('gang', '/wallet')).balance_fen > 0);
  await machine.run('hongbao', 'audit');
});
