// A receiver gives a share back: into the open packet, or to its sender; JSON, the form without JavaScript in both
// languages, and in a browser with it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch } from './support/browser.js';
import { Client, audit, clientPage, newUser, poll, sendPacket, site } from './support/site.js';
import { words } from './support/texts.js';

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

const balance = async (user) => (await user.client.get('/wallet')).json.balance_fen;

async function packetOf(fields = {}) {
  const sender = await newUser({ yuan: '10' });
  const sent = await sendPacket(sender, { kind: 'even', amount: '1.00', count: '2', ...fields });
  return { sender, path: `/p/${sent.json.id}` };
}

async function settledGrab(path) {
  const user = await newUser();
  assert.equal((await user.client.post(`${path}/open`, {})).json.result, 'grabbed');
  await poll('the grab is settled', async () => (await user.client.get(path)).json.mine.settled);
  return user;
}

test('into an open packet: somebody else gets it, the row stays and says so', async () => {
  const { sender, path } = await packetOf();
  const giver = await settledGrab(path);
  const given = await giver.client.post(`${path}/return`, {});
  assert.equal(given.status, 200);
  assert.deepEqual(given.json, { returned_fen: 100, to: 'packet' });
  assert.equal(await balance(giver), 0);
  assert.deepEqual((await giver.client.post(`${path}/return`, {})).json, given.json);
  assert.equal(await balance(giver), 0);

  const own = (await giver.client.get(path)).json;
  assert.equal(own.mine.returned, true);
  assert.deepEqual([own.state, own.count, own.grabbed_count], ['open', 2, 0]);
  const again = (await giver.client.post(`${path}/open`, {})).json;
  assert.deepEqual([again.result, again.amount_fen, again.returned], ['already', 100, true]);
  const thanked = await giver.client.post(`${path}/thanks`, { text: '谢谢' });
  assert.deepEqual([thanked.status, thanked.json.type], [403, 'urn:hongbao:problem:no-share']);
  assert.equal((await giver.client.post(`${path}/thanks`, { text: '' })).status, 403);
  assert.equal((await giver.client.get(`${path}/receipt`)).status, 404);
  assert.doesNotMatch((await giver.client.getHtml(path)).text, /\/receipt|\/thanks/);
  const [news] = (await sender.client.get('/')).json.inbox;
  assert.deepEqual([news.kind, news.sender.id, news.amount_fen, news.to], ['return', giver.id, 100, 'packet']);

  const first = await newUser();
  assert.equal((await first.client.post(`${path}/open`, {})).json.left_count, 1);
  const second = await settledGrab(path);
  assert.equal((await second.client.post(`${path}/open`, {})).json.returned, false);
  const page = (await second.client.get(path)).json;
  assert.equal(page.state, 'finished');
  assert.equal(page.grabbed_count, 2);
  assert.deepEqual(page.grabs.map((g) => [g.share_no, g.returned]), [[2, false], [1, false], [0, true]]);
  const sold = await (await newUser()).client.post(`${path}/open`, {});
  assert.match(sold.json.type, /:empty$/);

  const verify = (await sender.client.get(`${path}/verify`)).json;
  assert.equal(verify.shares_ok, true);
  assert.deepEqual(verify.shares.map((s) => [s.share_no, s.amount_fen, s.returned]), [[0, 100, true], [1, 100, false], [2, 100, false]]);
  const entries = (await giver.client.get('/wallet')).json.entries;
  assert.deepEqual(entries.map((e) => [e.kind, e.amount_fen]), [['return', -100], ['grab', 100]]);
  const received = (await giver.client.get('/records/received')).json;
  assert.deepEqual([received.count, received.total_fen, received.items[0].returned], [0, 0, true]);
  await audit();
});

test('after the end: it goes to the sender, every hot process shows it soon, and the best stays', async () => {
  const { sender, path } = await packetOf({ kind: 'lucky', amount: '2.00' });
  const [giver, other] = [await settledGrab(path), await settledGrab(path)];
  const stranger = await newUser();
  const mine = (await giver.client.get(path)).json.mine;
  for (let i = 0; i < 40; i++) assert.equal((await stranger.client.post(`${path}/open`, {})).status, 410); // now it is cached
  for (let i = 0; i < 20; i++) await stranger.client.get(path);
  const given = await giver.client.post(`${path}/return`, {});
  assert.deepEqual(given.json, { returned_fen: mine.amount_fen, to: 'sender' });
  assert.equal(await balance(giver), 0);
  assert.equal(await balance(sender), 800 + mine.amount_fen);
  for (let i = 0; i < 10; i++) assert.equal((await giver.client.get(path)).json.mine.returned, true);
  await poll('every process shows it', async () => {
    const pages = await Promise.all(Array.from({ length: 12 }, () => stranger.client.get(path)));
    return pages.every(({ json }) => json.grabs.find((g) => g.share_no === mine.share_no).returned);
  });
  const page = (await other.client.get(path)).json;
  assert.deepEqual([page.state, page.grabbed_count], ['finished', 2]);
  assert.equal(page.grabs.filter((g) => g.best).length, 1);
  assert.deepEqual((await sender.client.get('/wallet')).json.entries[0].kind, 'return');
  // The same from MySQL.
  const cold = (await sender.client.get('/records/sent')).json.items[0];
  assert.deepEqual([cold.state, cold.grabbed_count], ['finished', 2]);
  await audit();
});

