// A scheduled packet: nobody opens it before its time, and the coin appears at that time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileBrowser } from './support/browser.js';
import { sentPath } from './support/packets.js';
import { Client, audit, newUser, poll, site } from './support/site.js';
import { LANGUAGES, words } from './support/texts.js';
import { clientPage, pageAt, testLanguages, testScripts } from './support/visits.js';

const browser = fileBrowser();

const HOUR_MS = 3_600_000;
const inMs = (ms) => new Date(site.now() + ms).toISOString();
const scheduled = (sender, opens_at, more) => sentPath(sender, { kind: 'lucky', amount: '1', count: '3', opens_at, ...more });

test('before its time a packet is refused and names the time; afterwards it is opened', async () => {
  const sender = await newUser({ yuan: '10' });
  const grabber = await newUser();
  const opens_at = inMs(HOUR_MS);
  const path = await scheduled(sender, opens_at);
  const seen = (await grabber.client.get(path)).json;
  assert.equal(seen.opens_at, opens_at);
  assert.equal(seen.state, 'open');
  assert.ok(Date.parse(seen.expires_at) > Date.parse(opens_at) + HOUR_MS / 60);
  const early = await grabber.client.post(`${path}/open`);
  assert.equal(early.status, 403);
  assert.match(early.json.type, /:not-open-yet$/);
  assert.equal(early.json.opens_at, opens_at);
  assert.equal((await grabber.client.postHtml(`${path}/open`)).status, 303);
  site.passTime(HOUR_MS);
  const opened = await grabber.client.post(`${path}/open`);
  assert.equal(opened.status, 200, opened.text);
  assert.equal(opened.json.result, 'grabbed');
  assert.equal((await grabber.client.get(path)).json.opens_at, opens_at);
  await audit();
});

test('home has a packet that was looked at before its opening, of this user alone and until it is taken', async () => {
  const [sender, ming, hong] = [await newUser({ yuan: '10' }), await newUser(), await newUser()];
  const onHome = async (client, path) => new RegExp(`<a class="mini [^>]*href="${path}"`).test((await client.getHtml('/')).text);
  const [path, named] = [await scheduled(sender, inMs(HOUR_MS)), await scheduled(sender, inMs(HOUR_MS), { count: '1', to: hong.username })];
  const first = await ming.client.getHtml(path);
  assert.equal(first.cookies.length, 1);
  assert.deepEqual((await ming.client.getHtml(path)).cookies, [], 'once');
  for (const client of [ming.client, sender.client, new Client()]) assert.deepEqual((await client.getHtml(named)).cookies, []);
  assert.deepEqual((await sender.client.getHtml(path)).cookies, [], 'who has sent it');
  assert.deepEqual((await hong.client.get(path)).cookies ?? [], [], 'a program');
  assert.ok(await onHome(ming.client, path));
  assert.deepEqual([await onHome(ming.client, named), await onHome(hong.client, path)], [false, false]);
  const [name, value] = first.cookies[0].split(';')[0].split(/=(.*)/);
  assert.match(name, /^(?:__Host-)?looked$/);
  const beside = (client, text) => ({ cookie: `sid=${client.cookie('sid')}; ${name}=${text}` });
  const other = await hong.client.getHtml('/', beside(hong.client, value));
  assert.equal(other.status, 200);
  assert.match(other.text, new RegExp(hong.username), 'the session counts');
  assert.ok(!other.text.includes(path), 'another user of the browser');
  const later = await scheduled(sender, inMs(HOUR_MS));
  await ming.client.getHtml(later);
  assert.deepEqual([await onHome(ming.client, path), await onHome(ming.client, later)], [true, true]);
  const soon = await scheduled(sender, inMs(HOUR_MS / 2));
  await ming.client.getHtml(soon);
  assert.ok(await onHome(ming.client, soon));
  site.passTime(HOUR_MS / 2);
  assert.equal((await ming.client.post(`${soon}/open`)).status, 200);
  await poll('home has it no more', async () => !(await onHome(ming.client, soon)));

  // The page of a result, requested as a browser's script does; a program has no such packets.
  const waiting = async (ask) => (await ask).json.inbox.filter(({ kind }) => kind === 'waiting').map(({ packet }) => `/p/${packet}`);
  assert.deepEqual((await waiting(ming.client.get('/'))).sort(), [path, later].sort());
  const { json: token } = await ming.client.post('/account/tokens', { name: 'bot', scopes: 'read', days: '1', password: ming.password });
  const bearer = { authorization: `Bearer ${token.token}` };
  assert.deepEqual(await waiting(new Client().get('/', { ...bearer, ...beside(ming.client, ming.client.cookie(name)) })), []);
});

