// Passkeys: added and used in a real Chromium with its virtual authenticator; and refusals.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Passkey } from './support/authenticator.js';
import { fileBrowser } from './support/browser.js';
import { Client } from './support/client.js';
import { url } from './support/instance.js';
import { linesOf } from './support/logs.js';
import { newUser, PASSWORD, sendPacket, site, unique } from './support/site.js';
import { words } from './support/texts.js';
import { clientPage, passkeyDevice } from './support/visits.js';

const LOCALHOST = url.replace('127.0.0.1', 'localhost'); // browsers allow no passkeys at an address without a domain
const TYPE = 'urn:hongbao:problem:';

const browser = fileBrowser();

const device = (locale, client) => passkeyDevice(browser, locale, LOCALHOST, client);

const addButton = (page) => page.locator('form[data-passkey=add] [type=submit]');
const loginButton = (page) => page.locator('form[data-passkey=login] [type=submit]');

async function assertRefused(answer, type, status = 422) {
  assert.deepEqual([answer.status, answer.json?.type], [status, TYPE + type], answer.text);
}

// The reason in the security log of the pool for this answer.
async function reasonOf(answer, pool) {
  const [line] = await linesOf(answer, pool);
  return `${/event=([\w-]+)/.exec(line)[1]} ${/reason=(\w+)/.exec(line)?.[1]}`;
}

test('a passkey is added, logs in without a name, and is removed', async () => {
  const language = 'zh-CN';
  const user = await newUser({ nickname: '小明' });
  const { context, page, problems } = await device(language, user.client);
  await page.goto(`${LOCALHOST}/account/passkeys`);
  assert.ok(await page.getByText(words(language, 'passkeys_none')).isVisible());
  await page.fill('#passkey_name', 'my phone');
  await page.fill('#password', user.password);
  await addButton(page).click();
  await page.waitForURL(`${LOCALHOST}/account/passkeys?passkey=added`);
  assert.equal(await page.locator('main li').getByText(words(language, 'session_current')).count(), 1, 'which one is here');
  assert.ok(await page.getByText(words(language, 'passkey_added')).isVisible());
  const [added] = (await user.client.get('/account')).json.passkeys;
  assert.deepEqual([added.name, added.used_at], ['my phone', null]);
  assert.match((await site.hongbao('user', 'show', user.username)).stdout, /^passkeys 1$/m);

  await context.clearCookies();
  await page.goto(`${LOCALHOST}/login?next=/wallet`);
  await loginButton(page).click();
  await page.waitForURL(`${LOCALHOST}/wallet`);
  await page.goto(`${LOCALHOST}/account`);
  assert.ok((await page.innerText('main')).includes(user.username));
  await page.getByRole('link', { name: words(language, 'passkeys') }).click();
  assert.notEqual((await user.client.get('/account')).json.passkeys[0].used_at, null);

  // The phone with this passkey is lost: on another device the button to remove it comes first, and the link onward
  // second; on the phone itself no button removes it.
  const remove = page.getByRole('button', { name: words(language, 'passkey_remove_confirm') });
  const onward = page.locator('a.button[href="/account/recovery?lost=2"]');
  await page.goto(`${LOCALHOST}/account/passkeys?lost=2`);
  assert.deepEqual([await remove.isVisible(), await addButton(page).count()], [false, 0]);
  assert.ok(!(await onward.getAttribute('class')).includes('quiet'));
  await context.clearCookies({ name: /way$/ });
  await page.reload();
  assert.deepEqual([await remove.isVisible(), await remove.getAttribute('class')], [true, 'button wide']);
  assert.ok((await onward.getAttribute('class')).includes('quiet'));
  await page.goto(`${LOCALHOST}/account/passkeys`);
  await page.getByText(words(language, 'passkey_remove'), { exact: true }).click();
  await remove.click();
  await page.waitForURL(`${LOCALHOST}/account/passkeys?passkey=removed`);
  assert.ok(await page.getByText(words(language, 'passkey_removed')).isVisible());
  assert.deepEqual((await user.client.get('/account')).json.passkeys, []);
  assert.deepEqual(problems, []);

  await context.clearCookies();
  await page.goto(`${LOCALHOST}/login`);
  await loginButton(page).click();
  await page.locator('form[data-passkey=login] [role=alert]', { hasText: words(language, 'passkey_refused_detail') }).waitFor();
});

