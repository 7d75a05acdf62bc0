// A sender ends a packet early: JSON, the forms without JavaScript in both languages, and a browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client, newUser, poll, sendPacket } from './support/site.js';
import { words as catalogue } from './support/texts.js';

const balance = async (user) => (await user.client.get('/wallet')).json.balance_fen;

async function openPacket(fields = {}) {
  const sender = await newUser({ yuan: '10' });
  const sent = await sendPacket(sender, { kind: 'even', amount: '1.00', count: '3', ...fields });
  return { sender, path: `/p/${sent.json.id}` };
}

test('the sender ends a packet: later grabs are refused, the rest comes back, earlier shares stay', async () => {
  const { sender, path } = await openPacket();
  const [first, late] = [await newUser(), await newUser()];
  assert.equal((await first.client.post(`${path}/open`, {})).json.result, 'grabbed');
  assert.equal((await sender.client.get(path)).json.ended_at, null);

  const asked = Date.now();
  const ended = await sender.client.post(`${path}/end`, {});
  const answered = Date.now();
  assert.equal(ended.status, 200);
  assert.deepEqual(ended.json, { state: 'expired' });
  const refused = await late.client.post(`${path}/open`, {});
  assert.equal(refused.status, 410);
  assert.match(refused.json.type, /:expired$/);
  assert.equal((await first.client.post(`${path}/open`, {})).json.result, 'already');

  await poll('the rest is back', async () => await balance(sender) === 900);
  const packet = (await late.client.get(path)).json;
  assert.equal(packet.state, 'expired');
  const ended_ms = Date.parse(packet.ended_at);
  assert.ok(asked <= ended_ms && ended_ms <= answered, packet.ended_at);
  assert.equal(packet.grabs.length, 1);
  assert.match(packet.seed, /^[0-9a-f]{64}$/);
  const again = await sender.client.post(`${path}/end`, {});
  assert.deepEqual([again.status, again.json], [200, { state: 'expired' }]);
  assert.equal(await balance(sender), 900);
});

test('only the sender may end a packet, and only from the same origin', async () => {
  const { sender, path } = await openPacket();
  const other = await newUser();
  const refused = await other.client.post(`${path}/end`, {});
  assert.equal(refused.status, 403);
  assert.match(refused.json.type, /:not-sender$/);
  assert.equal((await new Client().post(`${path}/end`, {})).status, 401);
  assert.equal((await sender.client.post(`${path}/end`, {}, { 'sec-fetch-site': 'cross-site' })).status, 403);
  assert.equal((await sender.client.post('/p/00000000000000000000000000/end', {})).status, 404);
  assert.equal((await sender.client.get(`${path}/end`)).status, 405);
  assert.equal((await other.client.post(`${path}/open`, {})).status, 200);
});

test('an end after the last share says finished', async () => {
  const { sender, path } = await openPacket({ count: '1' });
  assert.equal((await (await newUser()).client.post(`${path}/open`, {})).status, 200);
  assert.deepEqual((await sender.client.post(`${path}/end`, {})).json, { state: 'finished' });
  const packet = (await sender.client.get(path)).json;
  assert.deepEqual([packet.state, packet.ended_at], ['finished', null]);
});

test('without JavaScript: the form on the page of the sender, and what everyone reads afterwards', async () => {
  const words = {
    'zh-CN': { title: '提前结束', list: '发红包的人<wbr>已提前结束。已领取0/3个', own: /你已提前结束。已领取0\/3个/, late: '发红包的人<wbr>已提前结束<wbr>这个红包' },
    en: { title: 'End it early', list: 'The sender ended it early: 0 of 3 taken', own: /You ended it early: 0 of 3 taken/, late: 'The sender has ended this red packet early' },
  };
  for (const [language, said] of Object.entries(words)) {
    const { sender, path } = await openPacket();
    const other = await newUser();
    const headers = { 'accept-language': language };
    assert.ok(!(await other.client.getHtml(path, headers)).text.includes('/end"'));
    const page = (await sender.client.getHtml(path, headers)).text;
    assert.ok(page.includes(said.title));
    const [action] = /\/p\/[0-9a-z]{26}\/end(?=")/.exec(page);
    const answer = await sender.client.postHtml(action, {});
    assert.equal(answer.status, 303);
    assert.equal(answer.headers.get('location'), path);
    const own = (await sender.client.getHtml(path, headers)).text;
    assert.match(own, said.own);
    assert.ok(!own.includes('/end"'), 'an ended packet has no form to end it');
    const rows = (await sender.client.getHtml('/records/sent', headers)).text;
    assert.ok(rows.includes(catalogue(language, 'state_ended')) && !rows.includes(`<small>${catalogue(language, 'state_expired')}`));
    const csv = (await sender.client.getHtml('/records/sent.csv', headers)).text;
    assert.ok(csv.includes(catalogue(language, 'state_ended')));
    const seen = (await other.client.getHtml(path, headers)).text;
    assert.ok(seen.includes(said.list));
    assert.ok(seen.includes(said.late));
  }
});
