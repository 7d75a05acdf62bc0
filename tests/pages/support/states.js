// Every page in every state, and how to open it. One list for all tests of this folder:
//
//   const world = await buildWorld();                                    // world.js
//   const window = await new Window().open(browser);                           // windows.js
//   for (const state of states) await inTrouble(state.trouble, world, async () => {
//     const { page, response, html, problems } = await open(window, world, state, { locale: 'en' });
//     …
//   });
//   await world.end();
//
// A state is { name, path, as, status, post, type, elsewhere, before, act, trouble }:
//   as         the visitor, a name in the world; absent: a guest
//   status     expected status, 200 when absent
//   post       fields, or a text of content type `type`, that are posted like a form of this site
//   elsewhere  the form is on another website
//   before     runs before the page is requested
//   act        runs on the loaded page
//   trouble    a fault that is present meanwhile (troubles.js)
// path and post may be functions of the world.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Client, PASSWORD, pooled, site, unique } from '../../e2e/support/site.js';
import { LANGUAGES, words } from '../../e2e/support/texts.js';
import { landscape } from '../../e2e/support/upload.js';
import { topupPages } from './topups.js';
import { channelsOpen, COVERS, LONGEST } from './world.js';

export { buildWorld } from './world.js';
export { inTrouble } from './troubles.js';

const ELSEWHERE = 'http://elsewhere.example/';
const FORM = 'application/x-www-form-urlencoded';
const TRIES = 20; // logins before the limit refuses one
const RETRIES = 5; // after a 503 of a busy machine

const at = (name) => (w) => w[name];
const verify = (name) => (w) => `${w[name]}/verify`;
const receipt = (name) => (w) => `${w[name]}/receipt`;
const kind = (value) => (page) => page.check(`[name=kind][value=${value}]`, { force: true });
const linkPath = (w) => `/login/link?code=${w.linkCode}`;
const badAccount = { username: '-', nickname: 'n'.repeat(33), password: '1' };
const wrongLogin = { username: 'nobody', password: 'a wrong password' };
const badPacket = { kind: 'x', split: 'x', lifetime: 'x', cover: 'x', count: '0', amount: '1.234', greeting: 'n'.repeat(26), opens_at: '?', phrase: 'n'.repeat(21), note: 'n'.repeat(51) };
const toNobody = { kind: 'exclusive', amount: '1', to: 'nobody-here' };
const toSomeNobodies = { kind: 'lucky', amount: '1', count: '9', to: 'nobody-here nobody-there' };
const aCent = () => ({ kind: 'even', amount: '0.01', count: '1', request_key: unique('k') });
const tooMany = () => ({ kind: 'even', amount: '10.01', count: '1', request_key: unique('k') });
const smallShare = { kind: 'lucky', amount: '1', count: '10', share_min: '0.11' };
const tooMuch = { kind: 'lucky', amount: '500', count: '1', greeting: LONGEST.emoji, split: 'gaussian' };

async function typeTotal(page) {
  await kind('even')(page);
  await page.fill('[name=amount]', '１９９。９９');
  await page.fill('[name=count]', '100');
}

const token = { name: LONGEST.latin, days: '30', scope_read: '1', scope_send: '1', scope_open: '1', password: PASSWORD };

// REQUEST_PRESSED_MS of app/web/form.h, and a second.
const pressedLater = ({ sentAt }) => new Promise((resolve) => { setTimeout(resolve, Math.max(0, sentAt + 11_000 - Date.now())); });

// With JavaScript the picture is read before the button can be pressed.
async function choosePicture(page) {
  await page.setInputFiles('#picture', { name: 'tall.png', mimeType: 'image/png', buffer: landscape(0, { width: 300, height: 600 }) });
  await page.locator('form[data-picture] [type=submit]:enabled').waitFor();
}

const noPicture = '--B\r\nContent-Disposition: form-data; name="picture"; filename="a.txt"\r\n\r\nno picture\r\n--B--\r\n';

// A picture of 1 × 1 pixel would be a plain colour: this one has four.
async function ownPicture({ latin }) {
  const [head, foot] = ['--B\r\nContent-Disposition: form-data; name="picture"; filename="a.jpg"\r\n\r\n', '\r\n--B--\r\n'];
  const body = Buffer.concat([Buffer.from(head), readFileSync(new URL('../../support/pictures/turned.jpg', import.meta.url)), Buffer.from(foot)]);
  const headers = { accept: 'application/json', 'content-type': 'multipart/form-data; boundary=B' };
  assert.equal((await latin.request('/account/picture', { method: 'POST', body, headers })).status, 200);
}

// An open invitation, a used one and a revoked one; the page shows the open one large.
async function invitationsMade(w) {
  const make = async (note) => {
    const answer = await w.latin.post('/account/invitations', { note, request_key: `states-${note}` });
    assert.equal(answer.status, 201, answer.text);
    return answer.json;
  };
  const used = await make('Anna');
  if (used.state === 'open') await new Client().post('/register', { username: unique('u'), nickname: LONGEST.latin, password: PASSWORD, invitation: used.code });
  w.invitation = (await make('')).id;
}

// Three more devices, and one that was used before.
async function moreDevices({ latin }) {
  const { username, sessions } = (await latin.get('/account')).json;
  for (const agent of ['(iPhone) Safari/1', '(Linux; Android 14) Chrome/126.0', 'curl/8'].slice(sessions.length - 1)) {
    assert.equal((await new Client().post('/login', { username, password: PASSWORD }, { 'user-agent': agent })).status, 200);
  }
}

async function noTokens({ latin }) {
  for (const { id } of (await latin.get('/account')).json.tokens) await latin.post(`/account/tokens/${id}/delete`);
}

async function evenByTotal(page) {
  await kind('even')(page);
  await page.click('details:has([name=amount_of]) summary');
  await page.selectOption('[name=amount_of]', 'total');
}

