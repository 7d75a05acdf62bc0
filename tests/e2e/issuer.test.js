// The login by an issuer (OpenID Connect): who gets which account, and what happens when the issuer lies or is away. The
// protocol itself: oidc_protocol.test.js.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Passkey } from './support/authenticator.js';
import { fileBrowser } from './support/browser.js';
import { startIssuer } from './support/issuer.js';
import { loginBy, throughIssuer, useIssuer, useNoIssuer } from './support/issuer_site.js';
import { linesOf } from './support/logs.js';
import { sql } from './support/mysql.js';
import { Client, newUser, registerUser, sendPacket, site, unique } from './support/site.js';
import { LANGUAGES, words } from './support/texts.js';
import { pageAt, testVisitors } from './support/visits.js';

const browser = fileBrowser();
const NAME = '公司账号';
let issuer;

before(async () => {
  issuer = await startIssuer({ redirect: `${site.url}/login/oidc/callback`, backchannel: `${site.url}/login/oidc/backchannel` });
  await useIssuer(issuer);
});
after(async () => {
  await useNoIssuer();
  await issuer.close();
});

const subjectsOf = async (id) => Number(await sql(`SELECT COUNT(*) FROM subject WHERE user_id = ${id}`));
const who = async (client) => (await client.get('/account')).json;

// The security event of the sso pool about this answer.
async function eventOf(answer, event, pool = 'sso') {
  const lines = await linesOf(answer, pool);
  const found = lines.find((line) => line.includes(` event=${event}`));
  assert.ok(found, `${event} in ${lines.join('\n')}`);
  return found;
}

// A person of the issuer with an account here.
async function staff(name = unique('s'), claims = {}) {
  issuer.users.set(name, claims);
  const { client, answer } = await loginBy(name);
  assert.equal(answer.status, 200, answer.text);
  return { client, name, id: answer.json.id, username: answer.json.username, answer };
}

// ---- the first login ----

test('the first login makes a user without money and without a password, the next ones find it', async () => {
  const name = unique('s');
  const person = await staff(name, { name: '小明 Ming', preferred_username: name });
  assert.equal(person.username, name);
  await eventOf(person.answer, 'register');
  const { nickname } = await who(person.client);
  assert.equal(nickname, '小明 Ming');
  assert.equal((await person.client.get('/wallet')).json.balance_fen, 0);
  assert.equal(Number(await sql(`SELECT password_hash IS NULL FROM user WHERE id = ${person.id}`)), 1);

  issuer.users.set(name, { name: 'changed', preferred_username: 'changed', email: 'other@example.org', email_verified: true });
  const { answer } = await loginBy(name);
  assert.deepEqual([answer.status, answer.json.id, answer.json.username, answer.json.nickname], [200, person.id, name, '小明 Ming']);
  assert.match(await eventOf(answer, 'login'), / way=issuer/);
});

test('a username that somebody has or had is left alone; names that are none are made into some', async () => {
  const taken = await registerUser();
  const deleted = await registerUser();
  const gone = await deleted.client.post('/account/delete', { username: deleted.username, password: deleted.password });
  assert.equal(gone.status, 204, gone.text);
  const cases = [
    [{ preferred_username: taken.username }, new RegExp(`^${taken.username.slice(0, 10)}`)],
    [{ preferred_username: deleted.username }, new RegExp(`^${deleted.username.slice(0, 10)}`)],
    [{ preferred_username: taken.username.toUpperCase() }, new RegExp(`^${taken.username.slice(0, 10)}`)],
    [{ preferred_username: `${unique('mail')}@example.org` }, /^mail[0-9a-f]+$/],
    [{ preferred_username: '小', name: '小' }, /^[a-z]+[2-9]{4}$/],
    [{ preferred_username: '<b>x</b>y' }, /^bxby/],
    [{ preferred_username: 'n'.repeat(300), name: '长'.repeat(200) }, /^n{28,32}/],
    [{ preferred_username: 5, name: { a: 1 } }, /^[a-z0-9]+$/],
  ];
  for (const [claims, wanted] of cases) {
    const person = await staff(unique('s'), claims);
    assert.match(person.username, wanted);
    assert.notEqual(person.username, taken.username);
    assert.notEqual(person.username, deleted.username);
    assert.ok([...(await who(person.client)).nickname].length <= 32);
  }
});

