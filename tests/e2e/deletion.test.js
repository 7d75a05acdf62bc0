// A user deletes the account: the form is refused while it does not give up the money, then the name disappears from
// every page, open packets end, and no login and no payment works in that name any more.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileBrowser } from './support/browser.js';
import { request } from './support/client.js';
import { sql } from './support/mysql.js';
import { opened } from './support/packets.js';
import { Client, newUser, poll, site } from './support/site.js';
import { LANGUAGES, words } from './support/texts.js';
import { clientPage, pageAt, testVisitors } from './support/visits.js';

const DELETION_S = 60; // the worker waits ten seconds for requests that are under way

const browser = fileBrowser();

const FACE = /\/static\/avatars\.[0-9a-f]{10}\.svg#snake"/;

test('name and face go from every page, and the account is closed', async () => {
  const friend = await newUser({ yuan: '10' });
  const user = await newUser({ yuan: '5' });
  assert.equal((await user.client.post('/account/nickname', { nickname: '要走的人', face: 'snake' })).status, 200);
  const { json: token } = await user.client.post('/account/tokens', { name: 'bot', scopes: 'read', days: '1', password: user.password });
  const { id: own } = (await user.client.post('/send', { kind: 'even', amount: '1', count: '2' })).json;
  const { id: joined } = (await friend.client.post('/send', { kind: 'even', amount: '1', count: '2' })).json;
  await opened(friend, `/p/${own}`);
  await opened(user, `/p/${joined}`);
  for (const id of [own, joined]) assert.match((await friend.client.getHtml(`/p/${id}`)).text, FACE);
  assert.match((await friend.client.getHtml(`/p/${joined}`)).text, /要走的人/);

  const form = (await user.client.get('/account/delete')).json;
  assert.deepEqual(Object.keys(form), ['proofs', 'balance_fen', 'packets_fen', 'packet_count', 'withdrawals_fen', 'withdrawal_count']);
  const fields = { username: user.username, password: user.password, give_up: '1' };
  const refused = await user.client.post('/account/delete', { username: friend.username, password: 'not my password', give_up: '' });
  assert.deepEqual([refused.status, refused.json.errors.map(({ field }) => field)], [422, ['give_up', 'username', 'password']]);
  assert.equal((await user.client.post('/account/delete', fields)).status, 204);
  assert.equal(await sql(`SELECT face IS NULL FROM user WHERE id = ${user.id}`), '1\n');

  assert.equal((await user.client.get('/wallet')).status, 401);
  assert.equal((await request('/wallet', { headers: { authorization: `Bearer ${token.token}` } })).status, 401);
  assert.equal((await new Client().post('/login', user)).status, 422);
  const again = await new Client().post('/register', { username: user.username, nickname: 'x', password: user.password });
  assert.deepEqual([again.status, again.json.errors[0].field], [422, 'username']);
  const sent = await friend.client.post('/send', { kind: 'exclusive', amount: '1', to: user.username });
  assert.deepEqual([sent.status, sent.json.errors[0].field], [422, 'to']);

  await poll('the account is deleted', async () => (await friend.client.get(`/p/${own}`)).json.sender.nickname === '', DELETION_S);
  await poll('the packet is closed', async () => (await friend.client.get(`/p/${own}`)).json.state === 'expired', DELETION_S);
  await poll('in the list, too', async () => (await friend.client.get(`/p/${joined}`)).json.grabs[0].user.nickname === '', DELETION_S);
  for (const path of [`/p/${own}`, `/p/${joined}`, '/records/received', '/']) assert.doesNotMatch((await friend.client.getHtml(path)).text, FACE, path);
  const figure = (await pageAt(browser, friend.client, `/p/${joined}`)).locator('.row', { hasText: words('zh-CN', 'deleted_user') }).locator('.avatar:empty');
  assert.match(await figure.evaluate((face) => getComputedStyle(face).backgroundImage), /radial-gradient/, 'a figure of nobody');
  for (const id of [own, joined]) {
    for (const language of LANGUAGES) {
      const { text } = await friend.client.getHtml(`/p/${id}`, { 'accept-language': language });
      assert.ok(!text.includes('要走的人') && text.includes(words(language, 'deleted_user')), text);
    }
  }
  assert.deepEqual((await friend.client.get(`/p/${own}`)).json.sender, { id: user.id, nickname: '' });
  const csv = await friend.client.get('/records/received.csv');
  assert.ok(!csv.text.includes('要走的人') && csv.text.includes(words('zh-CN', 'deleted_user')), csv.text);
  const page = (await friend.client.getHtml(`/p/${own}`)).text;
  for (const action of ['return', 'thanks']) assert.ok(!page.includes(`/p/${own}/${action}`), page);
  const gone = await friend.client.post(`/p/${own}/return`);
  assert.deepEqual([gone.status, gone.json.type], [409, 'urn:hongbao:problem:sender-gone']);
  assert.equal((await friend.client.get(`/p/${own}/receipt`)).json.receipt.sender, '');
  const shown = await poll('the operator is told', async () => {
    const { stdout } = await site.hongbao('user', 'show', `~${user.id}`);
    return /^deleted 2/m.test(stdout) && stdout;
  });
  assert.doesNotMatch(shown, new RegExp(user.username));
});

test('a form that is sent twice at once has one answer', async () => {
  for (let i = 0; i < 4; i++) {
    const user = await newUser({ yuan: '1' });
    const fields = { username: user.username, password: user.password, give_up: '1' };
    const answers = await Promise.all([1, 2].map(() => user.client.post('/account/delete', fields)));
    const statuses = answers.map(({ status }) => status);
    // 401: the other request had ended the session before this one read it.
    assert.ok(statuses.includes(204) && statuses.every((status) => status === 204 || status === 401), statuses.join(' '));
  }
});

testVisitors('the form', async ({ locale: language, javaScriptEnabled }) => {
  const user = await newUser({ yuan: '5' });
  const page = await clientPage(browser, user.client, { locale: language, javaScriptEnabled });
  const text = (key) => words(language, key);
  const press = () => page.getByRole('button', { name: text('delete_now'), exact: true }).click();
  await page.goto(`${site.url}/account`);
  await page.getByRole('link', { name: text('delete_title') }).click();
  const order = await page.locator('main h2').allInnerTexts();
  assert.equal(order[0], text('delete_money'), 'the money first');
  await page.fill('[name=username]', '小明');
  await page.fill('[name=password]', 'not my password');
  await press();
  await page.locator('#username_error', { hasText: user.username }).waitFor();
  await page.locator('#password_error', { hasText: text('confirm_wrong') }).waitFor();
  await page.locator('#give_up_error', { hasText: text('delete_money_left') }).waitFor();
  const focused = () => page.evaluate(() => document.activeElement.id);
  assert.equal(await focused(), 'give_up', 'the first field with a mistake');
  await page.fill('[name=username]', user.username);
  await page.check('[name=give_up]');
  await page.fill('[name=password]', 'not my password');
  await press();
  await page.locator('#password_error').waitFor();
  assert.equal(await focused(), 'password');
  await page.uncheck('[name=give_up]');
  await page.fill('[name=password]', user.password);
  await press();
  await page.getByRole('alert').getByText(text('delete_money_left')).waitFor();
  assert.equal(await page.inputValue('[name=username]'), user.username);
  assert.equal(await page.inputValue('[name=password]'), '');
  await page.check('[name=give_up]');
  await page.fill('[name=password]', user.password);
  await press();
  await page.waitForURL(`${site.url}/account/deleted`);
  await page.getByRole('status').waitFor();
  assert.equal((await user.client.get('/wallet')).status, 401);
});