// More logins than the limit allows, until the function that it returns is called.
function knockOften() {
  let over = false;
  const knockers = Array.from({ length: 20 }, async () => {
    while (!over) await new Client().post('/login');
  });
  return async () => {
    over = true;
    await Promise.all(knockers);
  };
}

const unfold = (selector) => (page) => page.click(`${selector} summary`);
const wrongPhrase = { phrase: LONGEST.phrase }; // costs one of ten tries
// Without JavaScript a face is a link to the form for its person.
async function choosePeople(page) {
  await page.click('.receivers summary');
  const faces = page.locator('.pick');
  if (await faces.first().getAttribute('role') !== 'button') return;
  for (let i = 0; i < await faces.count(); i += 1) await faces.nth(i).click();
}
async function proposePeople(page) {
  await page.click('.receivers summary');
  await page.locator('#to').pressSequentially((await page.locator('.pick bdi').first().textContent()).slice(0, 1));
}

// More wrong passphrases than a user may try.
const guess = (w) => pooled(Array.from({ length: 10 }), 1, () => w.wide.post(`${w.secret}/open`, { phrase: 'no' }));

// Shows the page as at an address with passkeys, after a passkey failed.
const withPasskeys = (key) => (page) => page.evaluate((texts) => {
  const form = document.querySelector('form[data-passkey]');
  form.hidden = false;
  form.querySelector('[role=alert]').textContent = texts[document.documentElement.lang];
}, Object.fromEntries(LANGUAGES.map((language) => [language, words(language, key)])));

// Without JavaScript the field shows no message before the form is sent.
async function typeCommon(page) {
  await page.fill('[name=username]', 'a name');
  await page.fill('[name=password]', '87654321');
}

// The same of a passkey in place of the password.
const confirmFailed = (page) => page.evaluate((texts) => {
  const part = document.querySelector('[data-confirm]');
  part.hidden = false;
  part.querySelector('[role=alert]').textContent = texts[document.documentElement.lang];
}, Object.fromEntries(LANGUAGES.map((language) => [language, words(language, 'proof_cancelled_or_password')])));

// The same of a passkey in place of a password.
const newFailed = (page) => page.evaluate((texts) => {
  const part = document.querySelector('[data-passkey-new]');
  part.hidden = false;
  part.querySelector('[role=alert]').textContent = texts[document.documentElement.lang];
}, Object.fromEntries(LANGUAGES.map((language) => [language, words(language, 'passkey_cancelled')])));

