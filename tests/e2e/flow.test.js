// The main flow over HTTP, as with curl: send, grab, view, in JSON and in HTML.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client, audit, fen, newUser, poll, sendPacket, site, unique } from './support/site.js';
import { LANGUAGES, words } from './support/texts.js';

test('register answers 201 with the user and logs in', async () => {
  const client = new Client();
  const name = `reg${Date.now()}`;
  const answer = await client.post('/register', { username: name, nickname: '阿红', password: 'a good password' });
  assert.equal(answer.status, 201);
  assert.deepEqual(Object.keys(answer.json).sort(), ['id', 'nickname', 'username']);
  assert.equal(answer.json.username, name);
  assert.equal(answer.json.nickname, '阿红');
  assert.equal((await client.get('/wallet')).json.balance_fen, 0);
});

test('a login answers 303 to next for HTML and 200 for JSON, and rotates the session', async () => {
  const { client, username, password } = await newUser();
  const before = client.cookie('sid');
  const html = await client.postHtml('/login', { username, password, next: '/records/sent' });
  assert.equal(html.status, 303);
  assert.equal(html.headers.get('location'), '/records/sent');
  assert.notEqual(client.cookie('sid'), before);
  const stale = new Client({ sid: before });
  assert.equal((await stale.get('/wallet')).status, 401);
  assert.equal((await client.post('/login', { username, password })).status, 200);
});

test('a browser that keeps no cookies is told so after a login, one by recovery code, and a registration', async () => {
  const { client: owner, username, password } = await newUser();
  const [{ code }] = (await owner.post('/account/recovery', { password })).json.codes;
  const register = { username: unique('u'), nickname: '红', password, next: '/wallet' };
  for (const [path, form] of [['/login', { username, password }], ['/login', { username, password, next: '/wallet' }],
    ['/login/recovery', { username, code, new_password: 'a brand new password', next: '/wallet' }], ['/register', register]]) {
    const client = new Client();
    const answer = await client.postHtml(path, form);
    assert.equal(answer.status, 303);
    const next = answer.headers.get('location');
    for (const language of LANGUAGES) {
      const page = await new Client().getHtml(next, { 'accept-language': language });
      assert.equal(page.status, 200);
      assert.ok(page.text.includes(words(language, 'login_no_cookies')), page.text);
    }
    const kept = await client.getHtml(next);
    const onward = path === '/login/recovery' ? '/login/recovery?used=password&next=/wallet' : form.next ?? '/';
    assert.deepEqual([kept.status, kept.headers.get('location')], [303, onward]);
  }
  assert.ok(!(await new Client().getHtml('/login')).text.includes(words('zh-CN', 'login_no_cookies')));
});

test('style sheet and script are served compressed, from the files made at start', async () => {
  const page = await new Client().getHtml('/login');
  const paths = [...page.text.matchAll(/\/static\/[\w-]+\.[0-9a-f]{10}\.(?:css|js|svg)/g)].map(([path]) => path);
  for (const type of ['css', 'js', 'svg']) assert.ok(paths.some((path) => path.endsWith(type)), type);
  for (const path of paths) {
    const plain = await new Client().get(path);
    const packed = await new Client().get(path, { 'accept-encoding': 'gzip' });
    assert.equal(plain.status, 200);
    assert.equal(packed.headers.get('content-encoding'), 'gzip', path);
    // Responses that nginx compresses itself have no Content-Length.
    const length = Number(packed.headers.get('content-length'));
    assert.ok(length > 0 && length < Number(plain.headers.get('content-length')), path);
    assert.match(packed.headers.get('cache-control'), /immutable/);
  }
});

test('logout ends the session', async () => {
  const { client } = await newUser();
  const sid = client.cookie('sid');
  assert.equal((await client.post('/logout', {})).status, 204);
  assert.equal((await new Client({ sid }).get('/wallet')).status, 401);
});

test('a deposit with the same request_key happens once', async () => {
  const { client } = await newUser();
  const first = await client.post('/wallet/deposit', { amount: '12.34', request_key: 'once' });
  const second = await client.post('/wallet/deposit', { amount: '12.34', request_key: 'once' });
  assert.ok(first.status < 300 && second.status < 300);
  const wallet = (await client.get('/wallet')).json;
  assert.equal(wallet.balance_fen, 1234);
  assert.equal(wallet.entries.length, 1);
  assert.deepEqual({ kind: wallet.entries[0].kind, amount_fen: wallet.entries[0].amount_fen, packet: wallet.entries[0].packet },
    { kind: 'deposit', amount_fen: 1234, packet: null });
});

