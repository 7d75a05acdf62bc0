// The cost of this machine's disk: every grab is answered after its fsync.
const SECONDS = 2;

// Writes one after another, width of them on the way at a time; how many a second.
async function rate(server, width, seconds) {
  const batch = Array.from({ length: width }, (_, i) => ['SET', `key-${i}`, 'a value of a grab\'s size, more or less: eighty bytes of text and some digits']);
  let done = 0;
  const end = performance.now() + seconds * 1000;
  const started = performance.now();
  while (performance.now() < end) done += (await server.commands(batch)).length;
  return done / ((performance.now() - started) / 1000);
}

export default {
  name: 'fsync',
  title: 'a write on disk before its answer',
  async run(bench) {
    const servers = {};
    for (const appendfsync of ['always', 'no']) servers[appendfsync] = await bench.redisServer({ appendfsync });
    const found = { always: [], no: [] };
    for (let round = 0; round < bench.rounds; round++) {
      for (const [appendfsync, server] of Object.entries(servers)) {
        const seconds = bench.quick ? SECONDS / 4 : SECONDS;
        found[appendfsync].push({ appendfsync, 'alone /s': await rate(server, 1, seconds), '64 together /s': await rate(server, 64, seconds) });
      }
    }
    return { rows: Object.values(found).map(bench.medians), ratios: [] };
  },
};
