// Recovery codes through nginx and the pools with their own rights: made with the password, shown once, used once.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileBrowser } from './support/browser.js';
import { allLogs } from './support/logs.js';
import { Client, newUser, site } from './support/site.js';
import { words } from './support/texts.js';
import { clientPage, testVisitors } from './support/visits.js';

const CODES = 10;

const browser = fileBrowser();

async function codesOf({ client, password }) {
  const made = await client.post('/account/recovery', { password });
  assert.equal(made.status, 201, made.text);
  return made.json.codes.map(({ code }) => code);
}

const recover = ({ username }, code) => new Client().post('/login/recovery', { username, code });
const left = (language, count) => words(language, 'recovery_left').replace('{{recovery_codes}}', count);

test('a guess is logged without what was typed, and no log has a code', async () => {
  const user = await newUser();
  const codes = await codesOf(user);
  const typed = `0-${'WXYZ-'.repeat(4)}`.slice(0, -1);
  assert.equal((await recover(user, typed)).status, 422);
  assert.equal((await recover(user, codes[0])).status, 200);
  assert.equal((await recover(user, codes[0])).status, 422);
  const logs = (await allLogs()).map(({ text }) => text);
  for (const log of logs) for (const code of [typed, ...codes]) assert.ok(!log.includes(code) && !log.includes(code.replaceAll('-', '')));
  const lines = logs.join('');
  assert.match(lines, new RegExp(`event=recovery-codes-made user_id=${user.id} `));
  assert.match(lines, new RegExp(`event=login user_id=${user.id} .* recovery_slot=0\\n`));
  assert.match(lines, new RegExp(`event=login-refused user_id=${user.id} .* reason=recovery\\n`));
  assert.match(lines, /event=login-refused user_id=0 .* reason=recovery\n/);
});

testVisitors('codes are made and used on the pages', async ({ locale: language, javaScriptEnabled }) => {
  const user = await newUser();
  const page = await clientPage(browser, user.client, { locale: language, javaScriptEnabled });
  const text = (key) => words(language, key);
  const press = (key) => page.getByRole('button', { name: text(key), exact: true }).click();
  await page.goto(`${site.url}/account`);
  await page.getByText(text('recovery_none')).waitFor();
  await page.getByRole('link', { name: text('recovery') }).click();
  await page.fill('[name=password]', 'not my password');
  await press('recovery_make');
  await page.getByRole('alert').getByText(text('confirm_wrong')).waitFor();
  await page.fill('[name=password]', user.password);
  await press('recovery_make');
  await page.waitForURL(`${site.url}/account/recovery?made=1`);
  const codes = await page.locator('.codes code').allInnerTexts();
  assert.equal(codes.length, CODES);
  assert.equal(await page.inputValue('#new_codes'), codes.join('\n'));
  await page.setViewportSize({ width: 390, height: 844 });
  const done = page.getByRole('button', { name: text('recovery_finish'), exact: true });
  assert.ok(await done.evaluate((button) => button.contains(document.elementFromPoint(innerWidth / 2, button.getBoundingClientRect().bottom - 4))), 'nothing covers it');
  const file = page.getByRole('link', { name: text('recovery_save') });
  const [download] = await Promise.all([page.waitForEvent('download'), file.click()]);
  assert.equal(await readFile(await download.path(), 'utf8'), `${site.url}\n${user.username}\n\n${codes.join('\n')}\n`);
  assert.equal(await page.getByRole('button', { name: text('recovery_copy') }).isVisible(), javaScriptEnabled);
  await page.reload();
  assert.ok(!(await page.content()).includes(codes[0]));
  await page.getByRole('status').getByText(left(language, CODES)).waitFor();
  await page.goto(`${site.url}/account`);
  await page.goBack();
  assert.ok(!(await page.content()).includes(codes[0]));
  await page.getByText(text('recovery_replace')).waitFor();

  await page.context().clearCookies();
  await page.goto(`${site.url}/login?next=/wallet`);
  await page.fill('[name=username]', user.username);
  await page.fill('[name=password]', 'not my password');
  await press('login');
  await page.getByRole('alert').getByText(text('login_wrong')).waitFor();
  await page.getByRole('link', { name: text('recovery_use') }).click();
  await page.waitForURL(`${site.url}/login/recovery?next=/wallet&username=${user.username}`);
  await page.getByRole('link', { name: text('login_by_password') }).click();
  await page.waitForURL(`${site.url}/login?next=/wallet&username=${user.username}`);
  assert.equal(await page.inputValue('[name=username]'), user.username, 'nobody types it twice');
  await page.goBack();
  assert.equal(await page.inputValue('[name=username]'), user.username);
  await page.fill('[name=code]', 'no code');
  await page.fill('[name=new_password]', 'a brand new password');
  await press('recovery_do');
  await page.getByRole('alert').getByText(text('recovery_code_shape')).waitFor();
  await page.fill('[name=code]', '0-0000-0000-0000-0000');
  await page.fill('[name=new_password]', 'a brand new password');
  await press('recovery_do');
  await page.getByRole('alert').getByText(text('recovery_wrong')).waitFor();
  assert.equal(await page.inputValue('[name=username]'), user.username);
  await page.fill('[name=code]', codes[9]);
  await press('recovery_do');
  await page.getByRole('alert').getByText(text('password_missing')).waitFor();
  assert.equal(await page.inputValue('[name=code]'), codes[9]);
  await page.fill('[name=new_password]', 'a brand new password');
  await press('recovery_do');
  await page.waitForURL(`${site.url}/login/recovery?used=password&next=/wallet`);
  await page.getByRole('heading', { name: text('recovered_password') }).waitFor();
  await page.getByRole('status').getByText(left(language, CODES - 1)).waitFor();
  await page.getByRole('link', { name: text('recovered_forgot') }).click();
  await page.waitForURL(`${site.url}/wallet`);

  await page.context().clearCookies();
  await page.goto(`${site.url}/login/recovery`);
  await page.fill('[name=username]', user.username);
  await page.fill('[name=code]', codes[8]);
  await page.fill('[name=new_password]', 'a brand new password');
  await press('recovery_do');
  await page.getByRole('heading', { name: text('recovered_password') }).waitFor();
  await page.getByRole('status').getByText(left(language, CODES - 2)).waitFor();
  assert.equal(await page.getByRole('link', { name: text('recovery_make') }).count(), 0);
  await page.getByRole('link', { name: text('recovered_lost') }).click();
  await page.waitForURL(`${site.url}/account/recovery?lost=2`); // no step of passkeys: there are none
  await page.goto(`${site.url}/account/passkeys?lost=2`);
  await page.getByRole('link', { name: text('lost_next').replace('{{$step}}{{/step}}', text('lost_codes')), exact: true }).click();
  await page.waitForURL(`${site.url}/account/recovery?lost=2`);
  await page.goto(`${site.url}/login/recovery?used=password`);
  for (const code of codes.slice(1, 6)) assert.equal((await recover(user, code)).status, 200);
  await page.reload();
  await page.getByRole('link', { name: text('recovery_make') }).waitFor();
  await page.getByRole('link', { name: text('recovered_forgot') }).click();
  await page.waitForURL(`${site.url}/`);
});
