// A site whose pools and settle worker are child processes of the test, so that it gets their exit status. MariaDB,
// Redis and nginx come from the fixture `front`.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { dirname } from 'node:path';
import { Client } from '../e2e/support/client.js';
import { env, hongbao, poll } from '../e2e/support/instance.js';
import { makePeople } from '../e2e/support/people.js';
import { redis } from '../e2e/support/redis.js';

const sockets = dirname(env.HB_TEST_REDIS_SOCKET);

const connects = (path) => new Promise((resolve) => {
  const socket = net.connect(path, () => { socket.destroy(); resolve(true); });
  socket.on('error', () => resolve(false));
});

// One process of the program. extra: environment, e.g. { HB_CRASH: 'send-after-load:2' }.
class Server {
  #child;

  constructor(name) {
    this.name = name;
    this.log = `${env.HB_TEST_VAR}/log/${name}.log`;
  }

  async start(extra = {}) {
    const socket = `${sockets}/${this.name}.sock`;
    const program = [env.HB_TEST_BINARY, ...(this.name === 'settle' ? ['settle'] : ['serve', '--pool', this.name])];
    const command = this.name === 'settle' ? program : ['spawn-fcgi', '-n', '-s', socket, '-M', '0660', '--', ...program];
    rmSync(socket, { force: true });
    const log = openSync(this.log, 'a');
    const { uid, gid } = statSync(sockets); // the user of nginx
    this.#child = spawn(command[0], command.slice(1), {
      uid,
      gid,
      stdio: ['ignore', log, log],
      cwd: env.HB_TEST_VAR,
      detached: true, // and with a pid file, so that ./dev down ends it when the test fails
      env: { ...process.env, ...extra, HB_CONFIG: env.HB_TEST_CONFIG },
    });
    closeSync(log);
    writeFileSync(`${env.HB_TEST_VAR}/run/${this.name}.pid`, `${this.#child.pid}\n`);
    this.ended = new Promise((resolve) => { this.#child.on('exit', (code, signal) => resolve({ code, signal })); });
    if (this.name !== 'settle') await poll(`${this.name} listens`, () => connects(socket));
  }

  async stop() {
    this.#child.kill('SIGTERM');
    const { code } = await this.ended;
    assert.equal(code, 0, `${this.name} exits with 0`);
  }

  async kill() {
    this.#child.kill('SIGKILL');
    await this.ended;
  }

  // Waits for its end: { code, signal }; undefined when it still runs after ms.
  async endsWithin(ms) {
    let timer;
    const late = new Promise((resolve) => { timer = setTimeout(resolve, ms); });
    const how = await Promise.race([this.ended, late]);
    clearTimeout(timer);
    return how;
  }

  lastLogLine() {
    return readFileSync(this.log, 'utf8').trimEnd().split('\n').at(-1);
  }
}

export const servers = { page: new Server('page'), hot: new Server('hot'), auth: new Server('auth'),
  money: new Server('money'), settle: new Server('settle') };

export async function startAll() {
  for (const server of Object.values(servers)) await server.start();
  await ready({ client: new Client() }); // the worker has compared the stores
}

// Stops every process, also when one of them has died or does not end well, which is reported afterwards: a process
// that runs on would keep the test from ending.
export async function stopAll() {
  const ends = await Promise.allSettled(Object.values(servers).map((server) => server.stop()));
  const failed = ends.find(({ status }) => status === 'rejected');
  if (failed) throw failed.reason;
}

// Makes count users with a session and 1,000 yuan each.
export async function demoUsers(count) {
  return (await makePeople(count, '1000')).map((person) => ({ ...person, balanceFen: 100_000 }));
}

export const ready = (user) => poll('the site is ready', async () => (await user.client.get('/readyz/page')).status === 200);

export const open = ({ client }, packet, fields = {}) => client.post(`/p/${packet}/open`, fields);

export async function killRedis() {
  process.kill(Number((await redis('INFO', 'server')).match(/process_id:(\d+)/)[1]), 'SIGKILL');
  await poll('Redis does not answer', async () => (await redis('PING').catch(() => '')) !== 'PONG');
}

// Waits until everything is settled and the audit is clean.
export async function drained() {
  let last;
  await poll('everything is settled and the audit is clean', async () => {
    last = await hongbao('audit', '--json').catch((error) => error);
    return !last.code && JSON.parse(last.stdout).unsettled === 0;
  }, 30).catch((error) => assert.fail(`${error.message}\n${last.stdout}${last.stderr}`));
}

// how: the error of a command that died at the point.
export const assertCrashed = (how, point) => assert.deepEqual(
  { signal: how.signal, line: how.stderr.trim().split('\n').at(-1) },
  { signal: 'SIGKILL', line: `crash point ${point}` },
);

export async function restart(server, extra) {
  await server.kill();
  await server.start(extra);
}

// how: what server.endsWithin has returned.
export function assertDied(server, how, point) {
  assert.ok(how, `${server.name} never passes ${point} that often`);
  assert.deepEqual({ ...how, line: server.lastLogLine() }, { code: null, signal: 'SIGKILL', line: `crash point ${point}` });
}