test('nobody is found by an e-mail address, and a subject is compared to the letter', async () => {
  const name = unique('s');
  const same = { email: 'boss@example.org', email_verified: true, preferred_username: name };
  const ids = new Set();
  for (const sub of [name, `${name} `, name.toUpperCase(), `${name}\t`.trim() + 'x']) {
    const { id } = await staff(sub, same);
    ids.add(id);
  }
  assert.equal(ids.size, 4);
});

test('20 first logins at once make one user', async () => {
  const name = unique('s');
  const users = await sql('SELECT COUNT(*) FROM user');
  const begun = await Promise.all(Array.from({ length: 20 }, async () => {
    const client = new Client();
    return { client, back: await throughIssuer(await client.getHtml('/login/oidc'), name) };
  }));
  const answers = await Promise.all(begun.map(({ client, back }) => client.get(back)));
  assert.deepEqual(answers.map(({ status }) => status), Array(20).fill(200));
  assert.equal(new Set(answers.map(({ json }) => json.id)).size, 1);
  assert.equal(Number(await sql('SELECT COUNT(*) FROM user')), Number(users) + 1);
  for (const { client } of begun) assert.equal((await who(client)).id, answers[0].json.id);
});

test('a disabled user is refused; a deleted one who comes back is another user', async () => {
  const person = await staff();
  await site.hongbao('user', 'disable', person.username);
  const { answer } = await loginBy(person.name);
  assert.deepEqual([answer.status, answer.json.type], [403, 'urn:hongbao:problem:account-disabled']);
  assert.match(await eventOf(answer, 'login-refused'), / reason=disabled/);
  await site.hongbao('user', 'enable', person.username);

  const fresh = await loginBy(person.name, { query: '?again=1' });
  assert.equal((await fresh.client.post('/account/delete', { username: person.username })).status, 204);
  assert.equal(await subjectsOf(person.id), 0);
  const next = await loginBy(person.name);
  assert.equal(next.answer.status, 200, next.answer.text);
  assert.notEqual(next.answer.json.id, person.id);
});

test('who is logged in is led on, and needs no issuer', async () => {
  const { client } = await newUser();
  const answer = await client.getHtml('/login/oidc?next=/wallet');
  assert.deepEqual([answer.status, answer.headers.get('location')], [303, '/wallet']);
  for (const next of ['https://evil.example/', '//evil.example', '/\\evil.example']) {
    const { answer: end } = await loginBy(unique('s'), { query: `?next=${encodeURIComponent(next)}`, html: true });
    assert.deepEqual([end.status, end.headers.get('location')], [303, '/']);
  }
});

// ---- linking ----

const link = (person, name = unique('s'), jar = undefined) => loginBy(name, { client: person.client, query: '?link=1', jar });
const permit = (person, fields = { password: person.password }) => person.client.post('/account/oidc/link', fields);
const TYPE = 'urn:hongbao:problem:';

test('an account is linked after a proof, once, in the session that gave it', async () => {
  const person = await newUser();
  const name = unique('s');
  let { answer } = await link(person, name);
  assert.deepEqual([answer.status, answer.json.type], [403, `${TYPE}subject-stale`]);
  assert.match(await eventOf(answer, 'issuer-refused'), / reason=stale-proof/);
  assert.equal((await permit(person, { password: 'a wrong one' })).status, 422);
  assert.equal((await permit(person)).status, 204);

  const elsewhere = { ...person, client: new Client() }; // another session of the same user
  await elsewhere.client.post('/login', { username: person.username, password: person.password });
  ({ answer } = await link(elsewhere, name));
  assert.equal(answer.json.type, `${TYPE}subject-stale`);

  ({ answer } = await link(person, name));
  assert.deepEqual([answer.status, answer.headers.get('location')], [303, '/account/oidc?linked=1']);
  await eventOf(answer, 'subject-linked');
  assert.equal((await person.client.get('/account/oidc')).json.linked, true);
  assert.equal((await loginBy(name)).answer.json.id, person.id);
  assert.equal((await permit(person)).json.type, `${TYPE}subject-linked`);
  ({ answer } = await link(person, name)); // a repeat is harmless
  assert.equal(answer.headers.get('location'), '/account/oidc?linked=1');
});

