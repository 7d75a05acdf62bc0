// What proves once more who somebody is, for every form that asks for it: the password, a passkey, or a new session of a
// user who has neither.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { Passkey } from './support/authenticator.js';
import { fileBrowser } from './support/browser.js';
import { sql } from './support/mysql.js';
import { redis } from './support/redis.js';
import { Client, newUser, site, unique } from './support/site.js';
import { words } from './support/texts.js';
import { clientPage, testVisitors } from './support/visits.js';
import { closeChannels, openChannel } from './support/withdrawals.js';

const browser = fileBrowser();
const FRESH_MS = 600_000;

before(async () => {
  await closeChannels();
  await openChannel(unique('bank-').slice(0, 20));
});
after(closeChannels);

const FORMS = [
  { path: '/account/password', page: '/account/password', done: 204, password: 'old_password', fields: () => ({ new_password: 'longer than that' }) },
  { path: '/account/tokens', page: '/account/developers', done: 201, fields: () => ({ name: 'bot', scopes: 'read', days: '1' }) },
  { path: '/account/recovery', page: '/account/recovery', done: 201, fields: () => ({}) },
  { path: '/account/passkeys/challenge', page: '/account/passkeys', done: 200, fields: () => ({}) },
  { path: '/wallet/withdraw', page: '/wallet/withdraw', done: 201, fields: () => ({ amount: '3', account: '6222', request_key: unique('k') }) },
  { path: '/account/delete', page: '/account/delete', done: 204, fields: ({ username }) => ({ username, give_up: '1' }) },
];

const takePassword = ({ id }) => sql(`UPDATE user SET password_hash = NULL WHERE id = ${id}`);

// The session began so long ago.
async function age({ client }, ms) {
  const key = `hb:session:${createHash('sha256').update(client.cookie('sid')).digest('hex')}`;
  const [version, user, began, seen, ...rest] = (await redis('GET', key)).split(',');
  await redis('SET', key, [version, user, began - ms, seen, ...rest].join(','), 'KEEPTTL');
}

async function withPasskey(person) {
  person.passkey = new Passkey(site.url);
  assert.equal((await person.passkey.add(person.client)).status, 201);
}

// A passkey's answer, as a form has it.
async function answerOf(person, passkey = person.passkey) {
  const { id, user_handle: handle, ...answer } = passkey.get((await person.client.post('/account/passkeys/confirm')).json);
  return { passkey: id, ...answer };
}

const nothing = () => ({});
const typed = (text) => (person, { password = 'password' }) => ({ [password]: text ?? person.password });
const STATES = [
  { name: 'a password', ways: 'password', make: (p) => age(p, FRESH_MS * 2), refuses: [[nothing, 'password'], [typed('a wrong one'), 'password']], takes: typed() },
  { name: 'a password in a new session', ways: 'password', make: nothing, refuses: [[nothing, 'password']], takes: typed() },
  {
    name: 'a password and a passkey',
    ways: 'password passkey',
    make: withPasskey,
    refuses: [[nothing, 'password'], [async (p) => ({ ...await answerOf(p), signature: 'AAAA' }), 'password']],
    takes: (p) => answerOf(p),
  },
  {
    name: 'a passkey alone',
    ways: 'passkey',
    make: async (p) => { await withPasskey(p); await takePassword(p); },
    refuses: [[nothing, 'passkey'], [typed(), 'passkey'], [async (p) => ({ ...await answerOf(p), signature: 'AAAA' }), 'passkey'], [(p) => answerOf(p, stranger.passkey), 'passkey']],
    takes: (p) => answerOf(p),
  },
  { name: 'neither, in a new session', ways: 'session', make: takePassword, refuses: [], takes: nothing },
  {
    name: 'neither, in a session that is not new',
    ways: '',
    make: async (p) => { await takePassword(p); await age(p, FRESH_MS); },
    refuses: [[nothing, 'session'], [typed(), 'session'], [(p) => answerOf(p, stranger.passkey), 'passkey']],
  },
];

let stranger;
for (const state of STATES)
  test(`every form takes what proves a user with ${state.name}, and nothing else`, async () => {
    stranger ??= await newUser();
    if (!stranger.passkey) await withPasskey(stranger);
    for (const form of FORMS) {
      const person = await newUser({ yuan: '10' });
      await state.make(person);
      const what = `${form.path}, ${state.name}`;
      const { proofs } = (await person.client.get(form.page)).json;
      assert.equal(proofs.map(({ way }) => way).join(' '), state.ways, what);
      const { text } = await person.client.getHtml(form.page);
      const shown = [/autocomplete="current-password"/.test(text), /data-confirm=/.test(text), /href="\/login\?next=[^"]*again=1"/.test(text), /<button type="submit" hidden disabled>/.test(text)];
      assert.deepEqual(shown, [/password/.test(state.ways), /passkey/.test(state.ways), state.ways === '', state.ways === ''], what);
      const send = async (given) => person.client.post(form.path, { ...form.fields(person), ...await given(person, form) });
      for (const [given, field] of state.refuses) {
        const { status, json } = await send(given);
        const expected = field === 'password' ? form.password ?? field : field;
        assert.deepEqual([status, json.errors?.map((error) => error.field)], [422, [expected]], what);
      }
      if (state.takes) assert.equal((await send(state.takes)).status, form.done, what);
    }
  });

test('a passkey proves one form, and a repeat of the deletion is answered as the first', async () => {
  const person = await newUser();
  await withPasskey(person);
  await takePassword(person);
  const answer = await answerOf(person);
  assert.equal((await person.client.post('/account/recovery', answer)).status, 201);
  const again = await person.client.post('/account/recovery', answer);
  assert.deepEqual([again.status, again.json.errors[0].field], [422, 'passkey']);
  const cookie = { cookie: `sid=${person.client.cookie('sid')}` };
  assert.equal((await person.client.post('/account/delete', { username: person.username, ...await answerOf(person) })).status, 204);
  assert.equal((await new Client().get('/account', cookie)).status, 401);
});

// The first password, by a person who has logged in a moment ago; then that person logs in again with it.
testVisitors('who has no password sets one, and logs in again first when the session is old', async (options) => {
  const person = await newUser();
  await takePassword(person);
  await age(person, FRESH_MS);
  const page = await clientPage(browser, person.client, options);
  await page.goto(`${site.url}/account/password`);
  assert.ok(await page.getByText(words(options.locale, 'proof_stale')).isVisible());
  assert.equal(await page.locator('form[action="/account/password"] [type=submit]').isVisible(), false);
  await page.getByRole('link', { name: words(options.locale, 'proof_again') }).click();
  assert.match(page.url(), /\/login\?next=\/account\/password&again=1$/);
  assert.ok(await page.getByText(words(options.locale, 'login_again')).isVisible());
  await age(person, -FRESH_MS); // as another way to log in does
  await page.goto(`${site.url}/account/password`);
  await page.fill('[name=new_password]', 'longer than that');
  await page.getByRole('button', { name: words(options.locale, 'password_set') }).click();
  await page.waitForURL(`${site.url}/account?password=1`);
  assert.equal((await new Client().post('/login', { username: person.username, password: 'longer than that' })).status, 200);
});
