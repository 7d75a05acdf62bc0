// Redis's memory for a packet and for a grab: the difference of used_memory, which includes the server's overhead.
import { PARTITIONS, partitionKeys } from '../../support/packet_id.js';
import { startStores, unsynced, world } from '../stores.js';

const SHARES = 10;
const PACKET_BYTES_MAX = 720;
const GRAB_BYTES_MAX = 100;

export default {
  name: 'memory',
  title: `Redis's memory, packets of ${SHARES} and one of many`,
  async run(bench) {
    const packets = bench.size(100_000, 10_000);
    const grabs = packets * SHARES;
    const small = { packets, shares: SHARES }, large = { first: packets, packets: 1, shares: packets };
    const site = await startStores(bench);
    const used = async () => Number(/used_memory:(\d+)/.exec(await site.redis('INFO', 'memory'))[1]);
    const trim = () => site.redisAll(Array.from({ length: PARTITIONS }, (_, i) => ['DEL', `${partitionKeys(i)}:events`]));
    const rows = [];
    // Adds a row with the growth of memory by work(), per one of count items.
    const step = async (what, count, work) => {
      const before = await used();
      await work();
      rows.push({ what, count, 'bytes each': (await used() - before) / count });
    };
    await unsynced(site, async () => {
      await world(bench, site, 'load', { first: 4_000_000_000, packets: 1 }); // load the functions before counting
      await step(`open packets of ${SHARES}`, packets, () => world(bench, site, 'load', small));
      const before = await used();
      await step('grabs of them, events waiting', grabs, () => world(bench, site, 'grab', small));
      await trim();
      rows.push({ what: 'grabs of them, events settled', count: grabs, 'bytes each': (await used() - before) / grabs });
      await world(bench, site, 'load', large);
      await step('grabs of one large packet, events settled', packets, async () => {
        await world(bench, site, 'grab', large);
        await trim();
      });
    });
    const [packet, , settled, ofOne] = rows.map((row) => row['bytes each']);
    return { rows, ratios: [
      bench.ratio('memory_bytes_per_packet', packet, `<= ${PACKET_BYTES_MAX}`),
      bench.ratio('memory_bytes_per_grab', Math.max(settled, ofOne), `<= ${GRAB_BYTES_MAX}`),
    ] };
  },
};
