// Who may register, as people and operators see it: by invitation, closed, without passwords, with terms.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { launch } from './support/browser.js';
import { sentPath } from './support/packets.js';
import { Client, PASSWORD, clientPage, newUser, site, unique } from './support/site.js';
import { sql } from './support/mysql.js';
import { words } from './support/texts.js';

const POOLS = ['hot', 'page', 'auth'];
const INVITE = { HB_REGISTRATION: 'invite', HB_USER_INVITATIONS_MAX: '3' };
const problem = (answer) => answer.json.type.replace('urn:hongbao:problem:', '');
const invitation = (...args) => site.hongbao('invitation', ...args);
const register = (fields, client = new Client()) => client.post('/register', { username: unique('u'), nickname: 'Ming', password: PASSWORD, ...fields });
const errorsOf = (answer) => answer.json.errors.map(({ field }) => field);
const linkCode = (link) => new URL(link).searchParams.get('invitation');

async function invited(...args) {
  const { stdout } = await invitation('create', ...args);
  return stdout.trim().split('\n');
}

// Each text once, by the site's language.
const says = (answer, ...keys) => {
  for (const key of keys) assert.ok(answer.text.includes(words('zh-CN', key)), `${key}: ${answer.text.slice(0, 3000)}`);
};

let sender; // a user of before
let packet; // an open packet
let browser;

before(async () => {
  sender = await newUser({ yuan: '100' });
  packet = await sentPath(sender, { kind: 'lucky', amount: '10', count: '5', lifetime: '7d', request_key: unique('k') });
  await site.startAnew(POOLS, INVITE);
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await site.startAnew(POOLS);
});

test('an operator makes invitations: links, a table and a sheet, which are files of root alone and never overwritten', async () => {
  const [link, second] = await invited('--count', '2', '--days', '3', '--note', 'party');
  assert.match(link, /\/register\?invitation=[0-9A-Z]{4}(-[0-9A-Z]{4}){3}$/);
  assert.notEqual(link, second);
  const [csv, html] = ['csv', 'html'].map((kind) => join(tmpdir(), `${unique('door')}.${kind}`));
  const made = await invitation('create', '--count', '3', '--csv', csv, '--html', html, '--language', 'en');
  assert.equal(made.stdout, '');
  assert.match(made.stderr, /3 made, valid for 14 days/);
  const rows = readFileSync(csv, 'utf8').trim().split('\r\n');
  assert.equal(rows[0].replace('\uFEFF', ''), 'id,state,note,made_by,created_at,expires_at,used_at,used_by,code,url');
  assert.equal(rows.length, 4);
  const sheet = readFileSync(html, 'utf8');
  assert.equal(sheet.match(/<svg /g).length, 3);
  assert.ok(rows.slice(1).every((row) => sheet.includes(row.split(',').at(-2))), 'the sheet has the codes of the table');
  assert.ok(sheet.includes(words('en', 'invitation_scan')) && !/(src|href)=/.test(sheet), 'it needs no other file');
  for (const file of [csv, html]) assert.equal(statSync(file).mode & 0o777, 0o600, file);
  const again = await invitation('create', '--csv', csv).catch((error) => error);
  assert.match(again.stderr, /File exists/);
  for (const file of [csv, html]) rmSync(file);
  assert.equal((await register({ invitation: linkCode(link) })).status, 201);
  const { invitations } = JSON.parse((await invitation('list', '--json')).stdout);
  const one = invitations.find(({ note, state }) => note === 'party' && state === 'used');
  assert.ok(one.author.length > 0 && one.used_by.startsWith('u') && one.used_at !== null, JSON.stringify(one));
  assert.match((await invitation('list', '--open', '--csv', '--codes')).stdout, new RegExp(linkCode(second)));
  assert.equal((await invitation('revoke', '--note', 'party')).stdout, '1 revoked\n');
  assert.deepEqual(errorsOf(await register({ invitation: linkCode(second) })), ['invitation']);
});

