// The limits of the program and of nginx, switched on: guessing passwords, sending without end and holding connections
// are stopped, and other visitors notice nothing.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { connectionsFrom, requestFrom } from './support/from_address.js';
import { linesOf } from './support/logs.js';
import { sentPath } from './support/packets.js';
import { Client, newUser, poll, pollWithin, sendPacket, site, unique } from './support/site.js';

const GUESSES = 111;
const VIEWS = 500;
const CALLS = 2000; // of programs
const CONNECTIONS = 1500;
const REFUSED_BY_NGINX = /"status":429,.*"upstream":""/; // as docs/reference/log.md counts them
const FILES_MORE = 200; // files of this process in addition to the connections
const HTML = 'text/html';
const JSON_TYPE = 'application/json';

const { hostname, port, host } = new URL(site.url);
const files = Number(/^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))[1]);
const skip = files < CONNECTIONS + FILES_MORE ? `only ${files} files may be open` : false;

const restart = (settings) => site.startAnew(['nginx', 'page', 'auth', 'card', 'money'], settings);

before(() => restart({ HB_LIMITS: 'on' }));
after(() => restart({}));

const from = (address, path, options) => requestFrom(address, site.url + path, options);

// Sends requests as they are, one after another on each of ten connections: { status: number of answers }.
async function raw(requests, request) {
  const statuses = {};
  const each = Math.ceil(requests / 10);
  const one = (number) => new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port });
    let answers = '';
    socket.setEncoding('latin1').on('data', (chunk) => { answers += chunk; }).on('error', reject).on('end', () => resolve(answers));
    for (let i = 1; i <= number; i++) socket.write(`${request()}\r\nHost: ${host}\r\nConnection: ${i < number ? 'keep-alive' : 'close'}\r\n\r\n`, 'latin1');
  });
  const parts = Array.from({ length: Math.ceil(requests / each) }, (_, i) => Math.min(each, requests - i * each));
  for (const answers of await Promise.all(parts.map(one)))
    for (const [, status] of answers.matchAll(/HTTP\/1\.1 (\d{3}) /g)) statuses[status] = (statuses[status] ?? 0) + 1;
  return statuses;
}

const count = (answers, status) => answers.filter((answer) => answer.status === status).length;

async function metric(name) {
  const { text } = await new Client().get('/metrics');
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  assert.ok(line, `${name} in /metrics`);
  return Number(line.slice(name.length + 1));
}

function assertTooMany(answer, accept) {
  assert.equal(answer.status, 429, answer.text);
  assert.ok(Number(new Headers(answer.headers).get('retry-after')) >= 1);
  if (accept === HTML) assert.match(answer.text, /<h1>请稍等片刻再试<\/h1>/);
  else assert.equal(JSON.parse(answer.text).type, 'urn:hongbao:problem:too-many');
}

test('the owner logs in at once by a recovery code while 111 wrong guesses from three addresses run', async () => {
  const owner = await newUser();
  const codes = (await owner.client.post('/account/recovery', { password: owner.password })).json.codes.map(({ code }) => code);
  const hashes = await metric('hongbao_password_hashes_total');
  const fields = (i) => (i % 2 ? { username: owner.username, password: `guess ${i}` } : { username: owner.username, code: `${i % 10}-${unique('').slice(0, 4)}-ABCD-ABCD-ABCD` });
  const guess = (i) => from(`127.${1 + (i % 3)}.1.1`, i % 2 ? '/login' : '/login/recovery', { fields: fields(i) });
  const running = Promise.all(Array.from({ length: 2 * GUESSES }, (_, i) => guess(i)));
  const recovered = await new Client().post('/login/recovery', { username: owner.username, code: codes[0] });
  assert.equal(recovered.status, 200, recovered.text);
  const answers = await running;
  assert.equal(count(answers, 422) + count(answers, 429), 2 * GUESSES);
  const hashed = await metric('hongbao_password_hashes_total') - hashes - 1;
  assert.ok(hashed >= 1 && hashed <= 10, `${hashed} hashes`);
  const next = await from('127.1.1.1', '/login/recovery', { fields: { username: owner.username, code: codes[1] } });
  assert.equal(next.status, 200, 'also from an address of the guesses');
});

test('logins of a name are refused alike whether it exists, as page and as JSON', async () => {
  const somebody = await newUser();
  for (const username of [somebody.username, unique('nobody')]) {
    const login = (accept) => from('127.20.0.1', '/login', { fields: { username, password: 'a wrong one' }, accept });
    await poll('a guess is refused', async () => (await login(JSON_TYPE)).status === 429);
    for (const accept of [HTML, JSON_TYPE]) assertTooMany(await login(accept), accept);
    assert.match((await login(HTML)).text, /href="\/login\/recovery"/);
  }
  assert.ok(await metric('hongbao_limited_total{limit="login_account"}') > 0);
});