test('a passkey that the device has already, and a user who is not verified, are told', async () => {
  const language = 'en';
  const { client, password } = await newUser();
  const { context, page, cdp, authenticatorId } = await device(language, client);
  await page.goto(`${LOCALHOST}/account/passkeys`);
  await page.fill('#password', 'not my password');
  await addButton(page).click();
  await page.locator('form[data-passkey=add] [role=alert]', { hasText: words(language, 'confirm_wrong') }).waitFor();
  await page.fill('#password', password);
  await addButton(page).click();
  await page.waitForURL(/passkey=added/);
  const alert = page.locator('form[data-passkey=add] [role=alert]');
  await page.fill('#password', password);
  await addButton(page).click();
  await alert.filter({ hasText: words(language, 'passkey_exists') }).waitFor();
  await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
  await context.clearCookies();
  await page.goto(`${LOCALHOST}/login`);
  await loginButton(page).click();
  await page.locator('form[data-passkey=login] [role=alert]', { hasText: words(language, 'passkey_none_cancelled') }).waitFor();
});

test('after registering a passkey is offered once, without the password again, and leads on', async () => {
  const language = 'en';
  const { context, page, problems } = await device(language);
  const username = unique('u');
  await page.goto(`${LOCALHOST}/register?next=/wallet`);
  await page.fill('#nickname', '小明');
  await page.fill('#username', username);
  await page.fill('#password', PASSWORD);
  await page.getByRole('button', { name: words(language, 'register') }).click();
  await page.waitForURL(`${LOCALHOST}/account/passkeys?passkey=offer&next=/wallet`);
  assert.equal(await page.innerText('#yours b'), username, 'how to log in next time');
  await page.getByRole('heading', { name: words(language, 'passkey_offer') }).waitFor();
  assert.equal(await page.getByRole('link', { name: words(language, 'passkey_later') }).getAttribute('href'), '/wallet');
  assert.equal(await page.locator('#password').count(), 0);
  await addButton(page).click();
  await page.getByRole('status').filter({ hasText: words(language, 'passkey_added') }).waitFor();
  assert.equal(await addButton(page).isVisible(), false);
  await page.getByRole('link', { name: words(language, 'go_on') }).click();
  await page.waitForURL(`${LOCALHOST}/wallet`);
  await page.goto(`${LOCALHOST}/account/passkeys`);
  assert.equal(await page.locator('form[action$="/delete"]').count(), 1);
  assert.match(await page.innerText('b[id^=passkey_]'), /^[\w ]+ · [\w ]+$/, 'named by its browser');
  assert.equal(await page.locator('#password').count(), 1, 'the next one needs the password');
  assert.deepEqual(problems, []);

  // In a browser where a passkey was used, it comes first on the login page; in others the password.
  const first = async () => (await page.locator('main form').first().getAttribute('data-passkey')) === 'login';
  await context.clearCookies({ name: 'sid' });
  await page.goto(`${LOCALHOST}/login?next=/wallet`);
  assert.ok(await first());
  await context.clearCookies();
  await page.goto(`${LOCALHOST}/login?next=/wallet`);
  assert.equal(await first(), false);
  await loginButton(page).click();
  await page.waitForURL(`${LOCALHOST}/wallet`);
  await context.clearCookies({ name: 'sid' });
  await page.goto(`${LOCALHOST}/login`);
  assert.ok(await first());
});

