// A site with money on Debian 12 goes to Debian 13 by docs/how-to/debian-13.md, command by command. Needs root, as
// how_to.test.js, and a mirror for the packages of Debian 13.
import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { Machine, packageReady, toldBy } from './machine.js';
import { Pages } from './pages.js';
import { SETUP, Site } from './site.js';

const PAGE = 'debian-13.md';
const PEOPLE = ['ming', 'hong', 'gang'];
const pages = new Pages(import.meta.url, [PAGE]);
const machine = new Machine('from-12', 12);
const site = new Site(machine);
let next; // the package for Debian 13
let lucky;
let even;
let seen;
let unsettled; // what the person late opened, in fen

const { before, test } = toldBy(machine);
before(async () => {
  next = await packageReady(13);
  const deb = await packageReady(12);
  await machine.boot(deb);
  await machine.run('apt-get', 'install', '/root/hongbao.deb');
  await machine.run(...SETUP);
});

const release = () => machine.shell('. /etc/os-release; echo $VERSION_ID');

test('a site with money, and a share that nobody has settled yet, on Debian 12', async () => {
  await site.register(...PEOPLE);
  await site.deposit('ming', 1000);
  lucky = await site.send('ming', 'lucky-one', 'kind=lucky', 'amount=50', 'count=5');
  even = await site.send('ming', 'even-one', 'kind=even', 'amount=1.50', 'count=2');
  for (const packet of [lucky, even]) await site.openSettled('hong', packet);
  seen = await site.money(PEOPLE, [even]);
  assert.ok(Object.keys(seen).length > 10, JSON.stringify(seen));
  assert.equal(await release(), '12');
  unsettled = await site.openUnsettled('late', [lucky]);
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
  await site.has('late', unsettled);
  assert.match(await pages.run(machine, PAGE, 3), /clean[\s\S]*^0 wrong, 0 not checked$/m);
  await site.hasStill(seen, PEOPLE, [even]);
  assert.deepEqual(pages.left, []);
  await site.has('gang', await site.open('gang', lucky));
  await machine.run('hongbao', 'audit');
});
