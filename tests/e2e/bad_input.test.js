// Bad input and attacks: each gets the right status and a message beside the field, and changes nothing.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import { test } from 'node:test';
import { Client, newUser, poll, sendPacket, site } from './support/site.js';

const balance = async (user) => (await user.client.get('/wallet')).json.balance_fen;

test('malformed amounts are refused and change nothing', async () => {
  const sender = await newUser({ yuan: '100' });
  const bad = ['', ' ', '-1', '+1', '1e3', '0x10', '1.234', '.', '1,00', '1,000', '1 000', '99999999', 'NaN',
    '١٢', '1\u00002', '0', '0.00', '１.２３４', '1.0.0', '%s', '<b>1</b>'];
  for (const amount of bad) {
    const answer = await sendPacket(sender, { kind: 'lucky', amount, count: '1' });
    assert.ok([400, 422].includes(answer.status), `${JSON.stringify(amount)} gave ${answer.status}`);
    if (answer.status === 422) assert.ok(answer.json.errors.some((e) => e.field === 'amount'), JSON.stringify(answer.json));
  }
  assert.equal(await balance(sender), 10000);
});

test('counts outside 1 to 100 are refused', async () => {
  const sender = await newUser({ yuan: '1000' });
  for (const count of ['0', '-1', '101', '1.5', 'x', '', '99999999999999999999', '１０１']) {
    const answer = await sendPacket(sender, { kind: 'even', amount: '0.01', count });
    assert.equal(answer.status, 422, count);
    assert.ok(answer.json.errors.some((e) => e.field === 'count'));
  }
  assert.equal(await balance(sender), 100000);
});

test('messages about limits have the words of the apps', async () => {
  const sender = await newUser({ yuan: '1000' });
  const message = async (fields) => (await sendPacket(sender, fields)).json.errors[0].message;
  assert.equal(await message({ kind: 'lucky', amount: '200.01', count: '1' }), '单个红包金额不可超过200元');
  assert.equal(await message({ kind: 'lucky', amount: '0.02', count: '3' }), '单个红包金额不可低于0.01元');
  assert.equal(await message({ kind: 'even', amount: '1', count: '101' }), '一次最多发100个红包');
  assert.equal(await message({ kind: 'lucky', amount: '', count: '1' }), '请填写总金额');
  assert.equal(await message({ kind: 'lucky', amount: '1001', count: '100' }), '可用余额不足，还差1.00元');
  assert.equal(await balance(sender), 100000);
});

test('a refused form is answered 422 with all typed texts', async () => {
  const sender = await newUser({ yuan: '1' });
  const page = await sender.client.postHtml('/send', { kind: 'even', amount: '5.5x', count: '7', greeting: '好"<b>' });
  assert.equal(page.status, 422);
  assert.match(page.text, /<title>错误：/);
  assert.match(page.text, /role="alert"/);
  assert.match(page.text, /aria-invalid="true"/);
  assert.ok(page.text.includes('value="5.5x"'));
  assert.ok(page.text.includes('value="7"'));
  assert.ok(page.text.includes('好&quot;&lt;b&gt;'));
  assert.ok(!page.text.includes('<b>'));
});

test('markup, mustaches and quotes in names and greetings stay text', async () => {
  const nasty = `{{x}}<i>'"&\`%s`;
  const sender = await newUser({ yuan: '1', nickname: nasty });
  const sent = await sendPacket(sender, { kind: 'even', amount: '0.01', count: '1', greeting: nasty });
  assert.equal(sent.status, 201);
  const page = await new Client().getHtml(`/p/${sent.json.id}`);
  assert.ok(!page.text.includes('<i>'));
  assert.ok(page.text.includes('{{x}}&lt;i&gt;'));
  const json = (await new Client().get(`/p/${sent.json.id}`)).json;
  assert.equal(json.greeting, nasty);
  assert.equal(json.sender.nickname, nasty);
});

test('greetings are counted in graphemes', async () => {
  const sender = await newUser({ yuan: '1' });
  const family = '👨‍👩‍👧‍👦';
  const send = (greeting) => sendPacket(sender, { kind: 'even', amount: '0.01', count: '1', greeting });
  assert.equal((await send(family.repeat(25))).status, 201);
  const refused = await send('福'.repeat(26));
  assert.equal(refused.status, 422);
  assert.equal(refused.json.errors[0].field, 'greeting');
});

test('repeated fields, broken UTF-8 and NUL are 400', async () => {
  const { client } = await newUser({ yuan: '10' });
  for (const body of ['kind=lucky&amount=1&amount=2&count=1', 'kind=lucky&amount=1&count=1&greeting=%FF',
    'kind=lucky&amount=1&count=1&greeting=a%00b', 'kind=lucky&amount=%4&count=1']) {
    assert.equal((await client.postRaw('/send', body)).status, 400, body);
  }
  assert.equal((await client.postRaw('/send?amount=5', 'kind=lucky&amount=1&count=1')).status, 400);
  assert.equal((await client.postRaw('/send', '{"kind":"lucky"}', { 'content-type': 'application/json' })).status, 415);
});