test('who registers for a packet goes to it at once; its result offers the passkey, once', async () => {
  const sender = await newUser({ yuan: '10' });
  const { json } = await sendPacket(sender, { kind: 'lucky', amount: '2', count: '2', request_key: unique('k') });
  const path = `/p/${json.id}`, offer = `/account/passkeys?passkey=offer&next=${path}`;
  const client = new Client();
  await client.getHtml('/');
  const answer = await client.postHtml('/register', { username: unique('u'), nickname: 'n', password: PASSWORD, passkey: '1', next: path });
  assert.match(decodeURIComponent(answer.headers.get('location')), new RegExp(`[/=]p/${json.id}$`));
  const offered = async () => (await client.getHtml(path)).text.includes(`href="${offer.replace('&', '&amp;')}"`);
  assert.equal(await offered(), false, 'first the packet');
  assert.equal((await client.post(`${path}/open`)).json.result, 'grabbed');
  assert.ok(await offered());
  const { text } = await client.getHtml(path);
  assert.ok(text.indexOf('id="grabs"') < text.indexOf('id="passkey_title"'), 'after the list');
  const page = await client.getHtml(offer);
  assert.ok(page.text.includes(`href="${path}"`), page.text);
  assert.equal((await client.post('/account/passkeys/challenge')).status, 200, 'without the password');
  assert.equal(await offered(), false);
});

test('only the session that has just registered adds a passkey without the password', async () => {
  const form = () => ({ username: unique('u'), nickname: 'n', password: PASSWORD });
  const registered = async (fields) => {
    const client = new Client();
    return { client, answer: await client.postHtml('/register', { ...form(), ...fields }) };
  };
  const challenge = (client) => client.post('/account/passkeys/challenge');
  const { client, answer } = await registered({ passkey: '1' });
  assert.match(decodeURIComponent(answer.headers.get('location')), /\/account\/passkeys\?passkey=offer&next=\/$/);
  assert.equal((await challenge(client)).status, 200);
  const other = await registered({});
  assert.doesNotMatch(other.answer.headers.get('location'), /passkeys/);
  assert.equal((await challenge(other.client)).status, 422);
  const stolen = new Client({ sid: other.client.cookie('sid'), once: client.cookie('once') });
  assert.equal((await challenge(stolen)).status, 422);
  assert.equal((await challenge(new Client({ once: client.cookie('once') }))).status, 401);
  const evil = await client.getHtml('/account/passkeys?passkey=offer&next=https://evil.example/');
  assert.match(evil.text, new RegExp(`<a [^>]*href="/" [^>]*>${words('zh-CN', 'passkey_later')}</a>`));
});

test('a browser that keeps no cookies, of the challenge or of the session, is told so', async () => {
  const language = 'zh-CN';
  const { client, password } = await newUser();
  const { context, page } = await device(language, client);
  await page.goto(`${LOCALHOST}/account/passkeys`);
  await page.fill('#password', password);
  await addButton(page).click();
  await page.waitForURL(/passkey=added/);
  for (const path of ['/login/passkey', '/login?cookie=1&next=%2Fwallet']) {
    const forget = async (route) => {
      await context.clearCookies();
      await route.continue();
    };
    await context.clearCookies();
    await page.goto(`${LOCALHOST}/login?next=/wallet`);
    await page.route((url) => url.pathname + url.search === path, forget);
    await loginButton(page).click();
    const alert = page.getByRole('alert').filter({ hasText: /\S/ });
    await alert.waitFor();
    assert.equal(await alert.innerText(), words(language, 'login_no_cookies'));
    await page.unrouteAll();
  }
});

