// Every page, message and problem is in the visitor's language: the one chosen by the switch, else the browser's, else
// Chinese.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileBrowser } from './support/browser.js';
import { expireNow } from './support/moments.js';
import { sentPath } from './support/packets.js';
import { Client, newUser, poll, sendPacket, site, unique } from './support/site.js';
import { LANGUAGES, words } from './support/texts.js';
import { clientPage, testLanguages, testScripts } from './support/visits.js';

const ENGLISH = { 'accept-language': 'en-GB,en;q=0.9,zh;q=0.5' };

const languageOf = ({ text }) => /<html lang="([^"]*)">/.exec(text)?.[1];
const varies = ({ headers }) => (headers.get('vary') ?? '').split(/,\s*/).filter((name) => name !== 'Accept-Encoding').sort().join();

const browser = fileBrowser();

testLanguages('a total of ten millions is on one line of a small phone', async ({ locale: language }) => {
  const { client } = await newUser();
  for (let i = 0; i < 50; i += 1) {
    const paid = await client.post('/wallet/deposit', { amount: '200000', request_key: unique('k') });
    assert.equal(paid.status, 201, paid.text);
  }
  const page = await clientPage(browser, client, { locale: language, viewport: { width: 360, height: 640 } });
  for (const path of ['/', '/wallet']) {
    await page.goto(site.url + path);
    const money = await page.locator('.balance .money').evaluate((line) => {
      const range = document.createRange();
      range.selectNodeContents(line);
      const { right, height } = range.getBoundingClientRect();
      return { text: line.textContent, right, lines: height / parseFloat(getComputedStyle(line).lineHeight) };
    });
    assert.equal(money.text, '¥10,000,000.00');
    assert.ok(money.right <= 360 && money.lines < 2, JSON.stringify(money));
    assert.ok(await page.evaluate(() => document.scrollingElement.scrollWidth <= innerWidth));
  }
  await page.goto(`${site.url}/send`);
  await page.fill('[name=amount]', '1234567.8');
  assert.equal(await page.textContent('[data-total] output'), '1,234,567.80');
});

test('the switch sets a cookie for a year and leads back', async () => {
  const { client } = await newUser();
  const answer = await client.postHtml('/language', { language: 'en', next: '/records/sent?year=2026' });
  assert.deepEqual([answer.status, answer.headers.get('location')], [303, '/records/sent?year=2026']);
  assert.deepEqual(answer.cookies, ['language=en; Path=/; HttpOnly; SameSite=Lax; Max-Age=31536000']);
  assert.equal(languageOf(await client.getHtml('/wallet')), 'en');
  const back = await client.post('/language', { language: 'zh-CN' });
  assert.equal(back.status, 204);
  assert.equal(languageOf(await client.getHtml('/wallet', ENGLISH)), 'zh-CN');
});

test('an unknown language is 400, a switch on another website 403, and neither sets a cookie', async () => {
  for (const language of ['', 'de', 'EN', 'en-US', 'en\r\nx: y', 'en;x']) {
    const answer = await new Client().postHtml('/language', { language, next: '/login' });
    assert.deepEqual([answer.status, answer.cookies], [400, []], JSON.stringify(language));
  }
  for (const headers of [{ origin: 'http://evil.example' }, { 'sec-fetch-site': 'cross-site' }]) {
    const answer = await new Client().postHtml('/language', { language: 'en' }, headers);
    assert.deepEqual([answer.status, answer.cookies], [403, []]);
  }
});

test('Vary names the headers on which an answer depends', async () => {
  const sender = await newUser({ yuan: '1' });
  const sent = await sendPacket(sender, { kind: 'even', amount: '1', count: '1' });
  const answers = [await new Client().getHtml('/'), await new Client().getHtml('/login')];
  for (const path of ['/', '/wallet', '/send', '/records/sent', `/p/${sent.json.id}`, `/p/${sent.json.id}/verify`, '/nothing']) {
    answers.push(await sender.client.getHtml(path), await sender.client.get(path));
  }
  answers.push(await sender.client.post('/send', {}), await sender.client.postHtml('/send', {}));
  answers.push(await sender.client.postRaw('/send', 'a'.repeat(100_000)));
  for (const answer of answers) assert.equal(varies(answer), 'Accept,Accept-Language,Cookie', answer.text);
});

// Texts that are the same in every language: the marks on the envelope, the other language's own name, and the signs by
// which the page reads amounts.
const MARKS = /[福開拼]|中文| data-unit="[^"]*"/g;

