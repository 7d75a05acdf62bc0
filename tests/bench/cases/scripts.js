// Our grab script against the two classics, alone on a Redis: every call wins a share. Alone: one grab a call, all on one
// packet. Crowds: our script takes the grabs of a packet in one call; the classic has a call for each.
import { join } from 'node:path';
import { measure, redisOnly } from '../program.js';
import { rounds } from '../rounds.js';

const GRABS = 99_968; // whole rounds of 64, and no more than a packet may have shares
const GRABS_QUICK = 20_480;
const TITLES = { ours: 'ours: drawn at send, with the durable event', counters: 'counters: remaining count and amount', lock: 'lock: SET NX, LPOP from a list' };

// packets: over which the grabs of a round are spread; width: grabs of a round; crowd: grabs of a call.
const ALONE = { packets: 1, width: 16, crowd: 1 };
const CONTESTS = [
  { title: TITLES.ours, name: 'ours', ...ALONE },
  { title: TITLES.counters, name: 'counters', ...ALONE },
  { title: TITLES.lock, name: 'lock', ...ALONE },
  { title: 'ours, crowds of 64 on one packet', name: 'ours', packets: 1, width: 64, crowd: 64 },
  { title: 'counters, 64 calls on one packet', name: 'counters', packets: 1, width: 64, crowd: 1 },
  { title: 'ours, 64 grabs on 16 packets, crowds of 4', name: 'ours', packets: 16, width: 64, crowd: 4 },
  { title: 'counters, 64 calls on 16 packets', name: 'counters', packets: 16, width: 64, crowd: 1 },
];
const [OURS, COUNTERS, LOCK, CROWD, CROWD_COUNTERS, CROWD16, CROWD16_COUNTERS] = CONTESTS.keys();

const contest = (bench, server, grabs, { name, packets, width, crowd }) => measure(bench.program('bench_scripts'),
  [name, grabs, packets, width, crowd, join(bench.root, 'tests/bench/peers/scripts')], redisOnly(bench, server));

// What the commands inside a script cost by Redis's own count: usec of all calls of each, per grab.
async function commandProfile(bench, server, one, grabs) {
  await server.command('CONFIG', 'RESETSTAT');
  await contest(bench, server, grabs, one);
  const lines = (await server.command('INFO', 'commandstats')).split('\r\n');
  const least = 0.5 / one.crowd;
  return lines.map((line) => /^cmdstat_([a-z|]+):calls=(\d+),usec=(\d+),/.exec(line)).filter(Boolean)
    .map(([, command, calls, usec]) => ({ command, calls: Number(calls) / grabs, us: Number(usec) / grabs }))
    .filter(({ calls }) => calls > least).sort((a, b) => b.us - a.us)
    .map(({ command, calls, us }) => `${command}${calls > 1.5 ? ` × ${calls.toFixed(0)}` : ''} ${us.toFixed(2)}`).join(', ');
}

export default {
  name: 'scripts',
  title: 'grab scripts alone, every grab wins',
  async run(bench) {
    const grabs = bench.quick ? GRABS_QUICK : GRABS;
    const rows = [], found = {}, profiles = [];
    for (const appendfsync of ['always', 'no']) {
      const server = await bench.redisServer({ appendfsync, 'auto-aof-rewrite-percentage': 0 });
      found[appendfsync] = await rounds(bench, CONTESTS.map((one) => ({ name: one.title, load: async () => {
        const { count, wall_ns, redis_ns } = await contest(bench, server, grabs, one);
        return { appendfsync, 'grabs/s': 1e9 * count / wall_ns, 'Redis ns/grab': redis_ns / count };
      } })));
      rows.push(...found[appendfsync].rows);
      if (appendfsync === 'no') {
        for (const i of [OURS, COUNTERS, LOCK, CROWD, CROWD16]) {
          profiles.push(`µs per grab by Redis's own count, ${CONTESTS[i].title}: ${await commandProfile(bench, server, CONTESTS[i], grabs)}`);
        }
      }
      await server.stop();
    }
    const rate = (a, b) => found.always.ratio(a, b, 'grabs/s');
    const cpu = (a, b) => found.no.ratio(a, b, 'Redis ns/grab');
    return {
      rows,
      ratios: [
        bench.ratio('script_crowd_cpu_vs_counter', cpu(CROWD, CROWD_COUNTERS), '<= 0.5'),
        bench.ratio('script_crowd16_cpu_vs_counter', cpu(CROWD16, CROWD16_COUNTERS), '<= 0.75'),
      ],
      notes: [
        'Without crowds a round has 16 calls; a round of the crowds has 64 grabs. CPU is compared with appendfsync no.',
        `One grab a call: ${rate(OURS, COUNTERS).toFixed(2)} of the counters' rate, ${cpu(OURS, COUNTERS).toFixed(2)} of their CPU; `
          + `${rate(OURS, LOCK).toFixed(2)} of the lock's rate, ${cpu(OURS, LOCK).toFixed(2)} of its CPU.`,
        ...profiles,
      ],
    };
  },
};
