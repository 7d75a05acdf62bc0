// Times on pages: with scripts, in words and in the visitor's zone, with the full time in the title; without scripts,
// as the service writes them, with the name of its zone. The tests move the browser's clock and never wait for it.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { fileBrowser } from './support/browser.js';
import { sql } from './support/mysql.js';
import { sentPath } from './support/packets.js';
import { audit, newUser, sendPacket, site, unique } from './support/site.js';
import { words } from './support/texts.js';
import { clientPage, pageAt, testLanguages } from './support/visits.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

// A zone without daylight saving in which it is between 10 and 11 now, so that an hour later is the same day.
function morning() {
  const behind = (new Date().getUTCHours() - 10 + 24) % 24;
  const hours = behind > 12 ? behind - 24 : behind;
  if (hours === 0) return 'UTC';
  return `Etc/GMT${hours > 0 ? '+' : '-'}${Math.abs(hours)}`;
}
const timezoneId = morning();

const browser = fileBrowser();
let sender;
before(async () => { sender = await newUser({ yuan: '100' }); });

// Opens a page so much later. device: how far its clock is ahead of the server's.
async function visit(path, { ahead = 0, device = 0, hidden = false, language = 'zh-CN', client = sender.client, ...options } = {}) {
  const page = await clientPage(browser, client, { locale: language, timezoneId, ...options });
  await page.addInitScript((ms) => {
    const { now } = Date;
    Date.now = () => now() + ms.ahead + ms.device;
    const entries = performance.getEntriesByType.bind(performance);
    const later = ({ transferSize, responseStart, serverTiming }) => ({
      transferSize, responseStart, serverTiming: ms.hidden ? [] : serverTiming.map(({ name, duration }) => ({ name, duration: duration + ms.ahead / 1000 })),
    });
    performance.getEntriesByType = (type) => (type === 'navigation' ? entries(type).map(later) : entries(type));
  }, { ahead, device, hidden });
  await page.goto(site.url + path);
  return page;
}

const said = (language, key, value) => {
  const text = words(language, key).replace('~', value);
  return text.charAt(0).toUpperCase() + text.slice(1);
};
const format = (language, at, options) => new Date(at).toLocaleString(language, { timeZone: timezoneId, ...options });
const clock = (at, language = 'zh-CN') => format(language, at, { timeStyle: 'short' });
const yearOf = (at) => format('en', at, { year: 'numeric' });

// The words on a page for a time that long ago. headed: under a heading with the day.
function expected(language, at, ahead, headed) {
  if (ahead < MINUTE_MS) return said(language, 'time_now');
  if (ahead < HOUR_MS) return said(language, 'time_minutes', Math.floor(ahead / MINUTE_MS));
  if (ahead < DAY_MS / 2) return headed ? clock(at, language) : said(language, 'time_today', clock(at, language));
  if (ahead < 2 * DAY_MS) return said(language, 'time_yesterday', clock(at, language));
  const day = { month: 'short', day: 'numeric' };
  if (yearOf(at) !== yearOf(Date.now() + ahead)) return format(language, at, { year: 'numeric', ...day });
  return `${format(language, at, day)} ${clock(at, language)}`;
}

const entry = (page) => page.locator('.rows time').first();

testLanguages('a time is said in words, the older the less exactly', async ({ locale: language }) => {
  const user = await newUser({ yuan: '1' });
  for (const ahead of [-1500, 0, 5 * MINUTE_MS + 30_000, 2 * HOUR_MS, DAY_MS, 3 * DAY_MS, 400 * DAY_MS]) {
    const page = await visit('/wallet', { ahead, language, client: user.client });
    const time = await entry(page).evaluate(({ dateTime, textContent, title }) => ({ dateTime, textContent, title }));
    const headed = await page.locator('h3[data-today]').isVisible(); // in the zone of the service
    assert.equal(time.textContent, expected(language, Date.parse(time.dateTime), ahead, headed));
    assert.match(time.title, /\d{4}.*\d:\d\d:\d\d/);
    const footer = await page.textContent('footer');
    assert.ok(footer.includes(words(language, 'times_yours')), footer);
  }
});

