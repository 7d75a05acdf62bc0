// People brought in by a file: made without a password, invited by login links, logged in once each; what the operator
// reads about them. With HB_TEST_PEOPLE=500 the import took 1 s and the logins 7 s, on two busy cores.
import assert from 'node:assert/strict';
import { statSync, writeFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileBrowser } from './support/browser.js';
import { allLogs } from './support/logs.js';
import { temporaryFolder } from './support/run.js';
import { audit, Client, newUser, pooled, site, unique } from './support/site.js';
import { words } from './support/texts.js';
import { clientPage, testVisitors } from './support/visits.js';

const PEOPLE = Number(process.env.HB_TEST_PEOPLE ?? 25);
const WIDTH = 16; // requests at the same time
const folder = temporaryFolder('people');
const browser = fileBrowser();

const user = (...args) => site.hongbao('user', ...args);
const refused = (...args) => user(...args).then(({ stdout }) => assert.fail(stdout), (error) => error);
const rowsOf = (text) => text.replace('\ufeff', '').trim().split('\r\n').slice(1).map((line) => line.split(','));

function file(text) {
  const path = join(folder, `${unique('people')}.csv`);
  writeFileSync(path, text);
  return path;
}

// Imports these people with links: [{ username, url }].
async function invited(people) {
  const path = file(`username,nickname\n${people.map(({ username, nickname }) => `${username},${nickname}\n`).join('')}`);
  const out = join(folder, `${unique('links')}.csv`);
  await user('import', path, '--links', out);
  return rowsOf(readFileSync(out, 'utf8')).map(([username, , url]) => ({ username, url }));
}

const pathOf = (url) => url.slice(new URL(url).origin.length);
const codeOf = (url) => new URL(url).searchParams.get('code');
const use = (url, client = new Client()) => client.post('/login/link', { code: codeOf(url) });

test(`${PEOPLE} people are imported, invited and logged in once each, and nobody is somebody else`, async (t) => {
  const prefix = unique('p');
  const people = Array.from({ length: PEOPLE }, (_, i) => ({ username: `${prefix}-${i}`, nickname: `人${i}` }));
  const path = file(`username,nickname\n${people.map(({ username, nickname }) => `${username},${nickname}\n`).join('')}`);
  const out = join(folder, 'links.csv');
  let began = Date.now();
  const checked = await user('import', path, '--check', '--links', out);
  assert.equal(checked.stdout, `${PEOPLE} rows; 0 were there before, 0 of them with another nickname; ${PEOPLE} to make; ${PEOPLE} login links to make\n`);
  const made = await user('import', path, '--links', out);
  assert.equal(made.stdout, `${PEOPLE} made; 0 were there before, 0 of them with another nickname; ${PEOPLE} login links\n`);
  assert.match(made.stderr, new RegExp(`event=operator action=import made=${PEOPLE} present=0 links=${PEOPLE} result=ok`));
  assert.equal(statSync(out).mode & 0o777, 0o600);
  t.diagnostic(`imported in ${Date.now() - began} ms`);
  began = Date.now();
  const links = rowsOf(readFileSync(out, 'utf8'));
  assert.equal(links.length, PEOPLE);
  const ids = new Set();
  await pooled(links, WIDTH, async ([username, , url]) => {
    assert.ok(url.startsWith(`${site.url}/login/link?code=`), url);
    const client = new Client();
    assert.equal((await client.getHtml(pathOf(url))).status, 200); // a chat's preview
    const answer = await use(url, client);
    assert.deepEqual([answer.status, answer.json.username], [200, username]);
    ids.add(answer.json.id);
    const wallet = await client.get('/wallet');
    assert.deepEqual([wallet.status, wallet.json.balance_fen], [200, 0]);
    assert.equal((await use(url)).status, 404);
  });
  assert.equal(ids.size, PEOPLE);
  t.diagnostic(`logged in after ${Date.now() - began} ms`);
  for (const { text } of await allLogs()) for (const [, , url] of links) assert.ok(!text.includes(codeOf(url)), 'no log has a link');
  const lines = (await allLogs()).map(({ text }) => text).join('');
  assert.match(lines, /event=login user_id=\d+ .* login_link=1\n/);
  assert.match(lines, /event=login-refused user_id=0 .* reason=link\n/);
  assert.equal((await user('import', path)).stdout, `0 made; ${PEOPLE} were there before, 0 of them with another nickname; 0 login links\n`);
  await audit();
});

