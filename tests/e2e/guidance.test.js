// The hints of pages about what to do next.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileBrowser, hits } from './support/browser.js';
import { sentPath, settled } from './support/packets.js';
import { Client, newUser, poll, site, unique } from './support/site.js';
import { words } from './support/texts.js';
import { pageAt, testScripts, testVisitors } from './support/visits.js';

const browser = fileBrowser();

const top = async (page, selector) => (await page.locator(selector).first().boundingBox()).y;

test('after sending, sharing comes first and one’s own coin last; a copy says who sent what', async () => {
  const sender = await newUser({ nickname: '艾丽', yuan: '10' });
  const path = await sentPath(sender, { kind: 'lucky', amount: '2', count: '2', greeting: '恭喜发财' });
  const page = await pageAt(browser, sender.client, path, { locale: 'zh-CN', reducedMotion: 'reduce', permissions: ['clipboard-read', 'clipboard-write'] });
  assert.equal(await page.innerText('.ready'), words('zh-CN', 'sent_ready'));
  const [ready, share, list, own] = [await top(page, '.ready'), await top(page, '.share'), await top(page, '#grabs'), await top(page, 'button.coin')];
  assert.ok(ready < share && share < list && list < own, `${ready} ${share} ${list} ${own}`);
  await page.click('[data-copy]');
  await page.waitForFunction(() => document.querySelector('[data-copied]').textContent !== '');
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), `艾丽给你发了一个红包：恭喜发财 ${site.url}${path}`);
  assert.equal(await page.getAttribute('[data-share]', 'data-text'), '艾丽给你发了一个红包：恭喜发财');
  await page.click('button.coin');
  await page.waitForSelector('.result');
  await page.waitForSelector('.seal', { state: 'detached' });
  assert.equal(await page.locator('.ready').count(), 0);
});

for (const [language, said] of [['zh-CN', /^艾丽给你发了一个红包：恭喜发财 · 北京时间 .+ 开抢 · 领取时需要口令 http/],
  ['en', /^艾丽 sent you a red packet: 恭喜发财 · Opens .+ China Standard Time \(UTC\+8\) · You will need the passphrase http/]]) {
  test(`a copy says when the packet opens and that it has a passphrase, and not which: ${language}`, async () => {
    const sender = await newUser({ nickname: '艾丽', yuan: '10' });
    const path = await sentPath(sender, { kind: 'lucky', amount: '2', count: '2', greeting: '恭喜发财', phrase: '芝麻开门',
      opens_at: new Date(Date.now() + 3_600_000).toISOString() });
    const { text } = await sender.client.getHtml(path, { 'accept-language': language });
    const words = [...text.matchAll(/<button[^>]* data-text="([^"]*)"/g)].map((match) => match[1]);
    assert.equal(words.length, 2);
    assert.match(words[1], said);
    assert.equal(words[1], `${words[0]} ${site.url}${path}`);
    assert.ok(!words.join().includes('芝麻开门'));
  });
}

for (const [locale, timezoneId, said] of [['zh-CN', 'Asia/Shanghai', /：福 · \d+月\d+日周. \d\d:\d\d（北京时间） 开抢 http/],
  ['zh-CN', 'America/New_York', /：福 · \d+月\d+日周. \d\d:\d\d（GMT-[45]） 开抢 http/],
  ['en', 'Asia/Shanghai', /: 福 · Opens \w{3}, \w{3} \d+ \d+:\d\d\s[AP]M \(China time\) http/]]) {
  test(`a copy says the opening as people do, in the sender’s zone: ${locale} ${timezoneId}`, async () => {
    const sender = await newUser({ yuan: '10' });
    const path = await sentPath(sender, { kind: 'lucky', amount: '2', count: '2', greeting: '福', opens_at: new Date(Date.now() + 3_600_000).toISOString() });
    const page = await pageAt(browser, sender.client, path, { locale, timezoneId, permissions: ['clipboard-read', 'clipboard-write'] });
    assert.ok(!(await page.innerText('.share figcaption')).includes('·'), 'no time that is left before it opens');
    await page.click('[data-copy]');
    await page.waitForFunction(() => document.querySelector('[data-copied]').textContent !== '');
    assert.match(await page.evaluate(() => navigator.clipboard.readText()), said);
  });
}

