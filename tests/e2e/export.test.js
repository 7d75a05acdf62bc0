// The export of an account through nginx and the page pool with its own rights.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { Client, clientPage, launch, newUser, PASSWORD, site } from './support/site.js';
import { LANGUAGES, words } from './support/texts.js';

let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser?.close(); });

test('one file has all own data and no secret', async () => {
  const user = await newUser({ yuan: 5 });
  const { token } = (await user.client.post('/account/tokens', { name: 'bot', scopes: 'read', days: '3', password: PASSWORD })).json;
  const sent = (await user.client.post('/send', { kind: 'even', amount: '1', count: '2', greeting: '你好', request_key: 'one' })).json;
  const answer = await user.client.get('/account/export');
  assert.equal(answer.status, 200, answer.text);
  assert.match(answer.headers.get('content-disposition'), /^attachment; filename="hongbao-account\.json"$/);
  const all = JSON.parse(answer.text);
  assert.deepEqual([all.id, all.username, all.balance_fen, all.sessions.length], [user.id, user.username, 300, 1]);
  assert.deepEqual(all.tokens.map(({ name }) => name), ['bot']);
  assert.deepEqual(all.sent.map(({ id, greeting }) => [id, greeting]), [[sent.id, '你好']]);
  assert.deepEqual(all.statement.map(({ amount_fen }) => amount_fen), [-200, 500]);
  for (const secret of [token, user.password, 'argon2', 'hash']) assert.ok(!answer.text.includes(secret), secret);
});

test('a guest and an access token get no export', async () => {
  const user = await newUser();
  const { token } = (await user.client.post('/account/tokens', { name: 'bot', scopes: 'read', days: '3', password: PASSWORD })).json;
  assert.equal((await new Client().get('/account/export')).status, 401);
  const answer = await new Client().get('/account/export', { authorization: `Bearer ${token}` });
  assert.deepEqual([answer.status, answer.json.type], [403, 'urn:hongbao:problem:token-refused']);
});

for (const language of LANGUAGES) {
  test(`the account page offers the file, without JavaScript: ${language}`, async () => {
    const user = await newUser();
    const page = await clientPage(browser, user.client, { locale: language, javaScriptEnabled: false });
    await page.goto(`${site.url}/account`);
    const [download] = await Promise.all([
      page.waitForEvent('download'), page.getByRole('link', { name: words(language, 'export_file') }).click()]);
    assert.equal(download.suggestedFilename(), 'hongbao-account.json');
    assert.equal(JSON.parse(await readFile(await download.path(), 'utf8')).username, user.username);
    await page.context().close();
  });
}
