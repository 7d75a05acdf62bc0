// Settlement by the worker, alone and beside the full load of winning grabs.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pause, poll } from '../../support/deployment.js';
import { PARTITIONS, partitionKeys } from '../../support/packet_id.js';
import { processTree } from '../cpu.js';
import { Grabs } from '../grabs.js';
import { rounds } from '../rounds.js';
import { DAY_MS, makeWorld, startStores, timed, unsynced, world } from '../stores.js';

const SHARES = 100;
const DRAIN_S_MAX = 300;
const START_S_MAX = 60;
const SAMPLE_MS = 50;
const KEYS = Array.from({ length: PARTITIONS }, (_, i) => partitionKeys(i));

// Signals the worker and its supervisor.
export function signalSettle(site, signal) {
  for (const pid of processTree(site.pid('settle')).reverse()) process.kill(pid, signal);
}

// Lets the worker continue while so many events or packets wait, until done() is true. Returns the seconds, and the CPU
// time of each server per item.
export async function workerCost(site, count, done) {
  const { seconds, ...cpu } = await timed(site, ['settle', 'mariadb', 'redis'], async () => {
    signalSettle(site, 'SIGCONT');
    await done();
  });
  return { seconds, cpu: Object.fromEntries(Object.entries(cpu).map(([name, used]) => [`${name} µs`, 1e6 * used / count])) };
}

// Stores with open packets that expire in lifeMs, and a worker that is stopped by SIGSTOP.
export async function openWorld(bench, packets, shares, { lifeMs = DAY_MS } = {}) {
  const site = await startStores(bench);
  await site.start('settle');
  // Perhaps its supervisor has not started it yet. Once it has compared Redis, it runs and can be stopped.
  const runs = await poll(START_S_MAX, async () => await site.redis('GET', `${KEYS[0]}:fence`) !== null);
  if (!runs) throw new Error(`the worker does not run after ${START_S_MAX} s`);
  signalSettle(site, 'SIGSTOP');
  await makeWorld(bench, site, 'open', packets, shares, Date.now() + lifeMs);
  return site;
}

// All shares of these packets are grabbed in Redis; then the worker settles them. Returns the row of the table.
export async function settleAll(bench, site, first, packets, shares) {
  const events = packets * shares;
  await unsynced(site, () => world(bench, site, 'grab', { first, packets, shares }));
  const { seconds, cpu } = await workerCost(site, events, () => site.drained(DRAIN_S_MAX));
  signalSettle(site, 'SIGSTOP');
  return { events, 'events/s': events / seconds, ...cpu };
}

// The size of the tables' files.
function tableBytes(site) {
  const folder = join(site.var, 'data/mariadb/hongbao');
  return readdirSync(folder).filter((name) => name.endsWith('.ibd')).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}

// The age of the oldest unsettled event, in seconds, by Redis's clock.
async function behind(site) {
  const settled = await site.redisAll(KEYS.map((key) => ['GET', `${key}:settled`]));
  const [[seconds, microseconds], ...oldest] = await site.redisAll([['TIME'],
    ...KEYS.map((key, i) => ['XRANGE', `${key}:events`, `(${settled[i] ?? '0-0'}`, '+', 'COUNT', '1'])]);
  const times = oldest.filter((entries) => entries.length > 0).map(([[id]]) => Number(id.split('-')[0]));
  return times.length === 0 ? 0 : Math.max(0, Number(seconds) + Number(microseconds) / 1e6 - Math.min(...times) / 1000);
}

// The full load of winning grabs through the site, with the worker running.
async function keepsUp(bench) {
  const seconds = bench.size(60, 10);
  const grabs = await Grabs.open(bench);
  const { site } = grabs;
  await grabs.withoutSettlement(() => grabs.warmUp(grabs.target()));
  const ages = [];
  let running = true;
  const watch = (async () => { for (; running; await pause(SAMPLE_MS)) ages.push(await behind(site)); })();
  const row = await grabs.win(grabs.target(), seconds).finally(() => { running = false; });
  await watch;
  const ended = performance.now();
  await site.drained(DRAIN_S_MAX);
  const late = Math.max(ages.at(-1), (performance.now() - ended) / 1000);
  const p99 = bench.percentile(ages, 0.99);
  return { late, p99, note: `Beside ${Math.round(row['/s'])} grabs a second for ${seconds} s the oldest grab that was not in its wallet was ${bench.median(ages).toFixed(2)} s old `
    + `(median; p99 ${p99.toFixed(2)} s, at most ${Math.max(...ages).toFixed(2)} s), at its end ${late.toFixed(2)} s.` };
}

export default {
  name: 'settlement',
  title: 'grabs become rows and money',
  async run(bench) {
    const events = bench.size(200_000, 20_000);
    const packets = events / SHARES;
    const site = await openWorld(bench, bench.rounds * packets, SHARES);
    const before = tableBytes(site);
    let done = 0;
    const { rows } = await rounds(bench, [{ name: 'the settle worker', load: () => settleAll(bench, site, packets * done++, packets, SHARES) }]);
    const [[settled]] = await site.sql('SELECT COUNT(*) FROM `grab`');
    const [[paid]] = await site.sql('SELECT SUM(received_count) FROM user_month');
    const [[sum]] = await site.sql('SELECT SUM(balance_fen) FROM account');
    if (settled !== String(bench.rounds * events) || settled !== paid || sum !== '0') throw new Error(`settled ${settled}, in totals ${paid}, balances ${sum}`);
    const bytes = (tableBytes(site) - before) / settled;
    const { late, p99, note } = await keepsUp(bench);
    return { rows, notes: [`MariaDB's files grew by ${bytes.toFixed(0)} bytes a grab.`, note], ratios: [
      bench.ratio('settlement_seconds_behind_full_load', late, '<= 1'),
      bench.ratio('settlement_p99_seconds_beside_full_load', p99, '<= 0.3'),
    ] };
  },
};