const account = [
  { name: 'welcome', path: '/' },
  { name: 'register', path: '/register' },
  { name: 'register, a passkey fails', path: '/register', act: newFailed },
  { name: 'register, told at the field', path: '/register', act: typeCommon },
  { name: 'register for a packet', path: (w) => `/register?next=${encodeURIComponent(w.open)}` },
  { name: 'register refused', path: '/register', post: badAccount, status: 422 },
  ...['/', '/login', '/login/recovery'].map((path) => ({ name: `${path} without passwords`, path, trouble: 'without passwords' })),
  { name: 'register without passwords', path: '/register', trouble: 'without passwords' },
  { name: 'account without passwords', as: 'wide', path: '/account', trouble: 'without passwords' },
  { name: 'login with an issuer', path: '/login', trouble: 'with an issuer' },
  { name: 'login with an issuer, for a packet', path: (w) => `/login?next=${encodeURIComponent(w.open)}`, trouble: 'with an issuer' },
  { name: 'login with an issuer, refused', path: '/login', post: wrongLogin, status: 422, trouble: 'with an issuer' },
  { name: 'register with an issuer', path: '/register', trouble: 'with an issuer' },
  { name: 'account with an issuer', as: 'wide', path: '/account', trouble: 'with an issuer' },
  { name: 'account with an issuer, linked', as: 'latin', path: '/account', trouble: 'with an issuer' },
  { name: 'issuer, not linked', as: 'wide', path: '/account/oidc', trouble: 'with an issuer' },
  { name: 'issuer, not linked, passkey alone', as: 'keyed', path: '/account/oidc?unlinked=1', trouble: 'with an issuer' },
  { name: 'issuer, not linked, old session', as: 'stale', path: '/account/oidc', trouble: 'with an issuer' },
  { name: 'issuer, wrong password', as: 'wide', path: '/account/oidc/link', post: { password: 'a wrong one' }, status: 422, trouble: 'with an issuer' },
  { name: 'issuer, may be linked', as: 'wide', path: '/account/oidc?permitted=1', trouble: 'with an issuer' },
  { name: 'issuer, linked', as: 'latin', path: '/account/oidc?linked=1', trouble: 'with an issuer' },
  { name: 'issuer, unlinking refused', as: 'latin', path: '/account/oidc/unlink', post: {}, status: 422, trouble: 'with an issuer' },
  { name: 'issuer, the only way', as: 'bare', path: '/account/oidc', trouble: 'with an issuer' },
  { name: 'issuer, the only way refused', as: 'bare', path: '/account/oidc/unlink', post: {}, status: 422, trouble: 'with an issuer' },
  { name: 'issuer away', path: '/login/oidc', status: 503, trouble: 'with an issuer' },
  { name: 'issuer, login over', path: '/login/oidc/callback?code=x&state=x', status: 400, trouble: 'with an issuer' },
  { name: 'issuer, none', as: 'wide', path: '/account/oidc', status: 404 },
  ...['/', '/login', '/register'].map((path) => ({ name: `${path} with an issuer alone`, path, trouble: 'an issuer alone' })),
  { name: 'login again with an issuer alone', path: '/login?next=/account/oidc&again=1', trouble: 'an issuer alone' },
  { name: 'packet with an issuer alone', path: at('open'), trouble: 'an issuer alone' },
  { name: 'welcome, registration closed', path: '/', trouble: 'registration closed' },
  { name: 'login, registration closed', path: '/login', trouble: 'registration closed' },
  { name: 'register, registration closed', path: (w) => `/register?next=${encodeURIComponent(w.open)}`, trouble: 'registration closed' },
  { name: 'register refused, registration closed', path: '/register', post: badAccount, status: 403, trouble: 'registration closed' },
  { name: 'packet, registration closed', path: at('open'), trouble: 'registration closed' },
  { name: 'login by invitation', path: '/login', trouble: 'by invitation' },
  { name: 'packet by invitation', path: at('open'), trouble: 'by invitation' },
  { name: 'register by invitation', path: '/register?invitation=7K3M-9QXT-2B8D-C4RZ', trouble: 'by invitation' },
  { name: 'register by invitation, for a packet', path: (w) => `/register?next=${encodeURIComponent(w.open)}`, trouble: 'by invitation' },
  { name: 'register by invitation, refused', path: '/register', post: { username: 'new-here', nickname: 'n', password: PASSWORD, invitation: '7K3M-9QXT-2B8D-C4RZ' }, status: 422, trouble: 'by invitation' },
  { name: 'register with terms', path: '/register', trouble: 'with terms' },
  { name: 'register with terms, refused', path: '/register', post: badAccount, status: 422, trouble: 'with terms' },
  { name: 'terms', as: 'wide', path: '/terms?next=%2Fwallet', trouble: 'with terms' },
  { name: 'terms, another version', as: 'wide', path: '/terms', post: { version: '2025' }, status: 422, trouble: 'with terms' },
  { name: 'invitations, none', as: 'fresh', path: '/account/invitations' },
  { name: 'invitations', as: 'latin', path: (w) => `/account/invitations?shown=${w.invitation}`, before: invitationsMade },
  { name: 'invitations, about to revoke one', as: 'latin', path: '/account/invitations?revoked=1', before: invitationsMade, act: unfold('main li details') },
  { name: 'invitations, refused', as: 'rtl', path: '/account/invitations', post: { note: 'n'.repeat(51) }, status: 422 },
  { name: 'login', path: '/login' },
  { name: 'login with passkeys', path: '/login', act: withPasskeys('passkey_refused_detail') },
  { name: 'login with next', path: (w) => `/login?next=${encodeURIComponent(w.open)}` },
  { name: 'login without cookies', path: '/login?cookie=1' },
  { name: 'login refused', path: '/login', post: { ...wrongLogin, next: '/wallet' }, status: 422 },
  { name: 'login link', path: linkPath },
  { name: 'login link, logged in as somebody else', as: 'wide', path: linkPath },
  { name: 'login link that is gone', path: '/login/link?code=nothing', status: 404 },
  { name: 'login link posted twice', path: '/login/link', post: { code: 'nothing' }, status: 404 },
  { name: 'logged in by a link', as: 'invited', path: '/login/link?done=1' },
  { name: 'logged in by a link, with a password', as: 'wide', path: '/login/link?done=1' },
  { name: 'login by recovery code', path: (w) => `/login/recovery?next=${encodeURIComponent(w.open)}` },
  { name: 'login by recovery code refused', path: '/login/recovery', post: { username: 'nobody', code: '0-0000-0000-0000-0000', new_password: '1', next: '/wallet' }, status: 422 },
  { name: 'login by a wrong recovery code', path: '/login/recovery', post: { username: 'nobody', code: '0-0000-0000-0000-0000' }, status: 422 },
  { name: 'home empty', as: 'fresh', path: '/' },
  { name: 'home', as: 'grabber', path: '/' },
  { name: 'home of a long name', as: 'latin', path: '/' },
  { name: 'home of a right-to-left name', as: 'rtl', path: '/' },
  { name: 'home with an inbox', as: 'sender', path: '/' },
  { name: 'home with packets that wait', as: 'wide', path: '/' },
  { name: 'wallet', as: 'sender', path: '/wallet' },
  { name: 'wallet and news', as: 'awaited', path: '/wallet' },
  { name: 'wallet rich', as: 'latin', path: '/wallet' },
  { name: 'wallet almost empty', as: 'fresh', path: '/wallet' },
  { name: 'wallet, topped up', as: 'sender', path: '/wallet?deposited=1' },
  { name: 'wallet, topped up before', as: 'sender', path: '/wallet?deposited=2' },
  { name: 'wallet refused', as: 'wide', path: '/wallet/deposit', post: { amount: '一百' }, status: 422 },
  { name: 'wallet with withdrawals', as: 'rtl', path: '/wallet' },
  { name: 'withdraw', as: 'rtl', path: '/wallet/withdraw', before: () => channelsOpen(1) },
  { name: 'withdraw refused', as: 'rtl', path: '/wallet/withdraw', post: { amount: '', account: ' ', password: '' }, status: 422, before: () => channelsOpen(1) },
  { name: 'withdraw refused, closed channel', as: 'rtl', path: '/wallet/withdraw', post: { amount: '1', account: '1', channel: 'closed', password: '' }, status: 422, before: () => channelsOpen(1) },
  { name: 'withdraw, with a passkey', as: 'wide', path: '/wallet/withdraw', before: () => channelsOpen(1), act: confirmFailed },
  { name: 'withdraw, several channels', as: 'rtl', path: '/wallet/withdraw?amount=1', before: () => channelsOpen(2) },
  { name: 'withdraw refused, several channels', as: 'rtl', path: '/wallet/withdraw', post: { amount: '1', account: LONGEST.latin.repeat(4), password: '' }, status: 422, before: () => channelsOpen(2) },
  ...['pending', 'posted', 'voided', 'reversed', 'void', 'reverse', 'credit', 'deposit']
    .map((name) => ({ name: `transfer, ${name}`, as: 'rtl', path: (w) => `/wallet/transfers/${w.withdrawn[name]}` })),
  { name: 'wallet with top-ups', as: 'wide', path: '/wallet', before: () => topupPages(1) },
  { name: 'top-up', as: 'wide', path: '/wallet/topup', before: () => topupPages(1) },
  { name: 'top-up, the first one', as: 'fresh', path: '/wallet/topup', before: () => topupPages(1) },
  { name: 'top-up, several channels', as: 'wide', path: '/wallet/topup?amount=5', before: () => topupPages(2) },
  { name: 'top-up refused', as: 'wide', path: '/wallet/topup', post: { amount: '0' }, status: 422, before: () => topupPages(1) },
  { name: 'top-up refused, several channels', as: 'fresh', path: '/wallet/topup', post: { amount: '1', channel: 'none' }, status: 422, before: () => topupPages(2) },
  { name: 'no top-up', as: 'wide', path: '/wallet/topup', status: 404, before: () => topupPages(0) },
  ...['waiting', 'paid', 'differing', 'expired', 'closed']
    .map((name) => ({ name: `top-up, ${name}`, as: 'wide', path: (w) => `/wallet/topup/${w.topups[name]}`, before: () => topupPages(1) })),
  { name: 'transfer, top-up', as: 'wide', path: (w) => `/wallet/transfers/${w.topups.transfer}` },
  { name: 'account', as: 'fresh', path: '/account' },
  { name: 'account, about to rename', as: 'latin', path: '/account', act: (page) => page.check('[name=face][value=tiger]', { force: true }) },
  { name: 'account, renamed', as: 'sender', path: '/account?saved=1' },
  { name: 'account, password changed', as: 'sender', path: '/account?password=1' },
  { name: 'account, nickname refused', as: 'rtl', path: '/account/nickname', post: { nickname: 'n'.repeat(33) }, status: 422 },
  { name: 'account, face refused', as: 'rtl', path: '/account/nickname', post: { nickname: 'n', face: 'unicorn' }, status: 422 },
  { name: 'account with a face', as: 'wide', path: '/account' },
  { name: 'account, picture refused', as: 'rtl', path: '/account/picture', post: noPicture, type: 'multipart/form-data; boundary=B', status: 422 },
  { name: 'account, own picture', as: 'latin', path: '/account?picture=set', before: ownPicture },
  { name: 'covers, none', as: 'fresh', path: '/covers' },
  { name: 'covers, two of one’s own', as: 'painter', path: '/covers?saved=1' },
  { name: 'covers, about to remove one', as: 'painter', path: '/covers?removed=1&next=%2Fsend%3Fkind%3Deven%26amount%3D1', act: unfold('main li') },
  { name: 'covers, a tall picture is chosen', as: 'painter', path: '/covers', act: choosePicture },
  { name: 'covers, refused', as: 'painter', path: '/covers', post: noPicture, type: 'multipart/form-data; boundary=B', status: 422 },
  { name: 'devices', as: 'sender', path: '/account/devices' },
  { name: 'devices, one logged out', as: 'latin', path: '/account/devices?ended=1', before: moreDevices },
  { name: 'devices, phone lost', as: 'latin', path: '/account/devices?lost=2', before: moreDevices },
  { name: 'devices, phone lost, all others logged out', as: 'fresh', path: '/account/devices?ended=2&lost=1' },
  { name: 'devices, none chosen', as: 'rtl', path: '/account/sessions/end', post: {}, status: 422 },
  { name: 'password', as: 'sender', path: '/account/password' },
  { name: 'password, phone lost', as: 'sender', path: '/account/password?lost=1' },
  { name: 'password refused', as: 'sender', path: '/account/password', post: { old_password: '', new_password: 'password' }, status: 422 },
  { name: 'recovery codes', as: 'fresh', path: '/account/recovery' },
  { name: 'first password, new session', as: 'bare', path: '/account/password' },
  { name: 'first password, old session', as: 'stale', path: '/account/password' },
  { name: 'first password, old session, refused', as: 'stale', path: '/account/password', post: { new_password: 'longer than that' }, status: 422 },
  { name: 'first password by passkey', as: 'keyed', path: '/account/password' },
  { name: 'first password by passkey, refused', as: 'keyed', path: '/account/password', post: { new_password: 'longer than that' }, status: 422 },
  { name: 'recovery codes by passkey', as: 'keyed', path: '/account/recovery' },
  { name: 'access token by passkey, refused', as: 'keyed', path: '/account/tokens', post: { name: 'bot', days: '3', scope_read: '1' }, status: 422 },
  { name: 'deletion by passkey, refused', as: 'keyed', path: '/account/delete', post: { username: 'x' }, status: 422 },
  { name: 'deletion, old session', as: 'stale', path: '/account/delete' },
  { name: 'passkeys, old session', as: 'stale', path: '/account/passkeys' },
  { name: 'passkeys after a recovery code', as: 'keyed', path: '/account/passkeys?passkey=recovered' },
  { name: 'log in again', as: 'stale', path: '/login?next=/account/password&again=1' },
  { name: 'recovery codes to replace', as: 'wide', path: '/account/recovery' },
  { name: 'recovery codes refused', as: 'wide', path: '/account/recovery', post: { password: 'a wrong one' }, status: 422 },
  { name: 'recovery codes made', as: 'latin', path: '/account/recovery', post: { password: PASSWORD } },
  { name: 'recovery codes shown before', as: 'wide', path: '/account/recovery?made=1' },
  { name: 'recovered, new password', as: 'wide', path: '/login/recovery?used=password&next=/wallet' },
  { name: 'recovered, no code left', as: 'fresh', path: '/login/recovery?used=password' },
  { name: 'delete the account', as: 'sender', path: '/account/delete' },
  { name: 'delete the account, refused', as: 'sender', path: '/account/delete', post: { username: 'x', password: '' }, status: 422 },
  { name: 'account deleted', path: '/account/deleted' },
  { name: 'developers', as: 'fresh', path: '/account/developers' },
  { name: 'developers with tokens', as: 'sender', path: '/account/developers' },
  { name: 'developers, a token made', as: 'latin', path: '/account/tokens', post: token, before: noTokens },
  { name: 'developers, a token shown before', as: 'latin', path: '/account/developers?made=1' },
  { name: 'developers, a token revoked', as: 'sender', path: '/account/developers?revoked=1' },
  { name: 'developers, about to revoke', as: 'sender', path: '/account/developers', act: (page) => page.click('li:has([action^="/account/tokens/"]) summary') },
  { name: 'developers, about to make a token', as: 'sender', path: '/account/developers', act: unfold('details.card:has([action="/account/tokens"])') },
  { name: 'developers refused', as: 'rtl', path: '/account/tokens', post: { name: 'n'.repeat(33), days: 'x' }, status: 422 },
  { name: 'passkeys', as: 'fresh', path: '/account/passkeys' },
  { name: 'passkeys, one added', as: 'wide', path: '/account/passkeys?passkey=added' },
  { name: 'passkeys, one removed', as: 'fresh', path: '/account/passkeys?passkey=removed' },
  { name: 'passkeys, phone lost', as: 'wide', path: '/account/passkeys?password=1&lost=2' },
  { name: 'passkeys, about to remove one', as: 'wide', path: '/account/passkeys', act: (page) => page.click('li details summary') },
  { name: 'passkeys, about to add one', as: 'wide', path: '/account/passkeys', act: withPasskeys('passkey_failed') },
  { name: 'passkey offered', as: 'fresh', path: (w) => `/account/passkeys?passkey=offer&next=${encodeURIComponent(w.open)}`, act: withPasskeys('passkey_cancelled') },
  { name: 'passkey offered, not at this address', as: 'fresh', path: '/account/passkeys?passkey=offer', act: unfold('details.card') },
];

