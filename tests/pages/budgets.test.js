// The cost of a visit, from Chromium's network log: all bytes over the wire with headers; of style sheets and scripts the
// compressed bodies. HB_TEST_BUDGETS=FILE writes the table of docs/PAGES.md to that file.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileBrowser } from '../e2e/support/browser.js';
import { poll, site } from '../e2e/support/site.js';
import { buildWorld, states, urlOf } from './support/states.js';

const KB = 1024;
const BUDGET = { first: 70 * KB, requests: 8, repeat: 10 * KB, css: 14 * KB, js: 6 * KB };
const FACES = /\/avatars\.[0-9a-f]+\.svg$/;
const PAGES = ['welcome', 'register', 'login', 'home', 'wallet', 'account', 'developers with tokens', 'send lucky',
  'own open', 'own waiting', 'envelope logged out', 'envelope waiting logged out', 'envelope', 'envelope with a cover',
  'envelope with a phrase', 'envelope waiting', 'screen', 'screen waiting', 'result', 'result with a cover', 'receipt',
  'sold out hundred', 'received full', 'sent full', 'verify open', 'verify hundred', 'not found'];

const browser = fileBrowser();
let world;
before(async () => { world = await buildWorld(); });
after(async () => { await world?.end(); });

// Records the requests of a page from now on: Map of { url, type, bytes, body, done }; bytes is 0 when the response came
// from the cache, body is without headers.
async function wire(page) {
  const log = await page.context().newCDPSession(page);
  const requests = new Map();
  log.on('Network.requestWillBeSent', ({ requestId, request, type }) => {
    if (!request.url.startsWith('data:')) requests.set(requestId, { url: request.url, type, bytes: 0, body: 0 });
  });
  log.on('Network.dataReceived', ({ requestId, encodedDataLength }) => {
    if (requests.has(requestId)) requests.get(requestId).body += encodedDataLength;
  });
  log.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (requests.has(requestId)) Object.assign(requests.get(requestId), { bytes: encodedDataLength, done: true });
  });
  await log.send('Network.enable');
  return requests;
}

// Loads the page with everything that belongs to it, including the site's icon. known: the visitor has a session, so
// was here before, and the drawn faces are no request of a first visit.
async function cost(page, load, known) {
  const requests = await wire(page);
  await load();
  await page.waitForLoadState('networkidle');
  await poll('all resources are loaded', () => {
    const types = [...requests.values()].filter(({ done }) => done).map(({ type }) => type);
    return types.length === requests.size && types.includes('Stylesheet') && types.includes('Script');
  });
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
    const fresh = await browser.newContext({ viewport: { width: 390, height: 844 }, locale: 'zh-CN' });
    if (state.as) await fresh.addCookies([{ name: 'sid', value: world[state.as].cookie('sid'), url: site.url }]);
    const visitor = await fresh.newPage();
    const first = await cost(visitor, () => visitor.goto(url), Boolean(state.as));
    const again = await fresh.newPage();
    const repeat = await cost(again, () => again.goto(url));
    await fresh.close();
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
