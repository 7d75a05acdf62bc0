// The security log of a running site: it has what users and strangers did, with the address, and no log has a secret.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client, request } from './support/client.js';
import { allLogs, linesOf } from './support/logs.js';
import { sentPath } from './support/packets.js';
import { newUser, PASSWORD, unique } from './support/site.js';

const LINE = /^ts=\S+ level=(\w+) role=(\w+) pid=\d+ msg="security" event=([\w-]+) user_id=(\d+) address=(\S+) request_id=([0-9a-f]{32})( [\w]+=\S+)*$/;
const ADDRESS = '127.0.0.1';

// The one security event of the answer's request, from the log of the pool.
async function eventOf(answer, pool) {
  const lines = await linesOf(answer, pool);
  assert.equal(lines.length, 1, lines.join('\n'));
  assert.match(lines[0], LINE);
  const [, level, role, event, user, address] = LINE.exec(lines[0]);
  assert.equal(role, pool);
  return { level, event, user: Number(user), address, line: lines[0] };
}

async function assertEvent(answer, pool, event, user, { level = 'info' } = {}) {
  const found = await eventOf(answer, pool);
  assert.deepEqual([found.event, found.user, found.level, found.address], [event, user, level, ADDRESS]);
  return found.line;
}

const refused = { level: 'warn' };

test('registration, login, logout, a change of the password and refusals are logged with user and address', async () => {
  const user = { username: unique('u'), password: unique('a good password ') };
  const client = new Client();
  const registered = await client.post('/register', { ...user, nickname: 'x' });
  assert.equal(registered.status, 201, registered.text);
  const { id } = registered.json;
  await assertEvent(registered, 'auth', 'register', id);
  await assertEvent(await client.post('/logout'), 'page', 'logout', id);
  await assertEvent(await client.post('/login', { ...user, password: 'a wrong password' }), 'auth', 'login-refused', id, refused);
  await assertEvent(await client.post('/login', { ...user, username: unique('nobody') }), 'auth', 'login-refused', 0, refused);
  await assertEvent(await client.post('/login', user), 'auth', 'login', id);
  const change = (old) => client.post('/account/password', { old_password: old, new_password: unique('another password ') });
  await assertEvent(await change('not my password'), 'auth', 'password-refused', id, refused);
  await assertEvent(await change(user.password), 'auth', 'password-changed', id);
});

test('tokens, their refusal and a missing scope are logged', async () => {
  const { client, id } = await newUser({ yuan: '1' });
  const made = await client.post('/account/tokens', { name: unique('bot'), scopes: 'read', days: '1', password: PASSWORD });
  const line = await assertEvent(made, 'auth', 'token-made', id);
  assert.match(line, / token_id=\d+$/);
  const authorization = `Bearer ${made.json.token}`;
  const sent = await request('/send', { method: 'POST', headers: { authorization } });
  assert.equal(sent.status, 403);
  assert.match(await assertEvent(sent, 'page', 'scope-refused', id, refused), / scope=send$/);
  await assertEvent(await request('/account', { headers: { authorization } }), 'page', 'scope-refused', 0, refused);
  await assertEvent(await client.post(`/account/tokens/${made.json.id}/delete`), 'page', 'token-revoked', id);
  const late = await request('/wallet', { headers: { authorization } });
  assert.equal(late.status, 401);
  await assertEvent(late, 'page', 'token-refused', 0, refused);
});

test('what another website sends, and what belongs to somebody else, is logged as refused', async () => {
  const sender = await newUser({ yuan: '10' });
  const other = await newUser();
  const path = await sentPath(sender, { kind: 'lucky', amount: '5', count: '2' });
  const foreign = { 'sec-fetch-site': 'cross-site' };
  await assertEvent(await sender.client.post('/send', {}, foreign), 'page', 'origin-refused', 0, refused);
  await assertEvent(await sender.client.post('/login', {}, foreign), 'auth', 'origin-refused', 0, refused);
  await assertEvent(await other.client.post(`${path}/open`, {}, foreign), 'hot', 'origin-refused', 0, refused);
  await assertEvent(await other.client.post(`${path}/end`), 'page', 'access-refused', other.id, refused);
  await assertEvent(await other.client.get(`/send?again=${path.slice(3)}`), 'page', 'access-refused', other.id, refused);
  await assertEvent(await other.client.get(`${path}/screen?key=${'0'.repeat(26)}`), 'hot', 'access-refused', other.id, refused);
});