testLanguages('the time that is left of a packet, for its sender', async ({ locale: language }) => {
  const path = await sentPath(sender, { kind: 'lucky', count: '2', amount: '1', lifetime: '3d' });
  const lefts = [
    [0, 'left_days', [2, 3]],
    [DAY_MS + HOUR_MS / 2, 'left_hours', [47]],
    [3 * DAY_MS - 90 * MINUTE_MS, 'left_hours', [1]],
    [3 * DAY_MS - 30 * MINUTE_MS, 'left_minutes', [29, 30]],
  ];
  for (const [ahead, key, numbers] of lefts) {
    const page = await visit(path, { ahead, language });
    const shown = await page.textContent('time[data-left]');
    assert.ok(numbers.some((number) => shown === words(language, key).replace('~', number)), shown);
  }
});

testLanguages(`without scripts the service's zone is named`, async ({ locale: language }) => {
  const page = await visit('/wallet', { language, javaScriptEnabled: false });
  assert.match(await entry(page).textContent(), /^\d{4}-\d\d-\d\d \d\d:\d\d$/);
  const footer = await page.textContent('footer');
  assert.ok(!footer.includes(words(language, 'times_yours')) && /China Standard Time|北京时间/.test(footer), footer);
});

for (const hidden of [false, true]) {
  test(`a device's clock that is days off changes neither what is left nor a name of a day${hidden ? ', without the header' : ''}`, async () => {
    const sent = await sendPacket(sender, { kind: 'lucky', count: '2', amount: '1', lifetime: '24h' });
    const opens_at = new Date(Date.now() + 2 * HOUR_MS).toISOString();
    const later = await sendPacket(sender, { kind: 'lucky', count: '2', amount: '1', opens_at });
    for (const device of hidden ? [2 * DAY_MS] : [2 * DAY_MS, -3 * DAY_MS - HOUR_MS]) {
      const shows = async (path, selector, text, client = sender.client) => {
        const page = await visit(path, { device, hidden, client });
        await page.waitForFunction(([s, t]) => document.querySelector(s).textContent.includes(t), [selector, text]);
      };
      await shows(`/p/${sent.json.id}`, 'time[data-left]', words('zh-CN', 'left_hours').replace(/~.*/, 2)); /* 24, then 23 */
      await shows('/wallet', '.rows time', said('zh-CN', 'time_now'), (await newUser({ yuan: '1' })).client);
      await shows(`/p/${later.json.id}`, '[data-countdown]', `今天 ${clock(Date.parse(opens_at))} 开抢`);
      await shows(`/p/${later.json.id}`, '.clock', '1:5');
    }
  });
}

// Phones correct their clocks by hours: coming from another zone, or after months in a drawer.
test('a device whose clock is corrected while the page is open shows the same times, and the coin no earlier or later', async () => {
  const opens_at = new Date(Date.now() + 90 * MINUTE_MS).toISOString();
  const sent = await sendPacket(sender, { kind: 'lucky', count: '2', amount: '1', opens_at });
  const open = await sendPacket(sender, { kind: 'lucky', count: '2', amount: '1', lifetime: '24h' });
  const screen = (await sender.client.get(`/p/${sent.json.id}`)).json.screen_url;
  const correct = (page, hours) => page.evaluate((ms) => {
    const { now } = Date;
    Date.now = () => now() + ms;
  }, hours * HOUR_MS);
  for (const [hours, path] of [[3, `/p/${sent.json.id}`], [-3, screen]]) {
    const page = await visit(path, { client: (await newUser()).client });
    const first = await page.textContent('.clock');
    await correct(page, hours);
    await page.waitForFunction((text) => document.querySelector('.clock').textContent !== text, first);
    assert.match(await page.textContent('.clock'), /^1:(2[89]|30):/);
    assert.equal(await page.isVisible('[data-countdown]'), true);
    const other = await visit(`/p/${open.json.id}`);
    const left = await other.textContent('time[data-left]');
    await correct(other, hours);
    await other.evaluate(() => dispatchEvent(new Event('afterprint'))); // shows all times anew
    assert.equal(await other.textContent('time[data-left]'), left);
  }
});

// A laptop at a projector that slept: its performance.now() stood still, which shows at the site's next answer.
test('the big screen counts on to the same moment after a sleep', async () => {
  const opens_at = new Date(Date.now() + 90 * MINUTE_MS).toISOString();
  const sent = await sendPacket(sender, { kind: 'lucky', count: '2', amount: '1', opens_at });
  const page = await clientPage(browser, sender.client, { locale: 'zh-CN', timezoneId });
  await page.addInitScript((ms) => {
    const now = performance.now.bind(performance);
    performance.now = () => now() + (window.slept ? 0 : ms);
  }, 20 * MINUTE_MS);
  await page.goto(site.url + (await sender.client.get(`/p/${sent.json.id}`)).json.screen_url);
  await page.waitForFunction(() => /^1:(2[89]|30):/.test(document.querySelector('.clock').textContent));
  const awake = await page.evaluate(() => {
    window.slept = true;
    document.dispatchEvent(new Event('visibilitychange'));
    return document.querySelector('.clock').textContent;
  });
  assert.match(awake, /^1:(4[89]|50):/);
  await page.waitForFunction(() => /^1:(2[89]|30):/.test(document.querySelector('.clock').textContent));
});

