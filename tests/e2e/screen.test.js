// The big screen of an event: who sees what, and how it changes by itself in Chromium.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { consoleErrors, fileBrowser } from './support/browser.js';
import { opened, sentPath } from './support/packets.js';
import { Client, newUser, poll, site } from './support/site.js';
import { clientPage, pageAt } from './support/visits.js';

const browser = fileBrowser();
let sender;
let guests;
before(async () => {
  sender = await newUser({ nickname: '艾丽', yuan: '500' });
  guests = await Promise.all(['小波', '卡萝', '大卫'].map((nickname) => newUser({ nickname })));
});

async function send(fields = {}) {
  const path = await sentPath(sender, { kind: 'lucky', amount: '10', count: '3', ...fields });
  return { path, screen: (await sender.client.get(path)).json.screen_url };
}

const open = async (user, path) => (await opened(user, path)).amount_fen;

test('an unchanged screen is answered 304, and a finished one is shown from MySQL, too', async () => {
  const { path, screen } = await send({ kind: 'even', amount: '0.01', count: '1' });
  const guest = new Client();
  const tag = (await guest.getHtml(screen)).headers.get('etag');
  assert.equal((await guest.getHtml(screen, { 'if-none-match': tag })).status, 304);
  await open(guests[1], path);
  assert.equal((await guest.getHtml(screen, { 'if-none-match': tag })).status, 200);
  const shown = (await guest.get(screen)).json;
  assert.deepEqual([shown.state, shown.left_count, shown.luckiest], ['finished', 0, null]);
});

test('the screen shows each grab by itself, and in the end the luckiest', async () => {
  const { path, screen } = await send({ cover: 'birthday' });
  const page = await clientPage(browser, null, { viewport: { width: 1920, height: 1080 }, locale: 'zh-CN' });
  const problems = consoleErrors(page);
  await page.goto(site.url + screen);
  assert.equal(await page.innerText('.start'), '开抢！');
  assert.match(await page.innerText('.left'), /还剩\s*3\s*个/);
  const amounts = [];
  for (const [i, guest] of guests.entries()) {
    amounts.push(await open(guest, path));
    await page.waitForFunction((count) => document.querySelectorAll('.podium > li, .crowd > li').length === count, i + 1);
  }
  await page.waitForSelector('text=手气最佳');
  await poll('the screen is finished', async () => /3个红包/.test(await page.innerText('#grabs')));
  assert.match(await page.innerText('#grabs'), /^3个红包，.+被抢光$/);
  assert.equal(await page.innerText('[data-live=best]'), '手气最佳');
  const top = (await page.locator('.podium li b').allInnerTexts()).map((text) => Math.round(100 * parseFloat(text)));
  assert.deepEqual(top, [...amounts].sort((a, b) => b - a), 'all three, the largest first');
  assert.equal(await page.locator('.start').innerText(), '');
  assert.equal(await page.locator('.bar').count(), 0);
  assert.equal((await page.innerText('.left')).trim(), '');
  const sizes = await page.evaluate(() => ({
    row: parseFloat(getComputedStyle(document.querySelector('.podium li')).fontSize),
    first: parseFloat(getComputedStyle(document.querySelector('.podium li b')).fontSize),
    code: document.querySelector('.qr').getBoundingClientRect().height,
    scroll: document.scrollingElement.scrollHeight,
  }));
  assert.ok(sizes.row >= 1080 / 35 && sizes.first >= 1080 / 24 && sizes.code >= 1080 * 0.45 && sizes.scroll <= 1080, JSON.stringify(sizes));
  assert.deepEqual(problems, []);
});

test('the luckiest are those so far only while shares remain', async () => {
  const says = async (screen) => /data-live="best">([^<]*)</.exec((await new Client().getHtml(screen, { 'accept-language': 'zh-CN' })).text)[1];
  const ended = await send({ count: '2' }), finished = await send({ count: '2' });
  assert.equal(await says(ended.screen), '');
  for (const { path, screen } of [ended, finished]) {
    await open(guests[0], path);
    assert.equal(await says(screen), '目前手气最佳');
  }
  assert.equal((await sender.client.post(`${ended.path}/end`)).status, 200);
  assert.equal(await says(ended.screen), '手气最佳');
  await open(guests[1], finished.path);
  assert.equal(await says(finished.screen), '手气最佳');
});

test('the screen counts down in large digits, and at zero says that it begins', async () => {
  const { screen } = await send({ opens_at: new Date(Date.now() + 3_600_000).toISOString(), phrase: '芝麻开门' });
  const page = await clientPage(browser, null, { viewport: { width: 1280, height: 720 }, locale: 'zh-CN' });
  await page.clock.install();
  await page.goto(site.url + screen);
  await page.route('**/screen?*', (route) => route.abort()); // an answer has the site's clock, which counts
  assert.deepEqual([await page.isVisible('.start'), await page.innerText('#grabs')], [false, '共3个红包']);
  await page.clock.fastForward(1_800_000);
  await poll('half an hour is left', async () => /^[23]\d:\d\d$/.test(await page.innerText('.clock')));
  assert.ok(await page.evaluate(() => parseFloat(getComputedStyle(document.querySelector('.clock')).fontSize) >= innerHeight / 5));
  await page.clock.fastForward(1_792_000);
  await poll('the last seconds stand alone', async () => /^(10|[1-9])$/.test(await page.innerText('.clock')));
  assert.ok(await page.evaluate(() => parseFloat(getComputedStyle(document.querySelector('.clock')).fontSize) >= innerHeight / 3));
  for (const part of ['time', '.phrase', '.tally', '.say >> nth=0']) assert.equal(await page.isVisible(part), false, part);
  const asked = () => page.evaluate(() => window.hurried);
  await page.evaluate(() => {
    window.hurried = 0;
    addEventListener('hurry', () => { window.hurried++; });
  });
  await page.clock.fastForward(12_000);
  await poll('it begins', async () => !(await page.isVisible('.waiting')));
  assert.equal(await page.innerText('.start'), '开抢！');
  await page.clock.runFor(30_000);
  assert.equal(await asked(), 20, 'it asks more often, for ten seconds');
});

test('without JavaScript the screen can be loaded again, and the sender finds its link', async () => {
  const { path, screen } = await send();
  const page = await pageAt(browser, sender.client, path, { locale: 'en', javaScriptEnabled: false });
  await page.click('text=big screen');
  assert.equal(page.url(), site.url + screen);
  await open(guests[2], path);
  await page.click('text=Reload');
  assert.match(await page.innerText('.podium'), /大卫/);
  assert.match(await page.innerText('.left'), /2 left/);
});

test('a button fills the screen, and the device stays awake', async () => {
  const { screen } = await send();
  const page = await clientPage(browser, sender.client);
  await page.addInitScript(() => {
    window.asked = [];
    Object.defineProperty(navigator, 'wakeLock', { value: { request: async (kind) => { window.asked.push(kind); } } });
  });
  await page.goto(site.url + screen);
  assert.deepEqual(await page.evaluate(() => window.asked), ['screen']);
  await page.click('[data-full]');
  await page.waitForFunction(() => document.fullscreenElement === document.documentElement);
  await page.waitForSelector('[data-full]', { state: 'hidden' });
});
