// The account page through nginx and the pools with their own rights: nickname, password, sessions.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileBrowser } from './support/browser.js';
import { Client, newUser, site } from './support/site.js';
import { LANGUAGES, words } from './support/texts.js';
import { clientPage, pageAt, testLanguages, testScripts, testVisitors } from './support/visits.js';

const PHONE = { 'user-agent': 'Mozilla/5.0 (Linux; Android 14) Chrome/126.0 Mobile Safari/537.36' };

const browser = fileBrowser();

async function login({ username, password }, headers = {}) {
  const client = new Client();
  const answer = await client.post('/login', { username, password }, headers);
  assert.equal(answer.status, 200, answer.text);
  return client;
}

const loggedIn = async (client) => (await client.get('/wallet')).status === 200;

test('an operator shuts a user out, lets the user in again, and sets a password', async () => {
  const user = await newUser();
  const operate = (action) => site.hongbao('user', action, user.username);
  assert.match((await operate('show')).stdout, new RegExp(`^id ${user.id}\\nusername ${user.username}\\n`));
  assert.match((await operate('disable')).stderr, new RegExp(`event=operator user_id=${user.id} action=disable result=ok`));
  assert.equal(await loggedIn(user.client), false);
  const refused = await new Client().post('/login', { username: user.username, password: user.password });
  assert.deepEqual([refused.status, refused.json.errors[0].message], [422, words('zh-CN', 'account_disabled')]);
  await operate('enable');
  const client = await login(user);
  const reset = await operate('reset');
  const [, password] = /^new password (\S+)$/m.exec(reset.stdout);
  assert.ok(!reset.stderr.includes(password));
  assert.equal(await loggedIn(client), false);
  await login({ ...user, password });
  const unknown = await site.hongbao('user', 'show', 'nobody-here').catch((error) => error);
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /^hongbao user: [^\n]{10,}\n$/, 'one sentence, no line of the log');
});

testVisitors('nickname, devices and password on the page', async ({ locale: language, javaScriptEnabled }) => {
  const user = await newUser();
  const phone = await login(user, PHONE);
  const page = await clientPage(browser, user.client, { locale: language, javaScriptEnabled });
  const text = (key) => words(language, key);
  const press = (key) => page.getByRole('button', { name: text(key), exact: true }).click();
  await page.goto(site.url);
  await page.getByRole('link', { name: text('account_settings') }).click();
  assert.equal(await page.locator('[action="/account/tokens"]').count(), 0);
  const places = (selector) => page.locator(selector).boundingBox().then(({ y }) => y);
  assert.ok(await places('#safe') < await places('#sessions'), 'safety first');

  await page.fill('[name=nickname]', '');
  await press('nickname_save');
  await page.getByRole('alert').getByText(text('nickname_missing')).waitFor();
  await page.fill('[name=nickname]', '新名字');
  await press('nickname_save');
  await page.waitForURL(`${site.url}/account?saved=1`);
  await page.getByRole('status').getByText(text('nickname_saved')).waitFor();
  await page.locator('main h1', { hasText: '新名字' }).waitFor();

  for (let i = 0; i < 3; i += 1) await login(user, PHONE);
  await page.reload();
  assert.equal(await page.locator('#sessions li').count(), 3, 'the first ones');
  await page.locator('#sessions').getByRole('link', { name: text('sessions_manage') }).click();
  await page.waitForURL(`${site.url}/account/devices`);
  assert.equal(await page.locator('main li').count(), 5, 'all');
  assert.equal(await page.getByRole('region', { name: text('session_this') }).locator('li').count(), 1, 'this one first');
  assert.equal(await page.getByText(text('session_current')).count(), 0, 'it is said once');
  await page.getByRole('button', { name: text('session_end'), exact: true }).last().click();
  await page.waitForURL(`${site.url}/account/devices?ended=1`);
  await page.getByRole('status').getByText(text('session_ended')).waitFor();
  assert.equal(await loggedIn(phone), false);

  // A phone was lost: each page leads to the next.
  await page.goto(`${site.url}/account`);
  const lost = page.locator('[aria-labelledby=safe] details');
  await lost.getByText(text('lost_phone')).click();
  assert.deepEqual(await lost.getByRole('link').evaluateAll((links) => links.map((link) => link.getAttribute('href'))),
    ['/account/devices?lost=1', '/account/password?lost=1', '/account/passkeys?lost=2', '/account/recovery?lost=2']);
  const other = await login(user, PHONE);
  const onward = (key) => page.getByRole('link', { name: text('lost_next').replace('{{$step}}{{/step}}', text(key)), exact: true });
  await lost.getByRole('link', { name: text('sessions_end_others') }).click();
  await press('sessions_end_others');
  await page.waitForURL(`${site.url}/account/devices?ended=2&lost=1`);
  await page.getByRole('status').getByText(text('sessions_ended')).waitFor();
  assert.equal(await loggedIn(other), false);
  assert.equal(await page.locator('main li').count(), 1);
  await onward('password_change').click();
  assert.equal(await page.isChecked('[name=lost]'), true);
  await page.fill('[name=old_password]', user.password);
  await page.fill('[name=new_password]', 'another brand new password');
  await press('password_change');
  await page.waitForURL(`${site.url}/account/passkeys?password=1&lost=2`);
  await page.getByRole('status').getByText(text('password_changed')).waitFor();
  await onward('lost_codes').click();
  await page.fill('[name=password]', 'another brand new password');
  await press('recovery_make');
  await page.waitForURL(`${site.url}/account/recovery?made=1&lost=2`);
  await page.check('.kept [type=checkbox]');
  await press('recovery_finish');
  await page.waitForURL(`${site.url}/account?lost=2`);
  await page.getByRole('status').getByText(text('lost_done')).waitFor();
  user.password = 'another brand new password';

  await page.goto(`${site.url}/account/password`);
  assert.equal(await page.isChecked('[name=lost]'), false);
  await page.fill('[name=old_password]', user.password);
  await page.fill('[name=new_password]', user.username);
  await press('password_change');
  // The script shows the message at the field and does not send the form, so the typed text stays; the page that the
  // server sends has no password.
  await page.getByRole(javaScriptEnabled ? 'status' : 'alert').getByText(text('password_like_name')).waitFor();
  assert.equal(await page.inputValue('[name=old_password]'), javaScriptEnabled ? user.password : '');
  await page.fill('[name=old_password]', user.password);
  await page.fill('[name=new_password]', 'a brand new password');
  await press('password_change');
  await page.waitForURL(`${site.url}/account?password=1`);
  const notice = page.getByRole('status').filter({ hasText: text('password_changed') });
  assert.ok((await notice.boundingBox()).y < (await page.locator('section').first().boundingBox()).y, 'the first thing on the page');
  assert.notEqual(await notice.evaluate((element) => getComputedStyle(element).borderTopStyle), 'none');
});

