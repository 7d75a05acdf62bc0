// Our grab script against the two classics, alone on a Redis: every call wins a share of one large packet.
import { join } from 'node:path';
import { measure, redisOnly } from '../program.js';

const GRABS = 100_000;
const GRABS_QUICK = 20_000;
const TITLES = { ours: 'ours: drawn at send, with the durable event', counters: 'counters: remaining count and amount', lock: 'lock: SET NX, LPOP from a list' };

// What the commands inside a script cost by Redis's own count: usec of all calls of each, per grab.
async function commandProfile(server, grabs) {
  const lines = (await server.command('INFO', 'commandstats')).split('\r\n');
  return lines.map((line) => /^cmdstat_([a-z|]+):calls=(\d+),usec=(\d+),/.exec(line)).filter(Boolean)
    .map(([, name, calls, usec]) => ({ name, calls: Number(calls) / grabs, us: Number(usec) / grabs }))
    .filter(({ calls }) => calls > 0.5).sort((a, b) => b.us - a.us)
    .map(({ name, calls, us }) => `${name}${calls > 1.5 ? ` × ${calls.toFixed(0)}` : ''} ${us.toFixed(2)}`).join(', ');
}

export default {
  name: 'scripts',
  title: 'grab scripts alone, pipelines of 16, every grab wins',
  async run(bench) {
    const grabs = bench.quick ? GRABS_QUICK : GRABS;
    const peers = join(bench.root, 'tests/bench/peers/scripts');
    const rows = [], ratios = [], notes = [];
    for (const appendfsync of ['always', 'no']) {
      const server = await bench.redisServer({ appendfsync });
      const found = Object.fromEntries(Object.keys(TITLES).map((name) => [name, []]));
      for (let round = 0; round < bench.rounds; round++) {
        for (const name of Object.keys(TITLES)) {
          await server.command('CONFIG', 'RESETSTAT');
          const one = await measure(bench.program('bench_scripts'), [name, grabs, peers], redisOnly(bench, server));
          found[name].push({ script: TITLES[name], appendfsync, 'grabs/s': 1e9 * one.count / one.wall_ns, 'Redis ns/grab': one.redis_ns / one.count });
          if (round === bench.rounds - 1 && appendfsync === 'no') notes.push(`µs per grab, ${name}: ${await commandProfile(server, grabs)}`);
        }
      }
      const middle = Object.fromEntries(Object.entries(found).map(([name, list]) => [name, bench.medians(list)]));
      rows.push(...Object.values(middle));
      const against = (name, key) => middle.ours[key] / middle[name][key];
      const limit = { counters: '>= 2.0', lock: '>= 1.0' };
      for (const name of ['counters', 'lock']) {
        if (appendfsync === 'always') ratios.push(bench.ratio(`scripts_rate_ours_to_${name}`, against(name, 'grabs/s'), limit[name]));
        else ratios.push(bench.ratio(`scripts_cpu_${name}_to_ours`, 1 / against(name, 'Redis ns/grab'), limit[name]));
      }
      await server.stop();
    }
    return { rows, ratios, notes };
  },
};
