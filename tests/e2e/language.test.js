// Every page, message and problem is in the visitor's language: the one chosen by the switch, else the browser's, else
// Chinese.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { expireNow } from './support/moments.js';
import { Client, clientPage, launch, newUser, poll, sendPacket, site, unique } from './support/site.js';
import { LANGUAGES, words } from './support/texts.js';

const ENGLISH = { 'accept-language': 'en-GB,en;q=0.9,zh;q=0.5' };

const languageOf = ({ text }) => /<html lang="([^"]*)">/.exec(text)?.[1];
const varies = ({ headers }) => (headers.get('vary') ?? '').split(/,\s*/).filter((name) => name !== 'Accept-Encoding').sort().join();

let browser;
before(async () => { browser = await launch(); });
after(async () => {
  await browser?.close();
  await site.allUp();
});

test('a page is in the language that was chosen, else in the browser\'s, else in Chinese or, for those who name others only, in English', async () => {
  const page = async (cookies, headers) => languageOf(await new Client(cookies).getHtml('/login', headers));
  assert.equal(await page({}, {}), 'zh-CN');
  assert.equal(await page({}, ENGLISH), 'en');
  assert.equal(await page({}, { 'accept-language': 'de, *;q=0.5' }), 'en');
  assert.equal(await page({}, { 'accept-language': '*' }), 'zh-CN');
  assert.equal(await page({ language: 'zh-CN' }, ENGLISH), 'zh-CN');
  assert.equal(await page({ language: 'en' }, { 'accept-language': 'zh-CN' }), 'en');
  assert.equal(await page({ language: 'xx' }, ENGLISH), 'en');
});

test('problems and messages are in the same language, as JSON too', async () => {
  const sender = await newUser({ yuan: '1000' });
  for (const language of LANGUAGES) {
    const headers = { 'accept-language': language };
    const missing = await sender.client.get('/nothing', headers);
    assert.deepEqual([missing.status, missing.json.title, missing.json.detail],
      [404, words(language, 'problem_not_found'), words(language, 'problem_not_found_detail')]);
    const page = await sender.client.getHtml('/nothing', headers);
    assert.equal(languageOf(page), language);
    assert.ok(page.text.includes(`<h1>${words(language, 'problem_not_found')}</h1>`));
    const login = await new Client().get('/wallet', headers);
    assert.deepEqual([login.status, login.json.title], [401, words(language, 'problem_unauthorized')]);

    const wrong = { kind: 'even', amount: '201', count: '1' };
    const refused = await sender.client.post('/send', wrong, headers);
    assert.equal(refused.status, 422);
    assert.equal(refused.json.title, words(language, 'problem_invalid_form'));
    assert.deepEqual(refused.json.errors, [{ field: 'amount', message: words(language, 'share_max', '200') }]);
    const form = await sender.client.postHtml('/send', wrong, headers);
    assert.equal(languageOf(form), language);
    assert.ok(form.text.includes(words(language, 'share_max', '200')));
  }
});

test('amounts have separators of thousands on pages; JSON, forms and files have none', async () => {
  const sender = await newUser({ yuan: '1105.74' });
  const show = (path, headers) => sender.client.getHtml(path, headers).then(({ text }) => text);
  for (const path of ['/', '/wallet']) {
    for (const headers of [{}, ENGLISH]) {
      const page = await show(path, headers);
      assert.ok(page.includes('1,105.74') && !page.includes('1105.74'), page);
    }
  }
  const wrong = { kind: 'lucky', amount: '20001.5', count: '101' };
  const form = await sender.client.postHtml('/send', wrong, ENGLISH);
  assert.match(form.text, /value="20001\.5"/);
  const missing = { kind: 'lucky', amount: '2500.00', count: '100', request_key: unique('k') };
  const refused = await sender.client.post('/send', missing, ENGLISH);
  assert.deepEqual(refused.json.errors, [{ field: 'amount', message: words('en', 'balance_short', '1,394.26') }]);
  const total = await sender.client.post('/send', { ...missing, amount: '20000.01' }, ENGLISH);
  assert.deepEqual(total.json.errors, [{ field: 'amount', message: words('en', 'total_max', '20,000') }]);
  const inChinese = await sender.client.post('/send', { ...missing, amount: '20000.01' });
  assert.deepEqual(inChinese.json.errors, [{ field: 'amount', message: words('zh-CN', 'total_max', '20,000') }]);
  assert.match((await sender.client.getHtml('/records/sent.csv', ENGLISH)).text, /^(?!.*\d,\d{3}\.)/s);
});

for (const language of LANGUAGES) {
  test(`a total of ten millions is on one line of a small phone (${language})`, async () => {
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
    await page.context().close();
  });
}

test('a repeated send is the same packet in any language, also without a greeting', async () => {
  const sender = await newUser({ yuan: '10' });
  const order = { kind: 'lucky', amount: '5', count: '2', request_key: unique('k') };
  const [first, again] = [await sender.client.post('/send', order), await sender.client.post('/send', order, ENGLISH)];
  assert.deepEqual([first.status, again.status], [201, 201], again.text);
  assert.equal(again.json.id, first.json.id);
  const other = await sender.client.post('/send', { ...order, greeting: 'Happy New Year' }, ENGLISH);
  assert.equal(other.status, 422);
  assert.equal((await sender.client.get('/wallet')).json.balance_fen, 500);
});

