// Concurrency: winning grabs over thousands of connections, then beside slow clients and beside a flood of logins.
import { Grabs } from '../grabs.js';
import { wrk } from '../load.js';
import { rounds } from '../rounds.js';
import { SlowClients } from '../slow_clients.js';
import { loginLines } from './login.js';

const SECONDS = 8;
const SECONDS_QUICK = 3;
const THREADS = 2;
const SLOW = 500;
const LOGINS_AT_ONCE = 16;
const CROWD_MS = 5000; // the pause of each of 10,000
const STEADY_MS = 60; // the pause of each of 64 visitors: a load that leaves the machine some air
const STEADY_SECONDS = 10; // a thousand grabs a second: a hundred of them are beyond the p99
const STEADY_SECONDS_QUICK = 5;
const FLOOD_SECONDS_MORE = 2; // logins go on until the grabs have ended

export default {
  name: 'connections',
  title: 'winning grabs over many connections, and beside others',
  async run(bench) {
    const seconds = bench.quick ? SECONDS_QUICK : SECONDS;
    const grabs = await Grabs.open(bench);
    const us = grabs.target();
    const win = (more) => grabs.win(us, seconds, { tolerant: true, ...more });
    const logins = grabs.file(await loginLines(grabs.site));
    const [any] = await grabs.packets(1);

    const besideLogins = (loadSeconds) => async (load) => {
      const flood = wrk({ root: bench.root, url: us.url, kind: 'cycle', cookies: grabs.file(['none=1']), paths: logins,
        seconds: loadSeconds + FLOOD_SECONDS_MORE, connections: LOGINS_AT_ONCE });
      const row = await load();
      const { requests, seconds: floodSeconds, p99 } = await flood;
      return { ...row, 'logins /s': requests / floodSeconds, 'login p99 ms': p99 };
    };
    const besideSlow = async (load) => {
      const slow = new SlowClients(us.url, `/p/${any}/open`);
      slow.start(SLOW);
      try {
        return await load();
      } finally {
        slow.stop();
      }
    };

    await grabs.withoutSettlement(() => grabs.warmUp(us));
    const crowd = (connections, close, delayMs = 0) => () => win({ connections, close, delayMs, threads: THREADS });
    const steadySeconds = bench.quick ? STEADY_SECONDS_QUICK : STEADY_SECONDS;
    const steady = (more) => grabs.win(us, steadySeconds, { tolerant: true, delayMs: STEADY_MS, ...more });
    const { rows, ratio, worst } = await rounds(bench, [
      { name: '64 connections', load: () => win({}) },
      { name: '3,000 kept', load: crowd(3000, false) },
      { name: '3,000, each for one request', load: crowd(3000, true) },
      { name: '10,000 kept, with pauses', load: crowd(10_000, false, CROWD_MS) },
      { name: '10,000, each for one request, with pauses', load: crowd(10_000, true, CROWD_MS) },
      { name: `64, ${SLOW} slow ones beside`, load: () => win({ beside: besideSlow }) },
      { name: '64, logins beside', load: () => win({ beside: besideLogins(seconds) }) },
      { name: '64 with pauses', load: () => steady() },
      { name: '64 with pauses, logins beside', load: () => steady({ beside: besideLogins(steadySeconds) }) },
    ], (work) => grabs.withoutSettlement(work));
    await grabs.site.mustBeSound();
    const [KEPT, PAUSES, PAUSES_LOGINS] = [1, 7, 8];
    return {
      // One error in any round counts.
      rows: rows.map((row, i) => ({ ...row, errors: worst(i, 'errors') })),
      ratios: [
        bench.ratio('connections_3000_errors', worst(KEPT, 'errors'), '= 0'),
        bench.ratio('connections_3000_p99_vs_p50', ratio(KEPT, KEPT, 'p99 ms', 'p50 ms'), '<= 10'),
      ],
      notes: [`Beside logins the p99 of grabs with pauses was ${ratio(PAUSES_LOGINS, PAUSES, 'p99 ms').toFixed(2)} times as long as without them.`],
    };
  },
};
