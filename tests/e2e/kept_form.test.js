// Typed texts, and the page to which a visitor is on the way, survive a switch of the language, a login and a failure.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileBrowser } from './support/browser.js';
import { unfold } from './support/forms.js';
import { Client, PASSWORD, newUser, sendPacket, site, unique } from './support/site.js';
import { words } from './support/texts.js';
import { clientPage, pageAt, testLanguages, testScripts } from './support/visits.js';

const browser = fileBrowser();

const TYPED = { kind: 'even', amount: '¥1.5', count: '３', greeting: '谢谢 & 再见', to: 'somebody-else' };
const values = (page, names) => page.evaluate((list) => list.map((name) => document.querySelector(`form#kept [name=${name}]:not([type=radio]), form#kept [name=${name}]:checked`).value), names);
const fill = async (page) => {
  await page.check(`[name=kind][value=${TYPED.kind}]`, { force: true });
  await unfold(page, 'to');
  for (const name of ['amount', 'count', 'greeting', 'to']) await page.fill(`#${name}`, TYPED[name]);
};
const press = (page, selector) => Promise.all([page.waitForEvent('load'), page.click(selector)]);
const kept = (page) => values(page, Object.keys(TYPED));

testScripts('a half-filled send form survives the switch of the language', async ({ javaScriptEnabled }) => {
  const { client } = await newUser({ yuan: '5' });
  const page = await pageAt(browser, client, '/send', { javaScriptEnabled, locale: 'zh-CN' });
  await fill(page);
  await press(page, 'button[name=language]');
  assert.equal(await page.getAttribute('html', 'lang'), 'en');
  assert.deepEqual(await kept(page), Object.values(TYPED));
  assert.equal((await client.get('/wallet')).json.balance_fen, 500, 'nothing was sent');
});

testScripts('next and the names survive the switch of the language, also after a refusal', async ({ javaScriptEnabled }) => {
  const page = await pageAt(browser, null, '/register?next=%2Fwallet%3Fbefore%3Dx', { javaScriptEnabled, locale: 'zh-CN' });
  // The script does not send a form with a name that it knows to be wrong.
  const [name, refusal] = javaScriptEnabled ? [(await newUser()).username, 'username_taken'] : ['-', 'username_invalid'];
  await page.fill('[name=username]', name);
  await page.fill('[name=nickname]', '小明');
  await page.fill('[name=password]', 'a secret password');
  await press(page, 'main button[type=submit]');
  await page.waitForSelector('.wrong[role=alert]');
  assert.equal(await page.getByText(words('zh-CN', refusal)).count(), 1, 'told once, at the field');
  const [proposed] = await values(page, ['username']);
  assert.match(proposed, /^[a-z0-9-]{8,32}$/, 'one that is free');
  assert.notEqual(proposed, name);
  await press(page, 'button[name=language]');
  assert.equal(await page.getAttribute('html', 'lang'), 'en');
  assert.deepEqual(await values(page, ['username', 'nickname', 'password', 'next']), [proposed, '小明', '', '/wallet?before=x']);
  assert.doesNotMatch(page.url(), /password|secret/);
  await page.click('main a[href^="/login?"]');
  assert.deepEqual(await values(page, ['next']), ['/wallet?before=x']);
});

testScripts('a session that ends while a form is filled loses nothing but the session', async ({ javaScriptEnabled }) => {
  const { client, username } = await newUser({ yuan: '5' });
  // the device is known from now on
  assert.equal((await client.post('/login', { username, password: PASSWORD })).status, 200);
  const page = await pageAt(browser, client, '/send', { javaScriptEnabled, locale: 'zh-CN' });
  await fill(page);
  await page.context().clearCookies();
  await page.context().addCookies([{ name: 'device', value: client.cookie('device'), url: site.url }]);
  await press(page, 'main button.wide');
  assert.equal(new URL(page.url()).pathname, '/login');
  assert.equal(await page.innerText('[role=status]'), words('zh-CN', 'login_expired'));
  await page.fill('[name=username]', username);
  await page.fill('[name=password]', PASSWORD);
  await press(page, 'main button[type=submit]:visible');
  assert.equal(new URL(page.url()).pathname, '/send');
  assert.deepEqual(await kept(page), Object.values(TYPED));
  assert.equal((await client.get('/wallet')).json.balance_fen, 500, 'nothing was sent');
});

