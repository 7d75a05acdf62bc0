// node against.js --build FOLDER --other FOLDER [--rounds N] [--only WORDS] [--seed N]
// Compares this tree with a checkout of another commit, whose release is built. Both sites run at once, and each load
// is measured on one, then on the other, so that a disturbance of the machine affects both: docs/BENCHMARKS.md. The
// files of this tree drive both sites; the other tree provides ./dev, the program, and bench_world, which is linked
// with the other program's code.
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { openWorld, settleAll } from './cases/settlement.js';
import { Gifts } from './gifts.js';
import { Grabs } from './grabs.js';
import { Bench } from './harness.js';
import { printCase } from './report.js';
import { rounds, seedOf } from './rounds.js';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');
const OPTIONS = { build: { type: 'string' }, other: { type: 'string' }, rounds: { type: 'string', default: '5' },
  only: { type: 'string', default: '' }, seed: { type: 'string' } };
const COST = 'server µs';
const SECONDS = 4;
const SHARES = 100;
const TAKERS = 20; // they have a share of a packet that others can still open
const SEND_CONNECTIONS = 8;
const SETTLED_PACKETS = 1000; // of a round
const GIFTS = 1028; // of a round
const SETTLEMENT = 'settlement of a grab';
const isGift = (name) => name.startsWith('gift'); // its load needs the settle worker
const isHistory = (name) => name.startsWith('history');
const READERS = 64;
const RECEIVED = 60; // packets of which each reader has a share: more than fit on a page
const THANKERS = 3;  // of a packet

// The site of one tree: users and packets for the loads, and separate stores for settlement.
class Side {
  #sent = 0; #settled = 0;

  // names: of the loads for which the site is prepared.
  static async open(name, root, build, { count, seed, names }) {
    const self = Object.assign(new Side(), { name, bench: new Bench({ root, build, quick: false, rounds: count, seed }) });
    await self.#begin(names).catch(async (error) => { await self.bench.close(false); throw error; });
    return self;
  }

  async #begin(names) {
    this.grabs = await Grabs.open(this.bench);
    [this.viewed, this.taken] = await this.grabs.packets(2, SHARES);
    await this.grabs.empty(this.taken, TAKERS);
    this.takers = this.grabs.file(this.grabs.users.slice(0, TAKERS).map(({ cookie }) => cookie));
    if (names.includes(SETTLEMENT)) this.world = await openWorld(this.bench, this.bench.rounds * SETTLED_PACKETS, SHARES);
    if (names.some(isGift)) this.gifts = await Gifts.open(this.bench, { peers: [] });
    if (names.some(isHistory)) await this.#readersBegin();
    await this.grabs.withoutSettlement(() => this.grabs.warmUp(this.grabs.target()));
  }

  // Users with a share of each of these packets; most have sent one, and half of these were thanked for it.
  async #readersBegin() {
    const { grabs } = this;
    const readers = grabs.users.slice(0, READERS);
    const ids = await grabs.packets(RECEIVED, READERS);
    for (const id of ids) await grabs.empty(id, READERS);
    await grabs.site.drained();
    for (const id of ids.slice(0, RECEIVED / 2)) {
      for (const { cookie } of readers.slice(-THANKERS)) {
        const { status, text } = await grabs.site.request(`/p/${id}/thanks`, { cookie, fields: { text: '谢谢' } });
        if (status >= 400) throw new Error(`thanks: ${status} ${text}`);
      }
    }
    const thanked = new Set((await grabs.site.sql('SELECT DISTINCT sender_id FROM thanks JOIN packet ON packet.id = thanks.packet_id')).flat());
    const file = (users) => grabs.file(users.map(({ cookie }) => cookie));
    this.readers = file(readers);
    this.thanked = file(readers.filter(({ id }) => thanked.has(id)));
    this.unthanked = file(readers.filter(({ id }) => !thanked.has(id)));
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
    const row = await settleAll(this.bench, this.world, SETTLED_PACKETS * this.#settled++, SETTLED_PACKETS, SHARES);
    return { ...row, [COST]: row['settle µs'] + row['mariadb µs'] + row['redis µs'] };
  }
}