test('the packets that were looked at are forgotten at a logout and with the account', async () => {
  const [sender, ming, hong] = [await newUser({ yuan: '10' }), await newUser(), await newUser()];
  const path = await scheduled(sender, inMs(HOUR_MS));
  for (const { client } of [ming, hong]) {
    await client.getHtml(path);
    assert.ok(client.cookie('looked'));
  }
  assert.equal((await ming.client.post('/login', { username: ming.username, password: ming.password })).status, 200); // the device is known
  assert.equal((await ming.client.post('/logout')).status, 204);
  const { username, password } = hong;
  assert.equal((await hong.client.post('/account/delete', { username, password, give_up: '1' })).status, 204);
  for (const { client } of [ming, hong]) assert.equal(client.cookie('looked'), undefined);
  assert.ok(ming.client.cookie('device'), 'stays');
});

testLanguages('the coin appears by itself, JavaScript on', async ({ locale: language }) => {
  const sender = await newUser({ yuan: '10' });
  const grabber = await newUser();
  const path = await scheduled(sender, inMs(HOUR_MS));
  const pages = [];
  const guest = { client: new Client() };
  const clockOnSeal = (page) => page.locator('.envelope .coin .icon').evaluateAll((found) => found.some((icon) => icon.checkVisibility()));
  for (const user of [guest, grabber, sender]) {
    const page = await clientPage(browser, user.client, { locale: language });
    await page.clock.install();
    await page.goto(site.url + path);
    assert.equal(await page.isVisible(`form[action="${path}/open"] button, a.coin`), false);
    assert.ok(await clockOnSeal(page));
    assert.match(await page.innerText('.clock'), /^(1:00:00|0:5\d:\d\d)$/);
    pages.push(page);
  }
  site.passTime(HOUR_MS);
  for (const page of pages) {
    await page.clock.fastForward(HOUR_MS);
    await page.waitForSelector('.clock', { state: 'hidden' });
    assert.ok(!await clockOnSeal(page));
  }
  const [waiting, ...opening] = pages;
  assert.ok(await waiting.isVisible('a.coin'), 'a guest can register now');
  for (const page of opening) {
    await page.click(`form[action="${path}/open"] button`);
    await page.waitForSelector('.result');
  }
});

testLanguages('the page tells the time and opens after a reload, JavaScript off', async ({ locale: language }) => {
  const sender = await newUser({ yuan: '10' });
  const grabber = await newUser();
  const path = await scheduled(sender, inMs(HOUR_MS));
  const page = await pageAt(browser, grabber.client, path, { locale: language, javaScriptEnabled: false });
  const coin = page.locator(`form[action="${path}/open"] button`);
  assert.equal(await coin.isVisible(), false);
  assert.match(await page.innerText('.envelope [data-countdown] time'), /^\d{4}-\d\d-\d\d \d\d:\d\d$/);
  assert.match(await page.innerText('.envelope [data-countdown] [data-zone]'), /China Standard Time|北京时间/);
  site.passTime(HOUR_MS);
  await page.click('.aside-links a >> nth=0');
  await coin.click();
  await page.waitForSelector('.result');
});

