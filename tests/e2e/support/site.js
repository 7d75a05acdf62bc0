// Shared by the tests: users with money, packets, the audit, and ways to disturb the site.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { launch } from './browser.js';
import { Client } from './client.js';
import { dev, env, hongbao, poll, pollWithin, processes, url } from './instance.js';

export { Client, launch, poll, pollWithin };

export const unique = (prefix) => `${prefix}${randomBytes(6).toString('hex')}`;

export const fen = (amount) => (amount / 100).toFixed(2);

// Of every user that newUser or site.usersWithPassword makes.
export const PASSWORD = 'a good password';
const PASSWORD_HASH = '$argon2id$v=19$m=19456,t=2,p=1$qwK3UaBbw6ulaSdzFb+AsA$chY1XADdiT00GlutskA416cmacwUGTO7BmaZGUQIk1Y';

// Registers a user, who is then logged in, with yuan in the wallet when given.
export async function newUser({ nickname, yuan } = {}) {
  const client = new Client();
  const password = PASSWORD;
  let username;
  const registered = await poll('a user is registered', async () => {
    username = unique('u'); // a new one each time: a 503 may hide a registration that was made
    const answer = await client.post('/register', { username, nickname: nickname ?? username, password });
    return answer.status !== 503 && answer;
  });
  assert.equal(registered.status, 201, registered.text);
  if (yuan) assert.ok((await client.post('/wallet/deposit', { amount: yuan, request_key: unique('k') })).status < 300);
  return { client, username, password, id: registered.json.id };
}

export function sendPacket({ client }, fields) {
  return client.post('/send', fields);
}

// A page of the browser with the client's session, if there is one; options are those of the browser's context.
export async function clientPage(browser, client, options) {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, ...options });
  const sid = client.cookie('sid');
  if (sid) await context.addCookies([{ name: 'sid', value: sid, url }]);
  const page = await context.newPage();
  return page;
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

// Runs `hongbao demo`: [{ id, client }].
async function demo(count) {
  const folder = await mkdtemp(join(tmpdir(), 'hongbao-users-'));
  try {
    await hongbao('demo', '--users', String(count), '--out', join(folder, 'users'));
    const lines = (await readFile(join(folder, 'users'), 'utf8')).trim().split('\n');
    assert.equal(lines.length, count);
    return lines.map((line) => {
      const [id, , cookie] = line.split('\t');
      const [name, token] = cookie.split('=');
      return { id, client: new Client({ [name]: token }) };
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}

const SERVERS = ['mariadb', 'redis', 'nginx', 'hot', 'page', 'auth', 'card', 'settle'];

export const site = {
  url,
  hongbao,

  dev: (...args) => dev(args),

  // Starts a server with these settings (environment).
  start: (name, settings) => dev(['start', name], settings),

  // Creates count users with a session and 1,000 yuan each by `hongbao demo`, without passwords, so without Argon2id.
  demoUsers: async (count) => (await demo(count)).map(({ client }) => client),

  // The same with PASSWORD, which was hashed once and for all.
  async usersWithPassword(count) {
    const users = await demo(count);
    const conf = await readFile(join(env.HB_TEST_VAR, 'rights/support.conf'), 'utf8');
    const setting = (name) => new RegExp(`^${name} = (.*)$`, 'm').exec(conf)[1];
    await promisify(execFile)('mariadb', ['--no-defaults', `--socket=${env.HB_TEST_MYSQL_SOCKET}`, `--user=${setting('mysql_user')}`,
      'hongbao', '-e', `UPDATE user SET password_hash = '${PASSWORD_HASH}' WHERE id IN (${users.map(({ id }) => id).join()})`],
    { env: { ...process.env, MYSQL_PWD: setting('mysql_password') } });
    return users.map(({ client }) => client);
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

  // Starts all servers that a failed test left stopped.
  async allUp() {
    for (const name of SERVERS) await dev(['start', name]);
  },
};
