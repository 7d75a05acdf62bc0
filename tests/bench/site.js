// A private instance of the site for benchmarks: the release build, in a folder of its own, started by ./dev. Its users,
// requests and packets, and the state of its stores.
import http from 'node:http';
import { mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { poll, run } from '../support/deployment.js';
import { redis } from '../support/redis.js';
import { partitionKeys, PARTITIONS } from '../support/packet_id.js';
import { freePort } from '../support/port.js';
import { nginxTree, processTree } from './cpu.js';

const DEMO_USERS_MAX = 20_000;
const REQUEST_MS_MAX = 60_000;

// Settings as variables of the environment: { HB_NAME: text }.
const environmentOf = (settings) => Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, String(value)]));

export class Site {
  #root; #environment; #commands = new Set(); #ending = false;
  #agent = new http.Agent({ keepAlive: true, maxSockets: 32 }); #users = [];

  // settings: of docs/reference/config.md, as { HB_NAME: value }. cpu: all servers run on this CPU only, as on a machine
  // with a single one.
  constructor({ root, build, folder, settings = {}, cpu = null }) {
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

  // Settings for servers that are started from now on.
  set(settings) {
    Object.assign(this.#environment, settings);
  }

  async up() {
    this.port = await freePort();
    this.url = `http://127.0.0.1:${this.port}`;
    await this.dev('--port', String(this.port), 'up');
  }

  // Stops the instance, after the commands that are under way have ended.
  async down() {
    this.#ending = true;
    await Promise.allSettled([...this.#commands]);
    this.#agent.destroy();
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

  // The processes that answer a request of a pool: { nginx, app, redis }, lists of pids; also mariadb, except for the
  // hot pool.
  groups(pool) {
    return { nginx: nginxTree(this.pid('nginx')), app: processTree(this.pid(pool)), redis: processTree(this.pid('redis')),
      ...(pool !== 'hot' && { mariadb: processTree(this.pid('mariadb')) }) };
  }

  processes() {
    const files = readdirSync(join(this.var, 'run')).filter((file) => file.endsWith('.pid'));
    return files.flatMap((file) => processTree(this.pid(file.slice(0, -'.pid'.length))));
  }

  // The replies; errors are Error objects among them.
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

  // The reply to one command.
  async redis(...args) {
    const [reply] = await this.redisAll([args]);
    if (reply instanceof Error) throw reply;
    return reply;
  }

  // The first count demo users with a session and 1,000 yuan each: [{ id, name, cookie }]. Creates missing ones.
  async users(count) {
    while (this.#users.length < count) {
      const file = join(this.var, 'tmp/bench-users');
      await this.hongbao('demo', '--users', String(Math.min(count - this.#users.length, DEMO_USERS_MAX)), '--out', file);
      for (const line of readFileSync(file, 'utf8').trim().split('\n')) {
        const [id, name, cookie] = line.split('\t');
        this.#users.push({ id, name, cookie });
      }
    }
    return this.#users.slice(0, count);
  }

  // Sends one request: { status, headers, text, json }. With fields it is a POST. accept: JSON by default.
  // base: another server's address.
  request(path, { cookie, fields, accept = 'application/json', base = this.url } = {}) {
    const body = fields ? new URLSearchParams(fields).toString() : null;
    const headers = { Accept: accept, ...(cookie ? { Cookie: cookie } : {}),
      ...(body !== null ? { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': Buffer.byteLength(body) } : {}) };
    return new Promise((resolve, reject) => {
      const request = http.request(base + path, { method: body === null ? 'GET' : 'POST', headers, agent: this.#agent,
        timeout: REQUEST_MS_MAX }, (response) => {
        const parts = [];
        response.on('data', (part) => parts.push(part));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(parts).toString('utf8');
          resolve({ status: response.statusCode, headers: response.headers, text,
            get json() { return text ? JSON.parse(text) : null; } });
        });
      });
      request.on('timeout', () => request.destroy(new Error(`${path}: no answer in time`)));
      request.on('error', reject);
      request.end(body ?? undefined);
    });
  }

  // Sends a packet of count shares of one fen each; returns its public id.
  async send(user, count) {
    const { status, json, text } = await this.request('/send', { cookie: user.cookie, fields: {
      kind: 'even', amount: '0.01', count: String(count), greeting: '恭喜发财', request_key: `bench-${Site.#keys++}-${Date.now()}` } });
    if (status !== 201) throw new Error(`POST /send: ${status} ${text}`);
    return json.id;
  }
  static #keys = 0;

  // Waits until every event is settled: the last entry of each stream is the published position.
  async drained(seconds = 120) {
    const partitions = Array.from({ length: PARTITIONS }, (_, i) => partitionKeys(i));
    const found = await poll(seconds, async () => {
      const replies = await this.redisAll(partitions.flatMap((key) => [['XREVRANGE', `${key}:events`, '+', '-', 'COUNT', '1'], ['GET', `${key}:settled`]]));
      return partitions.every((_, i) => (replies[2 * i][0]?.[0] ?? null) === replies[2 * i + 1]);
    });
    if (!found) throw new Error(`after ${seconds} s not everything is settled`);
  }

  // Throws unless the audit is clean and no event waits.
  async mustBeSound() {
    const found = JSON.parse(await this.hongbao('audit', '--json'));
    if (!found.ok || found.unsettled !== 0) throw new Error(`the audit is not clean: ${JSON.stringify(found)}`);
  }
}
