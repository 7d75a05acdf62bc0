// The main flow over HTTP, as with curl: send, grab, view. tests/e2e/engines.test.js has it in browsers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sentPath } from './support/packets.js';
import { Client, audit, fen, newUser, poll, sendPacket, site, unique } from './support/site.js';
import { words } from './support/texts.js';

test('a browser that keeps no cookies is told so after a registration and a login by recovery code', async () => {
  const { client: owner, username, password } = await newUser();
  const [{ code }] = (await owner.post('/account/recovery', { password })).json.codes;
  const forms = {
    '/register': [{ username: unique('u'), nickname: '红', password }, '/wallet'],
    '/login/recovery': [{ username, code, new_password: 'a brand new password' }, '/login/recovery?used=password&next=/wallet'],
  };
  for (const [path, [form, onward]] of Object.entries(forms)) {
    const client = new Client();
    const asked = (await client.postHtml(path, { ...form, next: '/wallet' })).headers.get('location');
    const page = await new Client().getHtml(asked);
    assert.ok(page.text.includes(words('zh-CN', 'login_no_cookies')), page.text);
    assert.equal((await client.getHtml(asked)).headers.get('location'), onward, path);
  }
});

test('the main flow: somebody sends a lucky packet of three, three open it, and a fourth is too late', async () => {
  const sender = await newUser({ yuan: '100' });
  const sent = await sendPacket(sender, { kind: 'lucky', amount: '10.00', count: '3', greeting: '恭喜发财' });
  assert.equal(sent.status, 201);
  assert.match(sent.json.commitment, /^[0-9a-f]{64}$/);
  const path = `/p/${sent.json.id}`;
  assert.equal(new URL(sent.headers.get('location'), site.url).pathname, path);

  const grabbers = await Promise.all([newUser(), newUser(), newUser()]);
  const amounts = [];
  for (const [index, grabber] of grabbers.entries()) {
    const open = await grabber.client.post(`${path}/open`, {});
    assert.equal(open.status, 200);
    const share = { share_no: index, amount_fen: open.json.amount_fen, left_count: 2 - index };
    assert.deepEqual(open.json, { ...share, result: 'grabbed' });
    assert.deepEqual((await grabber.client.post(`${path}/open`, {})).json, { ...share, result: 'already', returned: false });
    amounts.push(open.json.amount_fen);
  }
  assert.equal(amounts.reduce((a, b) => a + b), 1000);

  const late = await newUser();
  const refused = await late.client.post(`${path}/open`, {});
  assert.deepEqual([refused.status, refused.json.type], [410, 'urn:hongbao:problem:empty']);
  assert.match((await late.client.getHtml(path)).text, /手慢了，红包派完了/);

  const packet = (await sender.client.get(path)).json;
  assert.deepEqual([packet.state, packet.amount_fen, packet.grabbed_fen, packet.grabbed_count, packet.opens_at], ['finished', 1000, 1000, 3, null]);
  assert.deepEqual(packet.grabs.filter(({ best }) => best).map(({ amount_fen: fen }) => fen), [Math.max(...amounts)]);
  assert.equal(packet.commitment, sent.json.commitment);
  for (const [index, { client }] of grabbers.entries()) {
    await poll('settled', async () => (await client.get(path)).json.mine.settled);
    assert.equal((await client.get('/wallet')).json.balance_fen, amounts[index]);
    const records = (await client.get('/records/received')).json;
    assert.deepEqual([records.total_fen, records.items.map((item) => item.packet.id)], [amounts[index], [sent.json.id]]);
  }
  assert.equal((await sender.client.get('/records/sent')).json.items[0].id, sent.json.id);
  assert.equal((await sender.client.get('/wallet')).json.balance_fen, 9000);
  const shares = (await site.hongbao('verify', packet.seed, 'lucky', '10.00', '3')).stdout;
  for (const amount of amounts) assert.ok(shares.includes(fen(amount)), shares);
  await audit();
});

test('a logged-out visitor sees whose packet it is, no amount and no grab, and is led to the login', async () => {
  const sender = await newUser({ yuan: '10', nickname: '发红包的人' });
  const path = await sentPath(sender, { kind: 'lucky', amount: '4', count: '2', greeting: '新年快乐' });
  const visitor = new Client();
  const page = await visitor.getHtml(path);
  assert.equal(page.status, 200);
  for (const part of ['发红包的人', '新年快乐', `/login?next=${path}`]) assert.ok(page.text.includes(part), part);
  const { json } = await visitor.get(path);
  assert.deepEqual([json.grabs, json.mine, json.amount_fen, json.seed], [[], null, undefined, null]);
  assert.equal((await visitor.postHtml(`${path}/open`, {})).headers.get('location'), `/login?next=${path}&expired=1`);
  assert.equal((await visitor.post(`${path}/open`, {})).status, 401);
});

test('the pages of a large packet lead to each other at the list', async () => {
  const sender = await newUser({ yuan: '10' });
  const path = await sentPath(sender, { kind: 'even', amount: '0.01', count: '60' });
  await Promise.all((await site.demoUsers(60)).map((client) => client.post(`${path}/open`, {})));
  const { grabs, next } = (await sender.client.get(path)).json;
  assert.deepEqual([grabs.length, (await sender.client.get(`${path}?after=${next}`)).json.grabs.length], [50, 10]);
  assert.ok((await sender.client.getHtml(path)).text.includes(`?after=${next}#grabs"`), 'the next page is opened at its list');
  const draw = await poll('the draw is shown: all grabs are settled', async () => {
    const { text } = await sender.client.getHtml(`${path}/verify`);
    return text.includes('sha256sum') && text;
  });
  assert.ok(draw.indexOf('sha256sum') < draw.indexOf('<table'), 'the fingerprint is above the shares');
});