test('what the command can not do it says, and does nothing', async () => {
  const missing = join(tmpdir(), unique('none'), 'x.csv');
  const wrong = [
    [[], 2, /usage:/], [['fly'], 2, /fly is no command/], [['create', '--count', '0'], 2, /--count is a number from 1 to 5000/],
    [['create', '--count'], 2, /--count is a number/], [['create', '--days', '366'], 2, /--days is a number from 1 to 365/],
    [['create', '--note', ''], 2, /--note is a text/], [['create', '--language', 'fr'], 2, /--language is zh-CN or en/],
    [['create', 'Anna'], 2, /Anna is one word too many/], [['create', '--csv', missing], 1, /No such file/],
    [['list', '--all'], 2, /--all is one word too many/], [['revoke'], 2, /which one/], [['revoke', 'x'], 2, /x is no number/],
    [['revoke', '999999999'], 1, /there is no invitation 999999999/],
  ];
  const count = () => sql('SELECT COUNT(*) FROM invitation');
  const before = await count();
  for (const [args, code, message] of wrong) {
    const failed = await invitation(...args).catch((error) => error);
    assert.equal(failed.code, code, `${args}: ${failed.stderr}`);
    assert.match(failed.stderr, message, String(args));
  }
  assert.equal(await count(), before);
  assert.ok(!existsSync(missing));
});

test('a packet leads to the login first, and says that it is no invitation; who has one opens the packet in the end', async () => {
  const guest = new Client();
  const shown = await guest.getHtml(packet);
  says(shown, 'register_invited');
  assert.match(shown.text, new RegExp(`class="button wide" href="/login\\?next=${packet}"`));
  says(await guest.getHtml(`/register?next=${packet}`), 'invitation_code');
  const [link] = await invited();
  const page = await browser.newPage();
  await page.goto(`${site.url}/login?next=${packet}`);
  await page.click('p.more a[href^="/register"]');
  assert.ok((await page.textContent('#invitation_hint')).includes(words('zh-CN', 'invitation_not_packet').replaceAll('<wbr>', '')));
  await page.fill('#nickname', '小明');
  await page.fill('#password', PASSWORD);
  await page.fill('#invitation', '7K3M-9QXT-2B8D-C4RZ');
  await page.click('form button.wide');
  assert.ok((await page.textContent('#invitation_error')).length > 0);
  assert.equal(await page.inputValue('#nickname'), '小明');
  await page.fill('#invitation', link); // the whole link is pasted
  await page.fill('#password', PASSWORD);
  await page.click('form button.wide');
  await page.waitForURL((url) => url.pathname === packet);
  await page.close();
});

test('a user invites a friend with and without JavaScript, sees who came, and takes back what nobody used', async () => {
  for (const javaScript of [true, false]) {
    const host = await newUser();
    const page = await clientPage(browser, host.client, { javaScriptEnabled: javaScript });
    await page.goto(`${site.url}/account`);
    await page.click('a[href="/account/invitations"]');
    await page.fill('#note', 'Anna');
    await page.click('form[action="/account/invitations"] button');
    const link = await page.inputValue('#invitation_url');
    assert.equal(await page.locator('[role=img] svg').count(), 1);
    const friend = new Client();
    assert.equal((await friend.getHtml(link.slice(site.url.length))).text.includes(`value="${linkCode(link)}"`), true);
    assert.equal((await register({ invitation: linkCode(link), nickname: 'Anna W' })).status, 201);
    await page.goto(`${site.url}/account/invitations`);
    assert.match(await page.textContent('ul.rows'), /Anna W/);
    await page.click('form[action="/account/invitations"] button');
    const unused = await page.inputValue('#invitation_url');
    await page.click('ul.rows summary');
    await page.click('form[action$="/revoke"] button');
    await page.waitForURL(/revoked=1/);
    assert.deepEqual(errorsOf(await register({ invitation: linkCode(unused) })), ['invitation']);
    await page.context().close();
  }
});

