// What was grabbed becomes rows and money: the settle worker against one transaction a grab, on the same stores.
import { readFileSync } from 'node:fs';
import { cpuNs, makeWorld, runOn, startStores } from '../stores.js';
import { poll } from '../../chaos/instance.js';

const SHARES = 100;
const DRAIN_S_MAX = 300;

const children = (pid) => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);

export function signalSettle(site, signal) {
  const pid = site.pid('settle');
  for (const id of [...children(pid), pid]) process.kill(id, signal);
}

const streams = Array.from({ length: 100 }, (_, i) => ['XLEN', `hb:{p${String(i).padStart(2, '0')}}:events`]);

// Every stream is trimmed to the entry on which its cursor stands.
export async function untilSettled(site) {
  const settled = await poll(DRAIN_S_MAX, async () => (await site.redisAll(streams)).every((length) => length <= 1));
  if (!settled) throw new Error(`the worker has not settled everything in ${DRAIN_S_MAX} s`);
}

// The worker wakes up in front of full streams.
export async function drainByWorker(site, events) {
  const pids = ['settle', 'mariadb', 'redis'].map((name) => [name, site.pid(name)]);
  const before = pids.map(([, pid]) => cpuNs(pid));
  const started = performance.now();
  signalSettle(site, 'SIGCONT');
  await untilSettled(site);
  const seconds = (performance.now() - started) / 1000;
  const cpu = Object.fromEntries(pids.map(([name, pid], i) => [`${name} µs`, (cpuNs(pid) - before[i]) / events / 1000]));
  signalSettle(site, 'SIGSTOP');
  return { events, 'events/s': events / seconds, ...cpu };
}

async function drainOneByOne(bench, site, events) {
  const before = cpuNs(site.pid('mariadb'));
  const one = await runOn(bench, site, 'bench_settle_single', events);
  return { events, 'events/s': 1e9 * events / one.wall_ns, 'settle µs': one.own_ns / events / 1000,
    'mariadb µs': (cpuNs(site.pid('mariadb')) - before) / events / 1000 };
}

// Stores with open packets, due in lifeMs; the worker, if wanted, waits in front of them.
export async function openWorld(bench, packets, shares, { worker, lifeMs = 24 * 3600 * 1000 }) {
  const site = await startStores(bench);
  if (worker) {
    await site.start('settle');
    signalSettle(site, 'SIGSTOP');
  }
  await makeWorld(bench, site, 'open', packets, shares, lifeMs);
  return site;
}

export default {
  name: 'settlement',
  title: 'grabs become rows and money',
  async run(bench) {
    const many = bench.quick ? 20_000 : 200_000;
    const few = bench.quick ? 500 : 5000;
    const ways = {
      'the settle worker': { site: await openWorld(bench, bench.rounds * many / SHARES, SHARES, { worker: true }), events: many, drain: drainByWorker },
      'one transaction a grab': { site: await openWorld(bench, bench.rounds * few / SHARES, SHARES, { worker: false }), events: few,
        drain: (site, events) => drainOneByOne(bench, site, events) },
    };
    const found = Object.fromEntries(Object.keys(ways).map((way) => [way, []]));
    for (let round = 0; round < bench.rounds; round++) {
      for (const [way, { site, events, drain }] of Object.entries(ways)) {
        const packets = events / SHARES;
        await site.redis('CONFIG', 'SET', 'appendfsync', 'no');
        await runOn(bench, site, 'bench_live', 'grab', round * packets, 1, packets, SHARES, 1);
        await site.redis('CONFIG', 'SET', 'appendfsync', 'always');
        found[way].push({ way, ...await drain(site, events) });
      }
    }
    for (const { site } of Object.values(ways)) {
      const [[settled]] = await site.sql('SELECT COUNT(*) FROM `grab`');
      const [[paid]] = await site.sql("SELECT COUNT(*) FROM transfer WHERE kind = 'grab'");
      const [[sum]] = await site.sql('SELECT SUM(balance) FROM account');
      if (settled !== paid || sum !== '0') throw new Error(`settled ${settled}, paid ${paid}, balances ${sum}`);
    }
    const rows = Object.values(found).map(bench.medians);
    return { rows, ratios: [bench.ratio('settlement_to_single_transactions', rows[0]['events/s'] / rows[1]['events/s'], '>= 20')] };
  },
};