test('a passphrase stays in its tab on the way to missing money, and comes back to this form alone', async () => {
  const user = await newUser();
  const page = await pageAt(browser, user.client, '/send', { locale: 'zh-CN' });
  await page.fill('[name=amount]', '5');
  await page.fill('[name=count]', '1');
  await unfold(page, 'phrase');
  await page.fill('#phrase', '芝麻开门');
  await page.fill('#note', '给小美 🎂'.repeat(7));
  await page.click('[data-over] a');
  await page.waitForURL(/\/wallet/);
  assert.doesNotMatch(decodeURIComponent(decodeURIComponent(page.url())), /芝麻|小美/);
  await page.click('form[action="/wallet/deposit"] button');
  await page.waitForURL(/\/send\?/);
  assert.deepEqual([await page.inputValue('#phrase'), await page.inputValue('#note')], ['芝麻开门', '给小美 🎂'.repeat(7)]);
  assert.ok(await page.isVisible('#phrase'));
  assert.ok(await page.isHidden('.retype'));
  await page.goto(`${site.url}/send`);
  assert.equal(await page.inputValue('#phrase'), '', 'another form');
  await page.goto(`${site.url}/send?lacks=phrase`);
  assert.deepEqual([await page.inputValue('#phrase'), await page.isVisible('.retype')], ['', true], 'it is gone');
  const kept = () => page.evaluate(() => sessionStorage.getItem('phrase'));
  await page.fill('[name=amount]', '0.01');
  await page.fill('[name=count]', '1');
  await page.fill('#phrase', '芝麻开门');
  await Promise.all([page.waitForURL(/\/p\//), page.click('form[data-send] button[type=submit]')]);
  assert.equal(await kept(), null, 'sent');
  await page.goto(`${site.url}/send?lacks=phrase`);
  await page.fill('#phrase', '芝麻开门');
  await page.click('form[action="/logout"] button');
  await page.waitForURL(/\/login|\/$/);
  assert.equal(await kept(), null, 'another user of this tab');
});

test('passphrases, notes, passwords and request keys are never part of an address', async () => {
  const fields = { kind: 'lucky', amount: '1', count: '1', phrase: 'open sesame', note: 'for May', password: 'pw', request_key: 'rk', code: 'cc' };
  const { client } = await newUser();
  for (const visitor of [new Client(), client]) {
    const answer = await visitor.postHtml('/send', { ...fields, language: 'en' });
    assert.equal(answer.headers.get('location'), '/send?kind=lucky&count=1&amount=1&lacks=phrase,note');
  }
  const form = await client.getHtml('/send?kind=lucky&count=1&amount=1&lacks=phrase,note');
  assert.ok(form.text.includes(words('en', 'send_retype')), 'the form says what it lacks');
  assert.match(form.text, /<a href="#phrase">.*<a href="#note">/);
  const guest = await new Client().postHtml('/send', fields);
  assert.equal(guest.headers.get('location'), `/login?next=${encodeURIComponent('/send?kind=lucky&count=1&amount=1&lacks=phrase,note').replaceAll('%2F', '/')}&expired=1`);
});

test('a deposit whose session has ended leads back to the same deposit, and to the form that needs it', async () => {
  const next = '/send?kind=lucky&amount=7';
  const guest = await new Client().postHtml('/wallet/deposit', { amount: '7.00', request_key: 'rk', next });
  const login = new URL(guest.headers.get('location'), site.url);
  assert.equal(login.pathname, '/login');
  const { client } = await newUser();
  const { text } = await client.getHtml(login.searchParams.get('next'));
  assert.match(text, /name="amount"[^>]* value="7.00"/);
  assert.ok(text.includes(`name="next" value="${next.replace('&', '&amp;')}"`), text);
});

test('what does not fit into an address is left out, and the rest stays', async () => {
  const to = Array.from({ length: 100 }, (_, i) => `somebody-${i}`).join(' ');
  const answer = await new Client().postHtml('/send', { kind: 'even', amount: '1', greeting: '好', to, language: 'en' });
  assert.equal(answer.headers.get('location'), '/send?kind=even&amount=1&greeting=%E5%A5%BD&lacks=to');
  const { client } = await newUser();
  assert.match((await client.getHtml(answer.headers.get('location'))).text, /<a href="#to">/);
});

test('login and registration for a packet show who sent it, and the greeting unless it is for one person', async () => {
  const sender = await newUser({ nickname: '艾丽', yuan: '10' });
  const receiver = await newUser();
  const lucky = (await sendPacket(sender, { kind: 'lucky', amount: '1', count: '1', greeting: '新年好' })).json.id;
  const exclusive = (await sendPacket(sender, { kind: 'exclusive', amount: '1', to: receiver.username, greeting: '悄悄话' })).json.id;
  for (const page of ['/login', '/register']) {
    const invited = (await new Client().getHtml(`${page}?next=/p/${lucky}`)).text;
    assert.match(invited, /艾丽/);
    assert.match(invited, /新年好/);
    const named = (await new Client().getHtml(`${page}?next=/p/${exclusive}`)).text;
    assert.match(named, /艾丽/);
    assert.doesNotMatch(named, /悄悄话/);
    for (const next of ['/wallet', '/p/', '/p/00000000000000000000000000']) {
      assert.doesNotMatch((await new Client().getHtml(`${page}?next=${next}`)).text, /class="[^"]*ahead/, next);
    }
  }
  const typed = await new Client().postHtml('/login', { username: unique('nobody'), password: 'wrong-password', next: `/p/${lucky}` });
  assert.equal(typed.status, 422);
  assert.match(typed.text, /艾丽/);
});

test('a balance that is too low says what is missing, and the way to it leads back to the form', async () => {
  const { client } = await newUser({ yuan: '1' });
  const page = await pageAt(browser, client, '/send', { javaScriptEnabled: false, locale: 'zh-CN' });
  await page.fill('[name=amount]', '99.5');
  await page.fill('[name=count]', '9');
  await page.fill('[name=greeting]', '早安');
  await press(page, 'main button.wide');
  assert.match(await page.innerText('#amount_error'), /可用余额不足，还差98\.50\u2060元/);
  await press(page, '#amount_error a');
  assert.deepEqual([new URL(page.url()).pathname, await page.inputValue('#amount')], ['/wallet', '98.50']);
  await press(page, '.chip >> nth=1');
  assert.equal(await page.inputValue('#amount'), '100');
  await press(page, 'form[action="/wallet/deposit"] button');
  assert.equal(new URL(page.url()).pathname, '/send');
  assert.deepEqual(await values(page, ['kind', 'amount', 'count', 'greeting']), ['lucky', '99.5', '9', '早安']);
  assert.equal(await page.innerText('.done[role=status]'), words('zh-CN', 'deposit_done'));
  await press(page, 'main button.wide');
  assert.match(page.url(), /\/p\/\w{26}$/);
  assert.equal((await client.get('/wallet')).json.balance_fen, 150);
  const refused = await client.postHtml('/wallet/deposit', { amount: 'x', next: '/send?amount=1' });
  assert.match(refused.text, /name="next" value="\/send\?amount=1"/);
  const foreign = await client.postHtml('/wallet/deposit', { amount: '1', next: 'https://evil.example/' });
  assert.equal(foreign.headers.get('location'), '/wallet?deposited=1');
});

testLanguages('the script that says what is missing leads there and back, too', async ({ locale }) => {
  const { client } = await newUser({ yuan: '1' });
  const page = await clientPage(browser, client, { locale });
  const link = page.locator('[data-over] a');
  await page.goto(`${site.url}/send`);
  await page.fill('[name=amount]', '1234.5');
  await page.fill('[name=greeting]', 'good & bad + more');
  assert.equal(await link.innerText(), words(locale, 'deposit_go'));
  await page.fill('[name=count]', '9');
  await unfold(page, 'to');
  await page.fill('#to', Array.from({ length: 99 }, (_, i) => `somebody-${i}`).join(' '));
  await link.click();
  await page.waitForURL(/\/wallet\?/);
  assert.equal(await page.inputValue('#amount'), '1233.50');
  await page.click('form[action="/wallet/deposit"] button');
  await page.waitForURL(/\/send\?/);
  assert.deepEqual(await values(page, ['kind', 'amount', 'count', 'greeting', 'to']), ['lucky', '1234.5', '9', 'good & bad + more', '']);
  assert.equal(await page.locator('a[href="#to"]').count(), 1, 'the form says what it lacks');
  assert.equal(await page.innerText('.done[role=status]'), words(locale, 'deposit_done'));
  assert.equal(await link.count(), 0);
  await page.goto(`${site.url}/wallet`);
  assert.equal(await page.locator('.done').count(), 0);
  await page.fill('#amount', '1');
  await page.click('form[action="/wallet/deposit"] button');
  await page.waitForURL(`${site.url}/wallet?deposited=1`);
  assert.equal(await page.innerText('.done[role=status]'), words(locale, 'deposit_done'));
});

test('who never logged in here is not told that the login has ended', async () => {
  const { client, username } = await newUser();
  assert.equal((await client.post('/login', { username, password: PASSWORD })).status, 200);
  const used = new Client({ device: client.cookie('device') });
  const told = async (visitor, path) => (await visitor.getHtml(path)).text.includes(words('zh-CN', 'login_expired'));
  assert.equal(await told(used, '/login?expired=1'), true);
  assert.equal(await told(used, '/login'), false);
  assert.equal(await told(new Client(), '/login?expired=1'), false);
});