test('the switch sets a cookie for a year and leads back', async () => {
  const { client } = await newUser();
  const answer = await client.postHtml('/language', { language: 'en', next: '/records/sent?year=2026' });
  assert.equal(answer.status, 303);
  assert.equal(answer.headers.get('location'), '/records/sent?year=2026');
  assert.deepEqual(answer.cookies, ['language=en; Path=/; HttpOnly; SameSite=Lax; Max-Age=31536000']);
  assert.equal(languageOf(await client.getHtml('/wallet')), 'en');
  const back = await client.post('/language', { language: 'zh-CN' });
  assert.equal(back.status, 204);
  assert.equal(languageOf(await client.getHtml('/wallet', ENGLISH)), 'zh-CN');
});

test('the switch redirects to local paths only', async () => {
  for (const next of ['//evil.example/', '/\\evil.example', 'https://evil.example/', '/a\tb', '']) {
    const answer = await new Client().postHtml('/language', { language: 'en', next });
    assert.deepEqual([answer.status, answer.headers.get('location')], [303, '/'], JSON.stringify(next));
  }
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

// Texts that are the same in every language: the marks on the envelope, and the other language's own name.
const MARKS = /[福開拼]|中文/g;

test('a page in English has no Chinese words, in any state', async () => {
  const people = [];
  for (const nickname of ['Ann', 'Bob', 'Cat']) people.push(await newUser({ nickname, yuan: '100' }));
  const [sender, grabber, stranger] = people.map(({ client }) => client);
  const send = async (fields) => {
    const sent = await sendPacket(people[0], { amount: '1', count: '1', greeting: 'Joy', ...fields });
    assert.equal(sent.status, 201, sent.text);
    return `/p/${sent.json.id}`;
  };
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

// The answers of nginx itself, in both languages and both formats.
async function saidByNginx(problem, ask) {
  for (const language of LANGUAGES) {
    for (const [accept, byCookie] of [['text/html', false], ['text/html', true], ['application/json', false]]) {
      const other = LANGUAGES.find((tag) => tag !== language);
      const client = new Client(byCookie ? { language } : {});
      const answer = await ask(client, { accept, 'accept-language': byCookie ? other : language });
      assert.equal(varies(answer), 'Accept,Accept-Language,Cookie');
      const [title, detail] = answer.json
        ? [answer.json.title, answer.json.detail]
        : [/<h1>(.*)<\/h1>/.exec(answer.text)[1], /<\/h1>\n<p>(.*)<\/p>/.exec(answer.text)[1]];
      if (!answer.json) assert.equal(languageOf(answer), language);
      const known = words(language, `problem_${problem}`);
      if (known) assert.equal(title, known);
      assert.equal(/\p{Script=Han}/u.test(title + detail), language === 'zh-CN', title + detail);
    }
  }
}

test('the program and nginx choose the language of the highest weight', async () => {
  const lists = readFileSync(new URL('../unit/test_web_language.c', import.meta.url), 'utf8');
  const cases = [...lists.matchAll(/\{ "([^"]+)", LANGUAGE_(ZH_CN|EN) \}/g)];
  assert.ok(cases.length > 15);
  for (const [, weights, name] of cases) {
    for (const path of ['/nothing', '/static/nothing.css']) { // nginx has the second
      const answer = await new Client().getHtml(path, { 'accept-language': weights });
      assert.equal(languageOf(answer), name === 'EN' ? 'en' : 'zh-CN', `${path} ${weights}`);
    }
  }
});

test('the answer of nginx to a body that is too large is in both languages', async () => {
  await saidByNginx('too_large', async (client, headers) => {
    const answer = await client.postRaw('/send', 'a'.repeat(100_000), headers);
    assert.equal(answer.status, 413);
    return answer;
  });
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

test('the answer of nginx while a pool is unreachable is in both languages', async () => {
  await site.dev('stop', 'page');
  try {
    await saidByNginx('busy', async (client, headers) => {
      const answer = await client.request('/wallet', { headers });
      assert.equal(answer.status, 503);
      return answer;
    });
  } finally {
    await site.dev('start', 'page');
  }
});

test('the answer of nginx to too many logins is in both languages', async () => {
  await site.withSetting(['nginx'], { HB_LIMITS: 'on' }, async () => {
    await saidByNginx('too_many', (client, headers) => poll('one is refused', async () => {
      const login = () => client.post('/login', { username: 'nobody' }, headers);
      const answers = await Promise.all(Array.from({ length: 60 }, login));
      return answers.find(({ status }) => status === 429);
    }));
  });
});

for (const javaScriptEnabled of [true, false]) {
  test(`the switch changes the language of this and later pages, JavaScript ${javaScriptEnabled ? 'on' : 'off'}`, async () => {
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
}
