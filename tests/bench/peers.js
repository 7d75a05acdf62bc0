// The alternatives that the site is compared with: servers that do the same grab on the same Redis, each behind an nginx of
// its own with the site's settings.
import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { poll } from '../support/deployment.js';
import { PARTITIONS } from '../support/packet_id.js';
import { freePort } from '../support/port.js';
import { nginxTree, processTree } from './cpu.js';

const PHP_WORKERS_PER_CPU = 8;
const PAGE = 'page.php'; // what PHP includes; programs in C read the same file
const MODULES = ['ndk_http_module.so', 'ngx_http_lua_module.so'];

const fill = (text, names) => Object.entries(names).reduce((done, [name, value]) => done.replaceAll(`@${name}@`, value), text);

const roleOf = (site, role) => Object.fromEntries(readFileSync(join(site.var, 'rights', `${role}.conf`), 'utf8').trim().split('\n')
  .map((line) => line.split(' = ')));

const group = () => readFileSync('/etc/group', 'utf8').split('\n').map((line) => line.split(':'))
  .find(([, , id]) => Number(id) === process.getgid())?.[0] ?? String(process.getgid());

function phpProgram() {
  const found = ['8.2', '8.3', '8.4', ''].map((version) => `/usr/sbin/php-fpm${version}`).find(existsSync);
  if (!found) throw new Error('no php-fpm; run ./dev install bench');
  return found;
}

// A server with an application of its own, or none (Lua): { conf, app } below. kept: nginx keeps its connections to the
// application, which would occupy a process that serves one request at a time. mariadb: its grabs are in MariaDB.
// script: of peers/, for php. Peers that serve a whole gift have page: the text around the content of a packet's page;
// and take: the name of peers/take.lua in Redis.
export class Peer {
  #children = [];

  constructor({ name, root, build, folder, site, grabFunction, conf = 'fastcgi.conf.in', modules = false, app = null, kept = false, mariadb = false,
    script = 'grab.php', page = null, take = 'none' }) {
    Object.assign(this, { name, root, build, folder, site, grabFunction, conf, modules, app, kept, mariadb, script, page, take });
  }

  async start() {
    for (const part of ['run', 'log', 'tmp']) mkdirSync(join(this.folder, part), { recursive: true });
    symlinkSync(join(this.root, 'nginx'), join(this.folder, 'hongbao'));
    this.port = await freePort();
    this.url = `http://127.0.0.1:${this.port}`;
    if (this.page) writeFileSync(join(this.folder, PAGE), this.page);
    if (this.app) this.appPid = this.#spawn('app', ...this.app(this));
    if (this.app) await this.#ready(() => existsSync(join(this.folder, 'run/app.sock')));
    writeFileSync(join(this.folder, 'nginx.conf'), this.#nginxConf());
    this.nginxPid = this.#spawn('nginx', '/usr/sbin/nginx', ['-e', join(this.folder, 'log/nginx.log'), '-p', this.folder,
      '-c', join(this.folder, 'nginx.conf'), '-g', 'daemon off;']);
    await this.#ready(() => fetch(this.url).then(() => true, () => false));
  }

  // The site's own settings with all its locations; the peer's location comes first.
  #nginxConf() {
    const template = readFileSync(join(this.root, 'nginx/nginx.conf.in'), 'utf8');
    const head = template.slice(0, template.indexOf('    server {'));
    const modules = this.modules ? MODULES.map((file) => `load_module /usr/lib/nginx/modules/${file};\n`).join('') : '';
    const tail = readFileSync(join(this.root, 'tests/bench/peers', this.conf), 'utf8');
    return fill(modules + head + tail, this.names({ GUEST: '', LIMITS: 'limits-off', USER: process.getuid() === 0 ? `user root ${group()};` : '' }));
  }

  names(more = {}) {
    const hot = roleOf(this.site, 'hot'), owner = roleOf(this.site, 'migrate');
    return { ROOT: this.root, VAR: this.folder, PORT: this.port, REDIS: this.site.socket('redis'), GRAB_FUNCTION: this.grabFunction,
      PARTITIONS, REDIS_USER: hot.redis_user, REDIS_PASSWORD: hot.redis_password, TAKE: this.take,
      MYSQL: this.site.socket('mariadb'), MYSQL_USER: owner.mysql_user, MYSQL_PASSWORD: owner.mysql_password, MYSQL_DATABASE: DATABASE,
      ...(this.kept ? { KEEPALIVE: 'keepalive 128; keepalive_requests 1000000;', KEPT: 'on', SCRIPT: '' }
        : { KEEPALIVE: '', KEPT: 'off', SCRIPT: `fastcgi_param SCRIPT_FILENAME "${this.root}/tests/bench/peers/${this.script}";` }), ...more };
  }

  // Fills a file of peers/ into the peer's folder; its path.
  file(name, more) {
    const path = join(this.folder, name);
    writeFileSync(path, fill(readFileSync(join(this.root, 'tests/bench/peers', `${name}.in`), 'utf8'), this.names(more)));
    return path;
  }

  // Starts a process, on the CPU of the site when it has only one.
  #spawn(name, file, args, env = {}) {
    const log = openSync(join(this.folder, 'log', `${name}.out`), 'a');
    const [program, ...rest] = this.site.cpu === null ? [file, ...args] : ['taskset', '-c', String(this.site.cpu), file, ...args];
    const child = spawn(program, rest, { cwd: this.folder, detached: true, stdio: ['ignore', log, log], env: { ...process.env, ...env } });
    closeSync(log);
    child.on('error', () => {});
    child.ended = new Promise((resolve) => { child.once('close', resolve); });
    this.#children.push(child);
    return child.pid;
  }

  async #ready(probe) {
    const dead = () => this.#children.some(({ exitCode, pid }) => exitCode !== null || !pid);
    const ready = await poll(20, async () => dead() || await probe());
    if (ready && !dead()) return;
    const logs = ['app.out', 'nginx.out', 'nginx.log', 'php-fpm.log'].map((name) => join(this.folder, 'log', name)).filter(existsSync);
    throw new Error(`${this.name} did not start:\n${logs.map((file) => readFileSync(file, 'utf8')).join('')}`);
  }

  groups() {
    return { nginx: nginxTree(this.nginxPid), app: processTree(this.appPid), redis: processTree(this.site.pid('redis')),
      ...(this.mariadb && { mariadb: processTree(this.site.pid('mariadb')) }) };
  }

  // nginx first, so that it never connects to an application that has ended.
  async stop() {
    for (const child of this.#children.reverse()) {
      if (!child.pid || child.exitCode !== null || child.signalCode !== null) continue;
      // ends its processes itself; multiwatch would restart a process that got the signal before multiwatch did
      child.kill('SIGTERM');
      const timer = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), 5000);
      await child.ended;
      clearTimeout(timer);
    }
  }
}