test('the envelope, the home page and the big screen show the time in the visitor’s zone', async () => {
  const sender = await newUser({ yuan: '10' });
  const receiver = await newUser();
  const opens_at = inMs(26 * HOUR_MS);
  const path = await scheduled(sender, opens_at, { to: receiver.username, count: '1' });
  const screen = (await sender.client.get(path)).json.screen_url;
  for (const timezoneId of ['America/New_York', 'Asia/Tokyo']) {
    const clock = new Date(opens_at).toLocaleTimeString('zh-CN', { timeZone: timezoneId, hour: '2-digit', minute: '2-digit' });
    for (const [address, selector] of [[path, '[data-countdown]'], ['/', '.mini'], [screen, '[data-countdown]']]) {
      const page = await pageAt(browser, receiver.client, address, { locale: 'zh-CN', timezoneId });
      const line = await page.locator(selector).first().innerText();
      assert.ok(line.includes(clock), `${address}: ${line}, not ${clock}`);
      assert.doesNotMatch(line, /北京时间/);
    }
  }
});

testScripts('the form schedules in the visitor’s zone; without scripts in that of the service', async ({ javaScriptEnabled }) => {
  const sender = await newUser({ yuan: '10' });
  const page = await pageAt(browser, sender.client, '/send', { locale: 'en', javaScriptEnabled, timezoneId: 'America/New_York' });
  const day = new Date(site.now() + 26 * HOUR_MS).toISOString().slice(0, 10); // tomorrow in any zone
  await page.fill('[name=amount]', '1');
  await page.fill('[name=count]', '2');
  await page.click('details:has(#opens_at) > summary');
  await page.fill('[name=opens_at]', `${day}T20:30`);
  if (javaScriptEnabled) assert.match(await page.innerText('#opens_hint'), /\b\w{3}, \w{3} \d+.*\b8:30\sPM/);
  await page.click('button[name=language]'); // what is kept comes back as it was typed
  await page.waitForURL(/\/send\?/);
  assert.equal(await page.inputValue('[name=opens_at]'), `${day}T20:30`);
  await page.click('form[action="/send"] button[type=submit]');
  await page.waitForURL(/\/p\/[0-9a-z]{26}$/);
  const { opens_at: opens } = (await sender.client.get(new URL(page.url()).pathname)).json;
  const shown = new Date(opens).toLocaleString('sv', { timeZone: javaScriptEnabled ? 'America/New_York' : 'Asia/Shanghai' });
  assert.equal(shown, `${day} 20:30:00`);
});

test('a time that is over, or too late, is said at once, beside the field', async () => {
  const page = await pageAt(browser, (await newUser({ yuan: '10' })).client, '/send', { locale: 'zh-CN', timezoneId: 'Asia/Tokyo' });
  await page.click('details:has(#opens_at) > summary');
  await page.fill('[name=opens_at]', '2020-01-31T20:00');
  assert.equal(await page.innerText('#opens_hint.wrong'), words('zh-CN', 'opens_past'));
  const inDays = (days) => new Date(site.now() + days * 24 * HOUR_MS).toLocaleString('sv', { timeZone: 'Asia/Tokyo' }).slice(0, 10);
  await page.fill('[name=opens_at]', `${inDays(31)}T20:00`);
  assert.equal(await page.innerText('#opens_hint.wrong'), words('zh-CN', 'opens_late'));
  const last = Date.parse(`${await page.getAttribute('[name=opens_at]', 'max')}+09:00`) - site.now();
  assert.ok(last > 30 * 24 * HOUR_MS - 10 * 60_000 && last <= 30 * 24 * HOUR_MS, `${last} ms`);
  const soon = inDays(20), [year, month, day] = soon.split('-').map(Number);
  await page.fill('[name=opens_at]', `${soon}T20:00`);
  assert.match(await page.innerText('#opens_hint.hint'), new RegExp(`${year > new Date(site.now()).getFullYear() ? `${year}年` : ''}${month}月${day}日.*周.*20:00`));
});

test('a guest of a packet that opens later registers to wait for it', async () => {
  const path = await scheduled(await newUser({ yuan: '10' }), inMs(HOUR_MS));
  for (const language of LANGUAGES) {
    const { text } = await new Client().getHtml(path, { 'accept-language': language });
    assert.ok(text.includes(words(language, 'register_to_wait')), text);
    assert.ok(!text.includes(`${words(language, 'register_to_open')}</a>`));
  }
});
