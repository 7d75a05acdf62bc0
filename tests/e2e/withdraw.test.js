// A person asks to be paid outside, by form and by JSON: the money leaves the wallet at once, and the person sees what
// becomes of it, until the operator has posted or voided it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Passkey } from './support/authenticator.js';
import { fileBrowser } from './support/browser.js';
import { linesOf } from './support/logs.js';
import { sql } from './support/mysql.js';
import { audit, Client, newUser, site, unique } from './support/site.js';
import { LANGUAGES, words } from './support/texts.js';
import { testVisitors, clientPage } from './support/visits.js';
import { closeChannels, money, openChannel } from './support/withdrawals.js';

const [BANK, OTHER] = [unique('bank-').slice(0, 20), unique('other-').slice(0, 20)];
const HINT = '银行卡号 / IBAN';
const ACCOUNT = '6222 0000 1234 <b>';

const browser = fileBrowser();

before(closeChannels);
after(async () => {
  await closeChannels();
  await audit();
});

const balanceOf = async ({ client }) => (await client.get('/wallet')).json.balance_fen;
const fieldsFor = ({ password }, more = {}) => ({ amount: '3', account: ACCOUNT, password, request_key: unique('k'), ...more });
const ask = (person, more) => person.client.post('/wallet/withdraw', fieldsFor(person, more));
const idOf = async (transfer) => (await sql(`SELECT id FROM withdrawal WHERE hold_id = ${transfer}`)).trim();
const transferOf = async ({ client }, id) => (await client.get(`/wallet/transfers/${id}`)).json;
const errorsOf = ({ status, json }) => [status, ...(json.errors ?? []).map(({ field }) => field)];

// A withdrawal of 3 yuan; its transfer.
async function asked(person, more) {
  const { status, json, text } = await ask(person, more);
  assert.equal(status, 201, text);
  return json.id;
}

test('where no channel pays withdrawals there is no page and no button', async () => {
  const person = await newUser({ yuan: '10' });
  await openChannel(BANK);
  await closeChannels();
  assert.equal((await person.client.get('/wallet/withdraw')).status, 404);
  assert.equal((await ask(person)).status, 404);
  const wallet = await person.client.get('/wallet');
  assert.deepEqual([wallet.json.withdraws, wallet.json.pending, wallet.json.balance_fen], [false, [], 1000]);
  assert.doesNotMatch((await person.client.getHtml('/wallet')).text, /\/wallet\/withdraw/);
  await openChannel(BANK, '--note', '工商银行', '--withdraw-hint', HINT);
  assert.equal((await person.client.get('/wallet')).json.withdraws, true);
  assert.match((await person.client.getHtml('/wallet')).text, /href="\/wallet\/withdraw"/);
  assert.equal((await new Client().get('/wallet/withdraw')).status, 401);
});

testVisitors('a person withdraws by the form, and sees the payment under way, and paid', async (options) => {
  const person = await newUser({ yuan: '10' });
  const page = await clientPage(browser, person.client, options);
  await page.goto(`${site.url}/wallet`);
  await page.click('a[href="/wallet/withdraw"]');
  assert.match(await page.locator('#account_hint').innerText(), new RegExp(HINT));
  assert.equal(await page.locator('[name=channel]').count(), 0, 'with one channel there is no choice');
  await page.click('a.chip');
  await page.waitForFunction(() => document.querySelector('#amount').value === '10.00');
  await page.fill('#amount', '３．５');
  await page.fill('#account', ACCOUNT);
  await page.fill('#password', 'not my password');
  await page.click('form.card [type=submit]');
  assert.equal(await page.locator('#password_error').innerText(), words(options.locale, 'confirm_wrong'));
  assert.deepEqual([await page.inputValue('#amount'), await page.inputValue('#account')], ['３．５', ACCOUNT]);
  await page.fill('#password', person.password);
  await page.click('form.card [type=submit]');
  await page.waitForURL(/\/wallet\/transfers\/\d+$/);
  const text = () => page.locator('main').innerText();
  const says = async (...all) => {
    const shown = await text();
    for (const one of all) assert.ok(shown.includes(one), `${one} is not in ${shown}`);
  };
  await says(words(options.locale, 'withdraw_pending'), '3.50', ACCOUNT, '工商银行');
  assert.equal(await balanceOf(person), 650);
  const own = page.url();
  await page.goto(`${site.url}/wallet`);
  await says(words(options.locale, 'pending_title'), words(options.locale, 'withdraw_pending'));
  await page.click('section[aria-labelledby=pending_title] a');
  assert.equal(page.url(), own);
  const reference = unique('PAID-');
  await money('post', await idOf(own.split('/').pop()), '--reference', reference);
  await page.reload();
  await says(words(options.locale, 'withdraw_posted'), reference, words(options.locale, 'withdraw_posted_at'));
  await page.goto(`${site.url}/wallet`);
  assert.ok(!(await text()).includes(words(options.locale, 'pending_title')));
  await page.click(`ul.rows a[href="${new URL(own).pathname}"]`);
  assert.equal(page.url(), own);
});