// spawn-fcgi and multiwatch, as ./dev starts the site's pools.
const pool = (program, processes, env) => (peer) => ['spawn-fcgi', ['-n', '-s', join(peer.folder, 'run/app.sock'), '-M', '0660',
  '-b', '1024', '--', '/usr/bin/multiwatch', '-f', String(processes), '-r', '1000000', '-t', '1000', '--',
  join(peer.build, 'tests/bench', program)], env(peer)];

const blockingEnv = (peer) => ({ HB_CONFIG: join(peer.site.var, 'hongbao.conf'), BENCH_GRAB_FUNCTION: peer.grabFunction });

// The database of the peers with tables, beside the site's database; the role migrate has all rights on it.
export const DATABASE = 'hongbao_bench';

function mariadbEnv(peer) {
  const owner = roleOf(peer.site, 'migrate');
  return { HB_CONFIG: join(peer.site.var, 'hongbao.conf'), HB_MYSQL_USER: owner.mysql_user, HB_MYSQL_PASSWORD: owner.mysql_password, HB_MYSQL_DATABASE: DATABASE,
    ...(peer.page && { BENCH_PAGE: join(peer.folder, PAGE) }) };
}

// As Redis's default user: the roles may not run scripts.
const takeEnv = (peer) => ({ ...mariadbEnv(peer), HB_REDIS_USER: '', BENCH_TAKE: peer.take });

const php = (peer) => [phpProgram(), ['--nodaemonize',
  '--fpm-config', peer.file('php-fpm.conf', { PROCESSES: PHP_WORKERS_PER_CPU * (peer.site.cpu === null ? availableParallelism() : 1),
    USER: process.getuid() === 0 ? `user = root\ngroup = ${group()}` : '' }),
  ...(process.getuid() === 0 ? ['-R'] : []), '-d', 'opcache.enable=1', '-d', 'opcache.validate_timestamps=0',
  '-d', 'redis.pconnect.pooling_enabled=1', '-d', 'redis.pconnect.echo_check_liveness=0']];

export const KINDS = {
  lua: { name: 'nginx Lua module', conf: 'lua.conf.in', modules: true },
  php: { name: 'php-fpm, phpredis', app: php },
  fcgi8: { name: 'libfcgi, 8 processes', app: pool('grab_blocking', 8, blockingEnv) },
  fcgi16: { name: 'libfcgi, 16 processes', app: pool('grab_blocking', 16, blockingEnv) },
  rowLock: { name: 'MariaDB, FOR UPDATE', mariadb: true, app: pool('gift', 8, mariadbEnv) },
  giftPhp: { name: 'php-fpm, Redis, MariaDB', mariadb: true, script: 'gift.php', app: php },
  giftFcgi: { name: 'libfcgi, Redis, MariaDB', mariadb: true, app: pool('gift', 8, takeEnv) },
  constant: { name: 'floor: the loop, a constant', kept: true,
    app: pool('constant', availableParallelism(), (peer) => ({ BENCH_ANSWER: join(peer.folder, 'answer') })) },
};
