// node against.js --build FOLDER --other FOLDER [--rounds N] [--only WORDS]
// Compares this tree with a checkout of another commit, whose release is built. Both sites run at once, and each load is
// measured on one, then on the other, so that what disturbs the machine disturbs both: docs/BENCHMARKS.md. Each site is
// driven by the files of its own tree.
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { printCase } from './report.js';
import { rounds } from './rounds.js';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');
const OPTIONS = { build: { type: 'string' }, other: { type: 'string' }, rounds: { type: 'string', default: '5' },
  only: { type: 'string', default: '' } };
const COST = 'server µs';
const SECONDS = 4;
const VIEWED_SHARES = 100;
const TAKERS = 20; // they have a share of a packet that others can still open
const SEND_CONNECTIONS = 8;
const SETTLED_SHARES = 100;
const SETTLED_PACKETS = 1000; // of a round

// A tree's site, with the users and packets of its loads, and stores of their own for settlement.
class Side {
  #sent = 0; #settled = 0;

  static async open(name, root, build, roundCount) {
    const load = (file) => import(join(root, 'tests/bench', file));
    const [{ Bench }, { Grabs }, { runOn }, { openWorld, drainByWorker }] = await Promise.all(
      ['harness.js', 'grabs.js', 'stores.js', 'cases/settlement.js'].map(load));
    const self = new Side();
    Object.assign(self, { name, runOn, drainByWorker, bench: new Bench({ root, build, quick: false, rounds: roundCount }) });
    await self.#begin(Grabs, () => openWorld(self.bench, roundCount * SETTLED_PACKETS, SETTLED_SHARES, { worker: true }))
      .catch(async (error) => { await self.bench.close(false); throw error; });
    return self;
  }

  async #begin(Grabs, openWorld) {
    this.grabs = await Grabs.open(this.bench);
    [this.viewed, this.taken] = await this.grabs.packets(2, VIEWED_SHARES);
    await this.grabs.empty(this.taken, TAKERS);
    this.takers = this.grabs.file(this.grabs.users.slice(0, TAKERS).map(({ cookie }) => cookie));
    this.world = await openWorld();
    await this.grabs.withoutSettlement(() => this.grabs.warmUp(this.grabs.target()));
  }

  win() {
    return this.grabs.win(this.grabs.target(), SECONDS);
  }

  winSpread() {
    return this.grabs.winSpread(this.grabs.target(), SECONDS);
  }

  view(accept) {
    return this.grabs.load(this.grabs.target(), { paths: this.grabs.file([`/p/${this.viewed}`]), seconds: SECONDS, accept });
  }

  // Each of the takers looks at their own share, with the list of all of them.
  viewResult() {
    const paths = this.grabs.file([`/p/${this.taken}`]);
    return this.grabs.load(this.grabs.target(), { paths, cookies: this.takers, seconds: SECONDS, accept: 'text/html' });
  }

  send(shares) {
    const fields = `kind=lucky&amount=${(shares / 100).toFixed(2)}&count=${shares}&greeting=hi&request_key=against-${this.#sent++}-{n}`;
    const count = async () => Number((await this.grabs.site.sql('SELECT COUNT(*) FROM packet'))[0][0]);
    return this.grabs.load(this.grabs.target('page'), { paths: this.grabs.file([`POST /send ${fields}`]), seconds: SECONDS, count, connections: SEND_CONNECTIONS });
  }

  // All shares of some packets are grabbed in Redis, then the worker settles them.
  async settle() {
    await this.world.redis('CONFIG', 'SET', 'appendfsync', 'no');
    await this.runOn(this.bench, this.world, 'bench_live', 'grab', this.#settled, 1, SETTLED_PACKETS, SETTLED_SHARES, 1);
    await this.world.redis('CONFIG', 'SET', 'appendfsync', 'always');
    this.#settled += SETTLED_PACKETS;
    const row = await this.drainByWorker(this.world, SETTLED_PACKETS * SETTLED_SHARES);
    return { ...row, [COST]: row['settle µs'] + row['mariadb µs'] + row['redis µs'] };
  }
}

const LOADS = [
  { name: 'winning grabs of one packet', load: (side) => side.win() },
  { name: 'winning grabs of many packets', load: (side) => side.winSpread() },
  { name: 'page of an open packet', load: (side) => side.view('text/html') },
  { name: 'page of a result', load: (side) => side.viewResult() },
  { name: 'page of an open packet as JSON', load: (side) => side.view('application/json') },
  { name: 'send, 10 shares', load: (side) => side.send(10) },
  { name: 'send, 100 shares', load: (side) => side.send(100) },
  { name: 'settlement of a grab', load: (side) => side.settle() },
];

async function compare(bench, sides, loads) {
  const [other, own] = sides;
  const targets = loads.flatMap(({ name, load }) => sides.map((side) => ({ name, load: () => load(side) })));
  const idle = (work) => own.grabs.withoutSettlement(() => other.grabs.withoutSettlement(work));
  const { rows, ratio } = await rounds(bench, targets, idle);
  for (const { grabs } of sides) await grabs.site.mustBeSound();
  const ratioOf = (i, column) => ratio(2 * i + 1, 2 * i, column);
  const groups = (i) => Object.keys(rows[2 * i]).filter((column) => column.endsWith(' µs') && column !== COST);
  return loads.map(({ name }, i) => ({ load: name, [`${other.name} µs`]: rows[2 * i][COST], [`${own.name} µs`]: rows[2 * i + 1][COST],
    ratio: ratioOf(i, COST), ...Object.fromEntries(groups(i).map((column) => [column.slice(0, -' µs'.length), ratioOf(i, column)])) }));
}

async function main() {
  const { values: given } = parseArgs({ options: OPTIONS });
  const count = Number(given.rounds);
  if (!given.build || !existsSync(join(given.build, 'hongbao'))) throw new Error('--build needs the folder of a built program');
  if (!given.other || !existsSync(join(given.other, 'build/release/hongbao'))) throw new Error('--other needs a checkout with a built release');
  const loads = LOADS.filter(({ name }) => name.includes(given.only));
  if (loads.length === 0) throw new Error(`no load has "${given.only}" in its name; there are: ${LOADS.map(({ name }) => name).join(' · ')}`);
  if (!(count >= 1)) throw new Error(`--rounds ${given.rounds} is no number of rounds`);
  const started = Date.now();
  const sides = [];
  const end = () => Promise.allSettled(sides.map(({ bench }) => bench.close(false)));
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(name, () => { end().finally(() => process.exit(130)); });
  try {
    const other = resolve(given.other);
    sides.push(await Side.open('other', other, join(other, 'build/release'), count));
    sides.push(await Side.open('this', ROOT, resolve(given.build), count));
    const rows = await compare(sides[1].bench, sides, loads);
    printCase({ name: 'against', title: `CPU time of all servers for each request, ${count} rounds`, rows, seconds: (Date.now() - started) / 1000,
      notes: ['ratio: the median of the ratios of the rounds, of all servers and of each.'] });
  } finally {
    await end();
  }
}

main().catch((error) => {
  console.error(`bench: ${error.message}`);
  process.exitCode = 2;
});