test('a repeat is harmless, a file of links is never written over, and a mistake stops before anything is done', async () => {
  const username = unique('p');
  const path = file(`username,nickname\n${username},A\n`);
  const out = join(folder, 'once.csv');
  await user('import', path, '--links', out);
  const over = await refused('import', path, '--links', out);
  assert.equal(over.code, 2);
  assert.match(over.stderr, /once\.csv can't be made: File exists; nothing is changed/);
  const before = rowsOf(readFileSync(out, 'utf8'))[0][2];
  const again = join(folder, 'again.csv');
  await user('import', path, '--links', again);
  assert.equal((await use(before)).status, 404, 'the newer link counts');
  assert.equal((await use(rowsOf(readFileSync(again, 'utf8'))[0][2])).status, 200);
  const other = await user('import', file(`username,nickname\n${username},B\n`));
  assert.match(other.stderr, /^line 2: this user is there with another nickname, and stays so$/m);
  const late = unique('p');
  for (const [text, says] of [[`username,nickname\n${late},A\n${late},B\n`, /^line 3: the username stands in an earlier row, too\n.*1 of 2 rows are wrong; nothing is changed/s],
    [`username,nickname,subject\n${late},A,1\n`, /subject.*does not import.*nothing is changed/],
    [`username;nickname\n${late}\n`, /line 2: /], ['', /nothing is changed/]]) {
    const error = await refused('import', file(text));
    assert.equal(error.code, 2, error.stderr);
    assert.match(error.stderr, says);
  }
  assert.equal((await refused('show', late)).code, 1);
  for (const args of [['import'], ['import', path, '--days', '3'], ['import', path, '--links', 'x', '--days', '8'], ['login-link'],
    ['login-link', username, '--days', '0'], ['export', '--json']]) assert.equal((await refused(...args)).code, 2, args.join(' '));
});

test('of twenty posts of one link at once one gets a session', async () => {
  const username = unique('p');
  const [{ url }] = await invited([{ username, nickname: 'A' }]);
  const answers = await Promise.all(Array.from({ length: 20 }, () => use(url)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(19).fill(404)]);
  assert.match((await user('show', username)).stdout, /^sessions 1$/m);
});

test('a username of a deleted account belongs to nobody else', async () => {
  const gone = await newUser();
  const answer = await gone.client.post('/account/delete', { username: gone.username, password: gone.password, give_up: '1' });
  assert.ok(answer.status < 400, answer.text);
  const error = await refused('import', file(`username,nickname\n${gone.username},A\n`));
  assert.match(error.stderr, /line 2: the username belonged to a user who is deleted, and nobody else can have it/);
  assert.equal((await refused('login-link', `~${gone.id}`)).code, 1);
});

test('an operator gives one user a link; renaming and merging are refused with what works', async () => {
  const { username, id, password } = await newUser();
  const { stdout, stderr } = await user('login-link', username, '--days', '1');
  const [url, whose] = stdout.trim().split('\n');
  assert.match(whose, new RegExp(`^for ${username} \\(${id}\\) alone, once, until \\d{4}-`));
  assert.ok(!stderr.includes(codeOf(url)));
  assert.match((await user('show', username)).stdout, /^login link until \d{4}-/m);
  await user('login-link', username);
  assert.equal((await use(url)).status, 404);
  const next = (await user('login-link', `~${id}`)).stdout.split('\n')[0];
  await user('disable', username);
  assert.equal((await use(next)).status, 404);
  assert.equal((await refused('login-link', username)).code, 1);
  await user('enable', username);
  assert.equal((await new Client().post('/login', { username, password })).status, 200);
  for (const action of ['rename', 'merge']) {
    const error = await refused(action, username);
    assert.equal(error.code, 2);
    assert.match(error.stderr, { rename: /a username is for life/, merge: /can't become one/ }[action]);
  }
});

test('the list of users is for spreadsheets, too', async () => {
  const [made] = await invited([{ username: unique('p'), nickname: '=1+1' }]);
  const { id, username } = await newUser();
  const lines = (await user('export', '--csv')).stdout;
  assert.ok(lines.startsWith('\ufeffid,username,nickname,created,state,has_password,passkeys,login_link_until\r\n'));
  const rows = rowsOf(lines);
  const of = (name) => rows.find(([, found]) => found === name);
  assert.deepEqual([of(made.username)[2], ...of(made.username).slice(4, 7)], ["'=1+1", 'active', 'no', '0']);
  assert.match(of(made.username)[7], /^\d{4}-/);
  assert.deepEqual([of(username)[0], ...of(username).slice(4)], [String(id), 'active', 'yes', '0', '']);
  assert.match((await user('export')).stdout, new RegExp(`^id ${id}  username ${username}  active  registered \\S+  password yes  passkeys 0  nickname `, 'm'));
});

testVisitors('a link logs in, and a password is set next', async ({ locale: language, javaScriptEnabled }) => {
  const [{ username, url }] = await invited([{ username: unique('p'), nickname: '小明' }]);
  const page = await clientPage(browser, undefined, { locale: language, javaScriptEnabled });
  const text = (key) => words(language, key);
  const opened = await page.goto(url);
  assert.equal(opened.headers()['referrer-policy'], 'strict-origin');
  assert.equal(opened.headers()['cache-control'], 'no-store');
  await page.reload();
  await page.getByText(username).waitFor();
  await page.getByRole('button', { name: text('login_link_do'), exact: true }).click();
  await page.getByRole('heading', { name: text('login_linked'), exact: true }).waitFor();
  await page.getByRole('link', { name: text('password_set'), exact: true }).click();
  await page.waitForURL(`${site.url}/account/password`);
  await page.fill('[name=new_password]', 'a brand new password');
  await page.getByRole('button', { name: text('password_set'), exact: true }).click();
  await page.waitForURL(`${site.url}/account?password=1`);
  assert.equal((await new Client().post('/login', { username, password: 'a brand new password' })).status, 200);
  await page.context().clearCookies();
  const gone = await page.goto(url);
  assert.equal(gone.status(), 404);
  await page.getByRole('heading', { name: text('login_link_gone') }).waitFor();
});

test('the addresses that browsers, password managers and finders of faults look for', async () => {
  const client = new Client();
  const change = await client.getHtml('/.well-known/change-password');
  assert.deepEqual([change.status, change.headers.get('location')], [303, '/account/password']);
  const { status, headers, text } = await client.getHtml('/.well-known/security.txt');
  assert.deepEqual([status, headers.get('content-type')], [200, 'text/plain; charset=utf-8']);
  const expires = /^Contact: https:\/\/hongbao\.example\/security\nExpires: (\S+)\nPreferred-Languages: zh, en\n$/.exec(text);
  assert.ok(expires, text);
  const days = (Date.parse(expires[1]) - Date.now()) / 86400000;
  assert.ok(days > 100 && days < 366, expires[1]);
});