const sending = [
  { name: 'send lucky', as: 'sender', path: '/send' },
  { name: 'send, topped up', as: 'sender', path: '/send?deposited=1' },
  { name: 'send, topped up before', as: 'sender', path: '/send?deposited=2' },
  { name: 'sent already', as: 'sender', path: '/send', post: (w) => w.sentForm, before: pressedLater },
  { name: 'sent already, other fields', as: 'sender', path: '/send', post: (w) => ({ ...w.sentForm, amount: '2' }), status: 422 },
  { name: 'send even', as: 'sender', path: '/send', act: kind('even') },
  { name: 'send even by total', as: 'sender', path: '/send', act: evenByTotal },
  { name: 'send exclusive', as: 'sender', path: '/send', act: kind('exclusive') },
  { name: 'send with a total', as: 'latin', path: '/send', act: typeTotal },
  { name: 'send to somebody', as: 'sender', path: '/send?to=somebody' },
  { name: 'send again', as: 'sender', path: (w) => `/send?again=${w.open.split('/').pop()}` },
  { name: 'send again with every option', as: 'sender', path: (w) => `/send?again=${w.everything.split('/').pop()}` },
  { name: 'send to people', as: 'sender', path: '/send', act: unfold('.receivers') },
  { name: 'send to people, chosen', as: 'sender', path: '/send', act: choosePeople },
  { name: 'send to people, proposed', as: 'sender', path: '/send', act: proposePeople },
  { name: 'send a gift back', as: 'grabber', path: (w) => `/send?back=${w.finished.split('/').pop()}` },
  { name: 'send more options', as: 'sender', path: '/send', act: (page) => page.click('details:has([name=lifetime]) summary') },
  { name: 'send with a cover', as: 'sender', path: '/send', act: (page) => page.check('[name=cover][value=wedding]', { force: true }) },
  { name: 'send with an own cover', as: 'painter', path: (w) => `/send?cover=${encodeURIComponent(w.cover)}` },
  { name: 'send with the cover of another one', as: 'sender', path: '/send', post: (w) => ({ ...aCent(), cover: w.cover }), status: 422 },
  { name: 'send refused', as: 'sender', path: '/send', post: badPacket, status: 422 },
  { name: 'send too much', as: 'sender', path: '/send', post: tooMuch, status: 422 },
  { name: 'send smallest share', as: 'sender', path: '/send', post: smallShare, status: 422 },
  { name: 'send to one, to be confirmed', as: 'sender', path: '/send', post: (w) => ({ kind: 'exclusive', amount: '52', to: w.wideName, greeting: LONGEST.emoji, confirmed: '' }) },
  { name: 'send to several, to be confirmed', as: 'rtl', path: '/send', post: (w) => ({ kind: 'even', amount: '0.01', to: `${w.wideName} ${w.latinName}`, confirmed: '' }) },
  { name: 'send to nobody', as: 'rtl', path: '/send', post: toNobody, status: 422 },
  { name: 'send to several nobodies', as: 'rtl', path: '/send', post: toSomeNobodies, status: 422 },
];

