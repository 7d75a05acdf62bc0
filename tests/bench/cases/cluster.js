// CPU of a winning grab on several machines, beside a site on one: a Redis Cluster of one to three primaries with two
// replicas each, of which one confirms, and one or two machines of the site behind a balancer. The connections are those of
// one machine, times the number of primaries or of machines, whichever is larger.
//
// nginx, the hot pools and the primaries are measured; they share one core. The load generator, the balancer, the replicas
// and MariaDB have another core, so that they take neither time nor L1 and L2 caches of the first. Needs root and two CPUs.
import { Cluster } from '../../cluster/cluster.js';
import { ClusterSite } from '../cluster_site.js';
import { cpusOf, pin } from '../cpu.js';
import { Grabs, SPREAD } from '../grabs.js';
import { rounds } from '../rounds.js';

const PRIMARIES = [1, 2, 3];
const MACHINES = [1, 2];
const CONNECTIONS = 64; // of the site on one machine
const APART = true; // false: all processes share all cores
const WANTED = '<= 1.5';
const WANTED_FLAT = '<= 1.15';

const nameOf = (primaries, machines) => `${primaries} primaries, ${machines} machines of the site`;

// The row of a load with the cost that is compared: CPU of nginx, the pools and the primaries, without the replicas.
function costOf({ 'replicas µs': replicas = 0, 'server µs': all, 'app MiB': _, ...row }) {
  return { ...row, 'replicas µs': replicas, 'grab µs': all - replicas };
}

// Gives the measured processes one core, and all others of these sites another one, which is returned for the load
// generator; null: any.
function keepApart(sites, { nginx, app, redis }) {
  if (!APART) return null;
  const [cpu, other] = cpusOf('self');
  pin(sites.flatMap((site) => site.processes()), other);
  pin([nginx, app, redis].flat(), cpu);
  return other;
}

async function loadOf(grabs, target, sites, seconds, connections = CONNECTIONS) {
  const row = costOf(await grabs.withoutSettlement(() => {
    const cpu = keepApart(sites, target.groups());
    return grabs.winSpread(target, seconds, { connections, cpu });
  }));
  return { connections, ...row };
}

// The rows of one number of primaries, and each number of machines against one machine alone: { rows, against: [ratio] }.
async function compare(bench, alone, primaries, seconds) {
  const site = bench.keep(new ClusterSite({ root: bench.root, build: bench.build, settings: bench.settings, primaries }));
  await site.up();
  const grabs = await Grabs.open(bench, { site });
  const sites = [site, alone.site];
  const targets = [{ name: `one machine alone (beside ${primaries})`, load: () => loadOf(alone, alone.target(), sites, seconds) }];
  for (const machines of MACHINES) {
    const target = { name: nameOf(primaries, machines), url: site.url, groups: () => site.groups() };
    const connections = CONNECTIONS * Math.max(primaries, machines);
    // All hot pools together have as many processes as that of the site on one machine: one for each core.
    const processes = Math.max(1, Math.round(cpusOf('self').length / machines));
    await site.serveWith(machines, processes);
    await grabs.withoutSettlement(() => grabs.warmUp(target, { connections }));
    targets.push({ name: target.name, load: async () => {
      await site.serveWith(machines, processes);
      return loadOf(grabs, target, sites, seconds, connections);
    } });
  }
  const { rows, ratio } = await rounds(bench, targets);
  await site.mustBeSound();
  await site.down();
  return { rows, against: MACHINES.map((_, i) => ratio(i + 1, 0, 'grab µs')) };
}

export default {
  name: 'cluster',
  title: `winning grabs of ${SPREAD} packets on several machines`,
  async run(bench) {
    const reason = cpusOf('self').length < 2 ? 'it needs two CPUs' : Cluster.impossible(bench.folder);
    if (reason) return { notes: [`Not measured: a cluster can't be made here: ${reason}`] };
    const alone = await Grabs.open(bench, { site: await bench.site({ own: true }) });
    await alone.withoutSettlement(() => alone.warmUp(alone.target(), { connections: CONNECTIONS }));
    const found = [];
    for (const primaries of PRIMARIES) found.push(await compare(bench, alone, primaries, bench.size(4, 2)));
    const ratios = MACHINES.flatMap((machines, m) => [
      ...PRIMARIES.map((primaries, p) => bench.ratio(`cluster: CPU per grab, ${nameOf(primaries, machines)}, vs one machine`,
        found[p].against[m], WANTED)),
      bench.ratio(`cluster: CPU per grab, ${machines} machines of the site, 3 primaries vs 1`,
        found.at(-1).against[m] / found[0].against[m], WANTED_FLAT),
    ]);
    return { rows: found.flatMap(({ rows }) => rows), ratios, notes: [
      '“grab µs” is CPU of nginx, the pools and the primaries. Each cluster is measured in turn with the site on one machine. '
        + (APART ? 'These servers share one core; the balancer, the replicas, MariaDB and the load generator run on another one.'
          : 'All processes share all cores, the balancer, the replicas, MariaDB and the load generator, too.')] };
  },
};
