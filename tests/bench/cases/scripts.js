// Our grab script against the two classics, alone on a Redis: every call wins a share of one large packet.
import { join } from 'node:path';
import { measure, redisOnly } from '../program.js';
import { rounds } from '../rounds.js';

const GRABS = 100_000;
const GRABS_QUICK = 20_000;
const TITLES = { ours: 'ours: drawn at send, with the durable event', counters: 'counters: remaining count and amount', lock: 'lock: SET NX, LPOP from a list' };

const CLASSICS = [{ name: 'counters', rate: '>= 2.0', cpu: '>= 2.0' }, { name: 'lock', rate: '>= 1.0', cpu: '>= 1.0' }];

// What the commands inside a script cost by Redis's own count: usec of all calls of each, per grab.
async function commandProfile(bench, server, name, grabs, peers) {
  await server.command('CONFIG', 'RESETSTAT');
  await measure(bench.program('bench_scripts'), [name, grabs, peers], redisOnly(bench, server));
  const lines = (await server.command('INFO', 'commandstats')).split('\r\n');
  return lines.map((line) => /^cmdstat_([a-z|]+):calls=(\d+),usec=(\d+),/.exec(line)).filter(Boolean)
    .map(([, command, calls, usec]) => ({ command, calls: Number(calls) / grabs, us: Number(usec) / grabs }))
    .filter(({ calls }) => calls > 0.5).sort((a, b) => b.us - a.us)
    .map(({ command, calls, us }) => `${command}${calls > 1.5 ? ` × ${calls.toFixed(0)}` : ''} ${us.toFixed(2)}`).join(', ');
}

export default {
  name: 'scripts',
  title: 'grab scripts alone, pipelines of 16, every grab wins',
  async run(bench) {
    const grabs = bench.quick ? GRABS_QUICK : GRABS;
    const peers = join(bench.root, 'tests/bench/peers/scripts');
    const rows = [], ratios = [], notes = [];
    for (const appendfsync of ['always', 'no']) {
      const server = await bench.redisServer({ appendfsync, 'auto-aof-rewrite-percentage': 0 });
      const found = await rounds(bench, Object.entries(TITLES).map(([name, title]) => ({ name: title, load: async () => {
        const one = await measure(bench.program('bench_scripts'), [name, grabs, peers], redisOnly(bench, server));
        return { appendfsync, 'grabs/s': 1e9 * one.count / one.wall_ns, 'Redis ns/grab': one.redis_ns / one.count };
      } })));
      rows.push(...found.rows);
      for (const [i, { name, rate, cpu }] of CLASSICS.entries()) {
        if (appendfsync === 'always') ratios.push(bench.ratio(`scripts_rate_ours_vs_${name}`, found.ratio(0, i + 1, 'grabs/s'), rate));
        else ratios.push(bench.ratio(`scripts_cpu_${name}_vs_ours`, found.ratio(i + 1, 0, 'Redis ns/grab'), cpu));
      }
      if (appendfsync === 'no') for (const name of Object.keys(TITLES)) notes.push(`µs per grab by Redis's own count, ${name}: ${await commandProfile(bench, server, name, grabs, peers)}`);
      await server.stop();
    }
    return { rows, ratios, notes };
  },
};