const packets = [
  { name: 'own untouched', as: 'sender', path: at('untouched') },
  { name: 'own open', as: 'sender', path: at('open') },
  { name: 'own cover, own packet', as: 'painter', path: at('ownCover') },
  { name: 'own cover, envelope', as: 'stranger', path: at('ownCover') },
  { name: 'own cover, result', as: 'gifted', path: at('ownCover') },
  { name: 'own cover, guest', path: at('ownCover') },
  { name: 'own cover, poster', as: 'painter', path: (w) => `${w.ownCover}/poster` },
  { name: 'own cover, screen', as: 'painter', path: (w) => `${w.ownCover}/screen` },
  { name: 'own cover, login', path: (w) => `/login?next=${encodeURIComponent(w.ownCover)}` },
  { name: 'own exclusive', as: 'sender', path: at('exclusive') },
  { name: 'own exclusive with emoji', as: 'latin', path: at('dear') },
  { name: 'own right to left', as: 'rtl', path: at('arabic') },
  { name: 'own finished', as: 'sender', path: at('finished') },
  { name: 'own single finished', as: 'sender', path: at('single') },
  { name: 'own expired', as: 'sender', path: at('expired') },
  { name: 'own ended', as: 'sender', path: at('ended') },
  { name: 'own open, about to end', as: 'sender', path: at('untouched'), act: unfold('[data-while=end]') },
  { name: 'own exclusive expired', as: 'sender', path: at('missed') },
  { name: 'own hundred', as: 'latin', path: at('hundred') },
  { name: 'envelope logged out', path: at('open') },
  { name: 'envelope', as: 'stranger', path: at('open') },
  { name: 'envelope even', as: 'stranger', path: at('untouched') },
  { name: 'envelope with a cover', as: 'stranger', path: at('covered') },
  { name: 'own with a cover', as: 'sender', path: at('covered') },
  { name: 'result with a cover', as: 'grabber', path: at('covered') },
  ...COVERS.map((cover) => ({ name: `envelope with the cover ${cover}`, as: 'stranger', path: (w) => w.covers[cover] })),
  { name: 'envelope right to left', as: 'stranger', path: at('arabic') },
  { name: 'envelope exclusive logged out', path: at('exclusive') },
  { name: 'envelope exclusive mine', as: 'wide', path: at('exclusive') },
  { name: 'envelope exclusive with emoji', as: 'wide', path: at('dear') },
  { name: 'envelope exclusive not mine', as: 'stranger', path: at('exclusive') },
  { name: 'envelope exclusive expired', as: 'wide', path: at('missed') },
  { name: 'own waiting', as: 'sender', path: at('waiting') },
  { name: 'envelope waiting logged out', path: at('waiting') },
  { name: 'envelope waiting', as: 'stranger', path: at('waiting') },
  { name: 'own ended before its opening', as: 'sender', path: at('endedWaiting') },
  { name: 'ended before its opening', as: 'stranger', path: at('endedWaiting') },
  { name: 'own waiting, about to end', as: 'sender', path: at('waiting'), act: unfold('[data-while=end]') },
  { name: 'own with every option', as: 'sender', path: at('everything') },
  { name: 'envelope with every option', as: 'wide', path: at('everything') },
  { name: 'own even by total', as: 'sender', path: at('thirds') },
  { name: 'own for several', as: 'sender', path: at('several') },
  { name: 'envelope for several', as: 'wide', path: at('several') },
  { name: 'envelope for several logged out', path: at('several') },
  { name: 'envelope for several others', as: 'stranger', path: at('several') },
  { name: 'own with a phrase', as: 'sender', path: at('secret') },
  { name: 'envelope with a phrase', as: 'stranger', path: at('secret') },
  { name: 'phrase missing', as: 'stranger', path: (w) => `${w.secret}/open`, post: {}, status: 422 },
  { name: 'phrase too long', as: 'rtl', path: (w) => `${w.secret}/open`, post: { phrase: LONGEST.wide }, status: 422 },
  { name: 'phrase wrong', as: 'rtl', path: (w) => `${w.secret}/open`, post: wrongPhrase, status: 422 },
  { name: 'own phrase wrong', as: 'sender', path: (w) => `${w.secret}/open`, post: wrongPhrase, status: 422 },
  { name: 'phrase tried out', as: 'wide', path: (w) => `${w.secret}/open`, post: { phrase: '?' }, status: 429, before: guess },
  { name: 'sold out logged out', path: at('finished') },
  { name: 'sold out', as: 'stranger', path: at('finished') },
  { name: 'sold out hundred', as: 'stranger', path: at('hundred') },
  { name: 'sold out, the second half', as: 'stranger', path: (w) => `${w.hundred}?after=50` },
  { name: 'too late logged out', path: at('expired') },
  { name: 'ended', as: 'stranger', path: at('ended') },
  { name: 'end refused', as: 'stranger', path: (w) => `${w.open}/end`, post: {}, status: 403 },
  { name: 'too late', as: 'stranger', path: at('expired') },
  { name: 'result of a deleted sender', as: 'grabber', path: at('ofDeleted') },
  { name: 'result', as: 'wide', path: at('open') },
  { name: 'result finished', as: 'grabber', path: at('finished') },
  { name: 'result expired', as: 'grabber', path: at('expired') },
  { name: 'result of a hundred', as: 'rtl', path: at('hundred') },
  { name: 'result, about to give it back', as: 'wide', path: at('open'), act: unfold('[data-while=return]') },
  { name: 'result, about to give it to the sender', as: 'wide', path: at('oneEach'), act: unfold('[data-while=return]') },
  { name: 'result given back', as: 'grabber', path: at('returned') },
  { name: 'result beside a share given back', as: 'wide', path: at('returned') },
  { name: 'envelope of a share given back', as: 'stranger', path: at('returned') },
  { name: 'own with a share given back', as: 'sender', path: at('returned') },
  { name: 'result given back after the end', as: 'grabber', path: at('returnedEnded') },
  { name: 'result beside a share given back after the end', as: 'wide', path: at('returnedEnded') },
  { name: 'ended, with a share given back', as: 'stranger', path: at('returnedEnded') },
  { name: 'own ended, with a share given back', as: 'sender', path: at('returnedEnded') },
  { name: 'return refused', as: 'stranger', path: (w) => `${w.open}/return`, post: {}, status: 404 },
  { name: 'screen logged out', path: (w) => `${w.covered}/screen` },
  { name: 'screen', path: (w) => w.screens.covered },
  { name: 'screen open', path: (w) => w.screens.open },
  { name: 'screen with a wrong key', path: (w) => `${w.open}/screen?key=0`, status: 404 },
  { name: 'screen waiting', path: (w) => w.screens.waiting },
  { name: 'screen right to left', path: (w) => w.screens.arabic },
  { name: 'screen finished', path: (w) => w.screens.finished },
  { name: 'screen of a hundred', path: (w) => w.screens.hundred },
  { name: 'screen ended', path: (w) => w.screens.ended },
  { name: 'screen expired', as: 'sender', path: (w) => `${w.expired}/screen` },
  { name: 'screen taken by nobody', path: (w) => w.screens.endedWaiting },
  { name: 'screen with a passphrase', path: (w) => w.screens.secret },
  { name: 'calendar after the end', path: (w) => `${w.endedWaiting}/calendar.ics`, status: 410 },
  { name: 'screen starting', path: (w) => w.screens.untouched },
  { name: 'poster', as: 'sender', path: (w) => `${w.waiting}/poster` },
  { name: 'poster of an open packet', as: 'sender', path: (w) => `${w.covered}/poster` },
  { name: 'poster of the longest', as: 'rtl', path: (w) => `${w.poster}/poster` },
  { name: 'poster of another', as: 'grabber', path: (w) => `${w.waiting}/poster`, status: 404 },
  { name: 'outcome unknown', as: 'stranger', path: (w) => `${w.lost}/open`, post: {}, status: 503, trouble: 'grabs unconfirmed' },
  { name: 'order', as: 'sender', path: (w) => `/orders/${w.order}` },
  { name: 'order not found', as: 'grabber', path: (w) => `/orders/${w.order}`, status: 404 },
  { name: 'verify open', as: 'sender', path: verify('open') },
  { name: 'verify logged out', path: verify('finished') },
  { name: 'verify finished', as: 'grabber', path: verify('finished') },
  { name: 'verify expired', as: 'grabber', path: verify('expired') },
  { name: 'verify for others, open', as: 'stranger', path: verify('exclusive') },
  { name: 'verify for others', as: 'stranger', path: verify('missed') },
  { name: 'verify for others, logged out', path: verify('missed') },
  { name: 'verify hundred', as: 'grabber', path: verify('hundred') },
  { name: 'verify a smallest share', as: 'grabber', path: verify('floored') },
  { name: 'verify a share given back', as: 'grabber', path: verify('returnedEnded') },
  { name: 'thanks refused', as: 'grabber', path: (w) => `${w.finished}/thanks`, post: { text: '谢'.repeat(26) }, status: 422 },
  { name: 'receipt', as: 'grabber', path: receipt('finished') },
  { name: 'receipt of a long name', as: 'rtl', path: receipt('hundred') },
  { name: 'receipt given back', as: 'grabber', path: receipt('returned'), status: 404 },
  { name: 'receipt of another', as: 'stranger', path: receipt('finished'), status: 404 },
];