test('once somebody took a share, the list comes before sharing; what only tells a number is no link', async () => {
  const sender = await newUser({ yuan: '10' });
  const path = await sentPath(sender, { kind: 'lucky', amount: '2', count: '2' });
  assert.equal((await (await newUser()).client.post(`${path}/open`)).status, 200);
  for (const width of [390, 1280]) {
    const page = await pageAt(browser, sender.client, path, { locale: 'zh-CN', viewport: { width, height: 844 } });
    assert.match(await page.innerText('.ready'), /1\/2/);
    assert.equal(await page.locator('.ready a').count(), 0);
    const [list, bar, share] = [await top(page, '#grabs'), await top(page, 'progress'), await top(page, '.share')];
    assert.ok(list < bar && bar < share, `${list} ${bar} ${share}`);
  }
});

test('the envelope of an exclusive packet tells its sender whether it was taken, in a page that stays open, too', async () => {
  const sender = await newUser({ yuan: '10' });
  const receiver = await newUser({ nickname: '乐乐' });
  const path = await sentPath(sender, { kind: 'exclusive', amount: '2', to: receiver.username });
  const page = await pageAt(browser, sender.client, path, { locale: 'zh-CN' });
  assert.ok((await page.innerText('.ready')).endsWith(words('zh-CN', 'sent_not_taken')));
  assert.equal((await receiver.client.post(`${path}/open`)).status, 200);
  const taken = words('zh-CN', 'sent_taken_by').replace(/\{\{.*\}\}/, '乐乐');
  await page.waitForFunction((text) => document.querySelector('.ready').innerText === text, taken);
});

test('a guest at a packet for named people can register, and a sold-out page says its sentence once', async () => {
  const sender = await newUser({ yuan: '10' });
  const receiver = await newUser();
  const path = await sentPath(sender, { kind: 'exclusive', amount: '2', to: receiver.username });
  const { text } = await new Client().getHtml(path);
  const main = text.slice(text.indexOf('<main'));
  for (const name of ['login', 'register']) assert.ok(main.includes(`href="/${name}?next=${path}"`), name);

  const gone = await sentPath(sender, { kind: 'even', amount: '2', count: '1' });
  assert.equal((await receiver.client.post(`${gone}/open`)).status, 200);
  const said = words('zh-CN', 'list_finished').split('{{>text/duration}}')[1];
  for (const { client } of [await newUser(), { client: new Client() }]) {
    assert.equal((await client.getHtml(gone)).text.split(said).length, 2);
  }
});

test('an error has words first, keeps the navigation, and names a broken link of a packet', async () => {
  const { client } = await newUser();
  for (const [path, status, title] of [['/nothing', 404, 'problem_not_found'], ['/p/00000000000000000000000000', 404, 'link_unknown'],
    ['/p/short', 404, 'link_unknown'], ['/records/sent?before=x', 400, 'problem_bad_request']]) {
    const { text, ...answer } = await client.getHtml(path);
    assert.equal(answer.status, status, path);
    assert.ok(text.includes(`<h1>${words('zh-CN', title)}</h1>`), text);
    assert.match(text, /<a href="\/wallet"/, `${path} has no navigation`);
    assert.ok(text.indexOf('<h1>') < text.indexOf(`错误${status}`), 'the code comes last');
    const guest = await new Client().getHtml(path);
    if (guest.status === status) assert.doesNotMatch(guest.text, /<a href="\/wallet"/, path);
  }
});