test("what is somebody else's is not linked, and nothing is guessed for who is logged in", async () => {
  const owner = await staff();
  const person = await newUser();
  await permit(person);
  let { answer } = await link(person, owner.name);
  assert.deepEqual([answer.status, answer.json.type], [403, `${TYPE}subject-taken`]);
  assert.equal((await loginBy(owner.name)).answer.json.id, owner.id);

  // begun as a login, and logged in otherwise meanwhile
  const client = new Client();
  const back = await throughIssuer(await client.getHtml('/login/oidc'), unique('s'));
  await client.post('/login', { username: person.username, password: person.password });
  answer = await client.get(back);
  assert.deepEqual([answer.status, answer.json.type], [403, `${TYPE}subject-new`]);

  // begun by one user, ended by another in the same browser
  await permit(person);
  const begun = await throughIssuer(await person.client.getHtml('/login/oidc?link=1'), unique('s'));
  const other = await newUser();
  await person.client.post('/logout');
  await person.client.post('/login', { username: other.username, password: other.password });
  answer = await person.client.get(begun);
  assert.equal(answer.json.type, `${TYPE}subject-stale`);
  assert.equal(await subjectsOf(person.id), 0);
  assert.equal(await subjectsOf(other.id), 0);
});

test('a link ends with a proof, and never when it is the only way in', async () => {
  const person = await newUser();
  const name = unique('s');
  await permit(person);
  await link(person, name);
  const unlink = (fields) => person.client.post('/account/oidc/unlink', fields);
  assert.equal((await unlink({})).status, 422);
  const removed = await unlink({ password: person.password });
  assert.equal(removed.status, 204);
  await eventOf(removed, 'subject-unlinked', 'auth');
  assert.equal((await unlink({ password: person.password })).status, 204); // a repeat
  assert.notEqual((await loginBy(name)).answer.json.id, person.id);

  const only = await staff();
  const { client } = await loginBy(only.name, { query: '?again=1' });
  const refused = await client.post('/account/oidc/unlink');
  assert.deepEqual([refused.status, refused.json.errors], [422, [{ field: 'issuer', message: refused.json.errors[0].message }]]);
  assert.equal(await subjectsOf(only.id), 1);
  const passkey = new Passkey(site.url);
  assert.equal((await passkey.add(client)).status, 201);
  const { id, user_handle: handle, ...signed } = passkey.get((await client.post('/account/passkeys/confirm')).json);
  assert.equal((await client.post('/account/oidc/unlink', { passkey: id, ...signed })).status, 204);
  assert.equal(await subjectsOf(only.id), 0);
});

test('only a login that the issuer asks for anew proves a user who has nothing else', async () => {
  const person = await staff();
  const jar = new Map();
  const proofs = async (client) => (await client.get('/account/oidc')).json.proofs.map(({ way }) => way);
  const plain = await loginBy(person.name, { jar });
  assert.deepEqual(await proofs(plain.client), []);
  const { answer } = await loginBy(person.name, { client: plain.client, query: '?again=1&next=/wallet', jar, html: true });
  assert.equal(answer.headers.get('location'), '/wallet');
  assert.deepEqual(await proofs(plain.client), ['session']);
  // as somebody else
  const other = await loginBy(unique('s'), { client: plain.client, query: '?again=1' });
  assert.deepEqual([other.answer.status, other.answer.json.type], [403, `${TYPE}subject-other`]);
});

// ---- orders to log out ----

const order = (token) => new Client().post('/login/oidc/backchannel', { logout_token: token });

test('the issuer ends all sessions of its user; a repeat ends none', async () => {
  const person = await staff();
  const again = await loginBy(person.name);
  const token = issuer.logoutToken(person.name, 'sid');
  const done = await order(token);
  assert.deepEqual([done.status, done.text, done.headers.get('cache-control')], [200, '', 'no-store']);
  assert.match(await eventOf(done, 'session-ended'), / which=issuer/);
  assert.equal((await person.client.get('/account')).status, 401);
  assert.equal((await again.client.get('/account')).status, 401);
  const later = await loginBy(person.name);
  assert.equal((await order(token)).status, 200);
  assert.equal((await later.client.get('/account')).status, 200);
  assert.equal((await order(issuer.logoutToken('nobody here'))).status, 200);
});

