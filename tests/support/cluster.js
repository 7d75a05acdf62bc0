// A cluster of ./dev cluster (docs/how-to/cluster.md) in a separate folder: its commands, its machines, and what must
// not be left of it. Tests reach its stores over Unix sockets, which also work for a machine that is cut off.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Deployment, poll, rowsOf, run, signalPids } from './deployment.js';
import { redis } from './redis.js';
import { PATIENCE } from './poll.js';
import { freePort } from './port.js';

const DEV = fileURLToPath(new URL('../../dev', import.meta.url));
const START_S = 120;

export class Cluster extends Deployment {
  #environment; #port; #machines = {};

  // dir: the instance's folder. binary: the built program. settings: HB_NAME=value for all machines. profile: of
  // ./dev cluster up.
  constructor(dir, binary, settings = {}, profile = 'cluster') {
    super();
    this.dir = dir;
    this.profile = profile;
    this.folder = join(dir, 'cluster');
    this.binary = binary;
    this.#environment = { ...process.env, ...settings, HB_BINARY: binary };
  }

  // Further settings for what is started from now on; HB_BINARY: another program.
  set(settings) {
    Object.assign(this.#environment, settings);
  }

  // The pids of all processes of a machine.
  pids(machine) {
    return execFileSync('ip', ['netns', 'pids', this.namespace(machine)], { encoding: 'utf8' }).split('\n').filter(Boolean).map(Number);
  }

  // The lines of a machine's log after the first `from` ones; how many it has.
  linesAfter(machine, log, from) {
    return readFileSync(join(this.folder, machine, 'log', log), 'utf8').split('\n').slice(from, -1);
  }

  lines(machine, log) {
    return this.linesAfter(machine, log, 0).length;
  }

  // The name of a machine's network namespace, as network_name in deploy/dev/cluster_network.sh.
  namespace(machine) {
    return `${this.#prefix()}-${machine}`;
  }

  #prefix() {
    return `hb${createHash('sha256').update(this.folder).digest('hex').slice(0, 8)}`;
  }

  // Why no cluster can run here; null: it can.
  static impossible(dir) {
    const { stderr } = spawnSync(DEV, ['--var', dir, 'cluster', 'status'], { encoding: 'utf8' });
    return /a cluster can't be made here: (.*)/.exec(stderr)?.[1] ?? null;
  }

