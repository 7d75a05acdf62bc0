// Grabs a second per core: every server of a site runs on one CPU, the load generator on another. A winning grab is on
// disk before its answer; the settle worker, on the same core, then writes its money into MariaDB.
import { cpusOf, mustBePinned, processTree } from '../cpu.js';
import { Grabs, SPREAD } from '../grabs.js';
import { measured, mustBeClean, wrk } from '../load.js';
import { rounds } from '../rounds.js';

const CONNECTIONS = 256;
const SHARES = 100;

// WeChat's published peaks, and what each is compared with.
const PEAKS = [
  { year: 2014, what: '25,000 openings a minute', rate: 25_000 / 60, kind: 'winning' },
  { year: 2015, what: '14,000,000 shakes a second', rate: 14_000_000, kind: 'losing' },
  { year: 2017, what: '760,000 packets a second', rate: 760_000, kind: 'winning' },
];

// All servers as one target, with the share of the core that they used.
class Core {
  constructor(grabs, cpu) {
    const { site } = grabs;
    Object.assign(this, { grabs, site, name: 'one core', url: site.url, more: { cpu, connections: CONNECTIONS } });
  }

  groups() {
    const tree = (name) => processTree(this.site.pid(name));
    return { ...this.site.groups('hot'), settle: tree('settle'), mariadb: tree('mariadb') };
  }

  // rate: of the work whose cost is in the row.
  row({ 'app MiB': _, ...row }, rate = row['/s']) {
    return { ...row, 'core %': rate * row['server µs'] / 1e4 };
  }

  // Winning grabs of SPREAD packets, until the last one is settled.
  async winAndSettle(seconds) {
    const { grabs, site } = this;
    const ids = await grabs.spread(this, seconds);
    const paths = grabs.file(ids.map((id) => `POST /p/${id}/open`));
    const started = performance.now();
    let settledRate;
    const { row } = await measured(this.groups(),
      () => wrk({ url: this.url, kind: 'cycle', cookies: grabs.cookies, paths, seconds, ...this.more }),
      async ({ requests, errors }) => {
        mustBeClean(this.name, { errors });
        await site.drained();
        const settledSeconds = (performance.now() - started) / 1000;
        const taken = await grabs.taken(ids);
        settledRate = taken / settledSeconds;
        if (taken < requests || taken > requests + CONNECTIONS) throw new Error(`${requests} requests were answered, and ${taken} shares taken`);
        return taken;
      });
    return { ...this.row(row, settledRate), 'settled /s': settledRate };
  }
}

const coresFor = (peak, rate) => Math.ceil(peak / rate).toLocaleString('en-US');

const whole = (rate) => Math.round(rate).toLocaleString('en-US');

// win, settled: of grabs of many packets, of which hardly two meet.
function notesOf({ hot, win, settled, lose }) {
  const rates = { winning: win, losing: lose };
  return [
    `One core serves ${whole(win)} winning grabs of ${SPREAD} packets a second (${whole(settled)} when it must settle all of them at the same time; ${whole(hot)} when all are of one packet), `
      + `or ${whole(lose)} losing ones. Every answer of a winning grab came after its write was on disk (appendfsync always).`,
    `An extrapolation: cores for WeChat's published peaks, each peak divided by the rate for ${SPREAD} packets: ${PEAKS.map(({ year, what, rate, kind }) => `${year}, ${what} (as ${kind} grabs): ${coresFor(rate, rates[kind])}`
      + `${kind === 'winning' ? `, settled at once ${coresFor(rate, settled)}` : ''}`).join('; ')}.`,
  ];
}

export default {
  name: 'per_core',
  title: `a whole site on one core, ${CONNECTIONS} connections`,
  async run(bench) {
    const seconds = bench.size(8, 3);
    const [cpu, other] = cpusOf('self');
    if (other === undefined) throw new Error('this case needs two CPUs: one for the site, one for the load');
    const site = await bench.site({ own: true, cpu });
    const grabs = await Grabs.open(bench, { site });
    const core = new Core(grabs, other);
    mustBePinned(site.processes(), cpu);

    const settled = await grabs.emptied(SHARES);
    await site.drained();
    const losers = grabs.file(grabs.users.slice(SHARES).map(({ cookie }) => cookie));
    const empty = () => grabs.counter('hongbao_grabs_total{result="empty"}');
    const lose = (id) => grabs.load(core, { cookies: losers, paths: grabs.file([`POST /p/${id}/open`]), seconds, refused: true, count: empty, ...core.more });
    const loseFresh = () => grabs.withoutSettlement(async () => lose(await grabs.emptied(SHARES)));
    await grabs.withoutSettlement(() => grabs.warmUp(core, core.more));
    const { rows } = await rounds(bench, [
      { name: 'winning, one packet', load: async () => core.row(await grabs.withoutSettlement(() => grabs.win(core, seconds, core.more))) },
      { name: `winning, ${SPREAD} packets`, load: async () => core.row(await grabs.withoutSettlement(() => grabs.winSpread(core, seconds, core.more))) },
      { name: `winning, ${SPREAD} packets, settled meanwhile`, load: () => core.winAndSettle(seconds) },
      { name: 'losing', load: async () => core.row(await lose(settled)) },
      { name: 'losing, before it is settled', load: async () => core.row(await loseFresh()) },
    ]);
    mustBePinned(site.processes(), cpu);
    await site.mustBeSound();
    const [HOT, WIN, SETTLED, LOSE] = rows;
    return { rows, notes: notesOf({ hot: HOT['/s'], win: WIN['/s'], settled: SETTLED['settled /s'], lose: LOSE['/s'] }) };
  },
};