test('what is no order of the issuer ends nothing', async () => {
  const person = await staff();
  const tokens = ['', 'x', 'a.b.c', issuer.logoutToken(person.name, undefined, { aud: 'another' }), issuer.logoutToken(person.name, undefined, { nonce: 'x' }),
    issuer.logoutToken(person.name, undefined, { events: {} }), issuer.logoutToken(undefined, 'only a sid')];
  for (const token of tokens) {
    const answer = await order(token);
    assert.deepEqual([answer.status, answer.headers.get('cache-control')], [400, 'no-store'], token);
    assert.match(await eventOf(answer, 'issuer-refused'), / order=logout/);
  }
  assert.equal((await new Client().post('/login/oidc/backchannel')).status, 400);
  assert.equal((await person.client.get('/account')).status, 200);
});

// ---- an issuer that lies, is broken or away ----

const FAULTS = [
  ['wrong-key', 400, 'signature'], ['changed', 400, 'signature'], ['alg-none', 400, 'algorithm'], ['alg-confusion', 400, 'algorithm'],
  ['unknown-key', 400, 'key'], ['key-in-header', 400, 'signature'], ['crit', 400, 'critical'], ['logout-token', 400, 'type'],
  ['wrong-aud', 400, 'audience'], ['wrong-azp', 400, 'party'], ['wrong-iss', 400, 'issuer'], ['wrong-nonce', 400, 'nonce'],
  ['no-nonce', 400, 'nonce'], ['wrong-hash', 400, 'access-hash'], ['no-subject', 400, 'claims'], ['expired', 400, 'expired'],
  ['future', 400, 'future'], ['old', 400, 'stale'], ['huge-token', 503, 'size'], ['cut', 503, 'cut'], ['redirect', 503, 'redirect'],
  ['error', 503, 'unavailable'], ['garbage', 503, 'answer'], ['huge-answer', 503, 'size'], ['mix-up', 400, 'mix-up'],
  ['no-iss', 400, 'mix-up'], ['wrong-state', 400, 'state'], ['no-code', 400, 'no-code'], ['wrong-code', 400, 'code'],
  ['server-error', 503, 'unavailable'], ['used-code', 400, 'code'],
];

for (const [name, status, fault] of FAULTS)
  test(`${name}: a calm page, and an event`, async () => {
    const user = unique('s');
    for (const language of LANGUAGES) {
      issuer.misbehave(name);
      const client = new Client();
      const back = await throughIssuer(await client.getHtml('/login/oidc?next=/wallet'), user);
      const answer = await client.getHtml(back, { 'accept-language': language });
      issuer.misbehave(null);
      assert.equal(answer.status, status, answer.text);
      assert.match(answer.text, new RegExp(`<html lang="${language}`));
      assert.ok(answer.text.includes(words(language, 'issuer_begin')), answer.text);
      if (fault !== 'state') assert.ok(answer.text.includes('href="/login?next=/wallet"'), answer.text);
      assert.match(await eventOf(answer, 'issuer-refused'), new RegExp(` fault=${fault}$`));
      assert.equal(client.cookie('sid'), undefined);
      assert.equal(client.cookie('issuer'), undefined);
    }
    assert.equal((await loginBy(user)).answer.status, 200);
  });

test('who says no there comes back to a calm page', async () => {
  const { answer } = await loginBy(null, { query: '?next=/wallet', html: true });
  assert.equal(answer.status, 403);
  assert.match(await eventOf(answer, 'issuer-refused'), / fault=denied/);
});

test('a callback counts once, and in its own browser only', async () => {
  const [client, stranger] = [new Client(), new Client()];
  const back = await throughIssuer(await client.getHtml('/login/oidc'), unique('s'));
  assert.equal((await stranger.get(back)).json.type, `${TYPE}issuer-over`);
  assert.equal((await client.get(back)).status, 200);
  assert.equal((await client.get(back)).json.type, `${TYPE}issuer-over`);
});

test('an issuer that is away or never answers holds up nobody else', async () => {
  await useIssuer(issuer); // new processes know nothing of the issuer
  issuer.misbehave('slow', 'discovery');
  const sender = await newUser({ yuan: '10' });
  const packet = await sendPacket(sender, { amount: '2', count: '2', kind: 'even' });
  const takers = [await newUser(), await newUser()];
  const waiting = Array.from({ length: 4 }, () => new Client().getHtml('/login/oidc'));
  for (const { client } of takers) {
    const { status, text } = await client.post(`/p/${packet.json.id}/open`);
    assert.ok(status < 300, text);
  }
  assert.equal((await new Client().getHtml('/login')).status, 200);
  for (const answer of await Promise.all(waiting)) {
    assert.equal(answer.status, 503, answer.text);
    assert.match(await eventOf(answer, 'issuer-refused'), / fault=(slow|away)/);
  }
  issuer.misbehave(null);
  await issuer.stop();
  const away = await new Client().get('/login/oidc');
  assert.deepEqual([away.status, away.json.type], [503, `${TYPE}issuer-away`]);
  assert.ok(Number(away.headers.get('retry-after')) > 0);
  assert.equal((await order(issuer.logoutToken('ming'))).status, 503);
  await issuer.open();
  await useIssuer(issuer);
});

