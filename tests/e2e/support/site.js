// Shared by the tests: users with money, packets, the audit, and ways to disturb the site.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Client } from './client.js';
import { dev, env, hongbao, now, passTime, poll, pollWithin, processes, stopProcess, url } from './instance.js';
import { makePeople, PASSWORD, takePerson } from './people.js';

export { Client, PASSWORD, poll, pollWithin };

export const unique = (prefix) => `${prefix}${randomBytes(6).toString('hex')}`;

export const fen = (amount) => (amount / 100).toFixed(2);

async function deposit({ client }, yuan) {
  const made = await client.post('/wallet/deposit', { amount: yuan, request_key: unique('k') });
  assert.ok(made.status < 300, made.text);
}

// Makes a person who is logged in, with yuan in the wallet if given.
export async function newUser({ nickname, yuan } = {}) {
  const person = await takePerson(nickname);
  if (yuan) await deposit(person, yuan);
  return person;
}

// The same by registering, which also makes the device known; tests that replace the stores must use this one.
export async function registerUser({ nickname, yuan } = {}) {
  const client = new Client();
  let username;
  const registered = await poll('a user is registered', async () => {
    username = unique('u'); // a new name for each try: a registration may succeed although its answer is a 503
    const answer = await client.post('/register', { username, nickname: nickname ?? username, password: PASSWORD });
    return answer.status !== 503 && answer;
  });
  assert.equal(registered.status, 201, registered.text);
  const person = { client, username, password: PASSWORD, id: registered.json.id };
  if (yuan) await deposit(person, yuan);
  return person;
}

export function sendPacket({ client }, fields) {
  return client.post('/send', fields);
}

// A page of the browser with the client's session, if there is one; options are for the browser's context.
export async function clientPage(browser, client, options) {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, ...options });
  const sid = client?.cookie('sid');
  if (sid) await context.addCookies([{ name: 'sid', value: sid, url }]);
  return context.newPage();
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

const FEW = 10; // so few are sooner taken than made

export const POOLS = ['nginx', 'hot', 'page', 'auth', 'card', 'money', 'settle'];
export const SERVERS = ['mariadb', 'redis', ...POOLS];

export const site = {
  url,
  hongbao,
  now,
  passTime,

  dev: (...args) => dev(args),

  // Starts a server with these settings (environment).
  start: (name, settings) => dev(['start', name], settings),

  // The clients of count users with 1,000 yuan each.
  async demoUsers(count) {
    const people = count > FEW ? await makePeople(count, '1000') : [];
    while (people.length < count) people.push(await newUser({ yuan: '1000' }));
    return people.map(({ client }) => client);
  },

  // Kills every process of a pool with SIGKILL. Returns their number.
  async killPool(name) {
    const pids = processes(name);
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    return pids.length;
  },

  // Starts these servers anew with these settings.
  async startAnew(names, settings) {
    await dev(['stop', ...names]);
    await dev(['start', ...names], settings);
  },

  // Runs work while these servers have other settings.
  async withSetting(names, settings, work) {
    await site.startAnew(names, settings);
    try {
      await work();
    } finally {
      await site.startAnew(names);
    }
  },

  // Runs work while these servers are stopped.
  async without(names, work) {
    await dev(['stop', ...names]);
    try {
      return await work();
    } finally {
      await dev(['start', ...names]);
    }
  },

  // Runs work while no worker settles: its supervisor is stopped, so it starts no other one.
  async unsettled(work) {
    const supervisor = Number(readFileSync(`${env.HB_TEST_VAR}/run/settle.pid`, 'utf8'));
    await stopProcess(supervisor); // first, as it may be about to start a worker
    try {
      const [worker] = processes('settle');
      process.kill(worker, 'SIGTERM');
      await poll('the worker has ended', () => / Z /.test(readFileSync(`/proc/${worker}/stat`, 'utf8')));
      return await work();
    } finally {
      process.kill(supervisor, 'SIGCONT');
    }
  },

  // Starts all servers that a failed test left stopped.
  allUp: () => dev(['start', ...SERVERS]),
};