test('at an address without a domain, and without JavaScript, the page offers the password alone', async () => {
  const { client } = await newUser();
  for (const [options, at] of [[{}, url], [{ javaScriptEnabled: false }, LOCALHOST]]) {
    const page = await clientPage(browser, null, options);
    await page.goto(`${at}/login`);
    assert.ok(await page.locator('form[action="/login"] [type=submit]').isVisible());
    assert.equal(await loginButton(page).isVisible(), false);
    await page.context().addCookies([{ name: 'sid', value: client.cookie('sid'), url: at }]);
    await page.goto(`${at}/account/passkeys`);
    assert.equal(await addButton(page).isVisible(), false);
    assert.ok(await page.locator('[data-passkey-off]').isVisible());
  }
});

for (const [what, ends, reason] of [['a disabled user', ({ username }) => site.hongbao('user', 'disable', username), 'disabled'],
  // The worker removes passkeys ten seconds later.
  ['who has asked for the deletion of the account', ({ client, username, password }) => client.post('/account/delete', { username, password, give_up: '1' }), 'deleted']]) {
  test(`${what} is refused like an unknown passkey`, async () => {
    const user = await newUser();
    const passkey = new Passkey(url);
    assert.equal((await passkey.add(user.client, { name: 'phone' })).status, 201);
    await ends(user);
    const refused = await passkey.login(new Client());
    await assertRefused(refused, 'passkey-refused');
    assert.doesNotMatch(String(refused.headers.get('set-cookie')), /sid=/);
    assert.equal(await reasonOf(refused, 'auth'), `login-refused ${reason}`);
    if (reason !== 'disabled') return;
    await site.hongbao('user', 'enable', user.username);
    assert.equal((await passkey.login(new Client())).status, 200);
  });
}

test('a passkey logs in, each time with a new session', async () => {
  const { client, id, username } = await newUser();
  const passkey = new Passkey(url, 'eddsa');
  const added = await passkey.add(client, { name: '  我的\u3000手机 ' });
  assert.equal(added.status, 201, added.text);
  const visitor = new Client();
  const first = await passkey.login(visitor);
  assert.deepEqual([first.status, first.json?.id, first.json?.username], [200, id, username], first.text);
  const before = visitor.cookie('sid');
  assert.equal((await passkey.login(visitor)).status, 200);
  assert.notEqual(visitor.cookie('sid'), before);
  assert.equal((await new Client({ sid: before }).get('/account')).status, 401);
  assert.equal((await visitor.get('/account')).json.passkeys[0].id, added.json.id);
});

test('a login that is not for this site, this browser or this moment is refused, and logged with the reason', async () => {
  const { client } = await newUser();
  const passkey = new Passkey(url);
  assert.equal((await passkey.add(client, { count: 5 })).status, 201);
  for (const [changes, reason] of [[{ client: { origin: url } }, 'origin'], [{ client: { challenge: 'A'.repeat(64) } }, 'challenge'],
    [{ client: { type: 'webauthn.create' } }, 'malformed'], [{ domain: 'evil.example' }, 'domain'], [{ flags: 1 }, 'unverified'], [{ count: 4 }, 'counter']]) {
    const answer = await passkey.login(new Client(), changes);
    await assertRefused(answer, 'passkey-refused');
    assert.equal(await reasonOf(answer, 'auth'), `login-refused ${reason}`);
    assert.equal(answer.cookies.some((line) => line.startsWith('sid=')), false);
  }
  const other = new Passkey(url);
  other.user = passkey.user;
  assert.equal(await reasonOf(await other.login(new Client()), 'auth'), 'login-refused unknown');
  other.id = passkey.id;
  assert.equal(await reasonOf(await other.login(new Client()), 'auth'), 'login-refused signature');
  passkey.user = { id: 'A'.repeat(43) };
  assert.equal(await reasonOf(await passkey.login(new Client()), 'auth'), 'login-refused user');
});

