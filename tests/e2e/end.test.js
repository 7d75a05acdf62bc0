// A sender ends a packet early: JSON, the forms without JavaScript in both languages, and a browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { opened, sentPath } from './support/packets.js';
import { newUser, poll } from './support/site.js';
import { words as catalogue } from './support/texts.js';

const balance = async (user) => (await user.client.get('/wallet')).json.balance_fen;

async function openPacket(fields = {}) {
  const sender = await newUser({ yuan: '10' });
  return { sender, path: await sentPath(sender, { kind: 'even', amount: '1.00', count: '3', ...fields }) };
}

test('the sender alone ends a packet: later grabs are refused, the rest comes back, earlier shares stay', async () => {
  const { sender, path } = await openPacket();
  const [first, late] = [await newUser(), await newUser()];
  assert.equal((await opened(first, path)).result, 'grabbed');
  const refused = async (at, status, reason) => {
    const answer = await late.client.post(`${path}/${at}`);
    assert.deepEqual([answer.status, answer.json.type], [status, `urn:hongbao:problem:${reason}`]);
  };
  await refused('end', 403, 'not-sender');
  assert.equal((await sender.client.get(path)).json.ended_at, null);

  const asked = Date.now();
  const ended = await sender.client.post(`${path}/end`);
  const answered = Date.now();
  assert.deepEqual([ended.status, ended.json], [200, { state: 'expired' }]);
  await refused('open', 410, 'expired');
  assert.equal((await opened(first, path)).result, 'already');

  await poll('the rest is back', async () => await balance(sender) === 900);
  const packet = (await late.client.get(path)).json;
  assert.deepEqual([packet.state, packet.grabs.length], ['expired', 1]);
  const ended_ms = Date.parse(packet.ended_at);
  assert.ok(asked <= ended_ms && ended_ms <= answered, packet.ended_at);
  assert.match(packet.seed, /^[0-9a-f]{64}$/);
  const again = await sender.client.post(`${path}/end`);
  assert.deepEqual([again.status, again.json], [200, { state: 'expired' }]);
  assert.equal(await balance(sender), 900);
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
    assert.deepEqual([answer.status, answer.headers.get('location')], [303, path]);
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
