// A cluster of ./dev cluster in a folder of its own: its commands, its state, and what it must not leave behind.
import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../e2e/support/port.js';

const DEV = fileURLToPath(new URL('../../dev', import.meta.url));
const OUTPUT_MAX = 64 << 20;

export class Cluster {
  #environment; #port;

  // dir: the instance's folder. binary: the built program. settings: HB_NAME=value for all machines.
  constructor(dir, binary, settings = {}) {
    this.dir = dir;
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
    const all = await this.#arguments(command);
    return new Promise((resolve) => {
      execFile(DEV, all, { env: this.#environment, maxBuffer: OUTPUT_MAX }, (error, stdout, stderr) => {
        resolve({ code: error ? error.code ?? 1 : 0, stdout, stderr });
      });
    });
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
  async up(...options) {
    const told = await this.do('up', ...options);
    [this.url] = /http:\/\/\S+/.exec(told);
  }

  // Runs a command of the program on that machine: { code, stdout, stderr }.
  hongbao(node, ...args) {
    return this.try('on', node, DEV, '--var', join(this.folder, node), 'hongbao', ...args);
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

  // What is left of it: processes in its folder, namespaces, links, the folder itself.
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