test('a withdrawal by JSON is once for each key', async () => {
  const person = await newUser({ yuan: '10' });
  const fields = fieldsFor(person);
  const first = await person.client.post('/wallet/withdraw', fields);
  const { id, created_at: created, ...rest } = first.json;
  assert.deepEqual([first.status, rest], [201, { amount_fen: 300, balance_fen: 700, channel: BANK, account: ACCOUNT, state: 'pending' }]);
  assert.deepEqual((await person.client.post('/wallet/withdraw', fields)).json, first.json);
  const html = await person.client.postHtml('/wallet/withdraw', fields);
  assert.deepEqual([html.status, html.headers.get('location')], [303, `/wallet/transfers/${id}`]);
  for (const other of [{ amount: '4' }, { account: 'another' }]) {
    assert.deepEqual(errorsOf(await person.client.post('/wallet/withdraw', { ...fields, ...other })), [422, 'request_key']);
  }
  const { entries, pending } = (await person.client.get('/wallet')).json;
  assert.deepEqual(pending, [{ transfer: id, amount_fen: 300, channel: BANK, account: ACCOUNT, created_at: created }]);
  assert.deepEqual(entries[0], { kind: 'withdraw', amount_fen: -300, packet: null, transfer: id, channel: BANK, memo: '', state: 'pending', created_at: created });
  await asked(person, { amount: '7' });
  assert.deepEqual((await person.client.post('/wallet/withdraw', fields)).json, { ...first.json, balance_fen: 0 }, 'a repeat, also without money');
  const lines = (await linesOf(first, 'auth')).join('\n');
  assert.match(lines, new RegExp(`msg="security" event=withdrawal user_id=${person.id} .*transfer_id=${id}`));
});

test('a repeat is answered as the first request, whatever the operator has changed meanwhile', async () => {
  const person = await newUser({ yuan: '10' });
  const fields = fieldsFor(person);
  const first = await person.client.post('/wallet/withdraw', fields);
  assert.equal(first.status, 201, first.text);
  const repeat = (more) => person.client.post('/wallet/withdraw', { ...fields, ...more });
  const changes = [() => openChannel(BANK, '--withdraw-min', '5', '--withdraw-hint', 'IBAN'), () => openChannel(OTHER), closeChannels];
  for (const change of changes) {
    await change();
    for (const more of [{}, { channel: BANK }, { password: 'of before' }]) assert.deepEqual((await repeat(more)).json, first.json);
    const html = await person.client.postHtml('/wallet/withdraw', fields);
    assert.deepEqual([html.status, html.headers.get('location')], [303, `/wallet/transfers/${first.json.id}`]);
  }
  for (const more of [{ amount: '4' }, { channel: OTHER }, { request_key: unique('k') }]) assert.equal((await repeat(more)).status, 404);
  await openChannel(BANK, '--withdraw-min', '0.01', '--withdraw-hint', HINT);
  assert.deepEqual(errorsOf(await repeat({ amount: '4' })), [422, 'request_key']);
  assert.equal(await balanceOf(person), 700);
});

