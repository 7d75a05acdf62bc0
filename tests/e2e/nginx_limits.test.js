// The requests that nginx's limits refuse are counted in /metrics, exactly, under the name of the limit, whatever a
// client sends; the counts survive restarts.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { rename, rm, truncate } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { connectionsFrom, requestFrom } from './support/from_address.js';
import { env, processes } from './support/instance.js';
import { Client, newUser, poll, sendPacket, site } from './support/site.js';

const LIMITS = ['visitor', 'guest', 'login', 'connections'];
const ON = { HB_LIMITS: 'on' };
const BURST = 700; // far above 300 and the requests that nginx admits meanwhile
const PIPELINED = 6000; // above 5,000 and the requests that nginx admits meanwhile
const HALF_OPEN = 800;
const MOST_CONNECTIONS = 500; // nginx/site.conf
const TOO_MANY = 429;
const { hostname, port, host } = new URL(site.url);
const PATH = '/favicon.ico'; // nginx answers it without a pool
const PAGE = '/account/nickname'; // the page pool answers it without a store
const ACCESS_LOG = join(env.HB_TEST_VAR, 'log/access.log');

const restart = (settings) => site.startAnew(['nginx'], settings);

before(async () => {
  await restart(ON);
  loggedBefore = logged();
});
after(() => restart({}));

const fileOf = (limit) => join(env.HB_TEST_VAR, `run/hongbao-limited-${limit}`);

// The counts in /metrics: { visitor, guest, login, connections }; NaN: there is no file of this limit.
async function counts() {
  const { text } = await new Client().get('/metrics');
  return Object.fromEntries(LIMITS.map((limit) => [limit, Number(new RegExp(`^hongbao_limited_total\\{limit="nginx_${limit}"\\} (\\d+)$`, 'm').exec(text)?.[1])]));
}

// The number of requests that nginx's access log has as refused by nginx itself. nginx writes this log after all
// counts.
const logged = () => (readFileSync(ACCESS_LOG, 'latin1').match(/"status":429,.*"upstream":"",/g) ?? []).length;
let loggedBefore;
let refusedInAll = 0; // refusals that this test has received

// The refused requests are counted for this limit, and no other count has changed since `earlier`.
async function assertCounted(limit, refused, earlier) {
  assert.ok(refused > 0, `${limit} refuses`);
  await poll('nginx has logged what it refused', () => logged() - loggedBefore >= refusedInAll);
  assert.deepEqual(await counts(), { ...earlier, [limit]: earlier[limit] + refused });
}

// The status of a request from another address of this machine.
const statusOf = async (address, method, path, more) => (await requestFrom(address, site.url + path, { accept: '', method, more })).status;

// Sends so many requests at once; returns how many were refused.
async function refusedOf(amount, ask) {
  const statuses = await Promise.all(Array.from({ length: amount }, (_, i) => ask(i)));
  const refused = statuses.filter((status) => status === TOO_MANY).length;
  refusedInAll += refused;
  return refused;
}

const madeUpSession = () => randomBytes(32).toString('base64url');

async function visit(headers = {}) {
  const cookie = `sid=${madeUpSession()}`;
  return refusedOf(BURST, () => statusOf('127.0.0.1', 'GET', PATH, { cookie, ...headers }));
}

// Sends many requests in one write over one connection; returns how many were refused.
function pipelined(address, head) {
  return new Promise((resolve, reject) => {
    let text = '';
    let [answers, refused] = [0, 0];
    const socket = connect({ host: hostname, port: Number(port), localAddress: address }, () => {
      socket.write(Array.from({ length: PIPELINED }, () => `${head()}\r\nHost: ${host}\r\n\r\n`).join(''));
    });
    socket.on('data', (data) => {
      text += data;
      const lines = text.split('\n');
      text = lines.pop();
      answers += lines.filter((line) => line.startsWith('HTTP/1.1 ')).length;
      refused += lines.filter((line) => line.startsWith(`HTTP/1.1 ${TOO_MANY} `)).length;
      if (answers === PIPELINED) socket.destroy();
    });
    socket.on('error', reject);
    socket.on('close', () => (answers === PIPELINED ? resolve(refused) : reject(new Error(`${answers} answers`))));
  });
}

// Sends two such connections at once, until nginx refuses some requests; returns how many.
async function flood(address, head) {
  const refused = await poll('some are refused', async () => {
    const [one, two] = await Promise.all([pipelined(address, head), pipelined(address, head)]);
    return one + two;
  }, 120);
  refusedInAll += refused;
  return refused;
}

test('a visitor’s refused requests are counted as those of a visitor', async () => {
  const earlier = await counts();
  await assertCounted('visitor', await visit(), earlier);
});