async function laterPage(page) {
  const next = page.locator('a[rel=next]');
  if (await next.count() === 0) return;
  await next.click();
  await page.waitForSelector('a[rel=first]');
}

async function pickPerson(page) {
  await page.click('.filters summary');
  await page.click('.filters .chip');
  await page.waitForSelector('.chip.gone');
  await page.click('.filters summary');
}

const thisYear = new Date().getFullYear();
const records = ['received', 'sent'].flatMap((list) => {
  const path = `/records/${list}`;
  return [
    { name: `${list} empty`, as: 'fresh', path },
    { name: `${list} full`, as: list === 'sent' ? 'sender' : 'grabber', path },
    { name: `${list} full with months`, as: 'sender', path, act: (page) => page.click('.card:has(.bars) summary') },
    { name: `${list} later page`, as: list === 'sent' ? 'sender' : 'grabber', path, act: laterPage },
    { name: `${list} empty year`, as: 'sender', path: `${path}?year=2020` },
    { name: `${list} filtered`, as: list === 'sent' ? 'sender' : 'grabber', path: `${path}?kind=lucky&year=${thisYear}&min=0.01` },
    { name: `${list} filtered, nothing`, as: 'sender', path: `${path}?q=${encodeURIComponent(LONGEST.emoji)}&max=0.01` },
    { name: `${list} filtered by days`, as: list === 'sent' ? 'sender' : 'grabber', path: `${path}?from=${thisYear}-01-01` },
    { name: `${list} with long texts`, as: list === 'sent' ? 'latin' : 'rtl', path },
  ];
});
records.push( // both lists have the filter
  { name: 'received filter open', as: 'sender', path: '/records/received', act: (page) => page.click('.filters summary') },
  { name: 'received filter refused', as: 'sender', path: '/records/received?kind=x&state=x&person=-&from=x&to=2026-02-30&min=x&max=0', status: 422 },
  { name: 'sent person chosen', as: 'sender', path: '/records/sent', act: pickPerson },
  { name: 'sent person unknown', as: 'sender', path: `/records/sent?person=${encodeURIComponent('没有这个人')}`, status: 422 },
);

