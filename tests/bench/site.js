// A private instance of the site for benchmarks: the release build, in a folder of its own, started by ./dev.
import { mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../chaos/deployment.js';
import { redis } from '../chaos/redis.js';
import { freePort } from '../e2e/support/port.js';
import { nginxTree, processTree } from './cpu.js';
import { REQUEST_MS_MAX, SiteUnderLoad, environmentOf } from './site_under_load.js';

export class Site extends SiteUnderLoad {
  #root; #environment; #commands = new Set(); #ending = false;

  // settings: of docs/reference/config.md, as { HB_NAME: value }. cpu: all servers run on this CPU only, as on a machine
  // with a single one.
  constructor({ root, build, folder, settings = {}, cpu = null }) {
    super();
    this.#root = root;
    this.cpu = cpu;
    this.build = build;
    this.var = folder;
    this.binary = join(build, 'hongbao');
    this.#environment = { ...process.env, HB_BINARY: this.binary, ...environmentOf(settings) };
    mkdirSync(folder, { recursive: true });
  }

  // Runs ./dev on this instance; rejects when the command fails, or after down() was called.
  async dev(...args) {
    if (this.#ending) throw new Error('the site is down');
    const command = this.#run(...args);
    this.#commands.add(command);
    return command.finally(() => this.#commands.delete(command));
  }

  async #run(...args) {
    const command = [...(this.cpu === null ? [] : ['taskset', '-c', String(this.cpu)]), join(this.#root, 'dev'), '--var', this.var, ...args];
    const { code, stdout, stderr } = await run(command[0], command.slice(1), { env: this.#environment });
    if (code !== 0) throw new Error(`./dev ${args.join(' ')}: ${code}\n${stderr}`);
    return stdout;
  }

  // Settings for what is started from now on.
  set(settings) {
    Object.assign(this.#environment, settings);
  }

  async up() {
    this.port = await freePort();
    this.url = `http://127.0.0.1:${this.port}`;
    await this.dev('--port', String(this.port), 'up');
  }

  get tmp() {
    return join(this.var, 'tmp');
  }

  // Stops the instance, after the commands that are under way have ended.
  async down() {
    this.#ending = true;
    await Promise.allSettled([...this.#commands]);
    this.disconnect();
    await this.#run('down');
  }

  // Starts one server: mariadb redis settle auth page hot nginx.
  start(name) {
    return this.dev('start', name);
  }

  stop(name) {
    return this.dev('stop', name);
  }

  socket(name) {
    return join(this.var, 'run', `${name}.sock`);
  }

  // The pid of a server's first process; 0: it does not run.
  pid(name) {
    try {
      return Number(readFileSync(join(this.var, 'run', `${name}.pid`), 'utf8'));
    } catch {
      return 0;
    }
  }

  // The processes that answer a request of a pool: { nginx, app, redis }, lists of pids; of each pool but the hot one,
  // mariadb, too.
  groups(pool) {
    return { nginx: nginxTree(this.pid('nginx')), app: processTree(this.pid(pool)), redis: processTree(this.pid('redis')),
      ...(pool !== 'hot' && { mariadb: processTree(this.pid('mariadb')) }) };
  }

  processes() {
    const files = readdirSync(join(this.var, 'run')).filter((file) => file.endsWith('.pid'));
    return files.flatMap((file) => processTree(this.pid(file.slice(0, -'.pid'.length))));
  }

  redisAll(commands) {
    return redis(this.socket('redis'), commands, REQUEST_MS_MAX);
  }

  // Runs the program with the settings of the instance and returns its output; rejects when it fails.
  async hongbao(...args) {
    const { code, stdout, stderr } = await run(this.binary, args, { env: { ...this.#environment, HB_CONFIG: join(this.var, 'hongbao.conf') } });
    if (code !== 0) throw new Error(`hongbao ${args.join(' ')}: ${code}\n${stderr}${stdout}`);
    return stdout;
  }

  // Rows of text cells, as the administrator of the instance.
  async sql(query) {
    const { code, stdout, stderr } = await run('mariadb', ['--no-defaults', `--socket=${this.socket('mariadb')}`, '--user=root',
      '--batch', '--raw', '--skip-column-names', '--quick', '-e', query, 'hongbao']);
    if (code !== 0) throw new Error(`mariadb: ${stderr}`);
    return stdout.split('\n').filter(Boolean).map((line) => line.split('\t'));
  }
}
