// Registering with a passkey in place of a password: in a real Chromium with its virtual authenticator, and refusals.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Passkey } from './support/authenticator.js';
import { fileBrowser } from './support/browser.js';
import { Client } from './support/client.js';
import { url } from './support/instance.js';
import { linesOf } from './support/logs.js';
import { sql } from './support/mysql.js';
import { newUser, sendPacket, site, unique } from './support/site.js';
import { words } from './support/texts.js';
import { clientPage, passkeyDevice, testVisitors } from './support/visits.js';

const LOCALHOST = url.replace('127.0.0.1', 'localhost'); // browsers allow no passkeys at an address without a domain
const browser = fileBrowser();
const newButton = (page) => page.locator('[data-passkey-new] button');
const named = (username = unique('p')) => ({ username, nickname: '小明' });
const rows = async () => (await sql('SELECT (SELECT COUNT(*) FROM user), (SELECT COUNT(*) FROM account), (SELECT COUNT(*) FROM passkey), (SELECT COUNT(*) FROM recovery_code)')).trim();
const typeOf = ({ status, json }) => [status, json?.type?.replace('urn:hongbao:problem:', '')];

// Both steps without a browser. The answers.
async function register(client, passkey, fields = named(), changes = {}) {
  const begun = await client.post('/register/passkey/challenge', fields);
  assert.equal(begun.status, 200, begun.text);
  const form = { ...fields, ...passkey.create(begun.json, changes) };
  return { form, answer: await client.post('/register/passkey', form) };
}

for (const language of ['zh-CN', 'en'])
  test(`a person registers with a passkey, keeps ten codes, and goes on to the packet (${language})`, async () => {
    const packet = await sendPacket(await newUser({ yuan: '10' }), { total: '2', count: '2' });
    const taken = await newUser();
    const { page, context, problems } = await passkeyDevice(browser, language, LOCALHOST);
    await page.goto(`${LOCALHOST}/register?next=${new URL(packet.path, url).pathname}`);
    const name = unique('p');
    await page.fill('#nickname', '小红');
    await page.fill('#username', taken.username);
    await newButton(page).click();
    await page.locator('#username_error', { hasText: words(language, 'username_taken') }).waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.id), 'username');
    await page.fill('#username', name);
    await newButton(page).click();
    await page.waitForURL(/\/account\/recovery\?made=1/);
    const codes = await page.locator('.codes code').allInnerTexts();
    assert.equal(new Set(codes).size, 10);
    await page.reload();
    assert.equal(await page.locator('.codes code').count(), 0, 'codes are shown once');
    assert.equal(await sql(`SELECT password_hash IS NULL, (SELECT COUNT(*) FROM passkey WHERE user_id = u.id), (SELECT COUNT(*) FROM recovery_code WHERE user_id = u.id) FROM user AS u WHERE username = '${name}'`), '1\t1\t10\n');

    await context.clearCookies({ name: /sid$/ });
    await page.goto(`${LOCALHOST}/login?next=/wallet`);
    await page.locator('form[data-passkey=login] [type=submit]').click();
    await page.waitForURL(`${LOCALHOST}/wallet`);

    // The passkey proves the person for a second passkey and for a first password.
    await page.goto(`${LOCALHOST}/account/password`);
    await page.fill('#new_password', 'a good password');
    await page.locator('[data-confirm] button').click();
    await page.waitForURL(/\/account\?password=1/);
    assert.equal((await new Client().post('/login', { username: name, password: 'a good password' })).status, 200);

    // The device is lost: a code logs in.
    assert.equal((await new Client().post('/login/recovery', { username: name, code: codes[3] })).status, 200);
    assert.deepEqual(problems.filter((line) => !line.includes('422')), []);
  });

test('“I have kept them” leads on to the packet', async () => {
  const language = 'en';
  const packet = await sendPacket(await newUser({ yuan: '10' }), { total: '2', count: '2' });
  const path = new URL(packet.path, url).pathname;
  const { page } = await passkeyDevice(browser, language, LOCALHOST);
  await page.goto(`${LOCALHOST}/register?next=${path}`);
  await page.fill('#nickname', 'Ming');
  await page.fill('#username', unique('p'));
  await newButton(page).click();
  await page.waitForURL(/made=1/);
  await page.locator('form.kept [type=checkbox]').check();
  await page.locator('form.kept [type=submit]').click();
  await page.waitForURL(`${LOCALHOST}${path}`);
});

test('without JavaScript the page offers the password, as before', async () => {
  const page = await clientPage(browser, null, { locale: 'en', javaScriptEnabled: false });
  await page.goto(`${LOCALHOST}/register`);
  assert.deepEqual([await newButton(page).isVisible(), await page.locator('#password').isVisible()], [false, true]);
});