  async #arguments(command) {
    this.#port ??= await freePort();
    return ['--var', this.dir, '--port', String(this.#port), 'cluster', ...command];
  }

  // Runs ./dev cluster: { code, stdout, stderr }; never rejects.
  async try(...command) {
    return run(DEV, await this.#arguments(command), { env: this.#environment });
  }

  // The same; rejects when the command fails. Returns its output.
  async do(...command) {
    const { code, stdout, stderr } = await this.try(...command);
    if (code !== 0) throw new Error(`./dev cluster ${command.join(' ')} ended with ${code}:\n${stdout}${stderr}`);
    return stdout;
  }

  async spawn(...command) {
    return spawn(DEV, await this.#arguments(command), { env: this.#environment, stdio: 'ignore' });
  }

  // Starts it; url is the balancer's address then.
  async up() {
    [this.url] = /http:\/\/\S+/.exec(await this.do('up', '--profile', this.profile));
    this.#machines = (await this.status()).machines;
  }

  // The table of `status`: { isWell, machines: { NAME: { kind, address, pid, isWell, role } }, text }.
  async status() {
    const { code, stdout } = await this.try('status');
    const machines = {};
    for (const line of stdout.split('\n').slice(1)) {
      const [, name, kind, address, pid, state, role] = /^(\S+) +(\S+) +([0-9.]+) +(\S+) +(\S+) +(.*)$/.exec(line) ?? [];
      if (name) machines[name] = { kind, address, pid: Number(pid) || 0, isWell: state === 'ok', role };
    }
    return { isWell: code === 0, machines, text: stdout };
  }

  get servers() {
    return Object.keys(this.#machines);
  }

  get logFolders() {
    return this.servers.map((name) => join(this.folder, name, 'log'));
  }

  names(kind) {
    return this.servers.filter((name) => this.#machines[name].kind === kind);
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
    signalPids(this.pids(machine), what);
  }

  // The role of each Redis machine, as `status` prints it: { NAME: text }.
  async roles() {
    const { machines } = await this.status();
    return Object.fromEntries(this.names('redis').map((name) => [name, machines[name].role]));
  }

  // The Redis machines that are primaries now.
  async primaries() {
    const roles = await this.roles();
    return Object.keys(roles).filter((name) => roles[name].startsWith('primary'));
  }

  // Starts machines that do not run; repeats it, because a machine that is cut off does not get ready.
  async ensure(...machines) {
    if (!await poll(START_S, async () => (await this.try('start', ...machines)).code === 0)) throw new Error(`${machines} do not start`);
  }

  // Waits until all machines of the kind, or of all kinds, work well.
  async wellAgain(kind) {
    const well = await poll(START_S, async () => Object.values((await this.status()).machines)
      .every((machine) => (kind && machine.kind !== kind) || machine.isWell));
    if (!well) throw new Error(`not all machines ${kind ? `of kind ${kind} ` : ''}are well`);
  }

  // Makes a replica the primary, as an operator does.
  async failover() {
    const command = ['redis-cli', '-e'];
    if (this.profile === 'sentinel') {
      const [sentinel] = this.names('sentinel');
      await this.do('on', sentinel, ...command, '-h', this.#machines[sentinel].address, '-p', '26379', 'SENTINEL', 'FAILOVER', 'hongbao');
      return;
    }
    const roles = await this.roles();
    const replica = this.names('redis').find((name) => roles[name].startsWith('replica'));
    await this.do('on', replica, ...command, '-s', this.#socket(replica, 'redis'), 'CLUSTER', 'FAILOVER');
  }

  // ---- stores and program ----

  #socket(machine, name) {
    return join(this.folder, machine, 'run', `${name}.sock`);
  }

  // Sends each command to the primary that serves its key: the other servers answer MOVED or READONLY.
  async redis(...commands) {
    const answers = await Promise.all(this.names('redis').map((name) => redis(this.#socket(name, 'redis'), commands).catch(() => null)));
    const there = answers.filter(Boolean);
    if (there.length === 0) throw new Error('redis: no node answers');
    return commands.map((_, i) => (there.find((replies) => !(replies[i] instanceof Error)) ?? there[0])[i]);
  }

  // From the first Galera node that is in the primary component; it shows what all others have committed.
  async sql(query) {
    let why;
    for (const name of this.names('db')) {
      try {
        return await rowsOf(this.#socket(name, 'mariadb'), query, ['--init-command=SET SESSION wsrep_sync_wait = 1'], 60_000 * PATIENCE);
      } catch (error) {
        why = error;
      }
    }
    throw why;
  }

  // Runs the program on a machine of the site; on the other machine when that one is down.
  async hongbao(...args) {
    let told;
    for (const name of this.names('app')) {
      told = await this.hongbaoOn(name, ...args);
      if (told.code === 0 || told.code === 1) break;
    }
    return told;
  }

  hongbaoOn(node, ...args) {
    return this.try('on', node, DEV, '--var', join(this.folder, node), 'hongbao', ...args);
  }

  // What is left of the cluster: processes in its folder, namespaces, links, the folder itself.
  remains() {
    const left = existsSync(this.folder) ? [this.folder] : [];
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      try {
        if (`${readlinkSync(`/proc/${pid}/cwd`)}/`.startsWith(`${this.folder}/`) && !/\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))) {
          left.push(`process ${pid}`);
        }
      } catch {
        // it has ended
      }
    }
    const mine = (text) => text.split('\n').filter((line) => line.includes(this.#prefix()));
    return [...left, ...mine(execFileSync('ip', ['netns', 'list'], { encoding: 'utf8' })), ...mine(execFileSync('ip', ['-o', 'link'], { encoding: 'utf8' }))];
  }
}
