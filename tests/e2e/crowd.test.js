// A crowd: 3,000 people on 3,000 connections open one packet of 100 at once. Every one of them gets an answer, and the
// only answers are a share and "sold out".
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { sentPath } from './support/packets.js';
import { redis } from './support/redis.js';
import { audit, newUser, pooled, sendPacket, site } from './support/site.js';

const PEOPLE = 3000;
const SHARES = 100;
const YUAN = '200.00';
const START_FEN = 100_000; // of a demo user
const CONNECTS_AT_ONCE = 100;
const SAMPLE = 15;
const FILES_MORE = 100; // files of this process in addition to the connections
const ANSWER_MS_MAX = 120_000;

const { hostname, port, host } = new URL(site.url);
const files = Number(/^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))[1]);
const skip = files < PEOPLE + FILES_MORE ? `only ${files} files may be open` : false;

const connected = () => new Promise((resolve, reject) => {
  const socket = connect(Number(port), hostname, () => resolve(socket.off('error', reject)));
  socket.once('error', reject);
});

// One request on this connection: { status, json }.
function opened(socket, path, person) {
  return new Promise((resolve, reject) => {
    const headers = { host, accept: 'application/json', cookie: `sid=${person.cookie('sid')}`, 'content-length': 0 };
    const request = http.request({ createConnection: () => socket, method: 'POST', path, headers, timeout: ANSWER_MS_MAX }, (answer) => {
      const chunks = [];
      answer.on('data', (chunk) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        try {
          resolve({ status: answer.statusCode, json: JSON.parse(text) });
        } catch {
          reject(new Error(`${answer.statusCode} without JSON: ${text}`));
        }
      });
    });
    request.on('error', reject);
    request.on('timeout', () => request.destroy(new Error('no answer')));
    request.end();
  });
}

// All grabs of the packet's pages.
async function listed(client, path) {
  const grabs = [];
  for (let next = ''; next !== null;) {
    const { json } = await client.get(next === '' ? path : `${path}?after=${next}`);
    grabs.push(...json.grabs);
    next = json.next;
  }
  return grabs;
}

async function eventsWritten() {
  return Number(/^cmdstat_xadd:calls=(\d+)/m.exec(await redis('INFO', 'commandstats'))?.[1] ?? 0);
}

const sum = (list) => list.reduce((all, { amount_fen: fen }) => all + fen, 0);
const byShare = (a, b) => a.share_no - b.share_no;

test(`${PEOPLE} people on as many connections open a packet of ${SHARES} at once`, { skip }, async (t) => {
  const sender = await newUser({ yuan: YUAN });
  const path = await sentPath(sender, { kind: 'lucky', amount: YUAN, count: String(SHARES) });
  const people = await site.demoUsers(PEOPLE);
  const sockets = await pooled(people, CONNECTS_AT_ONCE, connected);
  const events = await eventsWritten();
  const started = Date.now();
  const answers = await Promise.all(sockets.map((socket, i) => opened(socket, `${path}/open`, people[i])));
  t.diagnostic(`all were answered after ${Date.now() - started} ms, in ${await eventsWritten() - events} events`);
  assert.ok(await eventsWritten() - events < SHARES, 'there was no crowd: every grab was an event of its own');

  const won = answers.map((answer, i) => ({ ...answer, person: people[i] })).filter(({ status }) => status === 200);
  const lost = answers.filter(({ status }) => status !== 200);
  const strange = lost.find(({ status, json }) => status !== 410 || json.status !== 410 || json.type !== 'urn:hongbao:problem:empty');
  assert.equal(strange, undefined, JSON.stringify(strange));
  assert.equal(won.length, SHARES);
  assert.ok(won.every(({ json }) => json.result === 'grabbed' && json.amount_fen >= 1), JSON.stringify(won.map(({ json }) => json)));
  const shares = won.map(({ json }) => json).sort(byShare);
  assert.deepEqual(shares.map(({ share_no: no }) => no), [...Array(SHARES).keys()]);
  assert.equal(sum(shares), Number(YUAN) * 100);

  await audit();
  const grabs = (await listed(sender.client, path)).sort(byShare);
  assert.deepEqual(grabs.map((grab) => [grab.share_no, grab.amount_fen]), shares.map((share) => [share.share_no, share.amount_fen]));
  assert.equal(new Set(grabs.map(({ user }) => user.id)).size, SHARES);
  for (const { person, json } of won.slice(0, SAMPLE)) {
    assert.equal((await person.get('/wallet')).json.balance_fen, START_FEN + json.amount_fen);
    assert.deepEqual((await person.post(`${path}/open`)).json, { ...json, result: 'already', left_count: 0, returned: false });
  }
  const losers = people.filter((_, i) => answers[i].status !== 200);
  for (const person of losers.slice(0, SAMPLE)) assert.equal((await person.get('/wallet')).json.balance_fen, START_FEN);
  assert.equal((await sender.client.get('/wallet')).json.balance_fen, 0);
});

test('many requests of one person at once get one share', async () => {
  const [sender, one] = [await newUser({ yuan: '50' }), await newUser()];
  const path = `/p/${(await sendPacket(sender, { kind: 'lucky', amount: '50', count: '100' })).json.id}`;
  const answers = await Promise.all(Array.from({ length: 200 }, () => one.client.post(`${path}/open`)));
  assert.equal(answers.filter(({ json }) => json.result === 'grabbed').length, 1);
  assert.equal(new Set(answers.map(({ json }) => `${json.share_no} ${json.amount_fen}`)).size, 1);
  assert.equal((await sender.client.get(path)).json.grabbed_count, 1);
});
