// The cost of a site without visitors: CPU and memory of each server.
import { pause } from '../../support/deployment.js';
import { cpuBetween, cpuOf, memoryOf, nginxTree, processTree } from '../cpu.js';

const SERVERS = ['nginx', 'hot', 'page', 'auth', 'card', 'money', 'settle', 'redis', 'mariadb'];
const SETTLE_S = 10; // after the start: the first walk of recovery is over, and caches are warm
const CORE_PERCENT_MAX = 2;
const MIB_MAX = 150;

export default {
  name: 'idle',
  title: 'a site that nobody visits',
  async run(bench) {
    const seconds = bench.size(60, 10);
    const site = await bench.site({ own: true });
    await pause(SETTLE_S * 1000);
    const groups = SERVERS.map((name) => (name === 'nginx' ? nginxTree : processTree)(site.pid(name)));
    const sample = () => groups.map((pids) => cpuOf(pids));
    const before = sample();
    await pause(seconds * 1000);
    const after = sample();
    const rows = SERVERS.map((server, i) => ({ server, processes: groups[i].length,
      'core %': cpuBetween(before[i], after[i]) / seconds / 1e7, MiB: memoryOf(groups[i]) }));
    const sum = (column) => rows.reduce((all, row) => all + row[column], 0);
    const all = { server: 'all', processes: sum('processes'), 'core %': sum('core %'), MiB: sum('MiB') };
    return {
      rows: [...rows, all],
      ratios: [
        bench.ratio('idle_core_percent', all['core %'], `<= ${CORE_PERCENT_MAX}`),
        bench.ratio('idle_mib', all.MiB, `<= ${MIB_MAX}`),
      ],
      notes: [`CPU of ${seconds} s, in percent of a core, and memory, in which shared pages count once (Pss), `
        + `${SETTLE_S} s after the start.`],
    };
  },
};
