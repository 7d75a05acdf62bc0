// A packet whose grabs are all settled never changes. The hot processes answer for it from their page cache, without
// Redis functions, and the answers (HTML in both languages, and JSON) are the same as those from Redis and MySQL.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sentPath } from './support/packets.js';
import { redis } from './support/redis.js';
import { Client, audit, fen, newUser, poll, site } from './support/site.js';
import { LANGUAGES, words } from './support/texts.js';

const SHARES = 60; // more than a page of 50
const ROUND = 48; // requests, spread over the hot processes
const GUESTS_MS = 3000;

async function commandCalls(command) {
  return Number(new RegExp(`^cmdstat_${command}:calls=(\\d+)`, 'm').exec(await redis('INFO', 'commandstats'))?.[1] ?? 0);
}

// The functions that Redis runs while ROUND requests are sent. The settle worker has calls of its own, once a second.
async function functionsOfRound(request) {
  const before = await commandCalls('fcall');
  for (let i = 0; i < ROUND; i++) await request(i);
  return await commandCalls('fcall') - before;
}

// The parts of an answer that do not depend on the request itself.
function content(answer) {
  const { request_id: _, ...json } = answer.json ?? {};
  return { status: answer.status, json, text: answer.json ? '' : answer.text };
}

async function answersOf(path, visitors) {
  const all = [];
  for (const visitor of visitors) {
    for (const after of ['', '?after=10', '?after=0', '?after=59', '?after=1000']) {
      all.push(content(await visitor.get(path + after)));
      for (const language of LANGUAGES) all.push(content(await visitor.getHtml(path + after, { 'accept-language': language })));
    }
    all.push(content(await visitor.post(`${path}/open`)));
  }
  return all;
}

test('a finished packet is answered from the page cache, with the same answers as before', async () => {
  const sender = await newUser({ yuan: '100' });
  const path = await sentPath(sender, { kind: 'lucky', amount: '60.00', count: String(SHARES), greeting: '恭喜 & <发财>' });
  const people = await site.demoUsers(SHARES + 1);
  const grabs = [];
  for (const person of people.slice(0, SHARES)) grabs.push((await person.post(`${path}/open`)).json);
  const stranger = people[SHARES];
  await poll('all is settled', async () => (await people[SHARES - 1].get(path)).json.mine.settled);
  const visitors = [sender.client, people[0], people[SHARES - 1], stranger, new Client()];

  // Late grabs alone are enough for every process to cache the packet.
  const lateGrab = async () => assert.equal((await stranger.post(`${path}/open`)).status, 410);
  await poll('late grabs run no function', async () => await functionsOfRound(lateGrab) < ROUND / 4);
  const cached = await answersOf(path, visitors);
  await site.unsettled(async () => {
    const calls = await functionsOfRound(async (i) => {
      const language = LANGUAGES[i % 2];
      const { text } = await stranger.getHtml(path, { 'accept-language': language });
      assert.ok(text.includes(words(language, 'amount').replace('{{amount_text}}', fen(grabs[SHARES - 1].amount_fen))), text);
    });
    assert.ok(calls < ROUND / 4, 'a view still runs a function');
    // Guests look for longer than a process uses an entry without Redis, so some of them confirm it for the others.
    const before = await commandCalls('fcall');
    let views = 0;
    for (const end = Date.now() + GUESTS_MS; Date.now() < end; views++) await visitors[4].getHtml(path);
    assert.ok(await commandCalls('fcall') - before < views / 4, 'each view of a guest runs a function');
  });
  // The first part of the list names the luckiest person once, wherever that grab is in the list.
  for (const visitor of [sender.client, people[0], stranger]) {
    const { text } = await visitor.getHtml(path, { 'accept-language': 'zh-CN' });
    const rows = text.split('<li class="row">').slice(1); // above them may be the visitor's own luck
    assert.equal(rows.filter((row) => row.includes(words('zh-CN', 'best'))).length, 1);
  }
  for (const [no, person] of people.slice(0, SHARES).entries()) {
    assert.deepEqual((await person.post(`${path}/open`)).json, { result: 'already', share_no: no, amount_fen: grabs[no].amount_fen, left_count: 0, returned: false });
  }

  // New processes have an empty cache, so the first answers come from Redis.
  await site.startAnew(['hot']);
  assert.deepEqual(await answersOf(path, visitors), cached);
  await audit();
});

test('before the settlement the list comes from memory, and each visitor sees the state of their own share', async () => {
  const sender = await newUser({ yuan: '100' });
  const path = await sentPath(sender, { kind: 'lucky', amount: '60.00', count: String(SHARES) });
  const people = await site.demoUsers(SHARES + 1);
  await site.unsettled(async () => {
    for (const person of people.slice(0, SHARES)) assert.equal((await person.post(`${path}/open`)).status, 200);
    const visitors = [sender.client, people[0], people[SHARES - 1], people[SHARES]];
    const first = await answersOf(path, visitors);
    for (let i = 0; i < 8; i++) assert.deepEqual(await answersOf(path, visitors), first); // every process has the rows now
    const { json } = await people[3].get(path);
    assert.equal(json.grabs.length, 50);
    assert.equal(json.mine.settled, false);
    const lists = await commandCalls('lrange');
    for (let i = 0; i < ROUND; i++) await people[i].get(path);
    assert.equal(await commandCalls('lrange'), lists, 'the list is read again');
    const calls = await functionsOfRound(() => people[SHARES].get(path));
    assert.ok(calls < ROUND / 4, 'a visitor without a share is not answered from memory');
  });
  await poll('all is settled', async () => (await people[SHARES - 1].get(path)).json.mine.settled);
  for (const person of people.slice(0, SHARES)) assert.equal((await person.get(path)).json.mine.settled, true);
  await audit();
});