test('no client can write a line of its own, and an address is nginx’s alone', async () => {
  const fake = `ts=2026-01-01T00:00:00.000Z level=warn role=auth pid=1 msg="security" event=login-refused user_id=0 address=192.0.2.66 request_id=${'0'.repeat(32)}`;
  const username = `x\r\n${fake}\n`;
  const headers = { 'x-forwarded-for': '192.0.2.66', 'x-real-ip': '192.0.2.66', 'x-request-id': 'f'.repeat(32), 'remote-addr': '192.0.2.66' };
  const answer = await new Client().post('/login', { username, password: fake, next: `/${fake}` }, headers);
  assert.equal(answer.status, 422);
  await assertEvent(answer, 'auth', 'login-refused', 0, refused);
  for (const { name, text } of await allLogs()) {
    if (name === 'access.log') continue;
    assert.ok(!text.includes('192.0.2.66'), name);
  }
});

test('no log has a password, a token, a cookie or the key of a screen', async () => {
  const password = unique('a secret password ');
  const username = unique('u');
  const client = new Client();
  assert.equal((await client.post('/register', { username, nickname: 'x', password })).status, 201);
  const secrets = [password, encodeURIComponent(password), client.cookie('sid')];
  await client.post('/logout');
  assert.equal((await client.post('/login', { username, password: `${password}!` })).status, 422);
  assert.equal((await client.post('/login', { username: password, password })).status, 422); // typed into the wrong field
  assert.equal((await client.post('/login', { username, password })).status, 200);
  secrets.push(client.cookie('sid'), unique('a new secret password '));
  assert.equal((await client.post('/account/password', { old_password: password, new_password: secrets.at(-1) })).status, 204);
  const made = await client.post('/account/tokens', { name: unique('bot'), scopes: 'read', days: '1', password: secrets.at(-1) });
  assert.equal(made.status, 201, made.text);
  secrets.push(made.json.token);
  for (const [path, token] of [['/wallet', made.json.token], ['/nothing', made.json.token], ['/wallet', `${made.json.token}x`]])
    await request(path, { headers: { authorization: `Bearer ${token}` } });
  await client.post('/wallet/deposit', { amount: '10', request_key: unique('k') });
  const sent = await client.post('/send', { kind: 'even', amount: '1', count: '1', phrase: '芝麻开门呀', request_key: unique('k') });
  const { screen_url: screen } = (await client.get(`/p/${sent.json.id}`)).json;
  const key = screen.slice(screen.indexOf('key=') + 4);
  assert.ok(key.length > 20);
  const last = await client.get(screen);
  assert.equal(last.status, 200);
  await linesOf(last, 'access');
  assert.ok(secrets.every((secret) => secret?.length >= 20));
  for (const { name, text } of await allLogs())
    for (const secret of [...secrets, key, '芝麻开门呀', encodeURIComponent('芝麻开门呀')])
      assert.ok(!text.includes(secret), `${name} has ${secret}`);
});

test('no log has what the address of a form was filled with', async () => {
  const typed = unique('typed');
  const { client } = await newUser();
  let last;
  for (const path of ['/send', '/wallet', '/login', '/login/recovery', '/records/sent', '/records/received', '/records/sent.csv',
    '/records/received.csv', '/register']) last = await client.getHtml(`${path}?q=${typed}`);
  assert.match((await linesOf(last, 'access'))[0], /"uri":"\/register"/);
  for (const { name, text } of await allLogs()) assert.ok(!text.includes(typed), name);
});