test('an exclusive packet is paid for after its sender has confirmed the person, and then only', async () => {
  const sender = await newUser({ yuan: '100' });
  const receiver = await newUser({ nickname: '卡萝' });
  const fields = { kind: 'exclusive', amount: '52', to: receiver.username.toUpperCase(), greeting: '生日快乐', request_key: unique('k') };
  const asked = await sender.client.postHtml('/send', { ...fields, confirmed: '' });
  assert.equal(asked.status, 200);
  for (const part of ['卡萝', receiver.username, '52.00', '生日快乐']) assert.ok(asked.text.includes(part), part);
  for (const confirmed of ['1', 'somebody-else']) {
    assert.equal((await sender.client.postHtml('/send', { ...fields, confirmed })).status, 200, confirmed);
  }
  assert.equal((await sender.client.get('/wallet')).json.balance_fen, 10000);
  const short = await sender.client.postHtml('/send', { ...fields, amount: '100.01', request_key: unique('k'), confirmed: '' });
  assert.equal(short.status, 422, 'nobody confirms what cannot be paid');
  assert.ok(short.text.includes(words('zh-CN', 'balance_short', '0.01')), short.text);
  const programs = await sender.client.postHtml('/send', { kind: 'exclusive', amount: '1', to: receiver.username, request_key: unique('k') });
  assert.equal(programs.status, 303, 'a form without the field is a program\'s');

  for (const javaScriptEnabled of [true, false]) {
    const page = await pageAt(browser, sender.client, `/send?kind=exclusive&amount=10&to=${receiver.username}&greeting=hello`, { javaScriptEnabled });
    await page.click('main button.wide');
    await page.waitForSelector('.confirm');
    await page.click('.confirm .more a');
    await page.waitForSelector('[name=greeting]');
    assert.deepEqual([await page.inputValue('[name=to]'), await page.inputValue('[name=amount]')], [receiver.username, '10']);
    await page.click('main button.wide');
    await page.click('.confirm button[type=submit]');
    await page.waitForURL(/\/p\/\w{26}$/);
    if (javaScriptEnabled) {
      const [back] = await Promise.all([page.waitForEvent('framenavigated'), page.goBack()]);
      assert.equal(new URL(back.url()).pathname, '/send', 'Back leads to no page of the browser');
      assert.equal(await page.inputValue('[name=greeting]'), '');
    }
  }
  assert.equal((await sender.client.get('/wallet')).json.balance_fen, 7900);

  // A word, not a number, says whether the opening has come.
  const says = async (text) => (await sender.client.getHtml('/records/sent')).text.includes(`<small>${words('zh-CN', text)}</small>`);
  const opened = programs.headers.get('location');
  assert.deepEqual([await says('sent_waits'), await says('sent_taken')], [true, false]);
  assert.equal((await receiver.client.post(`${opened}/open`)).status, 200);
  await poll('it is said to be opened', () => says('sent_taken'));
});

testVisitors('a second tap on the coin hits nothing', async ({ locale, javaScriptEnabled }) => {
  const sender = await newUser({ nickname: '艾丽', yuan: '10' });
  const opener = await newUser();
  for (const more of [{}, { phrase: 'sesame', greeting: '恭'.repeat(25) }, { cover: 'birthday', to: opener.username }]) {
    const path = await sentPath(sender, { kind: 'lucky', amount: '1', count: '1', ...more });
    const page = await pageAt(browser, opener.client, path, { locale, javaScriptEnabled, reducedMotion: 'reduce' });
    const coin = page.locator('button.coin');
    assert.equal((await page.innerText('.opener')).replace(/\s+/g, ' '), locale === 'en' ? '開 Open' : '開', 'a word for who can’t read it');
    const place = await coin.boundingBox();
    if (more.phrase) await page.fill('#phrase', more.phrase);
    await coin.click();
    await page.waitForSelector('.result');
    assert.deepEqual(await hits(page, place), []);
    await settled(opener, path);
    await page.goto(site.url + path);
    assert.deepEqual(await hits(page, place), []);
    assert.equal(await page.getAttribute('[data-live=settled-links] a >> nth=0', 'href'), '/wallet');
  }
});

test('the sender’s own row is marked, and a list without packets leads to the first one', async () => {
  const sender = await newUser({ nickname: '艾丽', yuan: '10' });
  const other = await newUser({ nickname: '艾丽' });
  assert.ok((await sender.client.getHtml('/')).text.includes(`href="/send">${words('zh-CN', 'sent_first')}</a>`));
  const path = await sentPath(sender, { kind: 'even', amount: '1', count: '3' });
  for (const { client } of [sender, other]) assert.equal((await client.post(`${path}/open`)).status, 200);
  const marked = (await other.client.getHtml(path)).text.split('<li').filter((row) => row.includes(words('zh-CN', 'of_sender')));
  assert.equal(marked.length, 1);
});

test('who may open a packet comes after its amount, its number and its greeting', async () => {
  const { client } = await newUser({ yuan: '10' });
  const page = await pageAt(browser, client, '/send', { locale: 'zh-CN' });
  const names = await page.locator('form#kept :is(input, textarea)[name]:not([type=radio])').evaluateAll((all) => all.map(({ name }) => name));
  assert.deepEqual(names.slice(0, 4), ['amount', 'count', 'greeting', 'to']);
  for (const kind of ['lucky', 'even', 'exclusive']) {
    await page.check(`[value=${kind}]`, { force: true });
    assert.equal(await page.innerText('.kinds'), words('zh-CN', `about_${kind}`), 'one sentence about the kind');
  }
});