test('a lucky packet of three: three grabs, the fourth is too late, all sums are right', async () => {
  const sender = await newUser({ yuan: '100' });
  const sent = await sendPacket(sender, { kind: 'lucky', amount: '10.00', count: '3', greeting: '恭喜发财' });
  assert.equal(sent.status, 201);
  assert.match(sent.json.id, /^[0-9a-hjkmnp-tv-z]{26}$/);
  assert.equal(new URL(sent.headers.get('location'), site.url).pathname, `/p/${sent.json.id}`);
  assert.match(sent.json.commitment, /^[0-9a-f]{64}$/);
  const path = `/p/${sent.json.id}`;

  const grabbers = await Promise.all([newUser(), newUser(), newUser()]);
  const amounts = [];
  for (const [index, grabber] of grabbers.entries()) {
    const open = await grabber.client.post(`${path}/open`, {});
    assert.equal(open.status, 200);
    assert.equal(open.json.result, 'grabbed');
    assert.equal(open.json.share_no, index);
    assert.equal(open.json.left_count, 2 - index);
    amounts.push(open.json.amount_fen);
    const again = await grabber.client.post(`${path}/open`, {});
    assert.deepEqual(again.json, { result: 'already', share_no: index, amount_fen: open.json.amount_fen, left_count: 2 - index, returned: false });
  }
  assert.equal(amounts.reduce((a, b) => a + b), 1000);

  const late = await newUser();
  const refused = await late.client.post(`${path}/open`, {});
  assert.equal(refused.status, 410);
  assert.match(refused.headers.get('content-type'), /^application\/problem\+json/);
  assert.match(refused.json.type, /empty$/);
  const page = await late.client.getHtml(path);
  assert.equal(page.status, 200);
  assert.match(page.text, /手慢了，红包派完了/);

  const packet = (await sender.client.get(path)).json;
  assert.equal(packet.state, 'finished');
  assert.equal(packet.amount_fen, 1000);
  assert.equal(packet.grabbed_fen, 1000);
  assert.equal(packet.grabbed_count, 3);
  assert.equal(packet.grabs.length, 3);
  assert.equal(packet.grabs.filter((g) => g.best).length, 1);
  assert.equal(packet.grabs.find((g) => g.best).amount_fen, Math.max(...amounts));
  assert.match(packet.seed, /^[0-9a-f]{64}$/);
  assert.equal(packet.commitment, sent.json.commitment);

  for (const [index, grabber] of grabbers.entries()) {
    const mine = await poll('settled', async () => {
      const { mine } = (await grabber.client.get(path)).json;
      return mine.settled && mine;
    });
    assert.equal(mine.amount_fen, amounts[index]);
    assert.equal((await grabber.client.get('/wallet')).json.balance_fen, amounts[index]);
    const records = (await grabber.client.get('/records/received')).json;
    assert.equal(records.total_fen, amounts[index]);
    assert.equal(records.count, 1);
    assert.equal(records.items[0].packet.id, sent.json.id);
    assert.equal(records.items[0].amount_fen, amounts[index]);
  }
  const records = (await sender.client.get('/records/sent')).json;
  assert.equal(records.total_fen, 1000);
  assert.equal(records.items[0].id, sent.json.id);
  assert.equal((await sender.client.get('/wallet')).json.balance_fen, 9000);

  const shares = (await site.hongbao('verify', packet.seed, 'lucky', '10.00', '3')).stdout;
  for (const amount of amounts) assert.ok(shares.includes((amount / 100).toFixed(2)), shares);
  await audit();
});

test('an even packet gives everyone the same', async () => {
  const sender = await newUser({ yuan: '100' });
  const sent = await sendPacket(sender, { kind: 'even', amount: '1.50', count: '2' });
  assert.equal((await sender.client.get(`/p/${sent.json.id}`)).json.amount_fen, 300);
  for (let i = 0; i < 2; i++) {
    const { client } = await newUser();
    assert.equal((await client.post(`/p/${sent.json.id}/open`, {})).json.amount_fen, 150);
  }
});

test('an exclusive packet can be opened by its receiver only', async () => {
  const [sender, receiver, other] = await Promise.all([newUser({ yuan: '10' }), newUser(), newUser()]);
  const sent = await sendPacket(sender, { kind: 'exclusive', amount: '3', to: receiver.username });
  const path = `/p/${sent.json.id}`;
  const refused = await other.client.post(`${path}/open`, {});
  assert.equal(refused.status, 403);
  assert.match(refused.json.type, /not-for-you$/);
  assert.match((await other.client.getHtml(path)).text, /该红包仅限指定好友领取/);
  assert.match((await sender.client.getHtml(path)).text, /红包金额<wbr>3\.00元，等待对方领取/);
  assert.equal((await receiver.client.post(`${path}/open`, {})).json.amount_fen, 300);
  assert.equal((await sender.client.get(path)).json.state, 'finished');
});

test('the same request_key sends one packet', async () => {
  const sender = await newUser({ yuan: '10' });
  const fields = { kind: 'lucky', amount: '4', count: '2', request_key: 'key-1' };
  const [a, b] = await Promise.all([sendPacket(sender, fields), sendPacket(sender, fields)]);
  const c = await sendPacket(sender, fields);
  assert.equal(a.json.id, b.json.id);
  assert.equal(a.json.id, c.json.id);
  assert.equal((await sender.client.get('/wallet')).json.balance_fen, 600);
});

