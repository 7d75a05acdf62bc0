// Winning grabs that a replica confirms (WAIT 1), compared with grabs that a replica receives without confirming, and
// with grabs without a replica. The replica is near, or 1 ms away.
import { poll } from '../../support/deployment.js';
import { freePort } from '../../support/port.js';
import { Delay } from '../delay.js';
import { Grabs, SPREAD } from '../grabs.js';
import { rounds } from '../rounds.js';
import { startStores } from '../stores.js';

const HOT_PROCESSES = 4;
const CONNECTIONS = [64, 256];
const DELAYS_MS = [0, 1];
const WANTED = '>= 0.7';

async function loads(bench, grabs, name) {
  const target = { ...grabs.target(), name };
  await grabs.withoutSettlement(() => grabs.warmUp(target));
  const { rows } = await rounds(bench, CONNECTIONS.map((connections) => ({ name: `${name}, ${connections} connections`,
    load: () => grabs.withoutSettlement(() => grabs.winSpread(target, bench.size(4, 1), { connections })) })));
  return rows;
}

// The pools start again with this number of confirmations. The worker opens no fence before the replica confirms.
async function confirm(site, replicas) {
  const pools = ['hot', 'page', 'auth', 'settle'];
  for (const name of pools) await site.stop(name);
  site.set({ HB_REDIS_REPLICAS: String(replicas) });
  for (const name of pools.reverse()) await site.start(name);
  if (!await poll(60, async () => (await site.request('/readyz')).status === 200)) throw new Error('the site does not get ready');
}

// Starts a replica. The primary's answers to it are late by delayMs, so a round trip takes that much longer.
async function replica(bench, port, delayMs) {
  const line = bench.keep(new Delay(delayMs));
  const near = await freePort();
  await line.start(near, port);
  const site = await startStores(bench, ['redis']);
  await site.redis('REPLICAOF', '127.0.0.1', near);
  const up = await poll(60, async () => /master_link_status:up/.test(await site.redis('INFO', 'replication')));
  if (!up) throw new Error('the replica does not connect');
  return { line, site };
}

export default {
  name: 'wait',
  title: `winning grabs of ${SPREAD} packets, ${HOT_PROCESSES} processes of the hot pool, confirmed by a replica or not`,
  async run(bench) {
    const site = await bench.site({ own: true, settings: { HB_TEST_HOT_PROCESSES: String(HOT_PROCESSES) } });
    const grabs = await Grabs.open(bench, { site });
    const rows = await loads(bench, grabs, 'no replica');
    const ratios = [];
    const port = await freePort();
    await site.redis('CONFIG', 'SET', 'port', String(port));
    for (const delayMs of DELAYS_MS) {
      const { line, site: copy } = await replica(bench, port, delayMs);
      const without = await loads(bench, grabs, `a replica ${delayMs} ms away`);
      await confirm(site, 1);
      const waited = await loads(bench, grabs, `WAIT 1, ${delayMs} ms away`);
      await confirm(site, 0);
      rows.push(...without, ...waited);
      ratios.push(...CONNECTIONS.map((connections, i) => bench.ratio(
        `wait: rate of grabs, ${connections} connections, confirmed by a replica ${delayMs} ms away vs not`,
        waited[i]['/s'] / without[i]['/s'], WANTED)));
      await copy.down();
      await line.stop();
    }
    await site.mustBeSound();
    return { rows, ratios, notes: [
      'The replica is on this machine, behind a proxy that keeps each answer of the primary for 1 ms, or none; CPU of both is not in the figures, but they take it from the others.'] };
  },
};
