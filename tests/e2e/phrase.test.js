// A packet with a passphrase: it is opened by the phrase only, in any width and case, and nobody but the sender reads it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { requestFrom } from './support/from_address.js';
import { openNow } from './support/moments.js';
import { liveKey } from './support/packet_id.js';
import { redis } from './support/redis.js';
import { Client, audit, clientPage, launch, newUser, poll, sendPacket, site, unique } from './support/site.js';
import { LANGUAGES, words } from './support/texts.js';

let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser?.close(); });

const PHRASE = 'Ｏpen 开心 2026';
const order = (more) => ({ kind: 'lucky', amount: '1', count: '5', request_key: unique('k'), phrase: PHRASE, ...more });

async function sent(sender, more = {}) {
  const answer = await sendPacket(sender, order(more));
  assert.equal(answer.status, 201, answer.text);
  return `/p/${answer.json.id}`;
}

// What a packet has counted: a line for each address (1), network (2) and everywhere (3).
const GUESSES_SCRIPT = `local lines, all = {}, redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  local level = string.match(all[i], '^guesses:(%d)')
  if level then lines[#lines + 1] = level .. ': ' .. string.match(all[i + 1], '^%d+') end
end
return lines`;

const pageOf = ({ client }, options) => clientPage(browser, client, options);

test('a missing phrase is asked for, a wrong one counts, the right one opens in any form', async () => {
  const sender = await newUser({ yuan: '10' });
  const path = await sent(sender);
  const grabber = await newUser();
  const missing = await grabber.client.post(`${path}/open`);
  assert.equal(missing.status, 422);
  assert.match(missing.json.type, /:wrong-phrase$/);
  assert.equal(missing.json.tries_left, 10);
  assert.equal(missing.json.title, words('zh-CN', 'phrase_missing'));
  const wrong = await grabber.client.post(`${path}/open`, { phrase: '开心' });
  assert.equal(wrong.status, 422);
  assert.equal(wrong.json.tries_left, 9);
  const opened = await grabber.client.post(`${path}/open`, { phrase: '  open  开心　２０２６ ' });
  assert.equal(opened.json.result, 'grabbed');
  const phone = await newUser();
  const quoted = await sent(sender, { phrase: "it's “now”" });
  const blank = await phone.client.post(`${quoted}/open`, { phrase: '\u00a0\u200b' });
  assert.deepEqual([blank.json.title, blank.json.tries_left], [words('zh-CN', 'phrase_missing'), 10]);
  assert.equal((await phone.client.post(`${quoted}/open`, { phrase: 'It’s "now"' })).json.result, 'grabbed');
  const dotted = await sent(sender, { phrase: '[8.8], 1/2 <a>~' });
  assert.equal((await phone.client.post(`${dotted}/open`, { phrase: '【8。8】、 ½ 《a》〜' })).json.result, 'grabbed');
  const again = await grabber.client.post(`${path}/open`, { phrase: 'whatever' });
  assert.equal(again.json.result, 'already');
  await audit();
});

test('a phrase of blanks only is refused beside its field, and nothing is paid', async () => {
  const sender = await newUser({ yuan: '10' });
  const refused = await sendPacket(sender, order({ phrase: ' 　 ' }));
  assert.deepEqual([refused.status, refused.json.errors], [422, [{ field: 'phrase', message: words('zh-CN', 'phrase_invalid') }]]);
  assert.equal((await sender.client.get('/wallet')).json.balance_fen, 1000);
});

test('after ten wrong phrases a user is refused, others are not', async () => {
  const sender = await newUser({ yuan: '10' });
  const path = await sent(sender);
  const guesser = await newUser();
  for (let left = 9; left >= 0; left -= 1) {
    assert.equal((await guesser.client.post(`${path}/open`, { phrase: `guess ${left}` })).json.tries_left, left);
  }
  const limited = async () => Number(/^hongbao_limited_total\{limit="phrase"\} (\d+)$/m.exec((await guesser.client.get('/metrics')).text)[1]);
  const before = await limited();
  for (const phrase of ['guess', PHRASE]) {
    const refused = await guesser.client.post(`${path}/open`, { phrase });
    assert.equal(refused.status, 429);
    assert.match(refused.json.type, /:too-many-tries$/);
    assert.equal(refused.headers.get('retry-after'), null); // no time helps
  }
  const page = await guesser.client.postHtml(`${path}/open`, { phrase: PHRASE });
  assert.equal(page.status, 429);
  assert.equal(await limited(), before + 3);
  assert.ok(page.text.includes(words('zh-CN', 'phrase_tried_out')));
  assert.equal((await (await newUser()).client.post(`${path}/open`, { phrase: PHRASE })).status, 200);
});