test('of two that come at once one moves the money, and one wallet pays once', async () => {
  const [person, poor] = [await newUser({ yuan: '10' }), await newUser({ yuan: '3' })];
  const fields = fieldsFor(person);
  const same = await Promise.all(Array.from({ length: 4 }, () => person.client.post('/wallet/withdraw', fields)));
  assert.deepEqual([...new Set(same.map(({ status, json }) => `${status} ${json.id}`))].length, 1);
  assert.equal(await balanceOf(person), 700);
  const two = await Promise.all([1, 2].map(() => ask(poor)));
  assert.deepEqual(two.map(({ status }) => status).sort(), [201, 422]);
  assert.equal(await balanceOf(poor), 0);
});

test('what is wrong is said beside its field, and nothing moves', async () => {
  const person = await newUser({ yuan: '10' });
  await openChannel(BANK, '--withdraw-min', '2');
  const cases = [[['amount'], { amount: '10.01' }], [['amount'], { amount: '0' }], [['amount'], { amount: '1.99' }],
    [['amount'], { amount: 'ten' }], [['amount'], { amount: '99999999' }], [['account'], { account: ' ' }],
    [['account'], { account: 'x'.repeat(101) }], [['password'], { password: '' }], [['password'], { password: 'not my password' }],
    [['channel'], { channel: 'no-such' }], [['request_key'], { request_key: 'no key' }], [['amount', 'account', 'password'], { amount: '', account: '', password: '' }]];
  for (const [fields, more] of cases) {
    const answer = await ask(person, more);
    assert.deepEqual(errorsOf(answer), [422, ...fields], JSON.stringify(more));
    const { text } = await person.client.postHtml('/wallet/withdraw', fieldsFor(person, more));
    for (const field of fields.filter((name) => !['request_key', 'channel'].includes(name))) assert.match(text, new RegExp(`id="${field}_error"`));
  }
  for (const language of LANGUAGES) {
    const { text } = await person.client.postHtml('/wallet/withdraw', fieldsFor(person, { amount: '1' }), { 'accept-language': language });
    assert.ok(text.includes(words(language, 'withdraw_min', '2.00')), text);
  }
  assert.equal(await balanceOf(person), 1000);
  await openChannel(BANK, '--withdraw-min', '0.01');
});

test('with several channels the person chooses one, and none is chosen for them', async () => {
  const person = await newUser({ yuan: '10' });
  await openChannel(OTHER, '--withdraw-min', '2');
  const { channels } = (await person.client.get('/wallet/withdraw')).json;
  assert.deepEqual(channels.map(({ name, withdraw_min_fen: least, hint }) => [name, least, hint]), [[BANK, 1, HINT], [OTHER, 200, '']]);
  assert.match((await person.client.getHtml('/wallet/withdraw')).text, new RegExp(`type="radio" name="channel" value="${OTHER}">`));
  assert.deepEqual(errorsOf(await ask(person)), [422, 'channel']);
  assert.deepEqual(errorsOf(await ask(person, { channel: OTHER, amount: '1' })), [422, 'amount']);
  assert.equal((await transferOf(person, await asked(person, { channel: OTHER }))).channel, OTHER);
  await money('channel', OTHER, '--withdrawals', 'off');
  const { text } = await person.client.postHtml('/wallet/withdraw', fieldsFor(person, { channel: OTHER }));
  assert.match(text, /<div class="field" id="channel" tabindex="-1">\n<p class="hint">[^\n]*工商银行/, 'the only one that is left is named');
  assert.ok(text.includes(`<p class="wrong">${words('zh-CN', 'withdraw_channel_closed')}`), text);
});

