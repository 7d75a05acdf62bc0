// Malformed FastCGI records to the sockets of the pools, and malformed HTTP to nginx, on a site whose program was built with
// sanitizers. Afterwards no log has a report, nothing was refused by the filter of system calls, the money is right, and the
// site serves. HB_TEST_FUZZ_SECONDS (default 15) and HB_TEST_FUZZ_SEED (default: a new one, which is printed) choose the run.
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Rng } from '../support/rng.js';
import { dev, env, poll, processes } from '../e2e/support/instance.js';
import { audit, Client, newUser, sendPacket } from '../e2e/support/site.js';
import { variant as fastcgi } from './fastcgi.js';
import { variant as http } from './http.js';

const SECONDS = Number(process.env.HB_TEST_FUZZ_SECONDS ?? 15);
const SEED = process.env.HB_TEST_FUZZ_SEED ?? String(randomInt(2 ** 32));
const POOLS = ['hot', 'page', 'auth', 'sso', 'card', 'money'];
const SERVERS = [...POOLS, 'settle', 'nginx'];
const VISITORS = 6; // visitors at the same time, for each pool and for nginx
const ANSWER_MS = 3000; // longer than a pool waits within a request
const REPORT = /ERROR: AddressSanitizer|runtime error:|LeakSanitizer|Assertion .* failed|system call refused|stack smashing|double free/;
// libfcgi allocates as much as the lengths of a name and value claim, and ends the process when that is 2 GiB or more.
// nginx passes on no such lengths, and nobody else may connect to a pool.
const GIGABYTES = /fcgiapp\.c.*Malloc.*Assertion .* failed/;
const LEAKS = fileURLToPath(new URL('leaks.txt', import.meta.url)); // libfcgi's own
const FORM = 'application/x-www-form-urlencoded';

const { hostname, port, host } = new URL(env.HB_TEST_URL);
const sockets = dirname(env.HB_TEST_REDIS_SOCKET);
const counts = { sent: 0, answered: 0, silent: 0 };
let user;
let packet;

// stopped: called for each pool while it is stopped.
async function restart(settings, stopped = () => {}) {
  for (const pool of POOLS) {
    await dev(['stop', pool]);
    stopped(pool);
    await dev(['start', pool], settings);
  }
}

before(async () => {
  await restart({
    ASAN_OPTIONS: 'allocator_may_return_null=1', // an allocation that is too large fails, as without sanitizers
    LSAN_OPTIONS: `suppressions=${LEAKS}:print_suppressions=0`,
  });
  user = await newUser({ yuan: '100' });
  packet = (await sendPacket(user, { kind: 'lucky', amount: '10', count: '100' })).json.id;
});

after(() => restart({}, forget));

// Requests that a pool knows: [method, path, body].
const KNOWN = {
  hot: () => [['GET', `/p/${packet}`], ['POST', `/p/${packet}/open`, ''], ['POST', `/p/${packet}/open`, 'phrase=x'], ['GET', `/p/${packet}/screen`]],
  page: () => [['GET', '/'], ['GET', '/wallet'], ['GET', '/account'], ['GET', '/records/received?year=2026&q=a'], ['GET', '/records/sent.csv'],
    ['POST', '/send', 'kind=lucky&amount=0.02&count=2&greeting=%E6%81%AD&request_key=f'], ['POST', '/wallet/deposit', 'amount=1&request_key=d'],
    ['POST', `/p/${packet}/thanks`, 'text=thanks'], ['GET', `/p/${packet}/verify`], ['GET', '/metrics'], ['POST', '/language', 'language=en&next=/']],
  auth: () => [['GET', '/login'], ['POST', '/login', 'username=nobody&password=wrong-password'], ['POST', '/login/passkey/challenge', ''],
    ['POST', '/login/passkey', 'id=x&user_handle=y&client_data=z&authenticator_data=a&signature=b']],
  sso: () => [['GET', '/login/oidc'], ['GET', '/login/oidc?next=/wallet']],
  card: () => [['GET', `/p/${packet}/card.png?shape=tall&lang=en`], ['GET', `/p/${packet}/card.png`]],
  money: () => [['GET', '/money/report'], ['POST', '/money/credits', 'username=x&amount=1&channel=c&reference=r']],
};

function known(rng, pool) {
  const [method, path, body = ''] = rng.pick(KNOWN[pool]());
  return { method, path, body, cookie: rng.oneIn(3) ? '' : `sid=${user.client.cookie('sid')}` };
}

function fastcgiBase(rng, pool) {
  const { method, path, body, cookie } = known(rng, pool);
  const params = { REQUEST_METHOD: method, REQUEST_URI: path, REQUEST_ID: rng.word(32), HTTP_HOST: host, REMOTE_ADDR: '127.0.0.1',
    HTTP_ACCEPT: rng.pick(['text/html', 'application/json']), HTTP_ACCEPT_LANGUAGE: 'en', ...(cookie && { HTTP_COOKIE: cookie }),
    ...(method === 'POST' && { CONTENT_TYPE: FORM, CONTENT_LENGTH: String(body.length) }) };
  return { params, body };
}