test('a device that gets another time asks for the site’s again', async () => {
  const page = await visit('/wallet', { client: (await newUser({ yuan: '1' })).client });
  await page.evaluate((ms) => {
    const { now } = Date;
    Date.now = () => now() + ms;
    document.dispatchEvent(new Event('visibilitychange'));
  }, 2 * DAY_MS);
  await page.waitForFunction((ms) => Math.abs(performance.now() - document.documentElement.getAttribute('data-ahead') - Date.now() + ms) < 60_000, 2 * DAY_MS);
  assert.equal(await entry(page).textContent(), said('zh-CN', 'time_now'));
});

testLanguages('more than two days before the opening, days are counted', async ({ locale: language }) => {
  const sent = await sendPacket(sender, { kind: 'lucky', count: '2', amount: '1', opens_at: new Date(Date.now() + 25 * DAY_MS + 5.5 * HOUR_MS).toISOString() });
  for (const path of [`/p/${sent.json.id}`, (await sender.client.get(`/p/${sent.json.id}`)).json.screen_url]) {
    const page = await visit(path, { language });
    assert.equal(await page.textContent('.clock'), language === 'en' ? '25 days 5 h' : '25天5小时');
    assert.equal(await page.evaluate(() => document.querySelector('.clock').scrollWidth > document.querySelector('.clock').parentNode.clientWidth), false);
  }
});

test('a waiting page that the browser kept counts down to the same moment', async () => {
  const opens_at = new Date(Date.now() + HOUR_MS + 30 * MINUTE_MS).toISOString();
  const sent = await sendPacket(sender, { kind: 'lucky', count: '2', amount: '1', opens_at });
  const page = await visit(`/p/${sent.json.id}`, { ahead: HOUR_MS });
  assert.match(await page.textContent('.clock'), /^0:(29|30):/);
});

test('a time to come is said in words, too', async () => {
  const opens_at = new Date(Date.now() + 2 * HOUR_MS).toISOString();
  const sent = await sendPacket(sender, { kind: 'lucky', count: '2', amount: '1', opens_at });
  const time = (language) => clock(Date.parse(opens_at), language);
  assert.match(time('en'), /[AP]M$/);
  for (const [language, sentence] of [['zh-CN', `今天 ${time('zh-CN')} 开抢`], ['en', `Opens today ${time('en')}`]]) {
    const page = await visit(`/p/${sent.json.id}`, { language });
    const line = await page.textContent('[data-countdown]');
    assert.ok(line.includes(sentence), line);
  }
});

test('a page that refreshes itself keeps its rows', async () => {
  const path = await sentPath(sender, { kind: 'lucky', count: '3', amount: '1' });
  const grab = async () => assert.equal((await (await newUser()).client.post(`${path}/open`)).json.result, 'grabbed');
  await grab();
  const page = await visit(path);
  const rows = page.locator('[data-live=rows] > li');
  await rows.first().evaluate((row) => { row.kept = true; });
  await grab();
  await page.waitForFunction(() => document.querySelectorAll('[data-live=rows] > li').length === 2);
  assert.deepEqual((await rows.evaluateAll((list) => list.map((row) => row.kept ?? false))).sort(), [false, true]);
  assert.equal(await page.locator('[data-live=rows] time').first().textContent(), words('zh-CN', 'time_now'));
});