async function seePicture(page) {
  await page.click('.share summary');
  await page.waitForFunction(() => document.querySelector('.share img').naturalWidth > 0);
}

const stories = [
  { name: 'story', as: 'sender', path: '/records/story' },
  { name: 'story of a receiver', as: 'grabber', path: '/records/story' },
  { name: 'story with long names', as: 'rtl', path: '/records/story' },
  { name: 'story, picture shown', as: 'sender', path: '/records/story', act: seePicture },
  { name: 'story, amounts in the picture', as: 'sender', path: '/records/story', act: (page) => page.check('[name=amounts]') },
  { name: 'story of an empty year', as: 'sender', path: '/records/story?year=2020' },
  { name: 'story of nobody yet', as: 'fresh', path: '/records/story' },
];

const problems = [
  { name: 'not found', path: '/nothing', status: 404 },
  { name: 'packet not found', as: 'sender', path: '/p/00000000000000000000000000', status: 404 },
  { name: 'bad request', as: 'sender', path: '/records/sent?before=x', status: 400 },
  { name: 'cross-origin', as: 'sender', path: '/send', post: { kind: 'even' }, elsewhere: true, status: 403 },
  { name: 'method', as: 'sender', path: '/', post: {}, status: 405 },
  { name: 'media type', as: 'sender', path: '/send', post: 'kind=even', type: 'text/plain', status: 415 },
  { name: 'nginx too large', as: 'sender', path: '/send', post: 'a'.repeat(20_000), status: 413 },
  { name: 'nginx too many', path: '/login', post: {}, status: 429, trouble: 'logins limited', beside: knockOften },
  { name: 'too many', as: 'sender', path: '/send', post: aCent, status: 429, trouble: 'sends limited' },
  { name: 'nginx busy', as: 'sender', path: '/wallet', status: 503, trouble: 'page pool stopped' },
  { name: 'nginx unknown', as: 'sender', path: '/send', post: aCent, status: 503, trouble: 'answers lost' },
  { name: 'busy', as: 'sender', path: '/wallet', status: 503, trouble: 'mariadb stopped' },
  { name: 'busy packet', as: 'sender', path: at('open'), status: 503, trouble: 'redis stopped' },
  { name: 'busy opening', as: 'stranger', path: (w) => `${w.open}/open`, post: {}, status: 503, trouble: 'unsettled' },
  { name: 'envelope busy', as: 'stranger', path: at('unloaded'), trouble: 'unsettled' },
  { name: 'result on its way', as: 'grabber', path: at('settling'), trouble: 'unsettled' },
  { name: 'internal', as: 'grabber', path: (w) => `${w.damaged.path}/verify`, status: 500, trouble: 'corrupt' },
];

