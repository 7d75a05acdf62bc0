// Attacks and bad requests: each gets the right status and changes nothing.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import { test } from 'node:test';
import { Client, newUser, sendPacket, site } from './support/site.js';

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

test('a problem page shows no login link where the session was not read', async () => {
  const { client } = await newUser();
  const links = ({ text }) => /<header[\s\S]*?<\/header>/.exec(text)[0].match(/href="\/\w+/g);
  const refused = await client.postHtml('/language', { language: 'xx' }); // this route does not read the session
  assert.deepEqual([refused.status, links(refused)], [400, null]);
  assert.deepEqual(links(await client.getHtml('/nothing')), ['href="/send', 'href="/records', 'href="/wallet', 'href="/account']);
});

test('a body that is too long is 413, and the next request gets its own answer', async () => {
  const { client } = await newUser({ yuan: '10' });
  const answer = await client.postRaw('/send', `greeting=${'a'.repeat(100_000)}`);
  assert.equal(answer.status, 413);
  assert.equal((await client.get('/wallet')).status, 200);
});

// tests/unit/test_web_accept.c has the same cases for the program.
test('nginx answers with the type that Accept prefers', async () => {
  const lists = readFileSync(new URL('../unit/test_web_accept.c', import.meta.url), 'utf8');
  const [json, html] = [...lists.matchAll(/accepts\[\] = \{([\s\S]*?)\n    \};/g)].map(([, list]) => [...list.matchAll(/"([^"]*)"/g)].map(([, accept]) => accept));
  assert.ok(json.length > 20 && html.length > 20);
  for (const [accepts, type] of [[json, 'application/problem+json'], [html, 'text/html']]) {
    for (const accept of accepts) {
      const { status, headers } = await new Client().request('/static/nothing.css', { headers: { accept } });
      assert.deepEqual([status, headers.get('content-type').split(';')[0]], [404, type], accept);
    }
  }
});

// tests/unit/test_web_requests.c tests all methods.
test('OPTIONS, of every pool, says which methods an address has', async () => {
  const client = new Client();
  const id = '0'.repeat(26);
  for (const [path, methods] of [['/healthz', 'GET, HEAD'], ['/login', 'GET, HEAD, POST'], [`/p/${id}/open`, 'POST'], [`/p/${id}/card.png`, 'GET, HEAD']]) {
    const { status, headers, text } = await client.request(path, { method: 'OPTIONS' });
    assert.deepEqual([status, headers.get('allow'), text], [204, methods, ''], path);
  }
  assert.equal((await client.request('/nothing', { method: 'OPTIONS' })).status, 404);
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
