// The story of a year: who may see it, its content, and the picture to share.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { fileBrowser } from './support/browser.js';
import { fetched } from './support/client.js';
import { opened, sentPath, settled } from './support/packets.js';
import { Client, newUser, poll, site } from './support/site.js';
import { pageAt, testScripts } from './support/visits.js';

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');
const YEAR = new Date().getFullYear();

const browser = fileBrowser();
let sender, friend, id;
before(async () => {
  [sender, friend] = await Promise.all([newUser({ nickname: '小满', yuan: '1000' }), newUser({ nickname: '阿禾' })]);
  const path = await sentPath(sender, { kind: 'even', amount: '8.88', count: '2' });
  id = path.slice('/p/'.length);
  await opened(friend, path);
  await settled(friend, path);
});

const picture = (client, query = '', { headers, ...options } = {}) => fetched(`/story.png${query}`,
  { ...options, headers: { cookie: `sid=${client.cookie('sid') ?? ''}`, ...headers } });

test('the records lead to the story, which names who gave and who received, to its user alone', async () => {
  assert.match((await friend.client.getHtml('/records/received')).text, new RegExp(`href="/records/story\\?year=${YEAR}"`));
  const mine = (await friend.client.get('/records/story')).json;
  assert.deepEqual([mine.year, mine.received_fen, mine.received_most.user.nickname], [YEAR, 888, '小满']);
  const { text } = await sender.client.getHtml('/records/story');
  for (const part of ['阿禾', '8.88', `src="/story.png?year=${YEAR}"`, '日期和月份按北京时间计。',
    `href="/records/sent.csv?year=${YEAR}"`, `href="/records/received.csv?year=${YEAR}"`]) assert.ok(text.includes(part), part);
  assert.match((await sender.client.getHtml('/wallet')).text, /href="\/records\/story"/);
  const quick = (await friend.client.getHtml('/records/story')).text;
  const { after_ms: after } = mine.fastest;
  assert.ok(quick.includes(after < 100 ? '不到1秒' : `${Math.floor(after / 1000)}.${Math.floor(after / 100) % 10}秒`), String(after));
  const stranger = await newUser();
  const others = (await stranger.client.getHtml('/records/story')).text;
  assert.ok(!others.includes('阿禾') && !others.includes('小满'));
});

test('the picture is a PNG of one\'s own, saved as a file, and no cache may keep it', async () => {
  const card = await picture(sender.client, `?year=${YEAR}`);
  assert.equal(card.status, 200);
  assert.ok(card.bytes.subarray(0, 8).equals(PNG));
  assert.deepEqual([card.bytes.readUInt32BE(16), card.bytes.readUInt32BE(20)], [1080, 1440]);
  assert.equal(card.headers.get('content-type'), 'image/png');
  assert.equal(card.headers.get('cache-control'), 'private, no-store');
  assert.equal(card.headers.get('content-disposition'), `attachment; filename="hongbao-${YEAR}.png"`);
  assert.equal(card.headers.get('x-content-type-options'), 'nosniff');
  const others = await picture(friend.client, `?year=${YEAR}`);
  assert.ok(!card.bytes.equals(others.bytes), 'everybody has a picture of their own');
  const sums = await picture(sender.client, `?year=${YEAR}&amounts=1`);
  assert.ok(sums.status === 200 && !card.bytes.equals(sums.bytes), 'the amounts are drawn when they are wanted');
  const english = await picture(sender.client, `?year=${YEAR}`, { headers: { 'accept-language': 'en' } });
  assert.ok(english.status === 200 && !card.bytes.equals(english.bytes), 'in the language of the visitor');
});

testScripts('the picture that is looked at first is the one that is saved', async ({ javaScriptEnabled }) => {
  const page = await pageAt(browser, sender.client, '/records/story', { javaScriptEnabled });
  await page.click('.share summary');
  const shown = () => page.locator('.share img:visible').evaluateAll((images) => images.map((image) => image.getAttribute('src')));
  assert.deepEqual(await shown(), [`/story.png?year=${YEAR}`]);
  await page.check('[name=amounts]');
  assert.deepEqual(await shown(), [`/story.png?year=${YEAR}&amounts=1`]);
});

test('nobody can have a picture drawn without a session, or with words of one\'s own', async () => {
  const guest = await picture(new Client());
  assert.ok([303, 401].includes(guest.status) && !guest.bytes.includes(PNG));
  for (const path of ['/story-drawn', '/story-drawn?lang=en&name=You+won&year=2026&sent=1&received=1&best=1']) {
    const direct = await sender.client.getHtml(path);
    assert.equal(direct.status, 404, path);
  }
  const forged = await picture(sender.client, '?name=You+won&sent=99');
  const own = await picture(sender.client);
  assert.ok(forged.status === 200 && forged.bytes.equals(own.bytes), 'the query of the page decides nothing but year and amounts');
  assert.equal((await picture(sender.client, '?year=abc')).status, 400);
  assert.equal((await picture(sender.client, '', { method: 'POST' })).status, 405);
});

test('without the pool that draws, the picture says so and the page stays', async () => {
  await site.without(['card'], async () => {
    const away = await picture(sender.client);
    assert.equal(away.headers.get('content-disposition'), null, 'a page of an error is no file');
    assert.ok([502, 503].includes(away.status), String(away.status));
    assert.equal((await sender.client.getHtml('/records/story')).status, 200);
  });
  await poll('the pool is back', async () => (await picture(sender.client)).status === 200);
});