test('of fifty who register with one code at once, one is a user', async () => {
  const [link] = await invited();
  const answers = await Promise.all(Array.from({ length: 50 }, () => register({ invitation: linkCode(link) })));
  const statuses = answers.map(({ status }) => status).filter((status) => status !== 429 && status !== 503);
  assert.equal(statuses.filter((status) => status === 201).length, 1, String(statuses));
  assert.ok(statuses.every((status) => status === 201 || status === 422), String(statuses));
  assert.equal((await sql(`SELECT COUNT(*) FROM invitation WHERE id = (SELECT MAX(id) FROM invitation) AND used_by IS NOT NULL`)).trim(), '1');
});

test('closed: pages and JSON say so and lead to the login, and an invitation lets nobody in', async () => {
  const [link] = await invited();
  await site.startAnew(POOLS, { HB_REGISTRATION: 'closed' });
  const guest = new Client();
  for (const path of ['/', packet, '/login', `/register?next=${packet}`]) {
    const shown = await guest.getHtml(path);
    assert.equal(shown.status, 200, path);
    assert.doesNotMatch(shown.text, /href="\/register/, path);
  }
  says(await guest.getHtml('/register'), 'registration_closed', 'registration_closed_detail');
  const refused = await register({ invitation: linkCode(link) });
  assert.deepEqual([refused.status, problem(refused)], [403, 'registration-closed']);
  says(await guest.postHtml('/register', {}), 'registration_closed');
  assert.equal((await new Client().post('/login', { username: sender.username, password: PASSWORD })).status, 200);
  assert.match((await invitation('create')).stderr, /3 made|1 made/);
});

test('without passwords the login has none, and forms with one are refused', async () => {
  await site.startAnew(POOLS, { HB_PASSWORD_LOGIN: 'off' });
  const guest = new Client();
  for (const path of ['/login', '/register', '/login/recovery']) {
    const shown = await guest.getHtml(path);
    assert.equal(shown.status, 200, path);
    assert.doesNotMatch(shown.text, /type="password"/, path);
  }
  assert.match((await guest.getHtml('/login')).text, /data-passkey/);
  for (const answer of [await register({}), await guest.post('/login', { username: sender.username, password: PASSWORD })]) {
    assert.deepEqual([answer.status, problem(answer)], [403, 'password-login-off']);
  }
  assert.doesNotMatch((await sender.client.getHtml('/account')).text, /href="\/account\/password/);
  const { client, username } = sender;
  await site.startAnew(POOLS);
  const { code } = (await client.post('/account/recovery', { password: PASSWORD })).json.codes[0];
  await site.startAnew(POOLS, { HB_PASSWORD_LOGIN: 'off' });
  assert.equal((await new Client().post('/login/recovery', { username, code })).status, 200, 'a recovery code logs in');
});

test('terms are accepted once for each version: to register, at a login, on the home page; the export tells when', async () => {
  const terms = (version) => ({ HB_TERMS_URL: 'https://example.com/terms', HB_TERMS_VERSION: version });
  await site.startAnew(POOLS, terms('1'));
  assert.deepEqual(errorsOf(await register({})), ['terms']);
  const client = new Client();
  const username = unique('u');
  assert.equal((await register({ username, terms: '1' }, client)).status, 201);
  assert.equal((await client.getHtml('/')).status, 200);
  await site.startAnew(POOLS, terms('2'));
  assert.equal((await client.getHtml('/')).headers.get('location'), '/terms');
  assert.equal((await client.getHtml('/wallet')).status, 200, 'nothing else waits');
  const login = await new Client().postHtml('/login', { username, password: PASSWORD, next: '/wallet' });
  assert.match(login.headers.get('location'), /^\/login\?cookie=1&next=\/terms%3Fnext%3D%2Fwallet|terms/);
  const page = await client.getHtml('/terms?next=/wallet');
  says(page, 'terms_ask', 'terms_agree');
  assert.equal((await client.postHtml('/terms', { version: '1' })).status, 422);
  assert.equal((await client.postHtml('/terms', { version: '2', next: '/wallet' })).headers.get('location'), '/wallet');
  assert.equal((await client.getHtml('/')).status, 200);
  const exported = (await client.get('/account/export')).json.terms;
  assert.deepEqual(exported.map(({ version }) => version), ['1', '2']);
  assert.ok(exported.every(({ accepted_at }) => Date.parse(accepted_at) > 0));
});
