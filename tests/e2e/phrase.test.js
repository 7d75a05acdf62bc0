// A packet with a passphrase: it is opened by the phrase only, in any width and case, and only the sender reads it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileBrowser } from './support/browser.js';
import { requestFrom } from './support/from_address.js';
import { openNow } from './support/moments.js';
import { liveKey } from '../support/packet_id.js';
import { opened, sentPath } from './support/packets.js';
import { redis } from './support/redis.js';
import { audit, newUser, poll, site } from './support/site.js';
import { words } from './support/texts.js';
import { pageAt, testVisitors } from './support/visits.js';

const browser = fileBrowser();

const PHRASE = 'Ｏpen 开心 2026';
const order = (more) => ({ kind: 'lucky', amount: '1', count: '5', phrase: PHRASE, ...more });

// The guesses that a packet has counted: a line for each address (1), network (2) and everywhere (3).
const GUESSES_SCRIPT = `local lines, all = {}, redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  local level = string.match(all[i], '^guesses:(%d)')
  if level then lines[#lines + 1] = level .. ': ' .. string.match(all[i + 1], '^%d+') end
end
return lines`;

test('a missing phrase is asked for, ten wrong ones count for a user and no other, the right one opens in any form', async () => {
  const path = await sentPath(await newUser({ yuan: '10' }), order());
  const guesser = await newUser();
  const open = (phrase) => guesser.client.post(`${path}/open`, { phrase });
  for (const [phrase, tries] of [['', 10], ['\u00a0\u200b', 10], ['开心', 9]]) {
    const { status, json } = await open(phrase);
    assert.deepEqual([status, json.type, json.tries_left], [422, 'urn:hongbao:problem:wrong-phrase', tries], phrase);
    assert.equal(json.title === words('zh-CN', 'phrase_missing'), tries === 10, json.title);
  }
  for (let left = 8; left >= 0; left -= 1) assert.equal((await open(`guess ${left}`)).json.tries_left, left);
  const counted = async () => {
    const { text } = await guesser.client.get('/metrics');
    return [/^hongbao_limited_total\{limit="phrase"\} (\d+)$/m, /^hongbao_grabs_total\{result="refused"\} (\d+)$/m].map((line) => Number(line.exec(text)[1]));
  };
  const before = await counted();
  for (const phrase of ['guess', PHRASE]) {
    const refused = await open(phrase);
    assert.deepEqual([refused.status, refused.json.type], [429, 'urn:hongbao:problem:too-many-tries']);
    assert.equal(refused.headers.get('retry-after'), null); // no time helps
  }
  const page = await guesser.client.postHtml(`${path}/open`, { phrase: PHRASE });
  assert.deepEqual([page.status, page.text.includes(words('zh-CN', 'phrase_tried_out'))], [429, true]);
  assert.deepEqual(await counted(), before.map((count) => count + 3));
  const winner = await newUser();
  assert.equal((await opened(winner, path, { phrase: '  open  开心　２０２６ ' })).result, 'grabbed');
  assert.equal((await opened(winner, path, { phrase: 'whatever' })).result, 'already');
  const { json } = await winner.client.get(path);
  assert.deepEqual([json.needs_phrase, 'phrase' in json], [true, false]);
  await audit();
});

test('wrong phrases count for the address and the network that they come from, and for no others', async () => {
  const path = await sentPath(await newUser({ yuan: '10' }), order());
  const guesser = await newUser();
  const opens = async (address, phrase) => (await requestFrom(address, site.url + path + '/open',
    { fields: { phrase }, cookie: `sid=${guesser.client.cookie('sid')}` })).status;
  for (const address of ['127.71.1.1', '127.71.1.1', '127.71.1.2', '127.72.1.1']) assert.equal(await opens(address, 'a guess'), 422);
  const counted = await redis('EVAL', GUESSES_SCRIPT, '1', liveKey(path, 'packet'));
  assert.deepEqual(counted.split('\n').sort(), ['1: 1', '1: 1', '1: 2', '2: 1', '2: 3', '3: 4']);
  assert.equal(await opens('127.72.1.1', PHRASE), 200);
});

