// A link to which a chat, a mail program or a person has added something still leads to the packet.
import assert from 'node:assert/strict';
import net from 'node:net';
import { before, test } from 'node:test';
import { request } from './support/client.js';
import { sentPath } from './support/packets.js';
import { Client, newUser, sendPacket, site } from './support/site.js';

const guest = new Client();
let sender;
let id;
let screen; // with its key
before(async () => {
  sender = await newUser({ yuan: '10' });
  id = (await sendPacket(sender, { kind: 'even', amount: '0.01', count: '2' })).json.id;
  screen = (await sender.client.get(`/p/${id}`)).json.screen_url;
});

// Sends the path as it is, without the checks and escapes of a client.
const raw = (path, { method = 'GET', headers = '', body = '' } = {}) => new Promise((resolve, reject) => {
  const { hostname, port } = new URL(site.url);
  const socket = net.connect(Number(port), hostname, () => socket.end(Buffer.concat([Buffer.from(`${method} `), Buffer.from(path),
    Buffer.from(` HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n${headers}\r\n${body}`)])));
  let answer = '';
  socket.on('data', (data) => { answer += data; });
  socket.on('end', () => resolve([Number(answer.split(' ')[1]), /^Location: (.*)\r$/m.exec(answer)?.[1]]));
  socket.on('error', reject);
});

// tests/unit/test_web_mended_link.c has many more cases.
const ADDED = ['。', '！快来抢', '）', '…', '🧧', '\u00a0', '\u200b', '\n', ').', "'", '**', '//', '&nbsp;', '">here</a>', ',thanks'];

test('what is added behind a link is dropped, for every address with an id', async () => {
  const { paths } = (await request('/openapi.json')).json;
  const pages = Object.keys(paths).filter((path) => path.includes('{id}') && paths[path].get).map((path) => path.replace('{id}', id));
  assert.ok(pages.length >= 6, pages.join());
  for (const page of pages) assert.deepEqual(await raw(`${page}。`), [308, page]);
  const page = `/p/${id}`;
  for (const added of ADDED) {
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await request(page + encodeURIComponent(added), { method });
      assert.deepEqual([status, headers.get('location'), headers.get('cache-control')], [308, page, 'no-store'], `${method} ${page}${added}`);
    }
  }
  for (const added of ['）快来', '\u200b', '...', '**', Buffer.from([0xe3, 0x80]), Buffer.from([0xff])]) {
    assert.deepEqual(await raw(Buffer.concat([Buffer.from(page), Buffer.from(added)])), [308, page], `${page} ${added}`);
  }
});

test('the query is kept, and the key of a screen is read without what follows it', async () => {
  const { headers } = await request(`/p/${id}%E3%80%82?after=1&from=chat`);
  assert.equal(headers.get('location'), `/p/${id}?after=1&from=chat`);
  for (const added of ['。', '）', '%E3%80%82', '%20', '*', '…快来']) {
    const encoded = added.startsWith('%') ? added : encodeURIComponent(added);
    const shown = await guest.get(screen + encoded);
    assert.deepEqual([shown.status, shown.json.with_list], [200, true], added);
    assert.equal((await guest.get(`/p/${id}?after=1${encoded}`)).status, 200, added);
  }
  assert.equal((await guest.get(`${screen}0`)).status, 404);
});

// What chats, advertisers and broken programs add to the query of a link.
const JUNK = ['from=singlemessage&isappinstalled=0&from=timeline&isappinstalled=0', '%', '%E5', '%00', '%zz=%', '=&&=&', 'a=%FF&%FF=a',
  Array.from({ length: 33 }, (_, i) => `utm_${i}=1`).join('&'), `x=${'a'.repeat(12_000)}`, '{"a":[1]}', Buffer.from('x=\xb0\xc5', 'latin1'),
  Buffer.from([0x3f, 0x26, 0xff, 0x3d, 0xe7]), '\u7ea2\u5305=\ud83e\udde7'];
const with_query = (path, query) => Buffer.concat([Buffer.from(`${path}${path.includes('?') ? '&' : '?'}`), Buffer.from(query)]);
const as_form = (client, body = '') => ({
  method: 'POST', body,
  headers: `Cookie: sid=${client.cookie('sid')}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n`,
});

