// The open page of a packet refreshes itself, requests only changes, and stops when the packet can't change any more.
// Also: every form is sent once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileBrowser } from './support/browser.js';
import { expireNow, forgetNow } from './support/moments.js';
import { sentPath } from './support/packets.js';
import { Client, audit, newUser, poll, site, unique } from './support/site.js';
import { LANGUAGES, words } from './support/texts.js';
import { clientPage, testLanguages } from './support/visits.js';

const STEP_MS = 500; // step in which a test advances the page's clock
const MINUTE_MS = 60_000;

// True when an interval between requests is about the wanted one: it may be up to 20 % longer, and begins with an
// answer, which comes at the end of a step.
const about = (ms, wanted) => ms >= wanted && ms <= wanted * 1.2 + STEP_MS;
const QUICK_MS = 1500;
const SLOW_MS = 30_000;

const browser = fileBrowser();

// ---- visitors and their pages ----

// Runs in the page. `asked` are the refresh requests, each with its time by the page's clock, without the HEAD request
// for the site's time. The promise `answered` resolves when the script has processed the last answer. It uses messages,
// because timers stop with the page's clock.
function trackRequests() {
  const { open, send, setRequestHeader } = XMLHttpRequest.prototype;
  window.asked = [];
  const turn = () => new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = resolve;
    port2.postMessage(0);
  });
  XMLHttpRequest.prototype.open = function (method, ...rest) {
    this.method = method;
    open.call(this, method, ...rest);
  };
  XMLHttpRequest.prototype.setRequestHeader = function (name, value) {
    if (name === 'If-None-Match') this.tag = value;
    setRequestHeader.call(this, name, value);
  };
  XMLHttpRequest.prototype.send = function (...args) {
    if (this.method !== 'HEAD') window.asked.push({ at: Date.now(), tag: this.tag });
    window.answered = new Promise((resolve) => { this.addEventListener('loadend', resolve); }).then(turn).then(turn);
    send.apply(this, args);
  };
}

// A page of this visitor. With clock, the test advances its time.
async function pageOf(client, { language = 'zh-CN', clock = false, ...options } = {}) {
  const page = await clientPage(browser, client, { locale: language, ...options });
  if (clock) {
    await page.clock.install();
    await page.addInitScript(trackRequests);
  }
  return page;
}

const read = (page, selector) => page.textContent(selector).then((text) => text.trim());
const rows = (page) => page.locator('[data-live=rows] > li').count();

// Advances the page's clock in steps, and waits after each for the answer to the page's request. Long steps are fine
// for a page that sends no requests. Updates heard.asked.
async function pass(page, heard, ms, step = STEP_MS) {
  for (let passed = 0; passed < ms; passed += step) {
    await page.clock.runFor(step);
    await page.evaluate(() => window.answered);
  }
  heard.asked = await page.evaluate(() => window.asked);
}

async function opened(client, path, options = {}) {
  const page = await pageOf(client, { clock: true, ...options });
  const heard = {};
  await page.goto(site.url + path);
  await page.clock.pauseAt(Date.now() + MINUTE_MS);
  await page.evaluate(() => window.answered);
  await pass(page, heard, 0);
  return { page, heard };
}

const gaps = (asked) => asked.slice(1).map(({ at }, i) => at - asked[i].at);