test('nothing is stored before the passkey is there, and a repeat makes nothing', async () => {
  const client = new Client();
  const before = await rows();
  const begun = await client.post('/register/passkey/challenge', named());
  assert.equal(begun.status, 200, begun.text);
  assert.equal(await rows(), before);
  const { form, answer } = await register(client, new Passkey(site.url));
  assert.deepEqual([answer.status, answer.json.username], [201, form.username], answer.text);
  const after = await rows();
  assert.notEqual(after, before);
  const other = new Client();
  assert.deepEqual(typeOf(await client.post('/register/passkey', { ...form, username: unique('p') })), [422, 'passkey-expired']);
  assert.deepEqual(typeOf(await other.post('/register/passkey', { ...form, username: unique('p') })), [422, 'passkey-expired'], 'another browser');
  assert.equal(await rows(), after);
  const [line] = await linesOf(answer, 'auth');
  assert.match(line, /event=register user_id=\d+ .*passkey_id=\d+/);
});

test('what is wrong is refused, and nothing is stored', async () => {
  const taken = await newUser();
  const before = await rows();
  const fields = async (given) => (await new Client().post('/register/passkey/challenge', given)).json.errors?.map(({ field }) => field);
  assert.deepEqual(await fields({ username: taken.username, nickname: 'x' }), ['username']);
  assert.deepEqual(await fields({ username: 'a b', nickname: '' }), ['username', 'nickname']);
  const refused = [
    ['another origin', { client: { origin: 'https://elsewhere.example' } }],
    ['a login in place of it', { client: { type: 'webauthn.get' } }],
    ['another domain', { domain: 'elsewhere.example' }],
    ['nobody was verified', { flags: 0x41 }],
    ['another challenge', { client: { challenge: 'A'.repeat(64) } }],
  ];
  for (const [what, changes] of refused) {
    const { answer } = await register(new Client(), new Passkey(site.url), named(), changes);
    assert.deepEqual(typeOf(answer), [422, 'passkey-refused'], what);
  }
  // The challenge of another ceremony.
  const client = new Client();
  const login = await client.post('/login/passkey/challenge');
  const answer = await client.post('/register/passkey', { ...named(), ...new Passkey(site.url).create({ ...login.json, user: { id: '' } }) });
  assert.deepEqual(typeOf(answer), [422, 'passkey-expired']);
  // The name was taken meanwhile, and somebody has this passkey: the user is not made either.
  const name = unique('p'), late = new Client(), passkey = new Passkey(site.url);
  const begun = await late.post('/register/passkey/challenge', named(name));
  assert.equal((await register(new Client(), passkey, named(name))).answer.status, 201);
  const again = await rows();
  const second = await late.post('/register/passkey', { ...named(name), ...new Passkey(site.url).create(begun.json) });
  assert.deepEqual([second.status, second.json.errors[0].field], [422, 'username']);
  const copy = await register(new Client(), passkey, named());
  assert.deepEqual(typeOf(copy.answer), [409, 'passkey-exists']);
  assert.equal(await rows(), again);
  assert.notEqual(again, before);
});

test('a lost passkey: a code logs in without a new password, and adds another passkey', async () => {
  const client = new Client();
  const { form } = await register(client, new Passkey(site.url));
  const shown = await client.getHtml('/account/recovery?made=1');
  const [code] = /\d(-[0-9A-Z]{4}){4}/.exec(shown.text);
  const fresh = new Client();
  assert.equal((await fresh.post('/login/recovery', { username: form.username, code })).status, 200);
  const passkey = new Passkey(site.url);
  assert.equal((await passkey.add(fresh)).status, 201);
  assert.equal((await passkey.login(new Client())).status, 200);
});

testVisitors('who has money and one way in is told so, until it is refused or there is another way', async (options) => {
  const person = await newUser();
  const page = await clientPage(browser, person.client, options);
  const nudge = page.getByText(words(options.locale, 'nudge'));
  const shown = async () => {
    await page.goto(`${site.url}/`);
    return nudge.isVisible();
  };
  assert.equal(await shown(), false, 'there is no money yet');
  const [rich, other] = [await newUser({ yuan: '1' }), await newUser({ yuan: '1' })];
  await page.context().addCookies([{ name: 'sid', value: rich.client.cookie('sid'), url: site.url }]);
  assert.equal(await shown(), true);
  await page.getByRole('button', { name: words(options.locale, 'nudge_later') }).click();
  await page.waitForURL(`${site.url}/`);
  assert.equal(await nudge.isVisible(), false);
  await page.context().addCookies([{ name: 'sid', value: other.client.cookie('sid'), url: site.url }]);
  assert.equal(await shown(), true, 'another user of this browser');
  assert.equal((await other.client.post('/account/recovery', { password: other.password })).status, 201);
  assert.equal(await shown(), false);
});