test('refused logins are counted as logins, with a session, too', async () => {
  const earlier = await counts();
  const foreign = { 'sec-fetch-site': 'cross-site', 'content-length': 0 }; // the program refuses it before it hashes
  const cookie = `sid=${madeUpSession()}`;
  const login = (i) => statusOf('127.80.0.1', 'POST', i % 2 ? '/login' : '/account/recovery', { ...foreign, ...(i % 3 && { cookie }) });
  await assertCounted('login', await refusedOf(100, login), earlier);
});

test('refused requests without a session are counted as those of guests; views of packets and files are limited by themselves', async () => {
  const earlier = await counts();
  await assertCounted('guest', await flood('127.81.0.1', () => `HEAD ${PAGE} HTTP/1.1`), earlier);
  assert.equal(await statusOf('127.81.0.1', 'GET', `/p/${'0'.repeat(26)}`, { accept: 'application/json' }), 404);
  assert.equal(await statusOf('127.81.0.1', 'GET', PATH), 200);
});

test('an address that makes up a session for each request is limited as one, and another is served', async () => {
  const earlier = await counts();
  const head = () => `HEAD ${PAGE} HTTP/1.1\r\nCookie: sid=${madeUpSession()}`;
  await assertCounted('visitor', await flood('127.84.0.1', head), earlier);
  assert.equal(await statusOf('127.84.0.2', 'HEAD', PAGE, { cookie: `sid=${madeUpSession()}` }), 303);
});

test('refused connections are counted as connections', async () => {
  const earlier = await counts();
  const all = await connectionsFrom('127.82.0.1', HALF_OPEN, `POST /send HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 100\r\n\r\nx`); // without a body
  const refused = () => all.filter(({ text }) => text.includes(` ${TOO_MANY} `)).length;
  await poll('300 are refused', () => refused() >= HALF_OPEN - MOST_CONNECTIONS);
  const amount = refused();
  refusedInAll += amount;
  await assertCounted('connections', amount, earlier);
  for (const { socket } of all) socket.destroy();
});

test('nothing that a client sends is counted for another limit, and no answer of the program', async () => {
  const earlier = await counts();
  const name = 'login REJECTED\thongbao-limited-login "} 99';
  const cookie = `sid=${madeUpSession()}; hongbao_limited_login=1; limit="${name}"`;
  const refused = await refusedOf(BURST, (i) => statusOf('127.0.0.1', ['GET', 'HEAD', 'POST', 'REJECTED'][i % 4],
    [PATH, `${PATH}?limit=login%0a%0d%0a%00`, '/p/login:REJECTED%0alogin', '/%0a/login'][i % 4],
    { cookie, 'user-agent': name, referer: `\u00ff\u0080${name}`, 'x-limit': name, 'content-length': 0 }));
  await assertCounted('visitor', refused, earlier);

  const later = await counts();
  for (const path of ['/-/too-many.json', '/-/too-many.html', '/-/login']) assert.equal((await new Client().get(path)).status, 404);
  const [sender, guesser] = [await newUser({ yuan: '1' }), await newUser()];
  const { id } = (await sendPacket(sender, { kind: 'even', amount: '0.01', count: '1', phrase: 'right' })).json;
  const statuses = [];
  for (let i = 0; i < 11; i++) statuses.push((await guesser.client.post(`/p/${id}/open`, { phrase: `wrong ${i}` })).status);
  assert.equal(statuses.at(-1), TOO_MANY);
  assert.deepEqual(await counts(), later);
});

test('the counts outlive restarts of nginx and of the pool, and a worker that is killed', async () => {
  const earlier = await counts();
  const before = await visit();
  await assertCounted('visitor', before, earlier);
  await site.dev('stop', 'page');
  const meanwhile = await visit();
  await site.start('page');
  await assertCounted('visitor', before + meanwhile, earlier);
  for (const pid of processes('nginx')) process.kill(pid, 'SIGKILL');
  await poll('nginx has new workers', () => new Client().get(PATH).then(({ status }) => status === 200, () => false));
  await restart(ON);
  await site.dev('restart', 'page');
  await assertCounted('visitor', before + meanwhile + await visit(), earlier);
});

test('a file that was emptied or put aside counts anew', async () => {
  await visit();
  const earlier = await counts();
  await truncate(fileOf('visitor'));
  assert.deepEqual(await counts(), { ...earlier, visitor: 0 });
  await assertCounted('visitor', await visit(), { ...earlier, visitor: 0 });

  const aside = `${fileOf('visitor')}.1`;
  await rename(fileOf('visitor'), aside);
  try {
    process.kill(Number(readFileSync(join(env.HB_TEST_VAR, 'run/nginx.pid'), 'utf8')), 'SIGUSR1');
    await poll('nginx has a new file', () => counts().then(({ visitor }) => visitor === 0));
    await assertCounted('visitor', await visit(), { ...earlier, visitor: 0 });
  } finally {
    await rm(aside);
  }
});