test('a session views 300 times at once, then 5 times a second; other sessions do not notice', async () => {
  const [sender, visitor, other] = [await newUser({ yuan: '1' }), await newUser(), await newUser()];
  const path = await sentPath(sender, { kind: 'even', amount: '0.01', count: '1' });
  const answers = await Promise.all(Array.from({ length: VIEWS }, () => visitor.client.get(path)));
  assert.ok(count(answers, 200) >= 250, `${count(answers, 200)} views`);
  assert.ok(count(answers, 429) > 0, 'some are refused');
  const refused = answers.find(({ status }) => status === 429);
  assertTooMany(refused, JSON_TYPE);
  assert.match((await linesOf(refused, 'access'))[0], REFUSED_BY_NGINX);
  assert.equal((await other.client.get(path)).status, 200);
  assert.equal((await new Client().get(path)).status, 200);
  await poll('the visitor is served again', async () => (await visitor.client.post(`${path}/open`)).status === 200);
});

test('nobody gets more views by another cookie beside an access token or a session', async () => {
  const [sender, visitor] = [await newUser({ yuan: '1' }), await newUser()];
  const path = await sentPath(sender, { kind: 'even', amount: '0.01', count: '1' });
  const { token } = (await visitor.client.post('/account/tokens', { name: 'bot', scopes: 'read', days: '1', password: visitor.password })).json;
  const made = () => `sid=${randomBytes(32).toString('base64url')}`;
  const views = await raw(VIEWS, () => `GET ${path} HTTP/1.1\r\nAuthorization: Bearer ${token}\r\nCookie: ${made()}`);
  assert.ok(views[429] > 0 && views[200] >= 250, JSON.stringify(views));
  // The program must not read a vertical tab as a blank: it would read the first cookie, while nginx counts the second.
  const own = `sid=${visitor.client.cookie('sid')}`;
  assert.deepEqual(await raw(1, () => `GET /wallet HTTP/1.1\r\nAccept: ${JSON_TYPE}\r\nCookie: ${own}`), { 200: 1 });
  assert.deepEqual(await raw(1, () => `GET /wallet HTTP/1.1\r\nAccept: ${JSON_TYPE}\r\nCookie: \v${own}; ${made()}`), { 401: 1 });
});

test('a program of the operator that asks without end is limited, and its address has all other pages', async () => {
  const answers = await raw(CALLS, () => 'GET /money/report HTTP/1.1');
  assert.ok(answers[429] > 0 && answers[401] >= 500 && answers[401] + answers[429] === CALLS, JSON.stringify(answers));
  assert.equal((await new Client().get('/login')).status, 200);
});