test('what the server would refuse is told while it is typed, and how long the greeting is', async () => {
  const { client } = await newUser({ yuan: '10' });
  const page = await pageAt(browser, client, '/send', { locale: 'en' });
  const told = () => page.evaluate(() => document.querySelector('[data-over]').firstChild?.data ?? '');
  await page.fill('[name=amount]', '1205.5');
  assert.equal(await told(), words('en', 'over_balance').replace('~', '1,195.50'));
  await page.fill('[name=count]', '6');
  assert.match(await told(), /^At most ¥200 per share$/);
  await page.fill('[name=amount]', '10');
  assert.equal(await told(), '');
  const limit = page.locator('#count_hint');
  assert.equal(await limit.textContent(), 'At most 100 at once');
  for (const [count, kind] of [['100', 'hint'], ['101', 'wrong'], ['100', 'hint']]) {
    await page.fill('[name=count]', count);
    assert.equal(await limit.getAttribute('class'), kind, count);
  }
  await page.fill('[name=amount]', '0.99');
  assert.equal(await told(), 'At least 0.01 per share');
  await page.fill('[name=amount]', '20000.01');
  assert.equal(await told(), 'At most ¥20,000 in total');
  for (const amount of ['2000.001', 'ten']) {
    await page.fill('[name=amount]', amount);
    assert.equal(await told(), words('en', 'amount_not_money'), amount);
  }
  await page.fill('[name=amount]', '10');
  assert.equal(await told(), '');
  const counter = page.locator('[data-count]');
  assert.equal(await counter.textContent(), '');
  for (const [greeting, said, status] of [[`好👨‍👩‍👧‍👦${'x'.repeat(46)}`, '25/25', ''], [`好👨‍👩‍👧‍👦${'x'.repeat(47)}`, '26/25', 'wrong'],
    ['é'.repeat(50), '50/50', ''], ['x'.repeat(51), '51/50', 'wrong'], ['福'.repeat(26), '26/25', 'wrong'], ['각'.repeat(25), '25/25', '']]) {
    await page.fill('[name=greeting]', greeting);
    assert.deepEqual([await counter.textContent(), await counter.getAttribute('class')], [said, status], greeting);
    const answer = await client.post('/send', { kind: 'lucky', amount: 'x', count: '1', greeting });
    assert.equal(answer.json.errors.some(({ field }) => field === 'greeting'), status === 'wrong', 'the site counts in the same way');
  }
  await page.setViewportSize({ width: 320, height: 700 });
  await page.fill('[name=greeting]', 'all the best '.repeat(4).trim());
  await page.press('[name=greeting]', 'Enter');
  const [value, lines, hidden] = await page.$eval('[name=greeting]', (field) => [field.value, field.clientHeight / 24, field.scrollHeight - field.clientHeight]);
  assert.deepEqual([value, lines > 2, hidden], ['all the best '.repeat(4).trim(), true, 0], 'a line that wraps and has no breaks');
});

