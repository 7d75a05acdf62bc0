// A receiver gives a share back: into the open packet, or to its sender; JSON, the form without JavaScript in both
// languages, and in a browser with it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileBrowser } from './support/browser.js';
import { opened, sentPath, settled } from './support/packets.js';
import { audit, newUser, poll, sendPacket, site } from './support/site.js';
import { words } from './support/texts.js';
import { clientPage, pageAt } from './support/visits.js';

const browser = fileBrowser();

const balance = async (user) => (await user.client.get('/wallet')).json.balance_fen;

async function packetOf(fields = {}) {
  const sender = await newUser({ yuan: '10' });
  return { sender, path: await sentPath(sender, { kind: 'even', amount: '1.00', count: '2', ...fields }) };
}

async function settledGrab(path) {
  const user = await newUser();
  assert.equal((await opened(user, path)).result, 'grabbed');
  await settled(user, path);
  return user;
}

test('into an open packet: somebody else gets it, the row stays and says so', async () => {
  const { sender, path } = await packetOf();
  const giver = await settledGrab(path);
  for (let i = 0; i < 2; i++) { // a repeat changes nothing
    const given = await giver.client.post(`${path}/return`);
    assert.deepEqual([given.status, given.json], [200, { returned_fen: 100, to: 'packet' }]);
    assert.equal(await balance(giver), 0);
  }
  const own = (await giver.client.get(path)).json;
  assert.deepEqual([own.state, own.count, own.grabbed_count, own.mine.returned], ['open', 2, 0, true]);
  const again = await opened(giver, path);
  assert.deepEqual([again.result, again.amount_fen, again.returned], ['already', 100, true]);
  for (const text of ['谢谢', '']) {
    const thanked = await giver.client.post(`${path}/thanks`, { text });
    assert.deepEqual([thanked.status, thanked.json.type], [403, 'urn:hongbao:problem:no-share']);
  }
  assert.doesNotMatch((await giver.client.getHtml(path)).text, /\/receipt|\/thanks/);
  const [news] = (await sender.client.get('/')).json.inbox;
  assert.deepEqual([news.kind, news.sender.id, news.amount_fen, news.to], ['return', giver.id, 100, 'packet']);

  assert.equal((await opened(await newUser(), path)).left_count, 1);
  const second = await settledGrab(path);
  assert.equal((await opened(second, path)).returned, false);
  const page = (await second.client.get(path)).json;
  assert.deepEqual([page.state, page.grabbed_count], ['finished', 2]);
  assert.deepEqual(page.grabs.map((g) => [g.share_no, g.returned]), [[2, false], [1, false], [0, true]]);
  const verify = (await sender.client.get(`${path}/verify`)).json;
  assert.equal(verify.shares_ok, true);
  assert.deepEqual(verify.shares.map((s) => [s.share_no, s.amount_fen, s.returned]), [[0, 100, true], [1, 100, false], [2, 100, false]]);
  const { entries } = (await giver.client.get('/wallet')).json;
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

test('what cannot be given back is refused with the reason', async () => {
  const { sender, path } = await packetOf();
  const giver = await settledGrab(path);
  const refused = async ({ client }, at, status, reason) => {
    const answer = await client.post(`${at}/return`);
    assert.deepEqual([answer.status, answer.json.type], [status, `urn:hongbao:problem:${reason}`]);
    return answer;
  };
  await refused(sender, path, 404, 'no-share');
  await sendPacket(giver, { kind: 'even', amount: '0.50', count: '1' });
  await refused(giver, path, 409, 'money-spent');
  await opened(sender, path);
  await settled(sender, path);
  await refused(sender, path, 409, 'own-packet'); // it is over
  const often = await packetOf();
  for (let i = 0; i < 2; i++) {
    const { client } = await settledGrab(often.path);
    assert.equal((await client.post(`${often.path}/return`)).json.to, 'packet');
  }
  const third = await settledGrab(often.path);
  assert.doesNotMatch((await third.client.getHtml(often.path)).text, /\/return"/);
  await refused(third, often.path, 409, 'too-many-returns');
  const early = await packetOf();
  await site.unsettled(async () => {
    const user = await newUser();
    await opened(user, early.path);
    assert.equal((await refused(user, early.path, 503, 'unsettled')).headers.get('retry-after'), '1');
  });
  await audit();
});

const WORDS = {
  'zh-CN': { title: '退还我领的', button: '确认退还1.00\u2060元', whose: '退回~的红包', mine: '你已退还这份红包', row: '已退还', settled: '已存入零钱' },
  en: { title: 'Give my share back', button: 'Give ¥1.00 back', whose: 'red packet of ~ for', mine: 'You have given this share back', row: 'Given back', settled: 'Added to your wallet' },
};

for (const [locale, said] of Object.entries(WORDS)) {
  test(`on the page, without scripts: two clicks give it back, and pages say so (${locale})`, async () => {
    const { sender, path } = await packetOf();
    const giver = await settledGrab(path);
    const page = await pageAt(browser, giver.client, path, { locale, javaScriptEnabled: false });
    const shown = await page.content();
    for (const part of [said.button, said.whose.replace('~', `<bdi translate="no">${sender.username}</bdi>`)]) assert.ok(shown.includes(part), part);
    await page.click(`summary:has-text("${said.title}")`);
    await Promise.all([page.waitForURL(site.url + path), page.click('form[action$="/return"] button')]);
    await page.waitForSelector(`text=${said.mine}`);
    const own = await page.content();
    assert.ok(!own.includes('/return"') && !own.includes(said.settled));
    assert.match(own, /<p class="money"><s>.*1\.00.*<\/s><\/p>/);
    assert.equal(await balance(giver), 0);
    const headers = { 'accept-language': locale };
    const receipt = await giver.client.getHtml(`${path}/receipt`, headers);
    assert.deepEqual([receipt.status, receipt.text.includes(words(locale, 'receipt_returned'))], [404, true]);
    assert.ok((await sender.client.getHtml(path, headers)).text.includes(said.row));
  });
}

test('with scripts: the form appears by itself once the share is settled, and stays open while others take theirs', async () => {
  const { path } = await packetOf({ count: '3' });
  const giver = await newUser();
  const page = await clientPage(browser, giver.client, { locale: 'en' });
  const summary = page.locator(`summary:has-text("${WORDS.en.title}")`);
  await site.unsettled(async () => {
    await page.goto(site.url + path);
    await Promise.all([page.waitForURL(site.url + path), page.click('.coin')]);
    await page.waitForSelector('.result');
    assert.equal(await summary.isVisible(), false);
  });
  await summary.click();
  await settledGrab(path);
  await page.waitForFunction(() => document.querySelectorAll('[data-live=rows] > li').length === 2);
  await Promise.all([page.waitForURL(site.url + path), page.click('form[action$="/return"] button')]);
  await page.waitForSelector(`text=${WORDS.en.mine}`);
  assert.equal(await balance(giver), 0);
});
