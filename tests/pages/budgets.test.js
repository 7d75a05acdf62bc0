// The cost of a visit, from Chromium's network log: all bytes on the wire with headers, and the compressed bodies of
// style sheets and scripts. HB_TEST_BUDGETS=FILE writes the table of docs/PAGES.md to that file.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { poll } from '../e2e/support/site.js';
import { buildWorld, states, urlOf } from './support/states.js';
import { fileWindow } from './support/windows.js';

const KB = 1024;
const BUDGET = { first: 70 * KB, requests: 8, repeat: 10 * KB, css: 14 * KB, js: 6 * KB };
const FACES = /\/avatars\.[0-9a-f]+\.svg$/;
const PAGES = ['welcome', 'register', 'login', 'home', 'wallet', 'withdraw', 'transfer, posted', 'account', 'developers with tokens', 'send lucky',
  'own open', 'own waiting', 'envelope logged out', 'envelope waiting logged out', 'envelope', 'envelope with a cover',
  'envelope with a phrase', 'envelope waiting', 'screen', 'screen waiting', 'result', 'result with a cover', 'receipt',
  'sold out hundred', 'received full', 'sent full', 'verify open', 'verify hundred', 'not found'];

const window = await fileWindow();
let world;
let log; // of the network
before(async () => {
  world = await buildWorld(['open', 'finished', 'withdrawn']);
  log = await window.page.context().newCDPSession(window.page);
  await log.send('Network.enable');
});
after(async () => { await world?.end(); });

// Loads the page with everything that belongs to it. Counts the requests that were not answered by the cache. known:
// the visitor has a session, so this is no first visit, and the file of drawn faces is not counted.
async function cost({ page }, url, known) {
  const requests = new Map(); // { url, type, bytes, body (bytes without headers), done }
  const heard = {
    'Network.requestWillBeSent': ({ requestId, request, type }) => {
      if (!request.url.startsWith('data:')) requests.set(requestId, { url: request.url, type, bytes: 0, body: 0 });
    },
    'Network.dataReceived': ({ requestId, encodedDataLength }) => {
      if (requests.has(requestId)) requests.get(requestId).body += encodedDataLength;
    },
    'Network.loadingFinished': ({ requestId, encodedDataLength }) => {
      if (requests.has(requestId)) Object.assign(requests.get(requestId), { bytes: encodedDataLength, done: true });
    },
  };
  for (const [event, hear] of Object.entries(heard)) log.on(event, hear);
  await page.goto(url, { waitUntil: 'networkidle' });
  await poll('all resources are loaded', () => {
    const types = [...requests.values()].filter(({ done }) => done).map(({ type }) => type);
    return types.length === requests.size && types.includes('Stylesheet') && types.includes('Script');
  });
  log.removeAllListeners();
  const all = [...requests.values()];
  const bodies = (name) => all.filter(({ type }) => type === name).map(({ body }) => body);
  return {
    requests: all.filter(({ bytes, url }) => bytes > 0 && !(known && FACES.test(url))).length,
    bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
    css: bodies('Stylesheet').reduce((sum, body) => sum + body, 0),
    js: Math.max(0, ...bodies('Script')),
  };
}

const rows = [];

for (const name of PAGES) {
  test(`${name} is within its budget`, async () => {
    const state = states.find((one) => one.name === name);
    const url = urlOf(state, world);
    await window.enter(world[state.as]);
    await log.send('Network.clearBrowserCache');
    const first = await cost(window, url, Boolean(state.as));
    await window.leave();
    await window.enter(world[state.as]);
    const repeat = await cost(window, url);
    await window.leave();
    rows.push([name, first.requests, first.bytes, first.css, first.js, repeat.requests, repeat.bytes]);
    assert.ok(first.css > 0 && first.js > 0, 'the style sheet and the script are counted');
    assert.ok(first.bytes <= BUDGET.first, `${first.bytes} bytes at the first visit`);
    assert.ok(first.requests <= BUDGET.requests, `${first.requests} requests`);
    assert.ok(repeat.bytes <= BUDGET.repeat, `${repeat.bytes} bytes at the next visit`);
    assert.ok(first.css <= BUDGET.css, `${first.css} bytes of CSS`);
    assert.ok(first.js <= BUDGET.js, `${first.js} bytes of a script`);
  });
}

test('the table', (t) => {
  const names = ['page', 'requests', 'bytes', 'CSS', 'largest script', 'requests again', 'bytes again'];
  const lines = [names, names.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`);
  lines.forEach((line) => t.diagnostic(line));
  if (process.env.HB_TEST_BUDGETS) writeFileSync(process.env.HB_TEST_BUDGETS, `${lines.join('\n')}\n`);
  assert.equal(rows.length, PAGES.length);
});