test('a challenge counts once, in the browser that asked for it, and for its ceremony and session', async () => {
  const { client } = await newUser();
  const passkey = new Passkey(url);
  assert.equal((await passkey.add(client)).status, 201);
  const visitor = new Client();
  const answer = passkey.get((await visitor.post('/login/passkey/challenge')).json);
  const cookie = visitor.cookie('passkey');
  await assertRefused(await new Client().post('/login/passkey', answer), 'passkey-expired');
  const both = await Promise.all([0, 1].map(() => new Client({ passkey: cookie }).post('/login/passkey', answer)));
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 422]);
  const replay = await new Client({ passkey: cookie }).post('/login/passkey', answer);
  await assertRefused(replay, 'passkey-expired');
  assert.equal(await reasonOf(replay, 'auth'), 'login-refused replay');
  const begun = await Passkey.begin(client);
  await assertRefused(await client.post('/login/passkey', passkey.get(begun.json)), 'passkey-expired');
  const another = (await newUser()).client;
  const stolen = await Passkey.begin(client);
  const session = new Client({ sid: another.cookie('sid'), passkey: stolen.json.challenge });
  await assertRefused(await session.post('/account/passkeys', new Passkey(url).create(stolen.json)), 'passkey-expired');
});

test('a passkey that is wrong is refused, logged with the reason, and not added', async () => {
  const { client } = await newUser();
  for (const [changes, reason] of [[{ client: { origin: 'https://evil.example' } }, 'origin'], [{ domain: 'evil.example' }, 'domain'],
    [{ flags: 0x41 }, 'unverified'], [{ cose: Buffer.from('a0', 'hex') }, 'algorithm']]) {
    const answer = await new Passkey(url).add(client, changes);
    await assertRefused(answer, 'passkey-refused');
    assert.equal(await reasonOf(answer, 'auth'), `passkey-refused ${reason}`);
  }
  for (const change of [{ client_data: '' }, { client_data: '!' }, { authenticator_data: 'A'.repeat(5000) }]) {
    const begun = await Passkey.begin(client);
    await assertRefused(await client.post('/account/passkeys', { ...new Passkey(url).create(begun.json), ...change }), 'passkey-refused');
  }
  const long = await new Passkey(url).add(client, { name: 'n'.repeat(33) });
  assert.deepEqual([long.status, long.json.errors[0].field], [422, 'name']);
  assert.deepEqual((await client.get('/account')).json.passkeys, []);
});

test('a user has as many passkeys as the setting allows, each once, and removes only their own', async () => {
  const { client } = await newUser();
  const stranger = await newUser();
  const first = new Passkey(url);
  const added = await first.add(client);
  assert.equal(added.status, 201, added.text);
  const { user } = first;
  for (const one of [client, stranger.client]) await assertRefused(await first.add(one), 'passkey-exists', 409);
  first.user = user;
  for (let i = 1; i < 10; i++) assert.equal((await new Passkey(url).add(client)).status, 201);
  const full = await new Passkey(url).add(client);
  assert.deepEqual([full.status, full.json.errors[0].field], [422, 'passkeys']);
  const path = `/account/passkeys/${added.json.id}/delete`;
  assert.equal((await stranger.client.post(path)).status, 404);
  assert.equal((await first.login(new Client())).status, 200);
  assert.equal((await client.post(path)).status, 204);
  await assertRefused(await first.login(new Client()), 'passkey-refused');
});

test('a site without a domain has no passkeys', async () => {
  const { client } = await newUser();
  await site.withSetting(['page', 'auth'], { HB_BASE_URL: 'http://192.0.2.1:8080' }, async () => {
    await assertRefused(await Passkey.begin(client), 'no-passkeys', 404);
    await assertRefused(await new Client().post('/login/passkey/challenge'), 'no-passkeys', 404);
    for (const path of ['/account/passkeys', '/login', '/register']) {
      const page = await (path.startsWith('/account') ? client : new Client()).getHtml(path);
      assert.equal(page.status, 200);
      assert.doesNotMatch(page.text, /passkey\.[0-9a-f]+\.js|data-passkey=|data-site=/);
    }
  });
});
