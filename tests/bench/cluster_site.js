// A cluster of ./dev cluster for benchmarks: a Redis Cluster of one to three primaries, one or two machines of the site.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ClusterInstance } from '../chaos/cluster_instance.js';
import { poll } from '../chaos/deployment.js';
import { nginxTree, processTree } from './cpu.js';
import { SiteUnderLoad, environmentOf } from './site_under_load.js';

const NODE_PORT = '8080'; // CLUSTER_PORT of deploy/dev/cluster.sh
const READY_S = 60;

export class ClusterSite extends SiteUnderLoad {
  #cluster; #dev; #primaries; #machines; #primaryNames;

  constructor({ root, build, settings, primaries }) {
    super();
    this.#cluster = new ClusterInstance({ binary: join(build, 'hongbao'), settings: environmentOf(settings) });
    this.#dev = join(root, 'dev');
    this.#primaries = primaries;
  }

  async up() {
    await this.#cluster.up('--primaries', String(this.#primaries));
    this.url = this.#cluster.url;
    this.#machines = this.#cluster.names('app');
    this.#primaryNames = await this.#cluster.primaries();
  }

  async down() {
    this.disconnect();
    await this.#cluster.down(false);
  }

  // Stops, starts one server on each machine of the site.
  stop(server) {
    return this.#onEach('stop', server);
  }

  start(server) {
    return this.#onEach('start', server);
  }

  // Throws also when a replica has taken over: its CPU would be in the wrong group.
  async mustBeSound() {
    await super.mustBeSound();
    const now = await this.#cluster.primaries();
    if (now.join() !== this.#primaryNames.join()) throw new Error(`the primaries are ${now}, and were ${this.#primaryNames}`);
  }

  async #onEach(...command) {
    for (const machine of this.#cluster.names('app')) await this.#on(machine, {}, ...command);
  }

  #on(machine, environment, ...command) {
    const pairs = Object.entries({ HONGBAO_BUILT: 'yes', ...environment }).map(([name, value]) => `${name}=${value}`);
    return this.#cluster.do('on', machine, 'env', ...pairs, this.#dev,
      '--var', this.#cluster.folderOf(machine), '--port', NODE_PORT, ...command);
  }

  // From now on the balancer sends visitors to the first `count` machines of the site only, whose hot pools have this many
  // processes each.
  async serveWith(count, processes) {
    const all = this.#cluster.names('app');
    this.#machines = all.slice(0, count);
    for (const machine of this.#machines) {
      await this.#on(machine, {}, 'stop', 'hot');
      await this.#on(machine, { HB_TEST_HOT_PROCESSES: processes }, 'start', 'hot');
    }
    await this.#cluster.do('ready', ...this.#machines);
    if (count < all.length) await this.#cluster.do('drain', ...all.slice(count));
    if (!await poll(READY_S, async () => (await this.request('/readyz')).status === 200)) throw new Error('the cluster does not get ready');
  }

  get tmp() {
    return this.#cluster.dir;
  }

  async hongbao(...args) {
    const { code, stdout, stderr } = await this.#cluster.hongbao(...args);
    if (code !== 0) throw new Error(`hongbao ${args.join(' ')}: ${code}\n${stderr}${stdout}`);
    return stdout;
  }

  redisAll(commands) {
    return this.#cluster.redis(...commands);
  }

  processes() {
    return this.#cluster.servers.flatMap((machine) => this.#cluster.pids(machine));
  }

  // The processes that answer a grab: { nginx, app, redis, replicas }, lists of pids; redis: the primaries.
  groups() {
    const pid = (machine, name) => Number(readFileSync(join(this.#cluster.folderOf(machine), 'run', `${name}.pid`), 'utf8'));
    const trees = (machines, name, tree = processTree) => machines.flatMap((machine) => tree(pid(machine, name)));
    const replicas = this.#cluster.names('redis').filter((name) => !this.#primaryNames.includes(name));
    return { nginx: trees(this.#machines, 'nginx', nginxTree), app: trees(this.#machines, 'hot'),
      redis: trees(this.#primaryNames, 'redis'), replicas: trees(replicas, 'redis') };
  }
}
