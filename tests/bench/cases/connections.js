// Concurrency: winning grabs over thousands of connections, and beside a flood of logins.
import { Grabs } from '../grabs.js';
import { wrk } from '../load.js';
import { rounds } from '../rounds.js';

const CROWD_MS = 5000; // the pause of each of 10,000
const STEADY_MS = 60; // the pause of each of 64 visitors: a thousand grabs a second, which leave the machine some air
const LOGINS_AT_ONCE = 16;
const LOGIN_SECONDS_MORE = 5; // the packets of the grabs are sent meanwhile

export default {
  name: 'connections',
  title: 'winning grabs over many connections, and beside logins',
  async run(bench) {
    const grabs = await Grabs.open(bench);
    const us = grabs.target();
    await grabs.withoutSettlement(() => grabs.warmUp(us));
    const win = (more) => () => grabs.win(us, bench.size(8, 3), { threads: 2, ...more });
    const steadySeconds = bench.size(10, 5); // of ten thousand grabs a hundred are beyond the p99
    const steady = () => grabs.win(us, steadySeconds, { delayMs: STEADY_MS });
    const guess = { cookies: grabs.file(['none=1']), paths: grabs.file(['POST /login username=nobody&password=wrong-password']) };
    const besideLogins = async () => {
      const flood = wrk({ url: us.url, kind: 'cycle', ...guess, seconds: steadySeconds + LOGIN_SECONDS_MORE, connections: LOGINS_AT_ONCE });
      const [row, { requests, seconds, p99 }] = await Promise.all([steady(), flood]);
      return { ...row, 'logins /s': requests / seconds, 'login p99 ms': p99 };
    };
    const { rows, ratio } = await rounds(bench, [
      { name: '64 connections', load: win({ threads: 1 }) },
      { name: '3,000 kept', load: win({ connections: 3000 }) },
      { name: '3,000, each for one request', load: win({ connections: 3000, close: true }) },
      { name: '10,000 kept, with pauses', load: win({ connections: 10_000, delayMs: CROWD_MS }) },
      { name: '10,000, each for one request, with pauses', load: win({ connections: 10_000, close: true, delayMs: CROWD_MS }) },
      { name: '64 with pauses', load: steady },
      { name: '64 with pauses, logins beside', load: besideLogins },
    ], { around: (work) => grabs.withoutSettlement(work) });
    await grabs.site.mustBeSound();
    return {
      rows,
      ratios: [bench.ratio('connections_3000_p99_vs_p50', ratio(1, 1, 'p99 ms', 'p50 ms'), '<= 10')],
      notes: [`No request failed. Beside logins the p99 of grabs with pauses was ${ratio(6, 5, 'p99 ms').toFixed(2)} times as long as without them.`],
    };
  },
};