test('a browser in which somebody has logged in is offered to log in first, another one to register', async () => {
  const user = await newUser({ yuan: '10' });
  assert.equal((await user.client.post('/login', { username: user.username, password: user.password })).status, 200);
  const path = await sentPath(user, { kind: 'lucky', amount: '2', count: '2' });
  const device = new Client({ device: user.client.cookie('device') });
  const first = async (client, at) => /class="button (?:gold|wide)" href="\/(\w+)/.exec((await client.getHtml(at)).text)[1];
  for (const at of ['/', path]) {
    assert.deepEqual([await first(device, at), await first(new Client(), at)], ['login', 'register'], at);
  }
  assert.match((await device.getHtml(path)).text, /class="coin" href="\/login\?next=\/p\//);
});

test('registration does not leave with a field that it shows as wrong, so that the password is kept', async () => {
  const page = await pageAt(browser, null, '/register', { locale: 'zh-CN' });
  let posts = 0;
  page.on('request', (request) => { posts += request.method() === 'POST' ? 1 : 0; });
  await page.fill('#nickname', '小明');
  await page.fill('#password', 'a good password');
  for (const [name, field] of [['x', '#username'], ['a b', '#username']]) {
    await page.fill('#username', name);
    await page.press('#username', 'Enter');
    await page.waitForSelector(`${field}:focus[aria-invalid]`);
  }
  await page.fill('#username', unique('u'));
  await page.fill('#password', 'short');
  await page.click('main button[type=submit]');
  await page.waitForSelector('#password:focus[aria-invalid]');
  assert.deepEqual([posts, await page.inputValue('#password')], [0, 'short']);
  await page.fill('#password', 'a good password');
  await page.click('main button[type=submit]');
  await page.waitForURL(`${site.url}/`);
});

testScripts('a refused form has the focus on its summary, or on the first wrong field', async ({ javaScriptEnabled }) => {
  const page = await pageAt(browser, null, '/login/recovery', { javaScriptEnabled });
  await Promise.all([page.waitForEvent('load'), page.click('main button[type=submit]:visible')]);
  assert.equal(await page.locator('.errors:focus').count(), 1);
  await page.keyboard.press('Tab');
  assert.equal(await page.locator('.errors a:focus').count(), 1);
  // Login and registration show the message only at the fields.
  await page.goto(`${site.url}/login`);
  await page.fill('#username', unique('u'));
  for (const field of ['#password', '#username']) {
    await Promise.all([page.waitForEvent('load'), page.click('main button[type=submit]:visible')]);
    assert.equal(await page.locator(`${field}:focus`).count(), 1, field);
    assert.equal(await page.locator('.errors').count(), 0);
    assert.notEqual(await page.innerText(`${field}_error[role=alert]`), '');
    await page.fill('#username', '');
  }
  await page.goto(`${site.url}/register`);
  await Promise.all([page.waitForEvent('load'), page.click('main button[type=submit]')]);
  assert.deepEqual([await page.locator('#nickname:focus').count(), await page.locator('.errors').count()], [1, 0]);
});

test('a refusal of the send form goes once its reason is gone', async () => {
  const { client } = await newUser({ yuan: '100' });
  const page = await pageAt(browser, client, `/send?kind=even&amount=x&count=0&to=${unique('nobody')}`, { locale: 'zh-CN' });
  await page.click('main button.wide');
  await page.waitForSelector('.errors');
  const refused = () => page.locator('.errors li a').evaluateAll((links) => links.map((link) => link.hash.slice(1)));
  const fields = await refused();
  assert.deepEqual(fields, ['amount', 'count', 'to'], 'in the order of the page');
  await page.fill('#amount', 'y');
  await page.fill('#greeting', 'hello');
  assert.deepEqual(await refused(), fields, 'still no amount');
  await page.fill('#amount', '2');
  assert.deepEqual(await refused(), ['count', 'to']);
  assert.deepEqual([await page.getAttribute('#amount', 'aria-invalid'), await page.getAttribute('#amount', 'aria-describedby'), await page.locator('#amount_error').count()],
    [null, 'amount_hint', 0]);
  await page.fill('#count', '1');
  await page.fill('#greeting', 'more'); // only the site knows that there is no such user
  assert.deepEqual([await refused(), await page.getAttribute('#to', 'aria-invalid')], [['to'], 'true']);
  await page.fill('#to', '');
  assert.equal(await page.locator('.errors, [aria-invalid]').count(), 0);
});

test('the button of the send form says what is paid in English, and there is no minus for nothing', async () => {
  const { client } = await newUser({ yuan: '100' });
  const page = await pageAt(browser, client, '/send', { locale: 'en' });
  const button = page.locator('main button.wide');
  assert.equal(await button.innerText(), words('en', 'put_money_in'));
  await page.fill('#amount', '12');
  assert.equal(await button.innerText(), 'Send ¥12.00');
  await page.goto(`${site.url}/wallet`);
  assert.doesNotMatch(await page.innerText('main'), /[-+]0\.00/);
});

test('a password can be read while it is typed, and is hidden again when it is sent', async () => {
  const page = await pageAt(browser, null, '/login', { locale: 'zh-CN' });
  const kind = () => page.getAttribute('#password', 'type');
  const button = page.getByRole('button', { name: words('zh-CN', 'password_show') });
  await page.fill('#password', 'a good password');
  for (const [type, pressed] of [['text', 'true'], ['password', 'false'], ['text', 'true']]) {
    await button.click();
    assert.deepEqual([await kind(), await button.getAttribute('aria-pressed')], [type, pressed]);
  }
  await page.evaluate(() => { document.querySelector('#kept').addEventListener('submit', (event) => event.preventDefault()); });
  await page.click('#kept button[type=submit]');
  assert.equal(await kind(), 'password');
});