// The figures of a whole gift, without the columns that each step has for one request.
async function gift({ gifts }, shares) {
  const row = await gifts.load(gifts.targets[0], shares, GIFTS);
  return Object.fromEntries(Object.entries(row).filter(([name]) => !name.includes(': ')));
}

const LOADS = {
  'winning grabs of one packet': (side) => side.grabs.win(side.grabs.target(), SECONDS),
  'winning grabs of many packets': (side) => side.grabs.winSpread(side.grabs.target(), SECONDS),
  'page of an open packet': (side) => side.load('hot', `/p/${side.viewed}`),
  'page of a result': (side) => side.load('hot', `/p/${side.taken}`, { cookies: side.takers }), // it lists all grabs
  'page of an open packet as JSON': (side) => side.load('hot', `/p/${side.viewed}`, { accept: 'application/json' }),
  'send, 10 shares': (side) => side.send(10),
  'send, 100 shares': (side) => side.send(100),
  [SETTLEMENT]: (side) => side.settle(),
  'history: records': (side) => side.load('page', '/records/received', { cookies: side.readers }),
  'history: records as JSON': (side) => side.load('page', '/records/received', { cookies: side.readers, accept: 'application/json' }),
  'history: wallet': (side) => side.load('page', '/wallet', { cookies: side.readers }),
  'history: home': (side) => side.load('page', '/', { cookies: side.unthanked }),
  'history: home with thanks': (side) => side.load('page', '/', { cookies: side.thanked }),
  'gift of 5 shares': (side) => gift(side, 5),
  'gift of 50 shares': (side) => gift(side, 50),
};

async function compare(bench, sides, names, around) {
  const [other, own] = sides;
  const targets = names.flatMap((name) => sides.map((side) => ({ name, load: () => LOADS[name](side) })));
  const { rows, ratio } = await rounds(bench, targets, { around, together: sides.length });
  for (const { grabs } of sides) await grabs.site.mustBeSound();
  const ratioOf = (i, column) => ratio(2 * i + 1, 2 * i, column);
  const groups = (i) => Object.keys(rows[2 * i]).filter((column) => column.endsWith(' µs') && column !== COST);
  return names.map((name, i) => ({ load: name, [`${other.name} µs`]: rows[2 * i][COST], [`${own.name} µs`]: rows[2 * i + 1][COST],
    ratio: ratioOf(i, COST), ...Object.fromEntries(groups(i).map((column) => [column.slice(0, -' µs'.length), ratioOf(i, column)])) }));
}

// The names of the loads with these words.
function chooseLoads(only) {
  const names = Object.keys(LOADS).filter((name) => name.includes(only));
  if (names.length === 0) throw new Error(`no load has "${only}" in its name; there are: ${Object.keys(LOADS).join(' · ')}`);
  return names;
}

async function main() {
  const { values: given } = parseArgs({ options: OPTIONS });
  const count = Number(given.rounds);
  const other = resolve(given.other);
  const names = chooseLoads(given.only);
  if (!(count >= 1)) throw new Error(`--rounds ${given.rounds} is no number of rounds`);
  const settings = { count, seed: seedOf(given.seed), names };
  const started = Date.now();
  const sides = [];
  const end = () => Promise.allSettled(sides.map(({ bench }) => bench.close(false)));
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(name, () => { end().finally(() => process.exit(130)); });
  try {
    sides.push(await Side.open('other', other, join(other, 'build/release'), settings));
    sides.push(await Side.open('this', ROOT, resolve(given.build), settings));
    const [{ grabs: others }, { bench, grabs }] = sides;
    const idle = (work) => grabs.withoutSettlement(() => others.withoutSettlement(work));
    const [gifts, plain] = [names.filter(isGift), names.filter((name) => !isGift(name))];
    const rows = plain.length > 0 ? await compare(bench, sides, plain, idle) : [];
    if (gifts.length > 0) rows.push(...await compare(bench, sides, gifts));
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
