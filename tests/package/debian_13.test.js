// A site with money on Debian 12 goes to Debian 13 by docs/how-to/debian-13.md, command by command. Needs root, as
// how_to.test.js, and a mirror for the packages of Debian 13.
import assert from 'node:assert/strict';
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
let packets;
let seen;

const { before, test } = toldBy(machine);
before(async () => {
  next = await packageReady(13);
  const deb = await packageReady(12);
  await machine.boot(deb);
  await machine.run('apt-get', 'install', '-y', machine.give(deb, 'hongbao-12.deb'));
  await machine.run('hongbao', 'setup', '--non-interactive', '--host', HOST, '--self-signed', '--demo');
  await machine.shell("echo 'APT::Get::Assume-Yes \"true\";' >/etc/apt/apt.conf.d/90test");
});
after(() => machine.end());

const release = () => machine.shell('. /etc/os-release; echo $VERSION_ID');

test('a site with money, and a share that nobody has settled yet, on Debian 12', async () => {
  await people.register(...PEOPLE);
  await people.ask('ming', '/wallet/deposit', 'amount=1000', 'request_key=first-deposit');
  packets = [
    await people.send('ming', 'lucky-one', 'kind=lucky', 'amount=50', 'count=5'),
    await people.send('ming', 'even-one', 'kind=even', 'amount=1.50', 'count=2'),
  ];
  for (const packet of packets) await people.open('hong', packet);
  const settled = async () => (await people.ask('hong', '/records/received')).count === 2;
  await poll('all is settled', settled);
  seen = await people.money(PEOPLE, packets);
  assert.ok(Object.keys(seen).length > 10, JSON.stringify(seen));
  assert.equal(await release(), '12');
});

test('debian-13.md: the machine gets Debian 13 and the package for it, and every amount stays', async (t) => {
  const begun = performance.now();
  await pages.run(machine, PAGE, 0);
  await machine.online(pages.script(PAGE, 1));
  assert.equal(await release(), '13');
  await machine.reboots(() => machine.run('systemctl', 'reboot'));
  await machine.online(`apt-get install --download-only --reinstall ${machine.give(next, 'hongbao_13.deb')}`); // what it depends on
  await pages.run(machine, PAGE, 2, ['hongbao setup', 'hongbao setup --non-interactive']);
  t.diagnostic(`closed for ${((performance.now() - begun) / 1000).toFixed(0)} s`);
  assert.match(await machine.run('redis-server', '--version'), /v=8\./);
  assert.match(await machine.run('mariadbd', '--version'), /Ver 11\.8/);
  assert.match(await pages.run(machine, PAGE, 3), /clean[\s\S]*^0 wrong, 0 not checked$/m);
  assert.deepEqual(await people.money(PEOPLE, packets), seen);
  assert.deepEqual(pages.left, []);
  await people.open('gang', packets[0]);
  await poll('the share is in the wallet', async () => (await people.ask('gang', '/wallet')).balance_fen > 0);
  await machine.run('hongbao', 'audit');
});