test('a withdrawal that is not paid comes back with the reason, and a post can be reversed', async () => {
  const person = await newUser({ yuan: '10' });
  const [voided, posted] = [await asked(person), await asked(person)];
  await money('void', await idOf(voided), '--reason', '账号不对 <i>');
  const hold = await transferOf(person, voided);
  assert.deepEqual([hold.state, hold.reason, hold.corrects], ['voided', '账号不对 <i>', null]);
  assert.ok(Date.parse(hold.ended_at) > 0);
  const back = await transferOf(person, hold.corrected_by);
  assert.deepEqual([back.kind, back.amount_fen, back.corrects, back.memo, back.channel], ['void', 300, voided, '账号不对 <i>', BANK]);
  const html = (await person.client.getHtml(`/wallet/transfers/${voided}`)).text;
  assert.ok(html.includes('账号不对 &lt;i&gt;') && html.includes(`href="/wallet/transfers/${back.id}"`), html);
  assert.equal(await balanceOf(person), 700);

  const reference = unique('P-');
  await money('post', await idOf(posted), '--reference', reference);
  const post = (await sql(`SELECT end_id FROM withdrawal WHERE hold_id = ${posted}`)).trim();
  assert.equal((await person.client.get(`/wallet/transfers/${post}`)).status, 404, 'the post is no transfer of the wallet');
  await money('reverse', post, '--reference', `${reference}-R`, '--memo', '银行退回');
  const paid = await transferOf(person, posted);
  assert.deepEqual([paid.state, paid.reference], ['posted', reference]);
  const reversal = await transferOf(person, paid.corrected_by);
  assert.deepEqual([reversal.kind, reversal.corrects, reversal.memo], ['reverse', posted, '银行退回']);
  assert.equal(await balanceOf(person), 1000);
});

