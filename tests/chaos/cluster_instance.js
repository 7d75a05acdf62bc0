// A cluster of ./dev cluster (docs/how-to/cluster.md) under faults. Its stores are asked over their Unix sockets, which a
// machine that is cut off still has.
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { Cluster } from '../cluster/cluster.js';
import { PATIENCE } from '../e2e/support/poll.js';
import { Deployment, poll, run } from './deployment.js';
import { redis } from './redis.js';

const LIFETIME_MS = 20_000; // of packets: most are over before the run is
const START_S = 120;

export class ClusterInstance extends Deployment {
  #cluster; #machines = {};
  canExpire = true;

  // binary: the built program. profile: of ./dev cluster up. lifetimeMs: of packets. settings: of all machines, as
  // { HB_NAME: value }.
  constructor({ binary, profile = 'cluster', lifetimeMs = LIFETIME_MS, settings = { HB_PACKET_LIFETIME_MS: String(lifetimeMs) } }) {
    super();
    this.profile = profile;
    this.dir = mkdtempSync(join(tmpdir(), 'hongbao-chaos-'));
    chmodSync(this.dir, 0o755); // the servers have a user of their own
    this.#cluster = new Cluster(this.dir, binary, settings);
  }

  // options: further ones of ./dev cluster up.
  async up(...options) {
    await this.#cluster.up('--profile', this.profile, ...options);
    this.url = this.#cluster.url;
    this.#machines = (await this.#cluster.status()).machines;
  }

  get servers() {
    return Object.keys(this.#machines);
  }

  get logFolders() {
    return this.servers.map((name) => join(this.#cluster.folder, name, 'log'));
  }

  // keep: the logs stay, as dir/logs/MACHINE.
  async down(keep) {
    if (keep) for (const folder of this.logFolders) cpSync(folder, join(this.dir, 'logs', basename(dirname(folder))), { recursive: true });
    await this.#cluster.try('down');
    if (!keep) rmSync(this.dir, { recursive: true, force: true });
  }

  passTime() {} // the lifetimes are short

  // ---- machines ----

  folderOf(machine) {
    return join(this.#cluster.folder, machine);
  }

  names(kind) {
    return this.servers.filter((name) => this.#machines[name].kind === kind);
  }

  pids(machine) {
    return this.#cluster.pids(machine);
  }

  isRunning(machine) {
    return this.pids(machine).length > 0;
  }

  // The settle workers of a machine, without their supervisor.
  workers(machine) {
    return this.pids(machine).filter((pid) => {
      try {
        return /^[^\0]*hongbao\0settle\0/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
      } catch {
        return false; // it has ended
      }
    });
  }

  signalAll(machine, what) {
    this.signalPids(this.pids(machine), what);
  }

  signalPids(pids, what) {
    for (const pid of pids) {
      try {
        process.kill(pid, what);
      } catch (error) {
        if (error.code !== 'ESRCH') throw error;
      }
    }
  }

  do(...command) {
    return this.#cluster.do(...command);
  }

  // Settings for what is started from now on.
  set(settings) {
    this.#cluster.set(settings);
  }

  // The role of each Redis machine, as `status` tells it: { NAME: text }.
  async roles() {
    const { machines } = await this.#cluster.status();
    return Object.fromEntries(this.names('redis').map((name) => [name, machines[name].role]));
  }

  // Starts machines that do not run; repeats it, because a machine that is cut off does not get ready.
  ensure(...machines) {
    return poll(START_S, async () => (await this.#cluster.try('start', ...machines)).code === 0);
  }

  // Waits until all machines of the kind are well; false when they are not.
  isWell(kind) {
    return poll(START_S, async () => Object.values((await this.#cluster.status()).machines).every((machine) => machine.kind !== kind || machine.isWell));
  }

  // The Redis machines that are primaries now.
  async primaries() {
    const roles = await this.roles();
    return Object.keys(roles).filter((name) => roles[name].startsWith('primary'));
  }

  // A replica becomes the primary, as an operator has it done.
  async failover() {
    if (this.profile === 'sentinel') {
      const [sentinel] = this.names('sentinel');
      await this.do('on', sentinel, 'redis-cli', '-e', '-h', this.#machines[sentinel].address, '-p', '26379', 'SENTINEL', 'FAILOVER', 'hongbao');
      return;
    }
    const roles = await this.roles();
    const replica = this.names('redis').find((name) => roles[name].startsWith('replica'));
    await this.do('on', replica, 'redis-cli', '-e', '-s', this.#socket(replica, 'redis'), 'CLUSTER', 'FAILOVER');
  }

  // ---- stores and program ----

  #socket(machine, name) {
    return join(this.#cluster.folder, machine, 'run', `${name}.sock`);
  }

  // Each command is answered by the primary that serves its key: the others answer MOVED or READONLY.
  async redis(...commands) {
    const answers = await Promise.all(this.names('redis').map((name) => redis(this.#socket(name, 'redis'), commands).catch(() => null)));
    const there = answers.filter(Boolean);
    if (there.length === 0) throw new Error('redis: no node answers');
    return commands.map((_, i) => {
      const served = there.find((replies) => !(replies[i] instanceof Error));
      return (served ?? there[0])[i];
    });
  }

  // From the first Galera node that is in the primary component; it shows what all others have committed.
  async sql(query) {
    let why = '';
    for (const name of this.names('db')) {
      const { code, stdout, stderr } = await run('mariadb', ['--no-defaults', `--socket=${this.#socket(name, 'mariadb')}`, '--user=root',
        '--init-command=SET SESSION wsrep_sync_wait = 1', '--default-character-set=utf8mb4', '--batch', '--raw', '--skip-column-names', '--quick',
        '--connect-timeout=5', '-e', query, 'hongbao'], { timeout: 60_000 * PATIENCE });
      if (code === 0) return stdout.split('\n').filter(Boolean).map((line) => line.split('\t'));
      why = stderr;
    }
    throw new Error(`mariadb: ${why}`);
  }

  // On a machine of the site; on the other one when that one is away.
  async hongbao(...args) {
    let told;
    for (const name of this.names('app')) {
      told = await this.#cluster.hongbao(name, ...args);
      if (told.code === 0 || told.code === 1) break;
    }
    return told;
  }
}