// Typed days and months belong to the site's zone; the times in the list are in the visitor's zone, as everywhere.
for (const zone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago']) {
  test(`the site's day of a record finds the packet, and its time is the visitor's (${zone})`, async () => {
    const { client } = await newUser();
    const sent = await sendPacket(sender, { kind: 'lucky', count: '1', amount: '1' });
    assert.equal((await client.post(`/p/${sent.json.id}/open`)).json.result, 'grabbed');
    await audit();
    const counts = [['/records/sent', sender.client, sent.json.id], ['/records/received', client, sent.json.id]];
    for (const [path, who, id] of counts) {
      const page = await visit(path, { client: who, timezoneId: zone });
      const time = page.locator(`.row[href*="${id}"] time`);
      assert.match(await time.textContent(), /^(刚刚|\d+分钟前)$/);
      const at = Date.parse(await time.getAttribute('datetime'));
      assert.equal(await time.getAttribute('title'), new Date(at).toLocaleString('zh-CN', { timeZone: zone, dateStyle: 'long', timeStyle: 'long' }));
      const day = new Date(at).toLocaleString('sv', { timeZone: 'Asia/Shanghai', dateStyle: 'short' });
      await page.goto(`${site.url}${path}?from=${day}&to=${day}`);
      assert.equal(await page.locator(`.row[href*="${id}"]`).count(), 1);
      assert.match(await page.textContent('#filter_zone'), /北京时间/);
      assert.ok((await page.textContent('footer')).includes(words('zh-CN', 'times_yours')));
      const csv = (await who.get(`${path}.csv?from=${day}&to=${day}`)).text.split('\r\n');
      assert.ok(csv[1].startsWith(day) && csv[1].includes(',UTC+08:00'), csv[1]);
    }
  });
}

// The headings are of the service's zone. Where today is another day, they are gone and the rows show the day.
test('the wallet has headings for today and yesterday, in the zone of the service', async () => {
  const service = 'Asia/Shanghai';
  const today = () => new Date().toLocaleDateString('en', { timeZone: service });
  const user = await newUser({ yuan: '1' });
  await user.client.post('/wallet/deposit', { amount: '2', request_key: unique('k') });
  const age = (days) => sql(`UPDATE transfer SET created_ms = created_ms - ${days * DAY_MS} WHERE credit_id = ${user.id} AND amount_fen = 200`);
  const headings = (page) => page.locator('h3.month:visible').allTextContents();
  const look = async (options) => {
    const page = await pageAt(browser, user.client, '/wallet', { locale: 'zh-CN', ...options });
    return page;
  };
  await age(1);
  for (let day; day !== today();) { // again if midnight has passed meanwhile
    day = today();
    for (const options of [{ timezoneId: service }, { javaScriptEnabled: false }]) {
      const page = await look(options);
      assert.deepEqual(await headings(page), day === today() ? [words('zh-CN', 'day_today'), words('zh-CN', 'day_yesterday')] : await headings(page));
      if (options.timezoneId) assert.match(await page.locator('.rows time').last().textContent(), /^\d\d:\d\d$/);
    }
    const abroad = await look({ timezoneId: 'Pacific/Honolulu' });
    assert.deepEqual(await headings(abroad), []);
    assert.match(await abroad.locator('.rows time').last().textContent(), /[今昨]天 \d\d:\d\d$/);
  }
  await age(60);
  const earlier = await look({ timezoneId: service });
  assert.match((await headings(earlier)).at(-1), /月$/);
  await age(-61); // as the audit compares it
});

test('a printed page has full times', async () => {
  const page = await visit('/wallet');
  const time = entry(page);
  const title = await time.getAttribute('title');
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  assert.equal(await time.textContent(), title);
  await page.evaluate(() => dispatchEvent(new Event('afterprint')));
  /* A time that the script has not put into its own words already has a full time, too. */
  await page.evaluate(() => {
    const time = document.querySelector('.rows time');
    const copy = document.createElement('time');
    copy.dateTime = time.dateTime;
    copy.textContent = time.textContent;
    copy.id = 'copy';
    time.parentNode.replaceChildren(copy);
    dispatchEvent(new Event('afterprint'));
    dispatchEvent(new Event('beforeprint'));
  });
  assert.equal(await page.textContent('#copy'), title);
  await page.evaluate(() => dispatchEvent(new Event('afterprint')));
  assert.equal(await time.textContent(), said('zh-CN', 'time_now'));
});

test('a receipt has the exact time of the site, with its zone, whoever reads it and wherever', async () => {
  const sent = await sendPacket(sender, { kind: 'lucky', count: '1', amount: '1' });
  const { client } = await newUser();
  await client.post(`/p/${sent.json.id}/open`);
  await audit();
  const path = `/p/${sent.json.id}/receipt`;
  const plain = await visit(path, { client, javaScriptEnabled: false });
  assert.match(await plain.textContent('.receipt dd:has(time)'), /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d（北京时间）$/);
  const page = await visit(path, { client, timezoneId: 'America/New_York', language: 'en' });
  const time = await plain.textContent('.receipt time');
  assert.equal(await page.textContent('.receipt dd:has(time)'), `${time}, China Standard Time (UTC+8)`);
  await Promise.all([plain, page].map((seen) => seen.context().close()));
});

test('the audit is clean afterwards', audit);