// ---- in a browser ----

testVisitors('from the link of a packet to the share in three taps', async (options) => {
  const sender = await newUser({ yuan: '10' });
  const packet = await sendPacket(sender, { amount: '2', count: '2', kind: 'even' });
  const name = unique('s');
  const page = await pageAt(browser, null, `/p/${packet.json.id}`, options);
  await page.click('a.coin'); // 1
  const button = page.getByRole('link', { name: NAME });
  assert.ok((await button.textContent()).includes(NAME));
  await button.click(); // 2
  await page.fill('input[name=login]', name); // at the issuer
  await page.click('button:not([name])');
  await page.waitForURL(`${site.url}/p/${packet.json.id}**`);
  await page.click('button.coin'); // 3
  await page.waitForSelector('.amount, .sum, [data-amount]');
  assert.equal(Number(await sql(`SELECT COUNT(*) FROM subject WHERE subject = '${name}'`)), 1);
});

testVisitors('an account is linked and unlinked on its page', async (options) => {
  const person = await newUser();
  const page = await pageAt(browser, person.client, '/account', options);
  await page.click('a[href="/account/oidc"]');
  await page.fill('input[name=password]', person.password);
  await page.click('form[action="/account/oidc/link"] button[type=submit]');
  await page.click('a[href="/login/oidc?link=1"]');
  await page.fill('input[name=login]', unique('s'));
  await page.click('button:not([name])');
  await page.waitForURL(`${site.url}/account/oidc?linked=1`);
  await page.fill('input[name=password]', person.password);
  await page.click('form[action="/account/oidc/unlink"] button[type=submit]');
  await page.waitForURL(`${site.url}/account/oidc?unlinked=1`);
  assert.equal(await subjectsOf(person.id), 0);
});

// ---- settings ----

test('people of other domains and groups are told whom to ask', async () => {
  const name = unique('s');
  const cases = [
    [{ HB_OIDC_DOMAINS: 'example.org' }, { email: 'x@example.net', email_verified: true }, 'domain'],
    [{ HB_OIDC_DOMAINS: 'example.org' }, { email: 'x@example.org', email_verified: false }, 'email'],
    [{ HB_OIDC_SCOPES: 'openid profile email groups', HB_OIDC_GROUPS: 'staff' }, { groups: ['guests'] }, 'group'],
  ];
  for (const [settings, claims, fault] of cases) {
    await useIssuer(issuer, settings);
    issuer.users.set(name, claims);
    const { answer } = await loginBy(name);
    assert.deepEqual([answer.status, answer.json.type], [403, `${TYPE}issuer-not-allowed`], answer.text);
    assert.match(await eventOf(answer, 'issuer-refused'), new RegExp(` fault=${fault}$`));
  }
  issuer.users.set(name, { groups: ['staff'] });
  assert.equal((await loginBy(name)).answer.status, 200);
});

test('without passwords the button comes first; people of the issuer come in although registration is closed', async () => {
  await useIssuer(issuer, { HB_PASSWORD_LOGIN: 'off', HB_REGISTRATION: 'closed' });
  const { text } = await new Client().getHtml('/login');
  assert.match(text, /href="\/login\/oidc"/);
  assert.doesNotMatch(text, /type="password"/);
  assert.ok(LANGUAGES.every((language) => !text.includes(words(language, 'registration_closed'))), text);
  assert.equal((await loginBy(unique('s'))).answer.status, 200);
});

test('a site without an issuer has neither button nor page', async () => {
  await useNoIssuer();
  assert.doesNotMatch((await new Client().getHtml('/login')).text, /login\/oidc/);
  const { client } = await newUser();
  assert.equal((await client.get('/account/oidc')).status, 404);
  assert.doesNotMatch((await client.getHtml('/account')).text, /account\/oidc/);
});