test('wrong phrases count for the address and the network that they come from, and for no others', async () => {
  const path = await sent(await newUser({ yuan: '10' }));
  const opens = async (address, user, phrase) => (await requestFrom(address, site.url + path + '/open',
    { fields: { phrase }, cookie: `sid=${user.client.cookie('sid')}` })).status;
  for (const guesser of await Promise.all([newUser(), newUser()]))
    for (let i = 0; i < 10; i++) assert.equal(await opens('127.71.1.1', guesser, `guess ${i}`), 422);
  assert.equal(await opens('127.71.1.2', await newUser(), 'a guess beside it'), 422);
  assert.equal(await opens('127.72.1.1', await newUser(), 'a guess elsewhere'), 422);
  const counted = await redis('EVAL', GUESSES_SCRIPT, '1', liveKey(path.slice(3), 'packet'));
  assert.deepEqual(counted.split('\n').sort(), ['1: 1', '1: 1', '1: 20', '2: 1', '2: 21', '3: 22']);
  assert.equal(await opens('127.72.1.1', await newUser(), PHRASE), 200);
});

test('only the sender reads the phrase, on the own page and in its JSON', async () => {
  const sender = await newUser({ yuan: '10' });
  const path = await sent(sender);
  assert.equal((await sender.client.get(path)).json.phrase, PHRASE);
  assert.ok((await sender.client.getHtml(path)).text.includes(PHRASE));
  const winner = await newUser();
  await winner.client.post(`${path}/open`, { phrase: PHRASE });
  for (const client of [winner.client, (await newUser()).client, new Client()]) {
    for (const answer of [await client.get(path), await client.getHtml(path), await client.get(`${path}/verify`)]) {
      assert.equal(answer.status, 200);
      assert.doesNotMatch(answer.text, /2026\b[^-]*开心|开心/);
    }
  }
  assert.equal((await winner.client.get(path)).json.needs_phrase, true);
  assert.equal('phrase' in (await winner.client.get(path)).json, false);
});

test('a phrase that is too long gets a message beside its field', async () => {
  const sender = await newUser({ yuan: '10' });
  const refused = await sendPacket(sender, order({ phrase: 'x'.repeat(21) }));
  assert.equal(refused.status, 422);
  assert.deepEqual(refused.json.errors, [{ field: 'phrase', message: words('zh-CN', 'phrase_long', '20') }]);
});

for (const language of LANGUAGES) {
  for (const javaScriptEnabled of [true, false]) {
    test(`a phrase is typed on the envelope, ${language}, JavaScript ${javaScriptEnabled ? 'on' : 'off'}`, async () => {
      const options = { locale: language, javaScriptEnabled };
      const sender = await newUser({ yuan: '10' });
      const form = await pageOf(sender, options);
      await form.goto(`${site.url}/send`);
      await form.fill('[name=amount]', '5');
      await form.fill('[name=count]', '3');
      await form.click('details:has(#phrase) > summary');
      await form.fill('[name=phrase]', PHRASE);
      await form.click('form[action="/send"] button[type=submit]');
      await form.waitForURL(/\/p\/[0-9a-z]{26}$/);
      assert.ok((await form.innerText('main')).includes(PHRASE));
      const path = new URL(form.url()).pathname;
      await form.context().close();

      const page = await pageOf(await newUser(), options);
      await page.goto(site.url + path);
      // An empty field gets the focus and the words: by the script without an answer, else by the page that answers.
      assert.equal(await page.locator('#phrase_error').isVisible(), false);
      const asked = [];
      page.on('request', (request) => asked.push(new URL(request.url()).pathname));
      await page.click(`form[action="${path}/open"] button`);
      await page.waitForSelector('#phrase:focus');
      assert.equal(await page.innerText('#phrase_error[role=alert]'), words(language, 'phrase_missing'));
      // Who presses the coin first did nothing wrong: the script says it in red only the second time.
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
      await page.context().close();
    });
  }
}

test('a hundred users at the second of the opening: as many winners as shares, nobody before', async () => {
  const sender = await newUser({ yuan: '10' });
  const users = await site.demoUsers(100);
  const others = await Promise.all(Array.from({ length: 4 }, () => newUser()));
  const to = others.map(({ username }) => username).join(' ');
  const path = await sent(sender, { opens_at: new Date(Date.now() + 3_600_000).toISOString(), to, count: '3' });
  const results = [];
  const early = new Set(); // who has asked before
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