testLanguages('rules of username and password are told at the field, once, while typing, as the server tells them', async ({ locale: language }) => {
  const page = await clientPage(browser, null, { locale: language });
  const text = (key) => words(language, key);
  await page.goto(`${site.url}/register`);
  const told = async (field, key) => {
    await page.locator(`#${field}_error`, { hasText: key ? text(key) : /^$/ }).waitFor({ state: 'attached' });
    assert.equal(await page.getAttribute(`#${field}`, 'aria-invalid'), key ? 'true' : null);
    assert.equal(await page.getAttribute(`#${field}`, 'aria-describedby'), key ? `${field}_error` : `${field}_hint`);
    assert.equal(await page.isVisible(`#${field}_hint`), !key);
  };
  const type = async (field, value, key) => {
    await page.fill(`#${field}`, '');
    await page.locator(`#${field}`).pressSequentially(value);
    await told(field, key);
  };
  await type('username', 'my name', 'username_blank');
  await type('username', '小明', 'username_letters');
  await type('username', 'my.name@example.com', 'username_address');
  const offer = page.getByRole('button', { name: /my\.name[2-9]{4}/ });
  const [offered] = /my\.name[2-9]{4}/.exec(await offer.textContent());
  await offer.click();
  await told('username', '');
  assert.equal(await page.inputValue('#username'), offered);
  assert.equal(await offer.count(), 0);
  await type('username', '-', 'username_invalid');
  await page.locator('#username').fill('xiaoming');
  await told('username', '');
  await type('password', '1234', '');
  await page.locator('#nickname').focus();
  await told('password', 'password_short');
  const refused = { 12345678: 'password_common', 88888888: 'password_common', Qwerty123: 'password_common', 'hongbao!': 'password_common', 'gnimoaix12': 'password_like_name' };
  for (const [password, key] of Object.entries(refused)) {
    await type('password', password, key);
    const answer = await new Client().post('/register', { username: 'xiaoming', nickname: 'x', password }, { 'accept-language': language });
    assert.deepEqual([answer.status, answer.json.errors], [422, [{ field: 'password', message: text(key) }]]);
  }
  await type('password', 'five green islands', '');
});

testScripts('nobody has to invent a username', async ({ javaScriptEnabled }) => {
  const page = await pageAt(browser, null, '/register?next=/wallet', { javaScriptEnabled, locale: 'zh-CN' });
  const made = await page.inputValue('#username');
  assert.match(made, /^[a-z]{4,10}[2-9]{4}$/);
  await page.fill('#nickname', 'Xiao Míng');
  await page.fill('#password', 'five green islands');
  const username = await page.inputValue('#username');
  if (javaScriptEnabled) assert.match(username, /^xiaoming[2-9]{4}$/, 'made of the nickname');
  else assert.equal(username, made);
  await page.locator('main form').getByRole('button', { name: words('zh-CN', 'register') }).click();
  await page.waitForURL(/\/wallet|\/account\/passkeys/);
  const answer = await new Client().post('/login', { username, password: 'five green islands' });
  assert.equal(answer.json.username, username);
});

testScripts('a nickname or an address in place of the username is told at the field', async ({ javaScriptEnabled }) => {
  const page = await clientPage(browser, null, { javaScriptEnabled, locale: 'zh-CN' });
  for (const [path, field] of [['/login', 'password'], ['/login/recovery', 'code']]) {
    for (const typed of ['小明', 'ming@example.com']) {
      await page.goto(site.url + path);
      await page.fill('[name=username]', typed);
      await page.fill(`[name=${field}]`, 'five green islands');
      if (field === 'code') await page.fill('[name=new_password]', 'six green islands');
      await page.locator('#kept [type=submit]').first().click();
      await page.locator('#username_error').waitFor();
    }
  }
});

test('the account page offers a file with all own data and no secret, without JavaScript', async () => {
  for (const locale of LANGUAGES) {
    const user = await newUser({ yuan: '5' });
    const page = await pageAt(browser, user.client, '/account', { locale, javaScriptEnabled: false });
    const link = page.getByRole('link', { name: words(locale, 'export_file') });
    const [download] = await Promise.all([page.waitForEvent('download'), link.click()]);
    assert.equal(download.suggestedFilename(), 'hongbao-account.json');
    const text = await readFile(await download.path(), 'utf8');
    const { username, balance_fen: fen, sessions } = JSON.parse(text);
    assert.deepEqual([username, fen, sessions.length], [user.username, 500, 1]);
    for (const secret of [user.password, user.client.cookie('sid'), 'argon2', 'hash']) assert.ok(!text.includes(secret), secret);
  }
});