test('the HTML forms answer 303 and lead to pages that show the outcome', async () => {
  const sender = await newUser({ yuan: '10' });
  const sent = await sender.client.postHtml('/send', { kind: 'lucky', amount: '２。５', count: '2' });
  assert.equal(sent.status, 303);
  const path = sent.headers.get('location');
  assert.match(path, /^\/p\/[0-9a-z]{26}$/);
  assert.match((await sender.client.getHtml(path)).text, /已领取0\/2个，共0\.00\/<wbr>2\.50元/);
  const grabber = await newUser();
  const open = await grabber.client.postHtml(`${path}/open`, {});
  assert.equal(open.status, 303);
  assert.equal(open.headers.get('location'), path);
  const page = (await grabber.client.getHtml(path)).text;
  const mine = (await grabber.client.get(path)).json.mine;
  assert.ok(page.includes(fen(mine.amount_fen)), 'the result shows the amount');
});

test('a logged-out visitor sees whose packet it is and is led to the login', async () => {
  const sender = await newUser({ yuan: '10', nickname: '发红包的人' });
  const sent = await sendPacket(sender, { kind: 'lucky', amount: '4', count: '2', greeting: '新年快乐' });
  const visitor = new Client();
  const page = await visitor.getHtml(`/p/${sent.json.id}`);
  assert.equal(page.status, 200);
  assert.match(page.text, /发红包的人/);
  assert.match(page.text, /新年快乐/);
  assert.ok(page.text.includes(`/login?next=/p/${sent.json.id}`));
  const json = (await visitor.get(`/p/${sent.json.id}`)).json;
  assert.deepEqual(json.grabs, []);
  assert.equal(json.mine, null);
  assert.equal(json.amount_fen, undefined);
  assert.equal(json.seed, null);
  const open = await visitor.postHtml(`/p/${sent.json.id}/open`, {});
  assert.equal(open.status, 303);
  assert.equal(open.headers.get('location'), `/login?next=/p/${sent.json.id}&expired=1`);
  assert.equal((await visitor.post(`/p/${sent.json.id}/open`, {})).status, 401);
});

test('records and statement page by key without gaps or repeats', async () => {
  const sender = await newUser({ yuan: '100' });
  const ids = [];
  for (let i = 0; i < 23; i++) ids.push((await sendPacket(sender, { kind: 'even', amount: '0.01', count: '1' })).json.id);
  const seen = [];
  let next = '';
  do {
    const page = (await sender.client.get(`/records/sent${next && `?before=${encodeURIComponent(next)}`}`)).json;
    assert.ok(page.items.length <= 20);
    seen.push(...page.items.map((item) => item.id));
    next = page.next;
  } while (next);
  assert.deepEqual(seen, ids.reverse());
  const entries = [];
  do {
    const page = (await sender.client.get(`/wallet${next ? `?before=${encodeURIComponent(next)}` : ''}`)).json;
    entries.push(...page.entries);
    next = page.next;
  } while (next);
  assert.equal(entries.length, 24);
  assert.equal(entries.reduce((sum, entry) => sum + entry.amount_fen, 0), 10000 - 23);
});

test('the list of a large packet pages by share number', async () => {
  const sender = await newUser({ yuan: '10' });
  const sent = await sendPacket(sender, { kind: 'even', amount: '0.01', count: '60' });
  const users = await site.demoUsers(60);
  await Promise.all(users.map((client) => client.post(`/p/${sent.json.id}/open`, {})));
  const first = (await sender.client.get(`/p/${sent.json.id}`)).json;
  assert.equal(first.grabs.length, 50);
  assert.equal(first.grabs[0].share_no, 59);
  const second = (await sender.client.get(`/p/${sent.json.id}?after=${first.next}`)).json;
  assert.deepEqual(second.grabs.map((g) => g.share_no), [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
  assert.equal(second.next, null);
  const page = (await sender.client.getHtml(`/p/${sent.json.id}`)).text;
  assert.ok(page.includes(`?after=${first.next}#grabs"`), 'the next page is opened at its list');
  const draw = (await sender.client.getHtml(`/p/${sent.json.id}/verify`)).text;
  assert.ok(draw.indexOf('sha256sum') < draw.indexOf('<table'), 'the fingerprint is above the shares');
});

test('health and readiness are reported', async () => {
  const client = new Client();
  assert.equal((await client.get('/healthz')).status, 200);
  assert.equal((await client.get('/readyz')).status, 200);
  const metrics = await client.get('/metrics');
  assert.equal(metrics.status, 200);
  assert.match(metrics.text, /^hongbao_grabs_total\{result="grabbed"\} \d+$/m);
});