// What the operator allows in a day, and no sending at all.
const allowed = [
  { name: 'send, nothing left today', as: 'sender', path: '/send', trouble: 'capped' },
  { name: 'send refused, nothing left today', as: 'sender', path: '/send', post: aCent, status: 422, trouble: 'capped' },
  { name: 'send, little left today', as: 'fresh', path: '/send', trouble: 'capped' },
  { name: 'send, more than is left today', as: 'fresh', path: '/send', act: typeTotal, trouble: 'capped' },
  { name: 'send refused, more than is left today', as: 'rtl', path: '/send', post: tooMany, status: 422, trouble: 'capped' },
  { name: 'home, little left today', as: 'fresh', path: '/', trouble: 'capped' },
  { name: 'wallet, received enough', as: 'grabber', path: '/wallet', trouble: 'capped' },
  { name: 'received enough', as: 'grabber', path: (w) => `${w.untouched}/open`, post: {}, status: 403, trouble: 'capped' },
  { name: 'received enough, exclusive', as: 'wide', path: (w) => `${w.exclusive}/open`, post: {}, status: 403, trouble: 'capped' },
  { name: 'home, sending paused', as: 'grabber', path: '/', trouble: 'sending paused' },
  { name: 'home empty, sending paused', as: 'fresh', path: '/', trouble: 'sending paused' },
  { name: 'send, paused', as: 'sender', path: '/send', trouble: 'sending paused' },
  { name: 'send refused, paused', as: 'sender', path: '/send', post: aCent, status: 403, trouble: 'sending paused' },
  { name: 'own finished, sending paused', as: 'sender', path: at('finished'), trouble: 'sending paused' },
  { name: 'result, sending paused', as: 'grabber', path: at('finished'), trouble: 'sending paused' },
];

export const states = [...account, ...sending, ...packets, ...records, ...stories, ...problems, ...allowed];

const valueOf = (value, world) => (typeof value === 'function' ? value(world) : value);

export const urlOf = (state, world) => site.url + valueOf(state.path, world);

const escaped = (text) => text.replace(/[&"<]/g, (c) => `&#${c.charCodeAt(0)};`);

// Posts the fields by a form of another website. Returns the response.
async function postFromElsewhere(page, url, fields) {
  const inputs = Object.entries(fields).map(([name, value]) => `<input name="${name}" value="${escaped(value)}">`);
  const body = `<form method="post" action="${url}">${inputs.join('')}<button>Win</button></form>`;
  await page.route(ELSEWHERE, (route) => route.fulfill({ contentType: 'text/html', body }));
  await page.goto(ELSEWHERE);
  const [response] = await Promise.all([page.waitForNavigation(), page.click('button')]);
  return response;
}

async function arrive(page, url, state, world) {
  const body = valueOf(state.post, world);
  if (state.elsewhere) return postFromElsewhere(page, url, body);
  if (body !== undefined) {
    const postData = typeof body === 'string' ? body : new URLSearchParams(body).toString();
    await page.route(url, async (route) => {
      const headers = { ...await route.request().allHeaders(), origin: site.url, 'content-type': state.type ?? FORM };
      await route.continue({ method: 'POST', headers, postData });
    }, { times: 1 });
  }
  return page.goto(url);
}

// Opens the state in the window, with a look as Window.enter has it. Returns { page, response, html (as sent), problems:
// errors in the console, except the one about the answer's own status }.
export async function open(window, world, state, look) {
  const { page } = window;
  assert.ok(!state.as || world[state.as], `${state.name}: ${state.as} is nobody`);
  await window.enter(world[state.as], look);
  let url; // it may name what `before` has made
  const status = state.status ?? 200;
  const problems = [];
  page.on('console', (message) => {
    const text = message.text();
    const urls = [url, url.replace(/\/open$/, '')]; // a page that does not know the outcome looks at the packet's
    const isAnswer = status >= 400 && urls.includes(message.location().url) && text.includes(`status of ${status}`);
    if (message.type() === 'error' && !isAnswer) problems.push(text);
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  const repeated = state.before || state.beside;
  let response;
  let html;
  for (let i = 0; i < (repeated ? TRIES : RETRIES); i += 1) {
    problems.length = 0;
    await state.before?.(world);
    url = urlOf(state, world);
    const stop = state.beside?.(world);
    response = await arrive(page, url, state, world);
    html = await response.text(); // at once: the browser keeps it only for a while
    await stop?.();
    if (response.status() === status || !(repeated || response.status() === 503)) break;
  }
  assert.equal(response.status(), status, `${state.name}: ${url}`);
  await state.act?.(page);
  return { page, response, html, problems };
}
