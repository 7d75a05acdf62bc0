// A program asks by its own order number, the request_key, what became of a packet that it sent.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expireNow } from './support/moments.js';
import { opened, sentPath } from './support/packets.js';
import { audit, fen, newUser, poll, sendPacket, site, unique } from './support/site.js';
import { LANGUAGES, words } from './support/texts.js';

const order = async ({ client }, key) => client.get(`/orders/${key}`);
const closedOrder = (sender, key) => poll('it is closed', async () => {
  const { json } = await order(sender, key);
  return json.closed_at && json;
});

test('a sender that lost the answer finds the packet by its key, and its end', async () => {
  const sender = await newUser({ yuan: '100' });
  const key = unique('order-');
  assert.equal((await order(sender, key)).status, 404);
  const sent = await sendPacket(sender, { kind: 'lucky', amount: '10', count: '2', request_key: key });
  const before = await order(sender, key);
  assert.match(before.headers.get('cache-control'), /no-store/);
  const { id, url, commitment, kind, state, amount_fen: amount, count, closed_at: closed } = before.json;
  assert.deepEqual({ id, url, commitment }, sent.json);
  assert.deepEqual([before.json.request_key, kind, state, amount, count, closed], [key, 'lucky', 'open', 1000, 2, null]);
  for (const person of await site.demoUsers(2)) await opened({ client: person }, `/p/${id}`);
  const after = await closedOrder(sender, key);
  assert.deepEqual([after.state, after.grabbed_count, after.grabbed_fen, after.refund_fen], ['finished', 2, 1000, 0]);
  assert.ok(after.finished_at);
});

test('an expired order tells what was taken and what came back', async () => {
  const sender = await newUser({ yuan: '100' });
  const key = unique('order-');
  const path = await sentPath(sender, { kind: 'even', amount: '1.50', count: '3', request_key: key });
  await opened(await newUser(), path);
  await expireNow(path);
  const { state, amount_fen: amount, grabbed_count: count, grabbed_fen: grabbed, refund_fen: refund, finished_at: finished } = await closedOrder(sender, key);
  assert.deepEqual([state, amount, count, grabbed, refund, finished], ['expired', 450, 1, 150, 300, null]);
  for (const language of LANGUAGES) {
    const page = await sender.client.getHtml(`/orders/${key}`, { 'accept-language': language });
    assert.equal(page.status, 200);
    for (const part of [key, words(language, 'state_expired'), words(language, 'refunded').replace('{{refund_text}}', fen(refund)),
      words(language, 'order_grabbed_sum').replace('{{grabbed_text}}', fen(grabbed))]) assert.ok(page.text.includes(part), part);
  }
  await audit();
});

test('a key of another order is refused with the address of that order', async () => {
  const sender = await newUser({ yuan: '10' });
  const key = unique('order-');
  const sent = await sendPacket(sender, { kind: 'even', amount: '1', count: '1', request_key: key });
  for (const language of LANGUAGES) {
    const other = { kind: 'even', amount: '2', count: '1', request_key: key };
    const refused = await sender.client.post('/send', other, { 'accept-language': language });
    assert.equal(refused.status, 422);
    assert.deepEqual(refused.json.errors, [{ field: 'request_key', message: words(language, 'request_key_used') }]);
    assert.equal((await sender.client.get(refused.json.order)).json.id, sent.json.id);
    const page = await sender.client.postHtml('/send', other, { 'accept-language': language });
    assert.ok(page.text.includes(`<a href="/p/${sent.json.id}">${words(language, 'send_already_look')}</a>`));
  }
  const short = await sendPacket(sender, { kind: 'even', amount: '100', count: '1', request_key: unique('order-') });
  assert.deepEqual([short.status, short.json.order], [422, undefined]);
});