test('refused: without a share, when the money is spent, before it is settled, of one’s own packet that is over', async () => {
  const { sender, path } = await packetOf();
  const giver = await settledGrab(path);
  const none = await sender.client.post(`${path}/return`, {});
  assert.equal(none.status, 404);
  assert.match(none.json.type, /:no-share$/);
  assert.equal((await new Client().post(`${path}/return`, {})).status, 401);
  assert.equal((await giver.client.post(`${path}/return`, {}, { 'sec-fetch-site': 'cross-site' })).status, 403);
  await sendPacket(giver, { kind: 'even', amount: '0.50', count: '1' });
  const spent = await giver.client.post(`${path}/return`, {});
  assert.equal(spent.status, 409);
  assert.match(spent.json.type, /:money-spent$/);
  assert.equal((await sender.client.post(`${path}/open`, {})).status, 200);
  await poll('the packet is closed', async () => (await sender.client.get(path)).json.mine.settled);
  const own = await sender.client.post(`${path}/return`, {});
  assert.equal(own.status, 409);
  assert.match(own.json.type, /:own-packet$/);
  const often = await packetOf();
  for (let i = 0; i < 2; i++) {
    const { client } = await settledGrab(often.path);
    assert.equal((await client.post(`${often.path}/return`, {})).json.to, 'packet');
  }
  const third = await settledGrab(often.path);
  assert.doesNotMatch((await third.client.getHtml(often.path)).text, /\/return"/);
  const full = await third.client.post(`${often.path}/return`, {});
  assert.equal(full.status, 409);
  assert.match(full.json.type, /:too-many-returns$/);
  const early = await packetOf();
  await site.dev('stop', 'settle');
  try {
    const user = await newUser();
    assert.equal((await user.client.post(`${early.path}/open`, {})).status, 200);
    const wait = await user.client.post(`${early.path}/return`, {});
    assert.equal(wait.status, 503);
    assert.match(wait.json.type, /:unsettled$/);
    assert.equal(wait.headers.get('retry-after'), '1');
  } finally {
    await site.dev('start', 'settle');
  }
  await audit();
});

const WORDS = {
  'zh-CN': { title: '退还我领的', button: '确认退还1.00元', whose: '退回~的红包', mine: '你已退还这份红包', row: '已退还', settled: '已存入零钱' },
  en: { title: 'Give my share back', button: 'Give ¥1.00 back', whose: 'red packet of ~ for', mine: 'You have given this share back', row: 'Given back', settled: 'Added to your wallet' },
};

for (const [language, said] of Object.entries(WORDS)) {
  test(`without JavaScript: the form and what the pages say (${language})`, async () => {
    const { sender, path } = await packetOf();
    const giver = await settledGrab(path);
    const headers = { 'accept-language': language };
    const page = (await giver.client.getHtml(path, headers)).text;
    assert.ok(page.includes(said.title));
    const whose = said.whose.replace('~', `<bdi translate="no">${sender.username}</bdi>`);
    for (const part of [said.button, whose]) assert.ok(page.includes(part), part);
    const [action] = /\/p\/[0-9a-z]{26}\/return(?=")/.exec(page);
    const answer = await giver.client.postHtml(action, {});
    assert.equal(answer.status, 303);
    assert.equal(answer.headers.get('location'), path);
    const own = (await giver.client.getHtml(path, headers)).text;
    assert.ok(own.includes(said.mine));
    assert.ok(!own.includes('/return"') && !own.includes(said.settled));
    assert.match(own, /<p class="money"><s>.*1\.00.*<\/s><\/p>/);
    const receipt = await giver.client.getHtml(`${path}/receipt`, headers);
    assert.equal(receipt.status, 404);
    assert.ok(receipt.text.includes(words(language, 'receipt_returned')));
    assert.ok((await sender.client.getHtml(path, headers)).text.includes(said.row));
  });

  test(`in a browser: two clicks give it back (${language})`, async () => {
    const { path } = await packetOf();
    const giver = await settledGrab(path);
    const page = await clientPage(browser, giver.client, { locale: language });
    await page.goto(site.url + path);
    await page.click(`summary:has-text("${said.title}")`);
    await Promise.all([page.waitForURL(site.url + path), page.click('form[action$="/return"] button')]);
    await page.waitForSelector(`text=${said.mine}`);
    assert.equal(await page.locator('form[action$="/return"]').count(), 0);
    await page.context().close();
    assert.equal(await balance(giver), 0);
  });
}

test('in a browser: the form appears by itself once the share is settled, and stays open while others take theirs', async () => {
  const { path } = await packetOf({ count: '3' });
  const giver = await newUser();
  const page = await clientPage(browser, giver.client, { locale: 'en' });
  const summary = page.locator(`summary:has-text("${WORDS.en.title}")`);
  await site.dev('stop', 'settle');
  try {
    await page.goto(site.url + path);
    await Promise.all([page.waitForURL(site.url + path), page.click('.coin')]);
    await page.waitForSelector('.result');
    assert.equal(await summary.isVisible(), false);
  } finally {
    await site.dev('start', 'settle');
  }
  await summary.click();
  await settledGrab(path);
  await page.waitForFunction(() => document.querySelectorAll('[data-live=rows] > li').length === 2);
  await Promise.all([page.waitForURL(site.url + path), page.click('form[action$="/return"] button')]);
  await page.waitForSelector(`text=${WORDS.en.mine}`);
  await page.context().close();
  assert.equal(await balance(giver), 0);
});
