// The cost of this machine's disk: every grab is answered after its fsync.
import { rounds } from '../rounds.js';
import { startStores } from '../stores.js';

const VALUE = 'a value of a grab\'s size, more or less: eighty bytes of text and some digits';

// Writes one after another, width of them on the way at a time; how many a second.
async function rate(server, width, seconds) {
  const batch = Array.from({ length: width }, (_, i) => ['SET', `key-${i}`, VALUE]);
  const started = performance.now();
  let done = 0;
  while (performance.now() < started + seconds * 1000) done += (await server.redisAll(batch)).length;
  return done / ((performance.now() - started) / 1000);
}

export default {
  name: 'fsync',
  title: 'a write on disk before its answer',
  async run(bench) {
    const seconds = bench.size(2, 0.5);
    const server = await startStores(bench, ['redis']);
    const { rows } = await rounds(bench, ['always', 'no'].map((name) => ({ name, load: async () => {
      await server.redis('CONFIG', 'SET', 'appendfsync', name);
      return { 'alone /s': await rate(server, 1, seconds), '64 together /s': await rate(server, 64, seconds) };
    } })));
    return { rows: rows.map(({ load, ...row }) => ({ appendfsync: load, ...row })) };
  },
};