testVisitors('a phrase is typed on the envelope', async ({ locale: language, javaScriptEnabled }) => {
  const options = { locale: language, javaScriptEnabled };
  const sender = await newUser({ yuan: '10' });
  const form = await pageAt(browser, sender.client, '/send', options);
  await form.fill('[name=amount]', '5');
  await form.fill('[name=count]', '3');
  await form.click('details:has(#phrase) > summary');
  await form.fill('[name=phrase]', PHRASE);
  await form.click('form[action="/send"] button[type=submit]');
  await form.waitForURL(/\/p\/[0-9a-z]{26}$/);
  assert.ok((await form.innerText('main')).includes(PHRASE));
  const path = new URL(form.url()).pathname;

  const page = await pageAt(browser, (await newUser()).client, path, options);
  // An empty field gets the focus and the message: from the script, without an answer, or from the page that answers.
  assert.equal(await page.locator('#phrase_error').isVisible(), false);
  const asked = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await page.click(`form[action="${path}/open"] button`);
  await page.waitForSelector('#phrase:focus');
  assert.equal(await page.innerText('#phrase_error[role=alert]'), words(language, 'phrase_missing'));
  // Pressing the coin first is no mistake: the script shows the message in red only the second time.
  const red = () => page.locator('#phrase_error.wrong').count();
  assert.equal(await red(), javaScriptEnabled ? 0 : 1);
  if (javaScriptEnabled) await page.click(`form[action="${path}/open"] button`);
  assert.equal(await red(), 1);
  assert.equal(await page.getAttribute('[name=phrase]', 'aria-invalid'), 'true');
  assert.ok((await page.getAttribute('[name=phrase]', 'aria-describedby')).split(' ').includes('phrase_error'));
  assert.equal(asked.includes(`${path}/open`), !javaScriptEnabled);
  await page.fill('[name=phrase]', 'wrong');
  if (javaScriptEnabled) assert.equal(await page.locator('#phrase_error').isVisible(), false, 'what was missing is there');
  await page.click('.phrase button');
  await page.waitForSelector('#phrase_error[role=alert]:has-text("9")');
  assert.deepEqual([await page.locator('#phrase:focus').count(), await page.locator('.errors').count()], [1, 0]);
  assert.equal(await page.innerText('#phrase_error'), words(language, 'phrase_wrong_left', '9'));
  assert.equal(await page.inputValue('[name=phrase]'), 'wrong');
  assert.equal(await page.getAttribute('[name=phrase]', 'aria-invalid'), 'true');
  await page.fill('[name=phrase]', PHRASE.toUpperCase());
  await page.press('[name=phrase]', 'Enter');
  await page.waitForSelector('.result');
});

test('a hundred users at the second of the opening: as many winners as shares, nobody before', async () => {
  const sender = await newUser({ yuan: '10' });
  const users = await site.demoUsers(100);
  const others = await Promise.all(Array.from({ length: 4 }, () => newUser()));
  const to = others.map(({ username }) => username).join(' ');
  const path = await sentPath(sender, order({ opens_at: new Date(Date.now() + 3_600_000).toISOString(), to, count: '3' }));
  const results = [];
  const early = new Set(); // those who have asked before
  const insist = (client, phrase) => poll('the packet opens', async () => {
    const answer = await client.post(`${path}/open`, { phrase });
    if (!answer.json?.type?.endsWith(':not-open-yet')) return results.push(answer);
    early.add(client);
    return false;
  });
  const all = Promise.all([...others.map(({ client }) => insist(client, PHRASE)), insist(others[0].client, 'wrong'),
    ...users.slice(0, 95).map((client) => insist(client, PHRASE))]);
  await poll('all others and all receivers were refused', () => results.length === 95 && early.size === 4);
  assert.ok(results.every(({ json }) => /:not-for-you$/.test(json.type)));
  const opens_at = await openNow(path);
  await all;
  const count = (test_) => results.filter(test_).length;
  assert.equal(count(({ json }) => json.result === 'grabbed'), 3);
  assert.equal(count(({ json }) => /:not-for-you$/.test(json.type)), 95);
  assert.equal(count(({ json }) => /:empty$/.test(json.type)) + count(({ json }) => json.result === 'already')
    + count(({ json }) => /:wrong-phrase$/.test(json.type)), 2);
  const shown = (await sender.client.get(path)).json;
  assert.equal(shown.grabbed_count, 3);
  assert.equal(shown.grabs.reduce((sum, { amount_fen }) => sum + amount_fen, 0), 100);
  for (const { grabbed_at } of shown.grabs) assert.ok(Date.parse(grabbed_at) >= Date.parse(opens_at));
  await audit();
});
