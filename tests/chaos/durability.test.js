// An acknowledged grab is on disk. Needs HB_TEST_CHAOS_BINARY, the built program.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Site } from '../support/http.js';
import { poll } from '../support/deployment.js';
import { Instance } from './instance.js';
import { redis } from '../support/redis.js';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');
const SERVERS_AT_ONCE = 3;
const GRABBED = 2; // LIVE_GRABBED of app/live/live.h

// A container may forbid strace.
const traces = spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0;

let instance;
let site;
let users;
let trace;

before(async () => {
  const calls = 'trace=read,write,writev,sendto,fsync,fdatasync';
  trace = join(mkdtempSync(join(tmpdir(), 'hongbao-trace-')), 'redis');
  chmodSync(dirname(trace), 0o777); // strace runs as the user of the servers
  instance = new Instance({ root: ROOT, binary: process.env.HB_TEST_CHAOS_BINARY, faulty: false,
    redisUnder: traces ? `strace -D -f -y -s 4096 -e ${calls} -o '${trace}'` : '' });
  await instance.up();
  users = await instance.demoUsers(12);
  site = new Site(instance.url);
});

after(async () => {
  site?.close();
  await instance?.down();
  rmSync(dirname(trace), { recursive: true, force: true });
});

async function sendPacket(count) {
  const sent = await site.post('/send', users[0].cookie, { kind: 'lucky', amount: '5.00', count });
  assert.equal(sent.status, 201);
  return sent.json.id;
}

async function grab(packet, user) {
  let opened;
  // Each process of the pool must notice by itself that Redis is back, so one may still answer 503; a visitor would
  // repeat, too.
  await poll(20, async () => { opened = await site.post(`/p/${packet}/open`, user.cookie); return opened.status !== 503; });
  assert.equal(opened.status, 200, opened.text);
  assert.equal(opened.json.result, 'grabbed');
  return opened.json;
}

// The system calls of Redis in the order in which they returned: { name, file, text, ok }.
function callsOf(file) {
  const begun = new Map(); // by thread: a call whose beginning and end are separate lines of the trace
  const calls = [];
  for (const raw of readFileSync(file, 'utf8').split('\n')) {
    const [, thread, rest] = raw.match(/^(\d+) +(.*)$/) ?? [];
    if (!thread) continue;
    const unfinished = rest.match(/^(.*) <unfinished \.\.\.>$/);
    if (unfinished) begun.set(thread, unfinished[1]);
    const resumed = rest.match(/^<\.\.\. \w+ resumed>(.*)$/);
    const line = resumed ? (begun.get(thread) ?? '') + resumed[1] : rest;
    const call = unfinished ? null : line.match(/^(\w+)\(\d+<([^>]*)>(.*)\) += (-?\d+)/);
    if (call) calls.push({ name: call[1], file: call[2], text: call[3], ok: Number(call[4]) >= 0 });
  }
  return calls;
}

const writes = (name) => ['write', 'writev', 'sendto'].includes(name);

// Whether the log record of this grab was synced before its reply was sent; null: the trace lacks one of them (yet).
function syncedBeforeReply(calls, packet, user, told) {
  const record = calls.findIndex(({ name, file, text }) => writes(name) && /\.aof$/.test(file) && text.includes(`,${told.share_no},${user.id},${told.amount_fen},`));
  const reply = calls.findIndex(({ name, file, text }, at) => at > record && writes(name) && !/\.aof$/.test(file) &&
    text.includes(`*4\\r\\n:${GRABBED}\\r\\n:${told.share_no}\\r\\n:${told.amount_fen}\\r\\n`));
  if (record < 0 || reply < 0) return null;
  return calls.slice(record, reply).some(({ name, file, ok }) => /^f(data)?sync$/.test(name) && ok && file === calls[record].file);
}

test('a grab is written and synced before its reply leaves Redis', { skip: !traces && 'strace is not allowed here' }, async () => {
  const packet = await sendPacket(8);
  const seen = async (user, told) => {
    let synced = null;
    await poll(10, () => { synced = syncedBeforeReply(callsOf(trace), packet, user, told); return synced !== null; });
    return synced;
  };
  for (const user of users.slice(1, 6)) assert.equal(await seen(user, await grab(packet, user)), true);

  // The same check of a Redis that does not wait for the disk: it must notice the difference.
  assert.deepEqual(await instance.redis(['CONFIG', 'SET', 'appendfsync', 'no']), ['OK']);
  assert.equal(await seen(users[6], await grab(packet, users[6])), false);
  assert.deepEqual(await instance.redis(['CONFIG', 'SET', 'appendfsync', 'always']), ['OK']);
  assert.equal(await seen(users[7], await grab(packet, users[7])), true);
});