test('every limit of the program answers page and JSON, and is counted', async () => {
  const user = await newUser({ yuan: '1' });
  const { id } = (await sendPacket(user, { kind: 'even', amount: '0.01', count: '1' })).json;
  const [maker, other] = [await newUser(), await newUser()];
  const { code } = (await user.client.post('/account/recovery', { password: user.password })).json.codes[0];
  const sessions = (await site.demoUsers(40)).map((client) => `sid=${client.cookie('sid')}`);
  const reader = sessions.pop();
  const somewhere = () => `127.36.${Math.floor(Math.random() * 250)}.${1 + Math.floor(Math.random() * 250)}`;
  const once = '1 1/d';
  await restart({ HB_LIMITS: 'on', HB_LIMIT_SEND: once, HB_LIMIT_SEND_ADDRESS: once, HB_LIMIT_READ: '4 1/d', HB_LIMIT_SEARCH_ADDRESS: once, HB_LIMIT_EXPORT_ADDRESS: once, HB_LIMIT_DEPOSIT: once, HB_LIMIT_EXPORT: once, HB_LIMIT_CARD: once, HB_LIMIT_PASSWORD: once, HB_LIMIT_CONFIRM: '3 1/d', HB_LIMIT_RECOVERY_MAKE: once, HB_LIMIT_RECOVERY_CODE: '2 1/d', HB_LIMIT_RECOVERY_ADDRESS: once,
    HB_LIMIT_RECOVERY_NETWORK: '2 1/d',
    HB_LIMIT_PASSKEY_ADDRESS: once, HB_LIMIT_PASSKEY_NETWORK: '2 1/d', HB_LIMIT_REGISTER_ADDRESS: once, HB_LIMIT_REGISTER_NETWORK: '2 1/d' });
  const cookie = `sid=${user.client.cookie('sid')}`;
  const recovery = (typed) => ({ username: user.username, code: typed, new_password: 'long enough words' });
  const registration = () => ({ username: unique('r'), nickname: 'r', password: 'long enough words' });
  const pictures = ['shape=wide&lang=en', 'shape=tall&lang=en', 'shape=tall&lang=zh-CN'].map((query) => `/p/${id}/card.png?${query}`);
  const limited = {
    send: (accept) => from(somewhere(), '/send', { fields: { kind: 'even', amount: '0.01', count: '1' }, accept, cookie }),
    send_address: (accept) => from('127.31.0.1', '/send', { fields: { kind: 'even', amount: '0.01', count: '1' }, accept, cookie: sessions.pop() }),
    read: (accept) => from('127.32.0.1', '/wallet', { accept, cookie: reader }),
    search_address: (accept) => from('127.33.0.1', '/records/sent?q=x', { accept, cookie: sessions.pop() }),
    export_address: (accept) => from('127.34.0.1', '/records/sent.csv', { accept, cookie: sessions.pop() }),
    deposit: (accept) => from('127.0.0.1', '/wallet/deposit', { fields: { amount: '1' }, accept, cookie }),
    export: (accept) => from(somewhere(), '/records/sent.csv', { accept, cookie }),
    card: (accept) => from('127.30.0.1', pictures.shift(), { accept }), // each picture once, because nginx caches it
    password: (accept) => from('127.45.0.1', '/account/password', { fields: { old_password: 'a wrong one', new_password: 'another long one' }, accept, cookie }),
    confirm: (accept) => from('127.45.0.1', '/account/tokens', { fields: { name: 'bot', scopes: 'read', days: '1', password: other.password }, accept, cookie: `sid=${other.client.cookie('sid')}` }),
    recovery_make: (accept) => from('127.45.0.1', '/account/recovery', { fields: { password: maker.password }, accept, cookie: `sid=${maker.client.cookie('sid')}` }),
    recovery_code: (accept) => from('127.46.0.1', '/login/recovery', { fields: recovery(code), accept }),
    recovery_address: (accept) => from('127.47.0.1', '/login/recovery', { fields: recovery('x'), accept }),
    recovery_network: (accept) => from(`127.48.0.${1 + Math.floor(Math.random() * 250)}`, '/login/recovery', { fields: recovery('x'), accept }),
    register_address: (accept) => from('127.40.0.1', '/register', { fields: registration(), accept }),
    passkey_address: (accept) => from('127.60.0.1', '/login/passkey', { fields: { id: 'x' }, accept }),
    passkey_network: (accept) => from(`127.70.0.${1 + Math.floor(Math.random() * 250)}`, '/login/passkey', { fields: { id: 'x' }, accept }),
    register_network: (accept) => from(`127.50.0.${1 + Math.floor(Math.random() * 250)}`, '/register', { fields: registration(), accept }),
  };
  for (const [name, request] of Object.entries(limited)) {
    const before = await metric(`hongbao_limited_total{limit="${name}"}`);
    for (const accept of [HTML, JSON_TYPE]) assertTooMany(await poll(`${name} is limited`, async () => {
      const answer = await request(accept);
      return answer.status === 429 && (!name.endsWith('_network') || await metric(`hongbao_limited_total{limit="${name}"}`) > before) && answer;
    }), accept);
    assert.ok(await metric(`hongbao_limited_total{limit="${name}"}`) > before, name);
  }
  await restart({ HB_LIMITS: 'on' });
});

const POST_BEGUN = `POST /login HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\nu`;

for (const [what, text, address] of [['that send nothing', '', '127.62.0.1'], ['without a whole header', `GET / HTTP/1.1\r\nHost: ${host}\r\n`, '127.63.0.1']]) {
  test(`1,500 connections of one address ${what} keep nobody else away, and end`, { skip }, async () => {
    const all = await connectionsFrom(address, CONNECTIONS, text);
    const page = await from('127.61.0.1', '/login', { accept: HTML });
    assert.equal(page.status, 200);
    assert.match(page.text, /<form[^>]* action="\/login"/);
    assert.equal((await from(address, '/login')).status, 200, 'also of this address');
    await pollWithin('they end', () => all.every(({ closed }) => closed), 40);
    for (const one of all) assert.equal(one.text, '', 'none got an answer');
  });
}

for (const [what, begun, ms] of [['a header at a byte in 2 seconds', `GET / HTTP/1.1\r\nHost: ${host}\r\nX: `, 2000], ['a body at a byte in 8 seconds', POST_BEGUN, 8000]]) {
  test(`a connection that sends ${what} ends`, async () => {
    const [slow] = await connectionsFrom('127.64.0.1', 1, begun);
    const timer = setInterval(() => slow.socket.write('s'), ms);
    try {
      await pollWithin('nginx ends it', () => slow.closed, 30);
    } finally {
      clearInterval(timer);
      slow.socket.destroy();
    }
  });
}

test('a body may be as long as its route needs', async () => {
  const user = await newUser({ yuan: '1' });
  const { id } = (await sendPacket(user, { kind: 'even', amount: '0.01', count: '1' })).json;
  const KIB = 1024;
  for (const [path, most] of [[`/p/${id}/open`, 2 * KIB], ['/login', 8 * KIB], ['/send', 16 * KIB]]) {
    const statusOf = async (length) => (await user.client.post(path, { x: 'y'.repeat(length - 2) })).status;
    assert.notEqual(await statusOf(most), 413, path);
    assert.equal(await statusOf(most + 1), 413, path);
  }
});
