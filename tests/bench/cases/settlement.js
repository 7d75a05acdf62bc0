// Settlement: the settle worker compared with one transaction per grab, on the same stores.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { cpuNs, processTree } from '../cpu.js';
import { makeWorld, runOn, startStores, timed } from '../stores.js';
import { poll } from '../../chaos/deployment.js';
import { Grabs } from '../grabs.js';
import { rounds } from '../rounds.js';

const SHARES = 100;
const DRAIN_S_MAX = 300;
const START_S_MAX = 60;
const SAMPLE_MS = 50;

export function signalSettle(site, signal) {
  for (const pid of processTree(site.pid('settle')).reverse()) process.kill(pid, signal);
}

const streams = Array.from({ length: 100 }, (_, i) => ['XLEN', `hb:{p${String(i).padStart(2, '0')}}:events`]);

// Every stream is trimmed to the entry on which its cursor stands.
export async function untilSettled(site) {
  const settled = await poll(DRAIN_S_MAX, async () => (await site.redisAll(streams)).every((length) => length <= 1));
  if (!settled) throw new Error(`the worker has not settled everything in ${DRAIN_S_MAX} s`);
}

// Lets the worker continue with so many events or packets waiting, until done() is true: the seconds, and the CPU time of
// each server per item.
export async function workerCost(site, count, done) {
  const { seconds, ...cpu } = await timed(site, ['settle', 'mariadb', 'redis'], async () => {
    signalSettle(site, 'SIGCONT');
    await done();
  });
  return { seconds, cpu: Object.fromEntries(Object.entries(cpu).map(([name, used]) => [`${name} µs`, 1e6 * used / count])) };
}

export async function drainByWorker(site, events) {
  const { seconds, cpu } = await workerCost(site, events, () => untilSettled(site));
  signalSettle(site, 'SIGSTOP');
  return { events, 'events/s': events / seconds, ...cpu };
}

async function drainOneByOne(bench, site, events) {
  const before = cpuNs(site.pid('mariadb'));
  const one = await runOn(bench, site, 'bench_settle_single', events);
  return { events, 'events/s': 1e9 * events / one.wall_ns, 'settle µs': one.own_ns / events / 1000,
    'mariadb µs': (cpuNs(site.pid('mariadb')) - before) / events / 1000 };
}

// The size of the tables' files.
function tableBytes(site) {
  const folder = join(site.var, 'data/mariadb/hongbao');
  return readdirSync(folder).filter((name) => name.endsWith('.ibd')).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}

// Stores with open packets that expire in lifeMs; the worker, if wanted, is stopped by SIGSTOP.
export async function openWorld(bench, packets, shares, { worker, lifeMs = 24 * 3600 * 1000 }) {
  const site = await startStores(bench);
  if (worker) {
    await site.start('settle');
    // Its supervisor may not have started it yet; once it has compared Redis it runs and can be stopped.
    const runs = await poll(START_S_MAX, async () => await site.redis('GET', 'hb:{p00}:fence') !== null);
    if (!runs) throw new Error(`the worker does not run after ${START_S_MAX} s`);
    signalSettle(site, 'SIGSTOP');
  }
  await makeWorld(bench, site, 'open', packets, shares, lifeMs);
  return site;
}

// The age of the oldest unsettled event, in seconds, by Redis's clock.
async function behind(site, partitions) {
  const key = (i, what) => `hb:{p${String(i).padStart(2, '0')}}:${what}`;
  const settled = await site.redisAll(partitions.map((i) => ['GET', key(i, 'settled')]));
  const [[seconds, microseconds], ...oldest] = await site.redisAll([['TIME'], ...partitions.map((i) => ['XRANGE', key(i, 'events'), `(${settled[i] ?? '0-0'}`, '+', 'COUNT', '1'])]);
  const times = oldest.filter((entries) => entries.length > 0).map(([[id]]) => Number(id.split('-')[0]));
  return times.length === 0 ? 0 : Math.max(0, Number(seconds) + Number(microseconds) / 1e6 - Math.min(...times) / 1000);
}

// The full load of winning grabs through the site, with the worker running.
async function keepsUp(bench) {
  const seconds = bench.quick ? 10 : 60;
  const grabs = await Grabs.open(bench);
  const { site } = grabs;
  const partitions = Array.from({ length: 16 }, (_, i) => i);
  await grabs.withoutSettlement(() => grabs.warmUp(grabs.target()));
  const ages = [];
  let running = true;
  const watch = (async () => {
    while (running) {
      ages.push(await behind(site, partitions));
      await new Promise((resolve) => { setTimeout(resolve, SAMPLE_MS); });
    }
  })();
  let row;
  try {
    row = await grabs.win(grabs.target(), seconds);
  } finally {
    running = false;
    await watch;
  }
  const ended = performance.now();
  await untilSettled(site);
  const late = Math.max(ages.at(-1), (performance.now() - ended) / 1000);
  const p99 = ages.sort((a, b) => a - b)[Math.floor(0.99 * ages.length)];
  return { late, p99, note: `Beside ${Math.round(row['/s'])} grabs a second for ${seconds} s the oldest grab that was not in its wallet was ${bench.median(ages).toFixed(2)} s old `
    + `(median; p99 ${p99.toFixed(2)} s, at most ${Math.max(...ages).toFixed(2)} s), at its end ${late.toFixed(2)} s.` };
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
    const worker = ways['the settle worker'];
    const before = tableBytes(worker.site);
    const { rows, ratio } = await rounds(bench, Object.entries(ways).map(([name, { site, events, drain }]) => {
      let grabbed = 0;
      return { name, load: async () => {
        const packets = events / SHARES;
        await site.redis('CONFIG', 'SET', 'appendfsync', 'no');
        await runOn(bench, site, 'bench_live', 'grab', grabbed, 1, packets, SHARES, 1);
        await site.redis('CONFIG', 'SET', 'appendfsync', 'always');
        grabbed += packets;
        return drain(site, events);
      } };
    }));
    for (const { site } of Object.values(ways)) {
      const [[settled]] = await site.sql('SELECT COUNT(*) FROM `grab`');
      const [[paid]] = await site.sql('SELECT SUM(received_count) FROM user_month');
      const [[sum]] = await site.sql('SELECT SUM(balance_fen) FROM account');
      if (settled !== paid || sum !== '0') throw new Error(`settled ${settled}, in totals ${paid}, balances ${sum}`);
    }
    const bytes = (tableBytes(worker.site) - before) / (bench.rounds * many);
    const { late, p99, note } = await keepsUp(bench);
    return { rows, notes: [`MariaDB's files grew by ${bytes.toFixed(0)} bytes a grab.`, note], ratios: [
      bench.ratio('settlement_vs_single_transactions', ratio(0, 1, 'events/s'), '>= 20'),
      bench.ratio('settlement_seconds_behind_full_load', late, '<= 1'),
      bench.ratio('settlement_p99_seconds_beside_full_load', p99, '<= 0.3'),
    ] };
  },
};
