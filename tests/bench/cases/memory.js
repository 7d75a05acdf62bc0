// Redis's memory for a packet and for a grab: the difference of used_memory, which includes the server's overhead.
import { measure, redisOnly } from '../program.js';

const SHARES = 10;
const PACKET_BYTES_MAX = 720;
const GRAB_BYTES_MAX = 100;

async function usedBytes(server) {
  return Number(/used_memory:(\d+)/.exec(await server.command('INFO', 'memory'))[1]);
}

export default {
  name: 'memory',
  title: `Redis's memory, packets of ${SHARES} and one of many`,
  async run(bench) {
    const packets = bench.quick ? 10_000 : 100_000;
    const large = bench.quick ? 10_000 : 100_000;
    const server = await bench.redisServer({ appendfsync: 'no' });
    const live = (...args) => measure(bench.program('bench_live'), args, redisOnly(bench, server));
    const streams = Array.from({ length: 100 }, (_, i) => `hb:{p${String(i).padStart(2, '0')}}:events`);
    const rows = [], ratios = [];
    const step = async (what, count, work) => {
      const before = await usedBytes(server);
      await work();
      const bytes = (await usedBytes(server) - before) / count;
      rows.push({ what, count, 'bytes each': bytes });
      return bytes;
    };
    await live('load', 4_000_000_000, 1, 1); // the scripts are there before we count
    const packet = await step(`open packets of ${SHARES}`, packets, () => live('load', 0, packets, SHARES));
    await step('grabs of them, events waiting', packets * SHARES, () => live('grab', 0, 1, packets, SHARES, 1));
    const trim = async () => { await server.commands(streams.map((key) => ['DEL', key])); };
    const before = await usedBytes(server);
    await trim();
    const small = rows[1]['bytes each'] - (before - await usedBytes(server)) / (packets * SHARES);
    rows.push({ what: 'grabs of them, events settled', count: packets * SHARES, 'bytes each': small });
    await live('load', packets, 1, large);
    const big = await step('grabs of one large packet, events settled', large, async () => { await live('grab', packets, 1, 1, large, 1); await trim(); });
    ratios.push(bench.ratio('memory_bytes_per_packet', packet, `<= ${PACKET_BYTES_MAX}`));
    ratios.push(bench.ratio('memory_bytes_per_grab', Math.max(small, big), `<= ${GRAB_BYTES_MAX}`));
    return { rows, ratios };
  },
};
