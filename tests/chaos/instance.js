// A private instance in a folder of its own, started by ./dev, with what the faults need: proxies before the stores,
// clocks that can be moved, a small file system for Redis.
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync, closeSync, cpSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync, writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/port.js';
import { Deployment, pause, poll, rowsOf, run, signalPids } from '../support/deployment.js';
import { Proxy } from './proxy.js';
import { redis } from '../support/redis.js';

export const SERVERS = ['mariadb', 'redis', 'settle', 'auth', 'money', 'page', 'hot', 'nginx'];
export const POOLS = ['settle', 'auth', 'money', 'page', 'hot']; // under a supervisor that replaces processes that end
export const SECOND = 'settle2';                         // another settle worker, on the same partitions
const CLOCKS = ['mariadb', 'redis', ...POOLS, SECOND];
const DISK_MIB = 256;

// Every page process takes the next one, so that packets with all lifetimes exist.
const LIFETIMES_MS = [3000, 8000, 20_000, 3_600_000];

const isAlive = (pid) => {
  try {
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};

export class Instance extends Deployment {
  servers = SERVERS;
  #root; #environment; #mounted = false; #clocks = new Map(); #second = null; #ending = false;

  // root: the project. binary: the built program. clockShift: the library of clock_shift.c, or null. faulty: with proxies
  // and a small file system. redisUnder: a command prefix for Redis.
  constructor({ root, binary, clockShift = null, faulty = true, redisUnder = '' }) {
    super();
    this.#root = root;
    this.binary = binary;
    this.dir = mkdtempSync(join(tmpdir(), 'hongbao-chaos-'));
    chmodSync(this.dir, 0o755); // the servers have a user of their own
    this.var = join(this.dir, 'site');
    this.bin = join(this.dir, 'bin');
    for (const folder of [this.bin, join(this.dir, 'clock'), join(this.var, 'data/redis')]) mkdirSync(folder, { recursive: true });
    this.canMoveClocks = Boolean(clockShift && existsSync(clockShift));
    this.#writeWrappers({ clockShift, faulty, redisUnder });
    this.#environment = { ...process.env, HB_BINARY: join(this.bin, 'hongbao'), PATH: `${this.bin}:${process.env.PATH}` };
    if (faulty) {
      this.wires = { redis: new Proxy(join(this.dir, 'redis.sock'), this.socket('redis')),
        mariadb: new Proxy(join(this.dir, 'mariadb.sock'), this.socket('mariadb')) };
      Object.assign(this.#environment, { HB_REDIS: `unix:${join(this.dir, 'redis.sock')}`, HB_MYSQL: `unix:${join(this.dir, 'mariadb.sock')}` });
    }
  }

  // Wrappers that ./dev starts instead of the programs: they set the clock file of the role and, for page processes, the
  // lifetime of packets.
  #writeWrappers({ clockShift, faulty, redisUnder }) {
    // Names without spaces and quotes, whatever the project's path is: LD_PRELOAD is a list, and this is shell.
    const program = join(this.dir, 'hongbao');
    const library = join(this.dir, 'clock_shift.so');
    symlinkSync(this.binary, program);
    if (this.canMoveClocks) symlinkSync(clockShift, library);
    const preload = (role) => (this.canMoveClocks
      ? `export LD_PRELOAD='${library}' HB_TEST_CLOCK_FILE='${join(this.dir, 'clock')}'/${role}\n` +
        'export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0"\n' : '');
    const write = (name, text) => {
      writeFileSync(join(this.bin, name), `#!/bin/bash\n${text}`);
      chmodSync(join(this.bin, name), 0o755);
    };
    const path = (name) => spawnSync('bash', ['-c', `type -P ${name} || echo /usr/sbin/${name}`]).stdout.toString().trim();
    write('redis-server', `${preload('redis')}exec ${redisUnder} '${path('redis-server')}' "$@"\n`);
    write('mariadbd', `${preload('mariadb')}exec '${path('mariadbd')}' "$@"\n`);
    write('hongbao', [
      'role=',
      '[ "$1" != settle ] || role=${CHAOS_ROLE:-settle}',
      '[ "$1" != serve ] || role=$3',
      'if [ "$role" = page ]; then',
      `    lifetimes=(${(faulty ? LIFETIMES_MS : [3_600_000]).join(' ')})`,
      `    exec 9>>'${join(this.dir, 'page.count')}'`,
      '    flock 9',
      `    count=$(wc -c <'${join(this.dir, 'page.count')}')`,
      '    printf . >&9',
      '    exec 9>&-',
      '    export HB_PACKET_LIFETIME_MS=${lifetimes[count % ${#lifetimes[@]}]}',
      'fi',
      'if [ -n "$role" ]; then',
      preload('"$role"') || ':',
      'fi',
      `exec '${program}' "$@"\n`].join('\n'));
    writeFileSync(join(this.dir, 'page.count'), '');
    chmodSync(join(this.dir, 'page.count'), 0o666);
    for (const role of CLOCKS) this.#clocks.set(role, openSync(join(this.dir, 'clock', role), 'w+'));
    this.passTime(0);
  }

  get canExpire() {
    return this.canMoveClocks;
  }

  // Moves all clocks forward.
  passTime(ms) {
    for (const role of CLOCKS) this.moveClock(role, ms);
  }

  socket(name) {
    return join(this.var, 'run', `${name}.sock`);
  }

  // Moves the clock of all processes of the role by ms; negative: back.
  moveClock(role, ms) {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(ms));
    writeSync(this.#clocks.get(role), bytes, 0, 8, 0);
  }

  get logFolders() {
    return [join(this.var, 'log')];
  }

  dev(...args) {
    return run(join(this.#root, 'dev'), ['--var', this.var, ...args], { env: this.#environment });
  }

  async up() {
    this.canFillDisk = Boolean(this.wires) && this.#mountDisk();
    for (const wire of Object.values(this.wires ?? {})) await wire.listen();
    const port = await freePort();
    this.url = `http://127.0.0.1:${port}`;
    const { code, stderr } = await this.dev('--port', String(port), 'up');
    if (code !== 0) throw new Error(`the instance did not start:\n${stderr}`);
    if (this.wires) this.#startSecond();
  }

  // Starts a second settle worker: both read the same events, and the later one must notice. We are its supervisor.
  #startSecond() {
    if (this.#ending) return;
    const log = openSync(join(this.var, 'log', `${SECOND}.log`), 'a');
    const { uid, gid } = statSync(join(this.var, 'run'));
    this.#second = spawn(join(this.bin, 'hongbao'), ['settle'], { uid, gid, cwd: this.var, stdio: ['ignore', log, log],
      env: { ...this.#environment, HB_CONFIG: join(this.var, 'hongbao.conf'), CHAOS_ROLE: SECOND } });
    closeSync(log);
    this.#second.once('exit', () => { setTimeout(() => this.#startSecond(), 100); });
  }

  // Mounts a file system for Redis's files that is small enough to be filled. Needs root.
  #mountDisk() {
    const place = join(this.var, 'data/redis');
    if (process.getuid() !== 0) return false;
    this.#mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MIB}m,mode=750`, 'tmpfs', place]).status === 0;
    return this.#mounted;
  }

  ballast() {
    return join(this.var, 'data/redis/ballast');
  }

  // Ends all processes, unmounts, and removes the folder unless keep.
  async down(keep) {
    this.#ending = true;
    for (const name of [...SERVERS, SECOND]) this.signalAll(name, 'SIGCONT');
    if (this.#second?.exitCode === null && this.#second.signalCode === null) {
      const ended = new Promise((resolve) => { this.#second.once('exit', resolve); });
      this.#second.kill('SIGTERM');
      await Promise.race([ended, pause(5000).then(() => this.#second.kill('SIGKILL'))]);
    }
    for (const wire of Object.values(this.wires ?? {})) wire.heal();
    await this.dev('down');
    for (const wire of Object.values(this.wires ?? {})) wire.close();
    if (this.#mounted && keep) cpSync(join(this.var, 'data/redis'), join(this.dir, 'redis'), { recursive: true });
    if (this.#mounted) spawnSync('umount', ['-l', join(this.var, 'data/redis')]);
    if (!keep) rmSync(this.dir, { recursive: true, force: true });
  }

  // ---- processes ----

  // The pid of a server's first process: its supervisor, or itself. 0: not started.
  first(name) {
    try {
      return Number(readFileSync(join(this.var, 'run', `${name}.pid`), 'utf8'));
    } catch {
      return 0;
    }
  }

  isRunning(name) {
    const pid = this.first(name);
    return pid !== 0 && isAlive(pid);
  }

  // The worker processes of a pool.
  workers(name) {
    if (name === SECOND) return this.#second ? [this.#second.pid] : [];
    try {
      const pid = this.first(name);
      return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
    } catch {
      return [];
    }
  }

  signalWorkers(name, what) {
    const pids = this.workers(name);
    signalPids(pids, what);
    return pids.length;
  }

  // Signals the process group of a server.
  signalAll(name, what) {
    if (name === SECOND) this.signalWorkers(name, what);
    else if (this.isRunning(name)) signalPids([-this.first(name)], what);
  }

  // Starts a server that does not run; retries, because a concurrent fault may make the start fail.
  async ensure(name) {
    return poll(60, async () => this.isRunning(name) || (await this.dev('start', name)).code === 0);
  }

  // ---- stores and pages ----

  redis(...commands) {
    return redis(this.socket('redis'), commands);
  }

  sql(query) {
    return rowsOf(this.socket('mariadb'), query);
  }

  // Runs the program with the settings of the instance, without proxies and with the real clock.
  hongbao(...args) {
    return run(this.binary, args, { env: { ...process.env, HB_CONFIG: join(this.var, 'hongbao.conf') } });
  }
}