async function hide(page, hidden) {
  await page.evaluate((value) => {
    Object.defineProperty(document, 'hidden', { value, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, hidden);
}

// A lucky packet of count shares, and users who can grab them.
async function packetWith(count, fields = {}) {
  const sender = await newUser({ nickname: '阿红', yuan: '100' });
  const path = await sentPath(sender, { kind: 'lucky', amount: '20', count: String(count), ...fields });
  return { sender, path, people: await site.demoUsers(count + 1) };
}

async function grab(person, path) {
  const answer = await person.post(`${path}/open`);
  assert.equal(answer.status, 200, answer.text);
}

const settled = (person, path) => poll('settled', async () => (await person.get(path)).json.mine.settled);

// ---- the tag ----

test('a client with the current tag gets 304 until the answer changes', async () => {
  const { sender, path, people: [one, two] } = await packetWith(2);
  const tags = new Map();
  for (const [who, client] of [['sender', sender.client], ['stranger', one], ['nobody', new Client()]]) {
    for (const language of LANGUAGES) {
      for (const form of ['get', 'getHtml']) {
        const ask = (headers) => client[form](path, { 'accept-language': language, ...headers });
        const first = await ask({});
        const tag = first.headers.get('etag');
        assert.match(tag, /^W\/"[0-9a-f]{32}"$/);
        assert.match(first.headers.get('cache-control'), /no-store/);
        assert.ok(!tags.has(tag), `${who} ${language} ${form} has the tag of ${tags.get(tag)}`);
        tags.set(tag, `${who} ${language} ${form}`);
        for (const known of [tag, tag.slice(2), `"x", ${tag}`, '*']) {
          const again = await ask({ 'if-none-match': known });
          assert.deepEqual([again.status, again.text, again.headers.get('content-type')], [304, '', null]);
          for (const name of ['etag', 'cache-control', 'content-security-policy']) {
            assert.equal(again.headers.get(name), first.headers.get(name), name);
          }
          assert.equal(again.headers.get('vary'), 'Accept, Accept-Language, Cookie');
        }
        assert.equal((await ask({ 'if-none-match': '"x"' })).status, 200);
      }
    }
  }
  const seen = (await sender.client.get(path)).headers.get('etag');
  const head = (headers) => sender.client.request(path, { method: 'HEAD', headers: { accept: 'application/json', ...headers } });
  assert.equal((await head({})).headers.get('etag'), seen);
  assert.equal((await head({ 'if-none-match': seen })).status, 304);

  await grab(one, path);
  const next = await sender.client.get(path, { 'if-none-match': seen });
  assert.deepEqual([next.status, next.json.grabbed_count], [200, 1]);
  await grab(two, path);
  assert.equal((await sender.client.get(path, { 'if-none-match': next.headers.get('etag') })).json.state, 'finished');
});

test('the tag is the same from Redis, from the page cache and from MySQL', async () => {
  const { sender, path, people: [one, late] } = await packetWith(1);
  await grab(one, path);
  await settled(one, path);
  const visitors = [sender.client, one, late, new Client()];
  const tags = [];
  for (const client of visitors) tags.push((await client.getHtml(path)).headers.get('etag'));
  const all = async () => {
    for (const [i, client] of visitors.entries()) {
      assert.equal((await client.getHtml(path, { 'if-none-match': tags[i] })).status, 304);
    }
  };
  for (let i = 0; i < 20; i++) await all(); // enough requests for every process to cache it
  await forgetNow(path);
  await all();
  await site.startAnew(['hot']);
  await all(); // the new processes have empty caches
});

// ---- the open page ----

test('a grab in one browser appears in the other one, and focus, selection and scroll position there stay', async (t) => {
  const COUNT = 4;
  const { sender, path, people } = await packetWith(COUNT + 1, { amount: '40' });
  const watching = await pageOf(sender.client, { viewport: { width: 390, height: 420 } });
  await watching.goto(site.url + path);
  assert.equal(await rows(watching), 0);
  assert.equal(await read(watching, '[data-live=rest] .empty'), words('zh-CN', 'list_none'));
  await watching.evaluate(() => {
    window.stayed = true;
    const field = document.getElementById('share_url');
    field.focus();
    field.setSelectionRange(3, 8);
    window.scrollTo(0, document.body.scrollHeight);
  });
  const waits = [];
  for (const [i, person] of people.slice(0, COUNT).entries()) {
    const page = await pageOf(person);
    await page.goto(site.url + path);
    const answered = page.waitForResponse((response) => response.request().method() === 'POST');
    await page.click('form[data-open] button');
    await answered;
    const start = performance.now();
    await poll(`${i + 1} rows`, async () => await rows(watching) === i + 1);
    waits.push(Math.round(performance.now() - start));
    if (i === 0) await watching.evaluate(() => { window.first = document.querySelector('[data-live=rows] > li'); });
  }
  t.diagnostic(`ms from the answer to a grab until the other browser shows it: ${waits.join(' ')}`);
  assert.match(await read(watching, '#grabs'), /^已领取4\/5个，共\d+\.\d\d\/40\.00\u2060元$/);
  assert.equal(await watching.getAttribute('#grabs', 'aria-live'), 'polite');
  assert.equal(await watching.locator('[data-live=rows][aria-live], [data-live=rows] [aria-live]').count(), 0);
  const kept = await watching.evaluate(() => {
    const field = document.getElementById('share_url');
    return {
      stayed: window.stayed, last: window.first === document.querySelector('[data-live=rows] > li:last-child'),
      focused: document.activeElement === field, from: field.selectionStart, to: field.selectionEnd,
      scrolled: window.scrollY > 0, empty: document.querySelectorAll('.empty').length,
    };
  });
  assert.deepEqual(kept, { stayed: true, last: true, focused: true, from: 3, to: 8, scrolled: true, empty: 0 });
});

testLanguages('an unsettled share is shown as settled later', async ({ locale: language }) => {
  const { path, people: [one] } = await packetWith(2);
  const page = await pageOf(one, { language });
  await site.unsettled(async () => {
    await page.goto(site.url + path);
    await page.click('form[data-open] button');
    await page.waitForSelector('.result');
    assert.equal(await read(page, '.settled'), words(language, 'settling'));
    assert.equal(await page.isVisible('[data-live=settled-links] a'), false);
    await page.evaluate(() => { window.stayed = true; });
  });
  await poll('the share is settled', async () => await read(page, '.settled') === words(language, 'settled'));
  assert.equal(await page.isVisible('[data-live=settled-links] a[href="/wallet"]'), true);
  assert.equal(await page.evaluate(() => window.stayed), true);
});

test('after the last grab, obsolete parts are removed and the page stops its requests', async () => {
  const { sender, path, people: [one, two] } = await packetWith(2);
  await grab(one, path);
  const { page, heard } = await opened(sender.client, path);
  assert.equal(await page.locator('form[data-open], .share').count(), 2);
  await page.focus('form[data-open] button');
  await grab(two, path);
  await settled(two, path);
  await pass(page, heard, 4000);
  assert.match(await read(page, '#grabs'), /^2个红包共20\.00\u2060元，\d+秒被抢光$/);
  assert.equal(await page.locator('.tag', { hasText: '手气最佳' }).count(), 1);
  assert.equal(await page.locator('form[data-open], .share').count(), 0);
  assert.equal(await page.evaluate(() => document.activeElement.id), 'grabs');
  assert.equal(await page.locator(`a[href="${path}"]`).count(), 0);
  const asked = heard.asked.length;
  await pass(page, heard, 10 * MINUTE_MS, MINUTE_MS);
  await hide(page, true);
  await hide(page, false);
  await pass(page, heard, MINUTE_MS, MINUTE_MS);
  assert.equal(heard.asked.length, asked);
});

test('the pages of a finished packet and of an envelope send no requests', async () => {
  const { sender, path, people: [one, late] } = await packetWith(1);
  for (const client of [late, new Client()]) {
    const { page, heard } = await opened(client, path);
    await pass(page, heard, 2 * MINUTE_MS, MINUTE_MS);
    assert.deepEqual(heard.asked, []);
  }
  await grab(one, path);
  await settled(one, path);
  for (const client of [sender.client, one, late, new Client()]) {
    const { page, heard } = await opened(client, path);
    await pass(page, heard, 2 * MINUTE_MS, MINUTE_MS);
    await hide(page, true);
    await hide(page, false);
    await pass(page, heard, MINUTE_MS, MINUTE_MS);
    assert.deepEqual(heard.asked, []);
  }
});

test('the page of an expired packet is refreshed until the refund is shown', async () => {
  const { sender, path } = await packetWith(2);
  const { page, heard } = await opened(sender.client, path);
  await expireNow(path);
  await poll('the refund is shown', async () => {
    await pass(page, heard, 2000);
    return (await read(page, '#grabs')).includes(words('zh-CN', 'refunded').replace('{{refund_text}}', '20.00'));
  });
  assert.equal(await page.locator('form[data-open], .share').count(), 0);
  const asked = heard.asked.length;
  await pass(page, heard, 5 * MINUTE_MS, MINUTE_MS);
  assert.equal(heard.asked.length, asked);
});

// ---- intervals ----

test('the interval grows without changes, and a page that becomes visible is refreshed at once', async (t) => {
  const { sender, path, people: [one] } = await packetWith(3);
  const { page, heard } = await opened(sender.client, path);
  await pass(page, heard, 3 * MINUTE_MS);
  const quick = gaps(heard.asked);
  assert.ok(quick.length > 60, `${quick.length} questions in three minutes`);
  assert.ok(quick.every((ms) => about(ms, QUICK_MS)), quick.join(' '));
  assert.ok(heard.asked.every(({ tag }) => tag === heard.asked[0].tag && tag.startsWith('W/"')));

  await pass(page, heard, 5 * MINUTE_MS);
  const slow = gaps(heard.asked).slice(-4);
  t.diagnostic(`ms between questions after eight quiet minutes: ${slow.join(' ')}`);
  assert.ok(slow.every((ms) => about(ms, SLOW_MS)), slow.join(' '));

  await hide(page, true);
  const asked = heard.asked.length;
  await pass(page, heard, 10 * MINUTE_MS, MINUTE_MS);
  assert.equal(heard.asked.length, asked);
  await grab(one, path);
  await hide(page, false);
  await pass(page, heard, STEP_MS);
  assert.equal(heard.asked.length, asked + 1);
  assert.equal(await rows(page), 1);
  await pass(page, heard, 10_000);
  assert.ok(gaps(heard.asked.slice(asked)).every((ms) => about(ms, QUICK_MS)));
});

test('after errors the page waits, at least for Retry-After, and then continues', async () => {
  const { sender, path, people: [one] } = await packetWith(3);
  const { page, heard } = await opened(sender.client, path);
  let answer = (route) => route.fulfill({ status: 503, headers: { 'retry-after': '20' }, body: 'busy' });
  await page.route(site.url + path, (route) => answer(route));
  const first = heard.asked.length;
  await pass(page, heard, 80_000);
  const told = gaps(heard.asked.slice(first));
  assert.ok(told.length >= 2 && told.every((ms) => about(ms, 20_000)), told.join(' '));
  await hide(page, true);
  await hide(page, false);
  const asked = heard.asked.length;
  await pass(page, heard, STEP_MS);
  assert.equal(heard.asked.length, asked, 'looking again does not shorten the time it was told');

  answer = (route) => route.abort();
  await pass(page, heard, 4 * MINUTE_MS);
  const failed = gaps(heard.asked.slice(asked));
  assert.ok(about(failed.at(-1), SLOW_MS), failed.join(' '));
  assert.ok(failed.every((ms, i) => i === 0 || ms > failed[i - 1] - STEP_MS || about(ms, SLOW_MS)), failed.join(' '));
  assert.ok(await page.isHidden(`a[href="${path}"]`));

  answer = (route) => route.continue();
  await grab(one, path);
  await pass(page, heard, 50_000);
  assert.equal(await rows(page), 1);
  assert.ok(gaps(heard.asked).slice(-3).every((ms) => about(ms, QUICK_MS)), gaps(heard.asked).join(' '));

  answer = (route) => route.fulfill({ status: 404, body: 'gone' });
  await pass(page, heard, 4000);
  const before = heard.asked.length;
  await pass(page, heard, 2 * MINUTE_MS, MINUTE_MS);
  assert.equal(heard.asked.length, before);
  assert.ok(await page.isVisible(`a[href="${path}"]`));
});

test('a page that asks too often asks half as often, and then slowly more often again', async () => {
  const { sender, path } = await packetWith(3);
  const { page, heard } = await opened(sender.client, path);
  let refusals = 3;
  await page.route(site.url + path, (route) => (refusals-- > 0 ? route.fulfill({ status: 429, headers: { 'retry-after': '1' }, body: '' }) : route.continue()));
  const first = heard.asked.length;
  await pass(page, heard, 3 * MINUTE_MS);
  const asked = gaps(heard.asked.slice(first));
  const wanted = [2, 4, 8, ...Array.from({ length: 6 }, (_, i) => 8 * 0.9 ** (i + 1))].map((times) => times * QUICK_MS);
  assert.ok(wanted.every((ms, i) => about(asked[i], ms)), `${asked.join(' ')} instead of ${wanted.join(' ')}`);
  assert.ok(about(asked.at(-1), QUICK_MS), asked.join(' '));
});

test('the page continues after the pool was stopped and started', async () => {
  const { sender, path, people: [one] } = await packetWith(3);
  const page = await pageOf(sender.client);
  await page.goto(site.url + path);
  await site.without(['hot'], () => page.waitForResponse((response) => response.status() === 503));
  await poll('the packet can be grabbed', async () => (await one.post(`${path}/open`)).status === 200);
  await poll('the row is there', async () => await rows(page) === 1, 60);
});

testLanguages('the reload link is shown without JavaScript only, and on a page that may still change', async ({ locale: language }) => {
  const { sender, path, people: [one, two] } = await packetWith(2);
  const plain = await pageOf(sender.client, { language, javaScriptEnabled: false });
  await plain.goto(site.url + path);
  const link = plain.locator(`main a[href="${path}"]`);
  assert.equal((await link.textContent()).trim(), words(language, 'reload'));
  assert.ok(await link.isVisible());
  await grab(one, path);
  await link.click();
  assert.equal(await rows(plain), 1);
  const page = await pageOf(sender.client, { language });
  await page.goto(site.url + path);
  assert.ok(await page.locator(`main a[href="${path}"]`).isHidden());
  await grab(two, path);
  await poll('the packet is finished', async () => (await sender.client.get(path)).json.state === 'finished');
  for (const now of [plain, page]) {
    if (now === plain) await plain.goto(site.url + path);
    await poll('the link is gone', async () => await now.locator(`main a[href="${path}"]`).count() === 0, 60);
  }
});

// ---- forms ----

// Presses the button repeatedly while the answer to the first press is held back. Returns how often the form was sent.
// Uses only mouse and keyboard, because scripts can't run in the page until the answer arrives.
async function pressedOften(page, selector) {
  let posts = 0;
  let release;
  const held = new Promise((resolve) => { release = resolve; });
  await page.route('**', async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    posts += 1;
    await held;
    return route.continue();
  });
  const button = page.locator(`${selector} button[type=submit]`);
  await button.scrollIntoViewIfNeeded();
  const { x, y, width, height } = await button.boundingBox();
  const navigated = page.waitForEvent('framenavigated');
  await page.mouse.dblclick(x + width / 2, y + height / 2);
  await poll('the form is sent', () => posts > 0);
  await page.mouse.click(x + width / 2, y + height / 2);
  await page.keyboard.press('Enter');
  release();
  await navigated;
  await page.waitForLoadState();
  await page.unroute('**');
  return posts;
}

test('every form is sent once, however often its button is pressed', async () => {
  const { sender, path, people: [one] } = await packetWith(2);
  const page = await pageOf(new Client());
  const once = async (action, address, fields = {}) => {
    if (address) await page.goto(site.url + address);
    for (const [name, value] of Object.entries(fields)) await page.fill(`form[action="${action}"] [name=${name}]`, value);
    assert.equal(await pressedOften(page, `form[action="${action}"]`), 1, action);
  };
  const username = unique('once');
  const password = 'a good password';
  await once('/register', '/register', { username, nickname: username, password });
  await once('/wallet/deposit', '/wallet', { amount: '50' });
  await once('/language', '/wallet');
  await once('/send', '/send', { amount: '1', count: '2' });
  const own = new URL(page.url()).pathname;
  assert.match(own, /^\/p\/[0-9a-z]{26}$/);
  await once(`${own}/open`);
  await page.waitForSelector('.result');
  await once(`${path}/open`, path);
  await page.waitForSelector('.result');
  await once('/logout', '/wallet');
  await once('/login', '/login', { username, password });
  await page.goto(`${site.url}/wallet`);
  assert.match(await read(page, '.rows'), /50\.00/);
  assert.equal(await page.locator('.rows li').count(), 4, 'one entry for each: deposit, send, two grabs');
  await grab(one, path);
  assert.equal((await sender.client.get(path)).json.grabbed_count, 2);
  await audit();
});
