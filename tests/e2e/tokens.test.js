// Access tokens: made on the page for developers, used by a program through nginx and every pool, revoked at once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileBrowser } from './support/browser.js';
import { request } from './support/client.js';
import { Client, newUser, PASSWORD, site, unique } from './support/site.js';
import { words } from './support/texts.js';
import { clientPage, testVisitors } from './support/visits.js';

const FORM = 'application/x-www-form-urlencoded';

const browser = fileBrowser();

// A program with a token: no cookies, no Accept.
const program = (token) => {
  const headers = { authorization: `Bearer ${token}` };
  return {
    get: (path) => request(path, { headers }),
    post: (path, fields = {}) => request(path, {
      method: 'POST', body: new URLSearchParams(fields).toString(), headers: { 'content-type': FORM, ...headers },
    }),
  };
};

async function tokenOf({ client }, scopes, days = '1') {
  const made = await client.post('/account/tokens', { name: unique('bot'), scopes, days, password: PASSWORD });
  assert.equal(made.status, 201, made.text);
  assert.match(made.json.token, /^hbt_[\w-]{43}$/);
  assert.equal(made.json.scopes, scopes);
  return made.json;
}

test('the first use by many at once in the hot pool is looked up and answered, with its body', async () => {
  const sender = await newUser({ yuan: '10' });
  const sent = await sender.client.post('/send', { kind: 'lucky', amount: '5', count: '5', request_key: unique('k') });
  const { token } = await tokenOf(await newUser(), 'read open');
  const all = await Promise.all(Array.from({ length: 12 }, () => program(token).post(`/p/${sent.json.id}/open`, { more: 'x'.repeat(2000) })));
  const results = all.map((answer) => answer.json?.result ?? answer.text);
  assert.deepEqual(results.slice().sort(), [...Array(11).fill('already'), 'grabbed']);
  const one = new Set(all.map((answer) => answer.json.amount_fen));
  assert.equal(one.size, 1);
});

testVisitors('a token is made, shown once and revoked', async ({ locale: language, javaScriptEnabled }) => {
  const user = await newUser();
  const page = await clientPage(browser, user.client, { locale: language, javaScriptEnabled });
  const text = (key, value) => words(language, key, value);
  const make = () => page.getByRole('button', { name: text('token_make') }).click();
  await page.goto(site.url);
  await page.click('header a[href="/account"]');
  assert.equal(await page.locator('[action^="/account/tokens"]').count(), 0);
  await page.getByRole('link', { name: text('developers') }).click();
  await page.waitForURL(`${site.url}/account/developers`);
  await page.getByText(text('tokens_none')).waitFor();
  await page.locator('summary', { hasText: text('token_new') }).click();
  await page.uncheck('[name=scope_read]');
  await make();
  for (const key of ['token_name_missing', 'token_scopes_missing']) {
    await page.getByRole('alert').getByText(text(key)).waitFor();
  }
  await page.getByRole('alert').getByText(text('password_missing')).waitFor();
  await page.fill('#name', '抽奖 bot');
  await page.fill('#password', 'not my password');
  await page.check('[name=scope_read]');
  await make();
  await page.getByRole('alert').getByText(text('confirm_wrong')).waitFor();
  assert.deepEqual([await page.inputValue('#name'), await page.inputValue('#password')], ['抽奖 bot', '']);
  await page.fill('#password', PASSWORD);
  await make();
  await page.waitForURL(`${site.url}/account/developers?made=1`);
  const token = await page.inputValue('#new_token');
  const named = page.locator('.rows', { hasText: '抽奖 bot' });
  await named.getByText(text('token_unused')).waitFor();
  assert.equal((await program(token).get('/wallet')).status, 200);
  await page.reload();
  assert.ok(!(await page.content()).includes(token));
  await page.getByRole('status').getByText(text('token_shown')).waitFor();
  assert.equal((await user.client.get('/account')).json.tokens.length, 1, 'a reload makes no second one');
  await named.getByText(text('token_used')).waitFor();
  await page.locator('summary', { hasText: text('token_revoke') }).click();
  await page.getByRole('button', { name: text('token_revoke_confirm') }).click();
  await page.waitForURL(`${site.url}/account/developers?revoked=1#tokens`);
  await page.getByRole('status').getByText(text('token_revoked')).waitFor();
  await page.getByText(text('tokens_none')).waitFor();
  assert.equal((await program(token).get('/wallet')).status, 401);
});

test('what is no token, or one without the word Bearer, is refused as a token, whatever the cookies', async () => {
  const user = await newUser();
  const { token } = await tokenOf(user, 'read');
  for (const authorization of [token, `Token ${token}`, `Bearer hbt_${'A'.repeat(43)}`]) {
    const refused = await request('/wallet', { headers: { authorization, cookie: `sid=${user.client.cookie('sid')}` } });
    assert.deepEqual([refused.status, refused.json.type], [401, 'urn:hongbao:problem:unauthorized'], authorization);
    assert.match(refused.headers.get('www-authenticate'), /^Bearer /);
  }
  assert.equal((await request('/wallet', { headers: { authorization: 'Basic eDp5' } })).status, 303);
});

test('the page for developers is the user’s alone, and the addresses of before lead to it', async () => {
  const user = await newUser();
  const { id } = await tokenOf(user, 'read');
  assert.deepEqual((await user.client.get('/account/developers')).json.tokens.map((token) => token.id), [id]);
  assert.equal((await new Client().get('/account/developers')).status, 401);
  assert.deepEqual((await (await newUser()).client.get('/account/developers')).json.tokens, []);
  for (const path of ['/account/tokens', `/account/tokens/${id}`]) {
    const answer = await user.client.getHtml(path);
    assert.deepEqual([answer.status, answer.headers.get('location')], [303, '/account/developers'], path);
  }
  assert.match((await user.client.getHtml('/account')).text, /id="tokens" href="\/account\/developers"/);
});