test('a page in English has no Chinese words, in any state', async () => {
  const people = [];
  for (const nickname of ['Ann', 'Bob', 'Cat']) people.push(await newUser({ nickname, yuan: '100' }));
  const [sender, grabber, stranger] = people.map(({ client }) => client);
  const send = (fields) => sentPath(people[0], { amount: '1', count: '1', greeting: 'Joy', ...fields });
  const paths = { lucky: await send({ kind: 'lucky', count: '2' }), even: await send({ kind: 'even', count: '2' }),
    exclusive: await send({ kind: 'exclusive', to: people[1].username }) };
  const expired = await send({ kind: 'lucky' });
  await expireNow(expired);
  await poll('it is over', async () => (await sender.get(expired)).json.state === 'expired');
  for (const visitor of [grabber, stranger]) assert.equal((await visitor.post(`${paths.lucky}/open`)).status, 200);
  assert.equal((await grabber.post(`${paths.even}/open`)).status, 200);
  await poll('it is settled', async () => (await grabber.get(paths.even)).json.mine.settled);

  const visits = [];
  for (const visitor of [sender, grabber, stranger, new Client()]) {
    for (const path of ['/', '/login', '/register', '/wallet', '/send', '/records/received', '/records/sent', '/nothing',
      ...Object.values(paths), expired, `${paths.lucky}/verify`, `${paths.even}/verify`, `${expired}/verify`]) {
      visits.push([path, visitor.getHtml(path, ENGLISH)]);
    }
    for (const path of ['/send', '/register', '/login', '/wallet/deposit']) {
      visits.push([`POST ${path}`, visitor.postHtml(path, { amount: 'x', username: '-', password: '1' }, ENGLISH)]);
    }
  }
  for (const [path, visit] of visits) {
    const { text } = await visit;
    const [chinese] = /[^<>\n]*[\p{Script=Han}，。：；（）「」][^<>\n]*/u.exec(text.replace(MARKS, '')) ?? [];
    assert.equal(chinese, undefined, path);
  }
});

// tests/unit/test_web_language.c has the same cases for the program.
test('nginx chooses the language of the highest weight', async () => {
  const lists = readFileSync(new URL('../unit/test_web_language.c', import.meta.url), 'utf8');
  const cases = [...lists.matchAll(/\{ "([^"]+)", LANGUAGE_(ZH_CN|EN) \}/g)];
  assert.ok(cases.length > 15);
  for (const [, weights, name] of cases) {
    const answer = await new Client().getHtml('/static/nothing.css', { 'accept-language': weights });
    assert.equal(languageOf(answer), name === 'EN' ? 'en' : 'zh-CN', weights);
  }
});

test('nginx reads the language from the cookie, by its names on http and on https', async () => {
  const [chinese, english] = LANGUAGES.map((language) => words(language, 'problem_too_large'));
  for (const [cookie, language, title] of [
    ['language=en', 'zh-CN', english], ['a=1; __Host-language=en', 'zh-CN', english], ['__Host-language=zh-CN; a=1', 'en', chinese],
    ['xlanguage=en', 'zh-CN', chinese], ['language=en"', 'zh-CN', chinese],
  ]) {
    const answer = await new Client().postRaw('/send', 'a'.repeat(100_000), { cookie, 'accept-language': language });
    assert.deepEqual([answer.status, answer.json.title], [413, title], cookie);
  }
});

test('the answer of nginx to too many logins is in both languages and formats, and says when to come back', async () => {
  await site.withSetting(['nginx'], { HB_LIMITS: 'on' }, async () => {
    for (const language of LANGUAGES) {
      for (const [accept, byCookie] of [['text/html', false], ['text/html', true], ['application/json', false]]) {
        const other = LANGUAGES.find((tag) => tag !== language);
        const client = new Client(byCookie ? { language } : {});
        const login = () => client.post('/login', { username: 'nobody' }, { accept, 'accept-language': byCookie ? other : language });
        const answers = [];
        const refused = await poll('one is refused', async () => {
          answers.push(...await Promise.all(Array.from({ length: 60 }, login)));
          return answers.find(({ status }) => status === 429);
        });
        assert.ok(answers.every(({ status }) => status === 429 || status === 422));
        assert.equal(refused.headers.get('retry-after'), '1');
        assert.equal(varies(refused), 'Accept,Accept-Language,Cookie');
        const title = words(language, 'problem_too_many');
        if (refused.json) assert.deepEqual([refused.json.type, refused.json.retry_after, refused.json.title], ['urn:hongbao:problem:too-many', 1, title]);
        else assert.deepEqual([languageOf(refused), /<h1>(.*)<\/h1>/.exec(refused.text)[1]], [language, title]);
        assert.equal((await client.get('/login')).status, 200, 'its other requests are not limited');
      }
    }
  });
});

testScripts('the switch changes the language of this and later pages', async ({ javaScriptEnabled }) => {
  const context = await browser.newContext({ locale: 'zh-CN', javaScriptEnabled });
  const page = await context.newPage();
  const shown = () => page.getAttribute('html', 'lang');
  const change = async () => {
    await Promise.all([page.waitForEvent('load'), page.click('button[name=language]')]);
  };
  const there = `${site.url}/login?next=/wallet`;
  await page.goto(there);
  assert.equal(await shown(), 'zh-CN');
  assert.equal(await page.innerText('button[name=language]'), words('zh-CN', 'switch_name'));
  await change();
  assert.deepEqual([page.url(), await shown()], [there, 'en']);
  await page.goto(`${site.url}/register`);
  assert.equal(await shown(), 'en');
  const proposed = await page.inputValue('[name=username]');
  await change();
  assert.deepEqual([new URL(page.url()).pathname, await shown()], ['/register', 'zh-CN']);
  assert.equal(await page.inputValue('[name=username]'), proposed, 'the form is kept');
  await context.close();

  const abroad = await browser.newContext({ locale: 'en-US', javaScriptEnabled });
  const first = await abroad.newPage();
  await first.goto(site.url);
  assert.equal(await first.getAttribute('html', 'lang'), 'en');
  await abroad.close();
});