function httpBase(rng) {
  const { method, path, body, cookie } = known(rng, rng.pick(POOLS));
  const headers = { Host: host, Accept: rng.pick(['text/html', 'application/json']), Connection: rng.pick(['close', 'keep-alive']),
    ...(cookie && { Cookie: cookie }), ...(method === 'POST' && { 'Content-Type': FORM, 'Content-Length': String(body.length) }) };
  return { method, path, headers, body };
}

// Sends the bytes, in one or several parts, and ends the connection in one of several ways.
function deliver(rng, address, bytes) {
  return new Promise((resolve) => {
    const socket = connect(address);
    const timer = setTimeout(() => socket.destroy(), ANSWER_MS);
    const cuts = rng.oneIn(3) ? [rng.int(0, bytes.length), rng.int(0, bytes.length)].sort((a, b) => a - b) : [];
    const parts = [0, ...cuts].map((from, i) => bytes.subarray(from, cuts[i]));
    const end = rng.weighted({ half: 40, destroy: 8, wait: 2, silent: 1 });
    let heard = false;
    socket.on('data', () => {
      heard = true;
      if (end === 'wait') socket.end();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(timer);
      counts[heard ? 'answered' : 'silent']++;
      resolve();
    });
    socket.on('connect', async () => {
      for (const part of parts) {
        socket.write(part);
        await new Promise((next) => { setImmediate(next); });
      }
      if (end === 'half') socket.end();
      if (end === 'destroy') setImmediate(() => socket.destroy());
    });
    counts.sent++;
  });
}

async function visit(name, until) {
  const rng = new Rng(SEED, name);
  const [pool] = name.split(' ');
  while (Date.now() < until) {
    const { bytes } = pool === 'nginx' ? http(rng, httpBase(rng)) : fastcgi(rng, fastcgiBase(rng, pool));
    await deliver(rng, pool === 'nginx' ? { host: hostname, port: Number(port) } : { path: join(sockets, `${pool}.sock`) }, bytes);
  }
}

const matches = (since, pattern) => readdirSync(join(env.HB_TEST_VAR, 'log')).flatMap((name) => {
  const file = join(env.HB_TEST_VAR, 'log', name);
  return readFileSync(file).subarray(since[name] ?? 0).toString('latin1').split('\n').filter((line) => pattern.test(line)).map((line) => `${name}: ${line}`);
});

// Removes libfcgi's own lines from the log of a pool. The remaining lines are checked when the servers are stopped
// (tests/support/servers).
function forget(pool) {
  const file = join(env.HB_TEST_VAR, `log/${pool}.log`);
  const lines = readFileSync(file, 'latin1').split('\n');
  writeFileSync(file, lines.filter((line) => !GIGABYTES.test(line)).join('\n'), 'latin1');
}

// The processes of a server; the loader of nginx's cache ends by itself after a minute.
const running = (name) => processes(name).filter((pid) => {
  try {
    return !readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('cache loader');
  } catch {
    return false; // it has just ended
  }
});

const supervisors = () => SERVERS.map((name) => Number(readFileSync(join(env.HB_TEST_VAR, `run/${name}.pid`), 'utf8')));

test(`${SECONDS} s of malformed FastCGI and HTTP leave the site whole (seed ${SEED})`, async () => {
  const since = Object.fromEntries(readdirSync(join(env.HB_TEST_VAR, 'log')).map((name) => [name, statSync(join(env.HB_TEST_VAR, 'log', name)).size]));
  const first = supervisors();
  const workers = Object.fromEntries(SERVERS.map((name) => [name, running(name)]));
  const until = Date.now() + SECONDS * 1000;
  const names = [...POOLS, 'nginx'].flatMap((name) => Array.from({ length: VISITORS }, (_, i) => `${name} ${i}`));
  await Promise.all(names.map((name) => visit(name, until)));

  const ended = matches(since, GIGABYTES);
  assert.deepEqual(matches(since, REPORT).filter((line) => !GIGABYTES.test(line)), []);
  assert.deepEqual(supervisors(), first);
  for (const name of SERVERS) {
    const known = ended.filter((line) => line.startsWith(`${name}.log`)).length;
    const replaced = await poll(`all processes of ${name} run`, () => running(name).length === workers[name].length
      && [running(name).filter((pid) => !workers[name].includes(pid)).length]);
    assert.ok(replaced[0] <= known, `${replaced[0]} processes of ${name} were replaced, ${known} by libfcgi`);
  }
  console.log(`fuzz site: seed ${SEED}, ${counts.sent} connections, ${counts.answered} answered, ${ended.length} processes ended by libfcgi`);
  assert.ok(counts.answered > 0 && counts.silent > 0, JSON.stringify(counts));
});

test('afterwards everything works, and the money is right', async () => {
  assert.equal((await new Client().get('/readyz')).status, 200);
  const [sender, receiver] = [await newUser({ yuan: '5' }), await newUser()];
  const sent = await sendPacket(sender, { kind: 'even', amount: '1', count: '1' });
  assert.equal(sent.status, 201, sent.text);
  assert.equal((await receiver.client.post(`/p/${sent.json.id}/open`)).json.amount_fen, 100);
  await poll('it is settled', async () => (await receiver.client.get(`/p/${sent.json.id}`)).json?.mine?.settled);
  await audit();
});
