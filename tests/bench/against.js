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
const SHARES = 100;
const TAKERS = 20; // they have a share of a packet that others can still open
const SEND_CONNECTIONS = 8;
const SETTLED_PACKETS = 1000; // of a round
const GIFTS = 1028; // of a round
const GIFTS_FILE = 'gifts.js';
const isGift = (name) => name.startsWith('gift'); // its load needs the settle worker

// A tree's site, with the users and packets of its loads, and stores of their own for settlement.
class Side {
  #sent = 0; #settled = 0;

  static async open(name, root, build, roundCount, withGifts) {
    const load = (file) => import(join(root, 'tests/bench', file));
    const [{ Bench }, { Grabs }, { openWorld, settleAll }] = await Promise.all(['harness.js', 'grabs.js', 'cases/settlement.js'].map(load));
    const Gifts = withGifts ? (await load(GIFTS_FILE)).Gifts : null;
    const self = Object.assign(new Side(), { name, settleAll, bench: new Bench({ root, build, quick: false, rounds: roundCount }) });
    await self.#begin(Grabs, () => openWorld(self.bench, roundCount * SETTLED_PACKETS, SHARES), Gifts)
      .catch(async (error) => { await self.bench.close(false); throw error; });
    return self;
  }

  async #begin(Grabs, openWorld, Gifts) {
    this.grabs = await Grabs.open(this.bench);
    [this.viewed, this.taken] = await this.grabs.packets(2, SHARES);
    await this.grabs.empty(this.taken, TAKERS);
    this.takers = this.grabs.file(this.grabs.users.slice(0, TAKERS).map(({ cookie }) => cookie));
    this.world = await openWorld();
    if (Gifts) this.gifts = await Gifts.open(this.bench, { peers: [] });
    await this.grabs.withoutSettlement(() => this.grabs.warmUp(this.grabs.target()));
  }

  load(pool, path, more) {
    return this.grabs.load(this.grabs.target(pool), { paths: this.grabs.file([path]), seconds: SECONDS, accept: 'text/html', ...more });
  }

  send(shares) {
    const fields = `kind=lucky&amount=${(shares / 100).toFixed(2)}&count=${shares}&greeting=hi&request_key=against-${this.#sent++}-{n}`;
    const count = async () => Number((await this.grabs.site.sql('SELECT COUNT(*) FROM packet'))[0][0]);
    return this.load('page', `POST /send ${fields}`, { count, connections: SEND_CONNECTIONS, accept: 'application/json' });
  }

  async settle() {
    const row = await this.settleAll(this.bench, this.world, SETTLED_PACKETS * this.#settled++, SETTLED_PACKETS, SHARES);
    return { ...row, [COST]: row['settle µs'] + row['mariadb µs'] + row['redis µs'] };
  }
}

// A whole gift, without the columns of one request of each step.
async function gift({ gifts }, shares) {
  const row = await gifts.load(gifts.targets[0], shares, GIFTS);
  return Object.fromEntries(Object.entries(row).filter(([name]) => !name.includes(': ')));
}

const LOADS = {
  'winning grabs of one packet': (side) => side.grabs.win(side.grabs.target(), SECONDS),
  'winning grabs of many packets': (side) => side.grabs.winSpread(side.grabs.target(), SECONDS),
  'page of an open packet': (side) => side.load('hot', `/p/${side.viewed}`),
  'page of a result': (side) => side.load('hot', `/p/${side.taken}`, { cookies: side.takers }), // with the list of all
  'page of an open packet as JSON': (side) => side.load('hot', `/p/${side.viewed}`, { accept: 'application/json' }),
  'send, 10 shares': (side) => side.send(10),
  'send, 100 shares': (side) => side.send(100),
  'settlement of a grab': (side) => side.settle(),
  'gift of 5 shares': (side) => gift(side, 5),
  'gift of 50 shares': (side) => gift(side, 50),
};

async function compare(bench, sides, names, around) {
  const [other, own] = sides;
  const targets = names.flatMap((name) => sides.map((side) => ({ name, load: () => LOADS[name](side) })));
  const { rows, ratio } = await rounds(bench, targets, around);
  for (const { grabs } of sides) await grabs.site.mustBeSound();
  const ratioOf = (i, column) => ratio(2 * i + 1, 2 * i, column);
  const groups = (i) => Object.keys(rows[2 * i]).filter((column) => column.endsWith(' µs') && column !== COST);
  return names.map((name, i) => ({ load: name, [`${other.name} µs`]: rows[2 * i][COST], [`${own.name} µs`]: rows[2 * i + 1][COST],
    ratio: ratioOf(i, COST), ...Object.fromEntries(groups(i).map((column) => [column.slice(0, -' µs'.length), ratioOf(i, column)])) }));
}

// The names of the loads with these words that the other tree has, too; gifts came last.
function chooseLoads(only, other) {
  const wanted = Object.keys(LOADS).filter((name) => name.includes(only));
  if (wanted.length === 0) throw new Error(`no load has "${only}" in its name; there are: ${Object.keys(LOADS).join(' · ')}`);
  const names = existsSync(join(other, 'tests/bench', GIFTS_FILE)) ? wanted : wanted.filter((name) => !isGift(name));
  const unable = `tests/bench of the other commit has no ${GIFTS_FILE}`;
  if (names.length === 0) throw new Error(`${unable}: whole gifts can't be compared with it`);
  if (names.length < wanted.length) console.error(`bench: ${unable}: without whole gifts`);
  return names;
}

async function main() {
  const { values: given } = parseArgs({ options: OPTIONS });
  const count = Number(given.rounds);
  const other = resolve(given.other);
  const names = chooseLoads(given.only, other);
  if (!(count >= 1)) throw new Error(`--rounds ${given.rounds} is no number of rounds`);
  const started = Date.now();
  const sides = [];
  const end = () => Promise.allSettled(sides.map(({ bench }) => bench.close(false)));
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(name, () => { end().finally(() => process.exit(130)); });
  try {
    const withGifts = names.some(isGift);
    sides.push(await Side.open('other', other, join(other, 'build/release'), count, withGifts));
    sides.push(await Side.open('this', ROOT, resolve(given.build), count, withGifts));
    const [{ grabs: others }, { bench, grabs }] = sides;
    const idle = (work) => grabs.withoutSettlement(() => others.withoutSettlement(work));
    const [gifts, plain] = [names.filter(isGift), names.filter((name) => !isGift(name))];
    const rows = plain.length > 0 ? await compare(bench, sides, plain, idle) : [];
    if (withGifts) rows.push(...await compare(bench, sides, gifts));
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