test('a transfer is for its user alone, and every other number is answered alike', async () => {
  const [person, stranger] = [await newUser({ yuan: '10' }), await newUser({ yuan: '1' })];
  const id = await asked(person);
  const answers = [];
  for (const path of [`/wallet/transfers/${id}`, '/wallet/transfers/9999999', '/wallet/transfers/0', '/wallet/transfers/x', '/wallet/transfers/-1']) {
    const { status, json, headers } = await stranger.client.get(path);
    answers.push(JSON.stringify([status, { ...json, request_id: 0, instance: 0 }, headers.get('cache-control')]));
  }
  assert.deepEqual([...new Set(answers)].length, 1, answers.join('\n'));
  assert.match(answers[0], /^\[404,/);
  assert.equal((await new Client().get(`/wallet/transfers/${id}`)).status, 401);
  const own = await person.client.get(`/wallet/transfers/${id}`);
  assert.match(own.headers.get('cache-control'), /no-store/);
});

test('the other kinds of a statement have a page, too', async () => {
  const [person, friend] = [await newUser({ yuan: '10' }), await newUser()];
  const reference = unique('R-');
  await money('credit', person.username, '5', '--channel', BANK, '--reference', reference, '--memo', '奖金');
  const { id } = (await person.client.post('/send', { kind: 'exclusive', amount: '1', to: friend.username })).json;
  const { entries } = (await person.client.get('/wallet')).json;
  assert.deepEqual(entries.map(({ kind }) => kind), ['send', 'credit', 'deposit']);
  const [send, credit, deposit] = await Promise.all(entries.map(({ transfer }) => transferOf(person, transfer)));
  assert.deepEqual([send.kind, send.packet, send.amount_fen, deposit.kind, deposit.amount_fen], ['send', id, -100, 'deposit', 1000]);
  assert.deepEqual([credit.channel, credit.memo, credit.reference, credit.corrected_by], [BANK, '奖金', reference, null]);
  await money('reverse', String(credit.id), '--reference', `${reference}-R`);
  const corrected = await transferOf(person, credit.id);
  assert.equal((await transferOf(person, corrected.corrected_by)).corrects, credit.id);
  for (const { transfer } of entries) assert.equal((await person.client.getHtml(`/wallet/transfers/${transfer}`)).status, 200);
});

// The form with the answer of the passkey in place of the password.
async function withPasskey(person, passkey, { changes, ...more } = {}) {
  const begun = await person.client.post('/account/passkeys/confirm');
  assert.equal(begun.status, 200, begun.text);
  const { id, user_handle: handle, ...answer } = passkey.get(begun.json, changes);
  return { ...fieldsFor(person, more), password: '', passkey: id, ...answer };
}

test('a passkey stands for the password, once for each challenge, and only one’s own', async () => {
  const [person, stranger] = [await newUser({ yuan: '10' }), await newUser({ yuan: '10' })];
  const [own, foreign] = [new Passkey(site.url), new Passkey(site.url)];
  assert.equal((await own.add(person.client)).status, 201);
  assert.equal((await foreign.add(stranger.client)).status, 201);
  const { allow } = (await person.client.post('/account/passkeys/confirm')).json;
  assert.deepEqual(allow, [{ id: own.id.toString('base64url') }]);
  const fields = await withPasskey(person, own);
  const made = await person.client.post('/wallet/withdraw', fields);
  assert.deepEqual([made.status, made.json.amount_fen], [201, 300], made.text);
  const refused = async (given) => assert.deepEqual(errorsOf(await person.client.post('/wallet/withdraw', given)), [422, 'password']);
  await refused({ ...fields, request_key: unique('k') }); // its challenge is gone
  await refused(await withPasskey(person, foreign));
  await refused(await withPasskey(person, own, { changes: { client: { origin: 'https://elsewhere.example' } } }));
  await refused({ ...await withPasskey(person, own), signature: 'AAAA' });
  const login = own.get((await new Client().post('/login/passkey/challenge')).json);
  await refused({ ...fieldsFor(person), password: '', passkey: login.id, client_data: login.client_data, authenticator_data: login.authenticator_data, signature: login.signature });
  assert.equal(await balanceOf(person), 700);
  for (const [what, again] of [['as it was', fields], ['confirmed again', await withPasskey(person, own)]]) {
    const repeat = await person.client.post('/wallet/withdraw', { ...again, request_key: fields.request_key });
    assert.equal(repeat.json.id, made.json.id, what);
  }
});

test('a browser confirms the form with a passkey', async () => {
  const person = await newUser({ yuan: '10' });
  const page = await clientPage(browser, person.client, { locale: 'en' });
  const local = `http://localhost:${new URL(site.url).port}`;
  await page.context().addCookies([{ name: 'sid', value: person.client.cookie('sid'), url: local }]);
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  await session.send('WebAuthn.addVirtualAuthenticator', { options: { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true } });
  await page.goto(`${local}/wallet/withdraw`);
  assert.equal(await page.locator('[data-confirm]').count(), 0, 'a person without a passkey');
  await page.goto(`${local}/account/passkeys`);
  await page.fill('#password', person.password);
  await page.click('form[data-passkey] [type=submit]');
  await page.waitForURL(/passkey=added/);
  await page.goto(`${local}/wallet/withdraw`);
  await page.fill('#amount', '2');
  await page.fill('#account', ACCOUNT);
  await page.click('[data-confirm] button');
  await page.waitForURL(/\/wallet\/transfers\/\d+$/);
  assert.equal(await balanceOf(person), 800);
});

test('who is disabled or leaves can withdraw no more, and a token never can', async () => {
  const person = await newUser({ yuan: '10' });
  const { token } = (await person.client.post('/account/tokens', { name: 'bot', scopes: 'read send', days: '1', password: person.password })).json;
  const fields = fieldsFor(person);
  assert.equal((await new Client().post('/wallet/withdraw', fields, { authorization: `Bearer ${token}` })).status, 403);
  assert.equal((await new Client().get('/wallet/withdraw', { authorization: `Bearer ${token}` })).status, 403);
  await sql(`UPDATE user SET disabled_ms = 1 WHERE id = ${person.id}`);
  assert.ok((await person.client.post('/wallet/withdraw', fields)).status >= 400);
  await sql(`UPDATE user SET disabled_ms = NULL WHERE id = ${person.id}`);
  assert.equal(await sql(`SELECT balance_fen FROM account WHERE id = ${person.id}`), '1000\n');
});