test('logins of one address are limited, its other requests are not', async () => {
  await site.withSetting(['nginx'], { HB_LIMITS: 'on' }, async () => {
    const login = (html) => new Client().post('/login', { username: 'nobody' }, html ? { accept: 'text/html' } : {});
    const refused = (answers) => answers.filter(({ status }) => status === 429);
    const answers = await poll('a login is refused', async () => {
      const all = await Promise.all(Array.from({ length: 60 }, (_, i) => login(i % 2)));
      return refused(all).length > 1 && all;
    });
    assert.ok(answers.every(({ status }) => status === 429 || status === 422));
    for (const { headers, json, text } of refused(answers)) {
      assert.equal(headers.get('retry-after'), '1');
      if (json) assert.deepEqual([json.type, json.status, json.retry_after], ['urn:hongbao:problem:too-many', 429, 1]);
      else assert.match(text, /<h1>请稍等片刻再试<\/h1>[\s\S]*<p class="trace">429<\/p>/);
    }
    assert.equal((await new Client().get('/login')).status, 200);
    await poll('it may log in again', async () => (await login()).status === 422);
  });
});

const SIGNED_IN = ['href="/send', 'href="/records', 'href="/wallet', 'href="/account'];
test('a problem page keeps the navigation, and shows no login link where the session was not read', async () => {
  const { client } = await newUser();
  const links = ({ text }) => /<header[\s\S]*?<\/header>/.exec(text)[0].match(/href="\/\w+/g);
  assert.deepEqual(links(await client.getHtml('/nothing')), SIGNED_IN);
  const refused = await client.postHtml('/language', { language: 'xx' }); // this route does not read the session
  assert.equal(refused.status, 400);
  assert.equal(links(refused), null);
  assert.deepEqual(links(await client.getHtml('/wallet')), SIGNED_IN);
  assert.deepEqual((await new Client().getHtml('/')).text.match(/href="\/(login|register)"/g).slice(0, 2), ['href="/login"', 'href="/register"']);
});

test('a body that is too long is 413, and the next request gets its own answer', async () => {
  const { client } = await newUser({ yuan: '10' });
  const answer = await client.postRaw('/send', `greeting=${'a'.repeat(100_000)}`);
  assert.equal(answer.status, 413);
  assert.equal((await client.get('/wallet')).status, 200);
});

test('forged and foreign ids are the same 404', async () => {
  const sender = await newUser({ yuan: '10' });
  const sent = await sendPacket(sender, { kind: 'even', amount: '0.01', count: '1' });
  const id = sent.json.id;
  const forged = id.slice(0, 25) + (id[25] === '0' ? '1' : '0');
  for (const path of [`/p/${forged}`, '/p/00000000000000000000000000', '/p/x', `/p/${id}x`, '/p/', `/p/${id}/../${forged}`]) {
    assert.equal((await sender.client.get(path)).status, 404, path);
  }
  assert.equal((await sender.client.post(`/p/${forged}/open`, {})).status, 404);
  assert.equal((await sender.client.get(`/p/${id.toUpperCase()}`)).status, 200);
});

test('a post from another site is refused, curl passes', async () => {
  const { client } = await newUser({ yuan: '10' });
  const post = (headers) => client.post('/wallet/deposit', { amount: '1' }, headers);
  assert.equal((await post({ 'sec-fetch-site': 'cross-site' })).status, 403);
  assert.equal((await post({ 'sec-fetch-site': 'same-site' })).status, 403);
  assert.equal((await post({ origin: 'https://evil.example' })).status, 403);
  assert.equal((await post({ origin: 'null' })).status, 403);
  assert.ok((await post({ origin: site.url })).status < 300);
  // behind a proxy: base_url is the site's address, and Host may have a default port
  assert.ok((await post({ origin: site.url, host: 'backend.internal:8000' })).status < 300);
  assert.ok((await post({ origin: 'http://site.example', host: 'site.example:80' })).status < 300);
  assert.ok((await post({ origin: 'https://site.example', host: 'site.example:443' })).status < 300);
  assert.equal((await post({ origin: site.url.replace('http:', 'https:'), host: 'backend.internal:8000' })).status, 403);
  assert.equal((await post({ origin: 'http://site.example', host: 'site.example:8080' })).status, 403);
  assert.ok((await post({ 'sec-fetch-site': 'same-origin' })).status < 300);
  assert.ok((await post({})).status < 300);
});

test('a mutation by GET is 405 or a page, never a change', async () => {
  const { client } = await newUser({ yuan: '10' });
  const sent = await sendPacket({ client }, { kind: 'even', amount: '1', count: '1' });
  for (const path of [`/p/${sent.json.id}/open`, '/wallet/deposit?amount=5', '/logout']) {
    const refused = await client.get(path);
    assert.equal(refused.status, 405);
    assert.equal(refused.headers.get('allow'), 'POST');
  }
  const posted = await client.post('/wallet', {});
  assert.equal(posted.status, 405);
  assert.equal(posted.headers.get('allow'), 'GET, HEAD');
  assert.equal((await client.get(`/p/${sent.json.id}`)).json.grabbed_count, 0);
});

test('next leads only to this site', async () => {
  const { username, password } = await newUser();
  for (const next of ['//evil.example', '/\\evil.example', 'https://evil.example', '/\t/evil.example', '\r\nX: y', 'javascript:1']) {
    const answer = await new Client({ language: 'en' }).postHtml('/login', { username, password, next });
    assert.equal(answer.status, 303);
    assert.equal(answer.headers.get('location'), '/', JSON.stringify(next));
  }
});

test('a long address and a long next are handled for a guest', async () => {
  const guest = new Client();
  const long = `/wallet?x=${'a'.repeat(6 << 10)}`;
  const login = await guest.getHtml(long);
  assert.equal(login.status, 303);
  assert.equal(login.headers.get('location'), '/login');
  const chosen = await guest.postHtml('/language', { language: 'en', next: long });
  assert.equal(chosen.status, 303);
  assert.equal(chosen.headers.get('location'), '/');
});

test('an unknown user and a wrong password get the same answer', async () => {
  const { username } = await newUser();
  const a = await new Client().post('/login', { username, password: 'wrong password' });
  const b = await new Client().post('/login', { username: 'nobody-here', password: 'wrong password' });
  assert.equal(a.status, b.status);
  assert.equal(a.status, 422);
  assert.deepEqual(a.json.errors, b.json.errors);
});

test('the program and nginx answer with the type that Accept prefers', async () => {
  const lists = readFileSync(new URL('../unit/test_web_accept.c', import.meta.url), 'utf8');
  const [json, html] = [...lists.matchAll(/accepts\[\] = \{([\s\S]*?)\n    \};/g)].map(([, list]) => [...list.matchAll(/"([^"]*)"/g)].map(([, accept]) => accept));
  assert.ok(json.length > 20 && html.length > 20);
  for (const [accepts, type] of [[json, 'application/problem+json'], [html, 'text/html']]) {
    for (const accept of accepts) {
      for (const path of ['/nothing', '/static/nothing.css']) { // nginx has the second
        const { status, headers } = await new Client().request(path, { headers: { accept } });
        assert.deepEqual([status, headers.get('content-type').split(';')[0]], [404, type], `${path} ${accept}`);
      }
    }
  }
});

test('OPTIONS says which methods an address has, and does nothing', async () => {
  const { client } = await newUser({ yuan: '10' });
  const { id } = (await sendPacket({ client }, { kind: 'even', amount: '1', count: '1' })).json;
  for (const [path, methods] of [['/healthz', 'GET, HEAD'], ['/readyz', 'GET, HEAD'], ['/readyz/hot', 'GET, HEAD'], ['/login', 'GET, HEAD, POST'],
    [`/p/${id}`, 'GET, HEAD'], [`/p/${id}/open`, 'POST'], [`/p/${id}/card.png`, 'GET, HEAD'], ['/wallet/deposit', 'POST']]) {
    for (const accept of ['text/html', 'application/json']) {
      const { status, headers, text } = await client.request(path, { method: 'OPTIONS', headers: { accept } });
      assert.deepEqual([status, headers.get('allow'), text], [204, methods, ''], path);
    }
  }
  assert.equal((await client.request('/nothing', { method: 'OPTIONS' })).status, 404);
  assert.equal((await client.request('/healthz', { method: 'DELETE', headers: { accept: 'application/json' } })).status, 405);
  assert.equal((await client.get(`/p/${id}`)).json.grabbed_count, 0);
});

test('security headers are on every answer, errors too', async () => {
  const client = new Client();
  for (const path of ['/', '/login', '/nowhere', '/p/x', '/static/nothing.css', '/healthz']) {
    const { headers } = await client.getHtml(path);
    assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'/, path);
    assert.equal(headers.get('x-content-type-options'), 'nosniff', path);
    assert.ok(headers.get('referrer-policy'), path);
    assert.ok(!/nginx\/\d/.test(headers.get('server') ?? ''), path);
  }
});

test('smuggled and malformed requests never reach a handler', async () => {
  const raw = (text) => new Promise((resolve, reject) => {
    const { hostname, port } = new URL(site.url);
    const socket = net.connect(Number(port), hostname, () => socket.end(text));
    let answer = '';
    socket.on('data', (data) => { answer += data; });
    socket.on('end', () => resolve(answer));
    socket.on('error', reject);
  });
  const both = await raw('POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /metrics HTTP/1.1\r\nHost: x\r\n\r\n');
  assert.match(both, /^HTTP\/1\.1 400/);
  assert.match(await raw('GET /\x01 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'), /^HTTP\/1\.1 4/);
  assert.match(await raw('GET /../../etc/passwd HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'), /^HTTP\/1\.1 40/);
});
