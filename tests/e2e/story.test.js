// The story of a year: whose it is, what it says, and the picture to share.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { Client, clientPage, launch, newUser, poll, sendPacket, site, unique } from './support/site.js';

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');
const YEAR = new Date().getFullYear();

let browser, sender, friend, id;
after(async () => { await browser?.close(); });
before(async () => {
  browser = await launch();
  [sender, friend] = await Promise.all([newUser({ nickname: '小满', yuan: '1000' }), newUser({ nickname: '阿禾' })]);
  const sent = await sendPacket(sender, { kind: 'even', amount: '8.88', count: '2', request_key: unique('k') });
  assert.equal(sent.status, 201, sent.text);
  id = sent.json.id;
  assert.equal((await friend.client.post(`/p/${id}/open`)).status, 200);
  await poll('it is settled', async () => (await friend.client.get(`/p/${id}`)).json.mine.settled);
});

async function picture(client, query = '', options = {}) {
  const answer = await fetch(`${site.url}/story.png${query}`, { redirect: 'manual', ...options, headers: { cookie: `sid=${client.cookie('sid') ?? ''}`, ...options.headers } });
  return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) };
}

test('the records lead to the story, which names who gave and who received', async () => {
  const records = await friend.client.getHtml('/records/received');
  assert.match(records.text, new RegExp(`href="/records/story\\?year=${YEAR}"`));
  const mine = (await friend.client.get('/records/story')).json;
  assert.deepEqual([mine.year, mine.received_fen, mine.received_count, mine.sent_count], [YEAR, 888, 1, 0]);
  assert.deepEqual([mine.received_most.user.nickname, mine.received_most.amount_fen], ['小满', 888]);
  assert.equal(mine.given_most, null);
  const senders = (await sender.client.get('/records/story')).json;
  assert.deepEqual([senders.given_most.user.nickname, senders.given_most.amount_fen, senders.given_most.count], ['阿禾', 888, 1]);
  const { text } = await sender.client.getHtml('/records/story');
  for (const part of ['阿禾', '8.88', `src="/story.png?year=${YEAR}"`, '日期和月份按北京时间计。',
    `href="/records/sent.csv?year=${YEAR}"`, `href="/records/received.csv?year=${YEAR}"`]) assert.ok(text.includes(part), part);
  assert.match((await sender.client.getHtml('/wallet')).text, /href="\/records\/story"/);
  const quick = (await friend.client.getHtml('/records/story')).text;
  const { after_ms: after } = mine.fastest;
  assert.ok(quick.includes(after < 100 ? '不到1秒' : `${Math.floor(after / 1000)}.${Math.floor(after / 100) % 10}秒`), String(after));
});

test('a story is only for its user', async () => {
  const guest = await new Client().getHtml('/records/story');
  assert.deepEqual([guest.status, guest.headers.get('location')], [303, '/login?next=/records/story']);
  assert.equal((await new Client().get('/records/story')).status, 401);
  const stranger = await newUser();
  const { text } = await stranger.client.getHtml('/records/story');
  assert.ok(!text.includes('阿禾') && !text.includes('小满'));
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

for (const javaScriptEnabled of [true, false]) {
  test(`the picture that is looked at first is the one that is saved, JavaScript ${javaScriptEnabled ? 'on' : 'off'}`, async () => {
    const page = await clientPage(browser, sender.client, { javaScriptEnabled });
    await page.goto(`${site.url}/records/story`);
    await page.click('.share summary');
    const shown = () => page.locator('.share img:visible').evaluateAll((images) => images.map((image) => image.getAttribute('src')));
    assert.deepEqual(await shown(), [`/story.png?year=${YEAR}`]);
    await page.check('[name=amounts]');
    assert.deepEqual(await shown(), [`/story.png?year=${YEAR}&amounts=1`]);
    await page.context().close();
  });
}

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

test('every nickname can be drawn', async () => {
  for (const nickname of ['福'.repeat(32), '😀', '<b>&"\'', 'عبد الرحمن', '{{x}}']) {
    const { client } = await newUser({ nickname });
    assert.equal((await picture(client)).status, 200, nickname);
  }
});

test('the picture shows the face of its user, drawn or a picture of one\'s own', async () => {
  const { client } = await newUser({ nickname: '香香' });
  const seen = [(await picture(client)).bytes];
  for (const face of ['rat', 'dragon']) {
    assert.equal((await client.post('/account/nickname', { nickname: '香香', face })).status, 200);
    seen.push((await picture(client)).bytes);
  }
  const form = new FormData();
  form.set('picture', new Blob([readFileSync(new URL('../support/pictures/turned.jpg', import.meta.url))]), 'a.jpg');
  const headers = { cookie: `sid=${client.cookie('sid')}`, accept: 'application/json' };
  const set = await fetch(`${site.url}/account/picture`, { method: 'POST', headers, body: form });
  assert.equal(set.status, 200, await set.text());
  seen.push((await picture(client)).bytes);
  for (const [i, bytes] of seen.entries()) {
    assert.ok(bytes.subarray(0, 8).equals(PNG));
    assert.ok(seen.slice(0, i).every((other) => !other.equals(bytes)), `${i} is another picture`);
  }
});

test('without the pool that draws, the picture says so and the page stays', async () => {
  await site.dev('stop', 'card');
  try {
    const away = await picture(sender.client);
    assert.equal(away.headers.get('content-disposition'), null, 'a page of an error is no file');
    assert.ok([502, 503].includes(away.status), String(away.status));
    assert.equal((await sender.client.getHtml('/records/story')).status, 200);
  } finally {
    await site.dev('start', 'card');
  }
  await poll('the pool is back', async () => (await picture(sender.client)).status === 200);
});

test('one of one\'s people is found by the nickname', async () => {
  const found = (await sender.client.get(`/records/sent?person=${encodeURIComponent('阿禾')}`)).json;
  assert.deepEqual(found.items.map((item) => item.id), [id]);
  const { text } = await sender.client.getHtml('/records/sent');
  assert.match(text, new RegExp(`<a class="chip" href="/records/sent\\?person=${friend.username}">`));
  assert.equal((await friend.client.get(`/records/received?person=${encodeURIComponent('没有的人')}`)).status, 422);
});
