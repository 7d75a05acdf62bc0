// The cost of a grab and of a view in the live layer and in Redis alone, without HTTP: the part of a request's cost that
// could grow (growth_requests.js).
import { measure, redisOnly } from './program.js';
import { rounds } from './rounds.js';

const SHARES = 10;
const LOADERS = 4; // in parallel, as each waits for every answer

const callRow = (n, one) => ({ n, 'call µs': (one.own_ns + one.redis_ns) / one.count / 1000 });

async function emptyRedis(bench) {
  const server = await bench.redisServer({ appendfsync: 'no', 'auto-aof-rewrite-percentage': 0 });
  return (...args) => measure(bench.program('bench_live'), args, redisOnly(bench, server));
}

// For each number of open packets, on a Redis of its own.
async function openPackets(bench, numbers) {
  const calls = bench.quick ? 10_000 : 200_000;
  const worlds = [];
  for (const n of numbers) {
    const live = await emptyRedis(bench);
    const parts = n >= LOADERS * 100 ? LOADERS : 1;
    await Promise.all(Array.from({ length: parts }, (_, i) => live('load', i * n / parts, n / parts, SHARES)));
    const chosen = Math.min(n, calls / SHARES);
    worlds.push({ n, live, chosen, step: Math.floor(n / chosen), passes: calls / SHARES / chosen, round: 0 });
    bench.log(`growth: ${n} packets are open for calls`);
  }
  const grab = async (world) => {
    const { n, live, chosen, step, passes } = world;
    const round = world.round++;
    if (step > round) return callRow(n, await live('grab', round, step, chosen, SHARES, passes));
    await live('remove', 0, 1, chosen); // the packets of the last round are used again
    await live('load', 0, chosen, SHARES);
    return callRow(n, await live('grab', 0, 1, chosen, SHARES, passes));
  };
  // The packets of the first round, of which every share is grabbed.
  const view = async ({ n, live, chosen, step }) => callRow(n, await live('view', 0, step, chosen, calls / 4));
  const each = (load) => rounds(bench, worlds.map((world) => ({ name: String(world.n), load: () => load(world) })));
  return { grab_open_packets: await each(grab), view_open_packets: await each(view) };
}

// For each number of shares: all shares are grabbed, then the packets are viewed.
async function shares(bench, numbers) {
  const sizes = numbers.map((n, i) => ({ n, first: i * 10_000_000, used: 0 }));
  const calls = sizes.at(-1).n;
  const live = await emptyRedis(bench);
  const grab = async (size) => {
    const packets = calls / size.n;
    const first = size.first + size.used;
    size.used += packets;
    await live('load', first, packets, size.n);
    return callRow(size.n, await live('grab', first, 1, packets, size.n, 1));
  };
  const view = async ({ n, first }) => callRow(n, await live('view', first, 1, calls / n, calls / 4));
  const each = (load) => rounds(bench, sizes.map((size) => ({ name: String(size.n), load: () => load(size) })));
  return { grab_shares: await each(grab), view_shares: await each(view) };
}

// As requests() of growth_requests.js, with the column 'call µs'.
export async function calls(bench, { packets, sizes }) {
  const open = await openPackets(bench, packets);
  await bench.endCase(); // a gigabyte of packets
  const full = await shares(bench, sizes);
  await bench.endCase();
  return { ...open, ...full };
}
