// Concurrency: winning grabs over thousands of connections.
import { Grabs } from '../grabs.js';
import { rounds } from '../rounds.js';

const CROWD_MS = 5000; // pause between two requests of each of the 10,000 connections

export default {
  name: 'connections',
  title: 'winning grabs over many connections',
  async run(bench) {
    const grabs = await Grabs.open(bench);
    const us = grabs.target();
    await grabs.withoutSettlement(() => grabs.warmUp(us));
    const win = (more) => () => grabs.win(us, bench.size(8, 3), { threads: 2, ...more });
    const { rows, ratio } = await rounds(bench, [
      { name: '64 connections', load: win({ threads: 1 }) },
      { name: '3,000 kept', load: win({ connections: 3000 }) },
      { name: '3,000, each for one request', load: win({ connections: 3000, close: true }) },
      { name: '10,000 kept, with pauses', load: win({ connections: 10_000, delayMs: CROWD_MS }) },
      { name: '10,000, each for one request, with pauses', load: win({ connections: 10_000, close: true, delayMs: CROWD_MS }) },
    ], { around: (work) => grabs.withoutSettlement(work) });
    await grabs.site.mustBeSound();
    return {
      rows,
      ratios: [bench.ratio('connections_3000_p99_vs_p50', ratio(1, 1, 'p99 ms', 'p50 ms'), '<= 10')],
      notes: ['No request failed.'],
    };
  },
};