test('a query that a page does not have is never read, whatever it is', async () => {
  const visitor = await newUser();
  const { paths } = (await request('/openapi.json')).json;
  const pages = Object.keys(paths).filter((path) => paths[path].get && !/^\/(metrics|readyz\/)|key/.test(path)).map((path) => path.replace('{id}', id));
  assert.ok(['/', '/wallet', '/login', `/p/${id}/screen`].every((path) => pages.includes(path)), pages.join());
  const cookie = `Cookie: sid=${sender.client.cookie('sid')}\r\n`;
  for (const page of [...pages, screen]) {
    const plain = await raw(page, { headers: cookie });
    for (const junk of page === '/wallet' ? JUNK : JUNK.slice(-2)) {
      assert.deepEqual(await raw(with_query(page, junk), { headers: cookie }), plain, `${page} ${junk}`);
    }
  }
  const opened = await sentPath(sender, { kind: 'even', amount: '0.01', count: '2' });
  for (const junk of JUNK) {
    const [status, location] = await raw(with_query(`${opened}/open`, junk), as_form(visitor.client));
    assert.deepEqual([status, location], [303, opened], `${junk}`);
  }
  assert.equal((await sender.client.get(opened)).json.grabbed_count, 1);
});

test('a guest comes back to a link with such a query', async () => {
  const { username, password } = await newUser();
  for (const junk of JUNK.filter((one) => one.length < 1000)) {
    const [status, login] = await raw(with_query('/wallet', junk));
    assert.equal(status, 303, `${junk}`);
    const [, next] = /^\/login\?next=(.*)$/.exec(login);
    const client = new Client();
    assert.equal((await client.getHtml(login)).status, 200, `${junk}`);
    const back = await client.postHtml('/login', { username, password, next: decodeURIComponent(next) });
    assert.equal(new URL(back.headers.get('location'), site.url).searchParams.get('next'), decodeURIComponent(next), `${junk}`);
  }
});

test('slashes too many are dropped for every method, and a form arrives', async () => {
  const page = `/p/${id}`;
  for (const path of [`${page}/`, `/${page}`, `//p///${id}//`, '/login/', '//login', '/wallet/', '/records//sent/', `${page}/card.png/`, '///']) {
    const meant = path.replace(/\/+/g, '/').replace(/(.)\/$/, '$1');
    for (const method of ['GET', 'HEAD', 'POST']) {
      assert.deepEqual(await raw(`${path}?from=a&from=a`, { method, headers: 'Content-Length: 0\r\n' }), [308, `${meant}?from=a&from=a`], `${method} ${path}`);
    }
  }
  const opened = await sentPath(sender, { kind: 'even', amount: '0.01', count: '1' });
  const { client } = await newUser();
  for (const path of [`${opened}/open/`, `/${opened}/open`]) {
    const moved = await client.post(path);
    assert.deepEqual([moved.status, moved.headers.get('location')], [308, `${opened}/open`], path);
  }
  assert.equal((await client.get(opened)).json.grabbed_count, 0);
  assert.equal((await client.post(`${opened}/open`)).status, 200);
  for (const path of ['//evil.example', '//evil.example/', '//evil.example/login/', '/nothing/']) {
    assert.equal((await raw(path))[0], 404, path);
    assert.equal((await raw(path, { method: 'POST', headers: 'Content-Length: 0\r\n' }))[0], 404, path);
  }
});

test('only a reader is sent on, only to an address of this site, and only for a real id', async () => {
  const forged = id.slice(0, 25) + (id[25] === '0' ? '1' : '0');
  for (const path of [`/p/${forged}%E3%80%82`, `/p/${id}0`, `/p/${id}/nothing`, `/p/${id}/nothing%E3%80%82`, '/.env', '/wallet.php', '/wallets',
    `//evil.example/p/${id}`, '/%5Cevil.example', '/p/']) {
    assert.equal((await guest.get(path)).status, 404, path);
  }
  const { headers } = await request(`/p/${id}@evil.example?next=//evil.example`);
  assert.equal(headers.get('location'), `/p/${id}?next=//evil.example`);
  assert.equal((await sender.client.post(`/p/${id}%E3%80%82`)).status, 405);
  assert.equal((await sender.client.post(`/p/${id}/OPEN/`)).status, 404);
  assert.equal((await sender.client.get(`/p/${id}`)).json.grabbed_count, 0);
});
