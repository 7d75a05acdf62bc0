// A Redis without a site, with the settings of the project's instances.
import { spawn } from 'node:child_process';
import { mkdirSync, openSync, closeSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { poll } from '../chaos/deployment.js';
import { redis } from '../chaos/redis.js';

const REPLY_MS_MAX = 60_000;

export class RedisServer {
  #child;

  // settings: lines of redis.conf that replace those of the project, as { appendfsync: 'no' }.
  constructor({ root, folder, settings = {} }) {
    this.folder = folder;
    this.socket = join(folder, 'redis.sock');
    mkdirSync(join(folder, 'data/redis'), { recursive: true });
    const text = readFileSync(join(root, 'deploy/dev/redis.conf.in'), 'utf8')
      .replaceAll('@ROOT@', root).replaceAll('@VAR@', folder).replaceAll('@SOCKETS@', folder).replace(/^aclfile .*\n/m, '');
    const given = Object.entries(settings).map(([name, value]) => `${name} ${value}\n`);
    writeFileSync(join(folder, 'redis.conf'), text + given.join(''));
  }

  async start() {
    const log = openSync(join(this.folder, 'redis.log'), 'a');
    this.#child = spawn('redis-server', [join(this.folder, 'redis.conf')], { stdio: ['ignore', log, log] });
    closeSync(log);
    this.#child.on('error', () => {});
    const ready = await poll(30, () => this.command('PING').catch(() => null));
    if (ready !== 'PONG') throw new Error(`redis-server did not start: ${readFileSync(join(this.folder, 'redis.log'), 'utf8')}`);
  }

  get pid() {
    return this.#child.pid;
  }

  // The reply to one command.
  async command(...args) {
    const [reply] = await redis(this.socket, [args], REPLY_MS_MAX);
    if (reply instanceof Error) throw reply;
    return reply;
  }

  // The replies to several commands, sent together; errors are Error objects among them.
  commands(list) {
    return redis(this.socket, list, REPLY_MS_MAX);
  }

  async stop() {
    if (!this.#child || this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = new Promise((resolve) => { this.#child.once('exit', resolve); });
    this.#child.kill('SIGTERM');
    await ended;
  }
}