// All keys that a grab changes, as text.
async function stateOf(socket, keys) {
  const replies = await redis(socket, [['HGETALL', keys.packet], ['LRANGE', keys.order, 0, -1], ['HGETALL', keys.grabs], ['XRANGE', keys.events, '-', '+']]);
  const refusal = replies.find((reply) => reply instanceof Error); // LOADING, while it reads its log
  if (refusal) throw refusal;
  return JSON.stringify(replies);
}

// The same, as a Redis with the instance's configuration loads it from a folder.
async function stateAfterStart(folder, keys) {
  const socket = join(folder, 'redis.sock');
  const server = spawn('redis-server', [join(instance.var, 'redis.conf'), '--dir', folder, '--unixsocket', socket], { stdio: 'ignore' });
  const ended = new Promise((resolve) => { server.once('exit', resolve); });
  try {
    return await poll(20, () => stateOf(socket, keys).catch(() => null));
  } finally {
    server.kill('SIGKILL');
    await ended;
  }
}

test('a log cut at any byte of its last grab has that grab completely or not at all', async () => {
  const packet = await sendPacket(3);
  for (const user of users.slice(1, 3)) await grab(packet, user);
  assert.ok(await poll(20, async () => (await site.get(`/p/${packet}`, users[2].cookie)).json?.mine?.settled));
  assert.equal((await instance.dev('stop', 'settle')).code, 0);

  const [[, found]] = await instance.redis(['SCAN', 0, 'MATCH', 'hb:*:packet:*', 'COUNT', 10_000]);
  const [numbers] = await instance.sql('SELECT id FROM packet ORDER BY id DESC LIMIT 1');
  const packetKey = found.find((key) => key.endsWith(`:${numbers[0]}`));
  const key = (what) => packetKey.replace(':packet:', `:${what}:`);
  const keys = { packet: packetKey, order: key('order'), grabs: key('grabs'), events: packetKey.replace(/:packet:.*/, ':events') };

  const data = join(instance.var, 'data/redis');
  const logs = join(data, 'appendonlydir');
  const log = readdirSync(logs).filter((name) => name.endsWith('.incr.aof')).sort().pop();
  const sizeBefore = statSync(join(logs, log)).size;
  const stateBefore = await stateOf(instance.socket('redis'), keys);
  const told = await grab(packet, users[3]);
  const sizeAfter = statSync(join(logs, log)).size;
  const stateThen = await stateOf(instance.socket('redis'), keys);
  instance.signalAll('redis', 'SIGKILL');
  assert.notEqual(stateBefore, stateThen);
  assert.ok(sizeAfter > sizeBefore);

  const cuts = Array.from({ length: sizeAfter - sizeBefore + 1 }, (_, i) => sizeBefore + i);
  const place = mkdtempSync(join(tmpdir(), 'hongbao-cut-'));
  const cutTo = async (size) => {
    const folder = join(place, String(size));
    mkdirSync(folder);
    cpSync(logs, join(folder, 'appendonlydir'), { recursive: true });
    truncateSync(join(folder, 'appendonlydir', log), size);
    const state = await stateAfterStart(folder, keys);
    assert.equal(state, size === sizeAfter ? stateThen : stateBefore, `cut after ${size - sizeBefore} of ${sizeAfter - sizeBefore} bytes`);
    rmSync(folder, { recursive: true });
  };
  const failures = [];
  const worker = async () => {
    while (cuts.length > 0 && failures.length === 0) await cutTo(cuts.pop()).catch((error) => failures.push(error));
  };
  await Promise.all(Array.from({ length: SERVERS_AT_ONCE }, worker));
  rmSync(place, { recursive: true });
  assert.deepEqual(failures, []);

  // The site continues with such a cut log: the repeated grab gets the same share and amount.
  truncateSync(join(logs, log), sizeBefore + Math.floor((sizeAfter - sizeBefore) / 2));
  assert.equal((await instance.dev('start', 'redis')).code, 0);
  assert.equal((await instance.dev('start', 'settle')).code, 0);
  // The worker has compared this Redis, and both pools have noticed.
  for (const pool of ['page', 'hot']) assert.ok(await poll(60, async () => (await site.get(`/readyz/${pool}`)).status === 200), pool);
  assert.deepEqual(await grab(packet, users[3]), told);
  let last;
  assert.ok(await poll(20, async () => { last = await instance.audit(); return last?.ok && last.unsettled === 0; }), JSON.stringify(last));
});
