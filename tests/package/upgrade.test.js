// The upgrade of a site from version 1.0 by docs/how-to/upgrade.md: with money, shares that are not settled, a packet with
// a passphrase, and under load. Version 1.0 is built from the history of git. Needs root, as machine.test.js.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { poll } from '../support/poll.js';
import { temporaryFolder } from '../e2e/support/run.js';
import { Machine, RELEASE, ROOT, packageMake, packageReady, toldBy } from './machine.js';
import { SETUP, Site } from './site.js';

const EARLIER = '306dc31b5025efe684d7dbf995dba34400dc4c3d'; // a commit whose package has the version 1.0.0
const PHRASE = '新年快乐';
const PEOPLE = ['ming', 'hong', 'gang'];
const REFUSED_MAX = 64; // four for each of the 16 visitors of load.js: "a few requests in flight"
const machine = new Machine('upgrade');
const site = new Site(machine);
let packets;
let phrased; // the packet with a passphrase
let crowd; // the packet that visitors open
let seen;
let unsettled;

const hasHistory = spawnSync('git', ['-C', ROOT, 'cat-file', '-e', `${EARLIER}^{commit}`], { stdio: 'ignore' }).status === 0;
const skip = hasHistory ? undefined : `this clone has no commit ${EARLIER.slice(0, 7)}, version 1.0: git fetch --unshallow`;
if (skip) process.stderr.write(`${skip}\n`);
const { before, test } = toldBy(machine);

// The package of version 1.0 for this release. It is built once: that commit never changes.
async function packageEarlier() {
  const kept = join(ROOT, `build/package/hongbao-1.0-${RELEASE}.deb`);
  if (existsSync(kept)) return kept;
  const folder = temporaryFolder('earlier');
  execFileSync('bash', ['-c', 'git -C "$1" archive "$2" | tar -x -C "$3"', 'archive', ROOT, EARLIER, folder]);
  copyFileSync(await packageMake(folder), kept);
  return kept;
}

before(async () => {
  if (skip) return;
  mkdirSync(join(ROOT, 'build/package'), { recursive: true });
  const deb = await packageReady();
  const earlier = await packageEarlier();
  await machine.boot(deb, { as: 'hongbao_2.deb' });
  machine.give(earlier, 'hongbao_1.deb');
});

async function seconds(t, what, work) {
  const begun = performance.now();
  const result = await work();
  t.diagnostic(`${what}: ${((performance.now() - begun) / 1000).toFixed(1)} s`);
  return result;
}

test('a site of version 1.0 with money, and shares that nobody has settled yet', { skip }, async (t) => {
  await seconds(t, `apt install and hongbao setup of version 1.0 on Debian ${RELEASE}`, async () => {
    await machine.run('apt-get', 'install', '-y', '/root/hongbao_1.deb');
    await machine.run(...SETUP);
  });
  assert.equal(await machine.run('dpkg-query', '-W', '-f', '${Version}', 'hongbao'), '1.0.0');
  await site.register(...PEOPLE);
  await site.deposit('ming', 1000);
  const lucky = await site.send('ming', 'lucky-one', 'kind=lucky', 'amount=50', 'count=5');
  const even = await site.send('ming', 'even-one', 'kind=even', 'amount=1.50', 'count=2');
  const untouched = await site.send('ming', 'untouched', 'kind=lucky', 'amount=8.88', 'count=3');
  phrased = await site.send('ming', 'phrase-one', 'kind=lucky', 'amount=6', 'count=3', `phrase=${PHRASE}`);
  crowd = await site.send('ming', 'crowd-one', 'kind=lucky', 'amount=90', 'count=100');
  packets = [even, untouched];
  for (const name of ['hong', 'gang']) for (const packet of [lucky, even]) await site.open(name, packet);
  await site.open('gang', phrased, `phrase=${PHRASE}`);
  await machine.run('hongbao', 'demo', '--users', '300', '--out', '/root/users.tsv');
  const received = async (name) => (await site.ask(name, '/records/received')).count;
  await poll('all is settled', async () => await received('gang') === 3 && await received('hong') === 2);
  seen = await site.money(PEOPLE, packets);
  assert.ok(Object.keys(seen).length > 20, JSON.stringify(seen));

  unsettled = await site.openUnsettled('late', [lucky, phrased], `phrase=${PHRASE}`);
});

test('the upgrade under load answers nothing but what the page says, and keeps every amount', { skip }, async (t) => {
  const errors = await site.underLoad(crowd, () => seconds(t, `the upgrade from version 1.0 on Debian ${RELEASE}`,
    () => machine.run('apt-get', 'install', '-y', '/root/hongbao_2.deb')));
  t.diagnostic(JSON.stringify(errors));
  const told = ([what]) => / 503 | (ECONNRESET|EPIPE) /.test(what);
  assert.deepEqual(Object.entries(errors).filter((one) => !told(one)), []);
  const refused = Object.values(errors).reduce((sum, count) => sum + count, 0);
  assert.ok(refused <= REFUSED_MAX, JSON.stringify(errors));
  await site.allRun();
  assert.match(await machine.run('hongbao', 'version'), /^hongbao 1\.[1-9]/);
  assert.equal(await site.status('/readyz/money'), '200', 'version 1.0 has no pool money');
  await site.has('late', unsettled);
  await site.hasStill(seen, PEOPLE, packets);
  await site.audited();
  const channels = "SELECT CONCAT_WS(' ', c.name, a.kind, a.balance_fen < 0) FROM channel AS c JOIN account AS a USING (id) ORDER BY id";
  assert.equal((await machine.run('mariadb', 'hongbao', '-N', '-e', channels)).trim(), 'demo bank 1\nforfeited channel 0');
  const { wrong } = await site.doctor();
  assert.deepEqual(wrong.map(({ name }) => name), ['backup-none'], 'a setup of version 1.0 started no backups');
  await machine.shell(wrong[0].mend.split(';')[0]);
  await site.nothingIsWrong();
});

test('a passphrase and a session of version 1.0 are valid, and people go on', { skip }, async () => {
  assert.equal(await machine.run('hongbao', '--config', '/etc/hongbao/hongbao.conf', 'setting', 'older_keys'), 'on');
  await site.open('hong', phrased, `phrase=${PHRASE}`);
  const next = await site.send('ming', 'next-one', 'kind=even', 'amount=2', 'count=1');
  assert.equal(await site.open('gang', next), 200);
  await machine.run('hongbao', 'audit');
});
