// Shared by the tests: users with money, packets, the audit, and ways to disturb the site.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launch } from './browser.js';
import { Client } from './client.js';
import { dev, hongbao, poll, processes, url } from './instance.js';

export { Client, launch, poll };

export const unique = (prefix) => `${prefix}${randomBytes(6).toString('hex')}`;

export const fen = (amount) => (amount / 100).toFixed(2);

// Registers a user, who is then logged in, with yuan in the wallet when given.
export async function newUser({ nickname, yuan } = {}) {
  const client = new Client();
  const username = unique('u');
  const password = 'a good password';
  const registered = await client.post('/register', { username, nickname: nickname ?? username, password });
  assert.equal(registered.status, 201, registered.text);
  if (yuan) assert.ok((await client.post('/wallet/deposit', { amount: yuan, request_key: unique('k') })).status < 300);
  return { client, username, password, id: registered.json.id };
}

export function sendPacket({ client }, fields) {
  return client.post('/send', fields);
}

// Calls work(item) for every item, at most width at the same time. Returns the results in the order of the items.
export async function pooled(items, width, work) {
  const results = new Array(items.length);
  let next = 0;
  const runner = async () => {
    for (let i = next++; i < items.length; i = next++) results[i] = await work(items[i]);
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, runner));
  return results;
}

// Waits until all events are settled and `hongbao audit` finds no violation.
export async function audit() {
  let last;
  await poll('the audit is clean', async () => {
    last = await hongbao('audit', '--json').catch((error) => error);
    return !last.code;
  }).catch((error) => assert.fail(`${error.message}\n${last.stdout}${last.stderr}`));
}

const SERVERS = ['mariadb', 'redis', 'nginx', 'hot', 'page', 'auth', 'card', 'settle'];

export const site = {
  url,
  hongbao,

  dev: (...args) => dev(args),

  // Creates count users with a session and 1,000 yuan each by `hongbao demo`, without passwords, so without Argon2id.
  async demoUsers(count) {
    const folder = await mkdtemp(join(tmpdir(), 'hongbao-users-'));
    try {
      await hongbao('demo', '--users', String(count), '--out', join(folder, 'users'));
      const lines = (await readFile(join(folder, 'users'), 'utf8')).trim().split('\n');
      assert.equal(lines.length, count);
      return lines.map((line) => {
        const [name, token] = line.split('\t')[2].split('=');
        return new Client({ [name]: token });
      });
    } finally {
      await rm(folder, { recursive: true });
    }
  },

  // Kills every process of a pool with SIGKILL. Returns their number.
  async killPool(name) {
    const pids = processes(name);
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    return pids.length;
  },

  // Runs work while these servers have other settings.
  async withSetting(pools, settings, work) {
    const restart = async (extra) => {
      for (const pool of pools) {
        await dev(['stop', pool]);
        await dev(['start', pool], extra);
      }
    };
    await restart(settings);
    try {
      await work();
    } finally {
      await restart();
    }
  },

  // Runs work with packets that expire after ms.
  withLifetime: (ms, work) => site.withSetting(['page'], { HB_PACKET_LIFETIME_MS: String(ms) }, work),

  // Starts all servers that a failed test left stopped.
  async allUp() {
    for (const name of SERVERS) await dev(['start', name]);
  },
};
