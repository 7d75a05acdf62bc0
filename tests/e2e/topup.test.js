// Top-ups: a user orders, pays on the page of a channel, and comes back. The page is the example of docs/how-to/topup.md.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { freePort } from '../support/port.js';
import { fileBrowser } from './support/browser.js';
import { blocksOf } from './support/how_to_blocks.js';
import { env, tried } from './support/instance.js';
import { sql } from './support/mysql.js';
import { run, temporaryFolder } from './support/run.js';
import { Client, audit, newUser, poll, site, unique } from './support/site.js';
import { words } from './support/texts.js';
import { clientPage, testVisitors } from './support/visits.js';

const PAGE = new URL('../../docs/how-to/topup.md', import.meta.url);
const FOLDER = temporaryFolder('topup');
const NAMES = ['order', 'amount', 'currency', 'return', 'expires'];
const browser = fileBrowser();
let key;
let token;
let pageUrl;
let program;

// Top-ups by other tests' channels would be offered, too.
const noPages = () => sql("UPDATE channel SET topup_url = ''");

before(async () => {
  await noPages();
  const port = await freePort();
  pageUrl = `http://127.0.0.1:${port}/?shop=1`;
  const [commands] = Object.values(blocksOf('topup.md', import.meta.url));
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', commands.join('\n')],
    { cwd: FOLDER, env: { ...process.env, HB_CONFIG: env.HB_TEST_CONFIG, PAGE: pageUrl, PATH: `${folderOfHongbao()}:${process.env.PATH}` } });
  [, key] = /^key of its page, secret: ([0-9a-f]{64})$/m.exec(stdout);
  [token] = /hbs_[\w-]{43}/.exec(stdout);
  const file = join(FOLDER, 'cards.mjs');
  writeFileSync(file, /^```js\n([\s\S]*?)^```$/m.exec(readFileSync(PAGE, 'utf8'))[1]);
  program = spawn(process.execPath, [file], { stdio: 'inherit', env: { ...process.env, TOPUP_KEY: key, SERVICE_TOKEN: token, SITE: site.url, PORT: String(port) } });
  await poll('the page of the channel answers', () => fetch(pageUrl).then(({ status }) => status === 403, () => false));
});
after(async () => {
  program?.kill();
  await noPages();
  await audit();
});

function folderOfHongbao() {
  writeFileSync(join(FOLDER, 'hongbao'), `#!/bin/sh\nexec '${env.HB_TEST_BINARY}' "$@"\n`, { mode: 0o755 });
  return FOLDER;
}

const balance = async ({ client }) => (await client.get('/wallet')).json.balance_fen;
const shown = async ({ client }, id) => (await client.get(`/wallet/topup/${id}`)).json;

async function ordered({ client }, amount = '88') {
  const made = await client.post('/wallet/topup', { amount, channel: 'cards', request_key: unique('k') });
  assert.equal(made.status, 201, made.text);
  return made.json;
}

const paid = (id, fields, text = token) => new Client().post(`/money/topups/${id}/paid`, fields, { authorization: `Bearer ${text}` });

async function service(scopes, channel) {
  const { stdout } = await site.hongbao('service', 'add', unique('s').slice(0, 20), '--scopes', scopes, '--channel', channel);
  return stdout.trim();
}

testVisitors('the whole walk: the wallet, the order, the page of the channel, and back', async ({ locale, ...options }) => {
  const user = await newUser();
  const page = await clientPage(browser, user.client, { locale, ...options });
  const by = (name) => page.getByRole('link', { name: words(locale, name), exact: true });
  await page.goto(`${site.url}/wallet`);
  await page.locator('main a[href="/wallet/topup"]').first().click();
  await page.fill('#amount', '12.34');
  await page.getByRole('button', { name: words(locale, 'topup_next') }).click();
  await page.waitForURL(/\/wallet\/topup\/\d+$/);
  assert.equal(await page.locator('h2').first().textContent(), words(locale, 'topup_waits'));
  const orderUrl = page.url();
  await by('topup_look').click(); // nothing was paid yet
  assert.equal(page.url(), orderUrl);
  await by('topup_pay').click();
  await page.waitForURL(/shop=1/);
  assert.equal(await page.locator('h1').textContent(), '12.34 CNY');
  await page.getByRole('button').click();
  await page.waitForURL(orderUrl);
  assert.equal(await page.locator('h2').first().textContent(), words(locale, 'topup_paid'));
  assert.equal(await balance(user), 1234);
  await page.goto(`${site.url}/wallet`);
  assert.match(await page.locator('main').textContent(), /\+12\.34/);
});

test('another amount is credited as paid, and shown beside the order', async () => {
  const user = await newUser();
  const page = await clientPage(browser, user.client, { locale: 'en' });
  const order = await ordered(user, '50');
  await page.goto(order.pay_url);
  await page.fill('[name=amount]', '40');
  await page.getByRole('button').click();
  await page.waitForURL(`${site.url}/wallet/topup/${order.id}`);
  assert.match(await page.locator('main').textContent(), /You ordered ¥50\.00\. The payment was ¥40\.00/);
  assert.equal(await balance(user), 4000);
});

test('the link is signed: as the documents say, and with every part of it', async () => {
  const order = await ordered(await newUser());
  const url = new URL(order.pay_url);
  const query = url.searchParams;
  assert.deepEqual([...query.keys()], ['shop', ...NAMES, 'signature']);
  assert.deepEqual(NAMES.slice(0, 4).map((name) => query.get(name)), [String(order.id), '88.00', 'CNY', `${site.url}/wallet/topup/${order.id}`]);
  assert.equal(Number(query.get('expires')), Math.floor(Date.parse(order.expires_at) / 1000));
  const message = ['hongbao-topup-v1', ...NAMES.map((name) => query.get(name))].join('\n');
  assert.equal(createHmac('sha256', key).update(message).digest('hex'), query.get('signature'));
  assert.equal((await fetch(url)).status, 200);
  for (const name of [...NAMES, 'signature']) {
    const changed = new URL(url);
    changed.searchParams.set(name, `${query.get(name)}0`);
    assert.equal((await fetch(changed)).status, 403, name);
  }
});

test('the vector of the documents', () => {
  const text = readFileSync(PAGE, 'utf8');
  const [, digits] = /the key `([0-9a-f]{64})`/.exec(text);
  const [, signature] = /the signature `([0-9a-f]{64})`/.exec(text);
  const message = /(?:^ {4}.*\n){6}/m.exec(text)[0].trimEnd().split('\n').map((line) => line.slice(4)).join('\n');
  assert.equal(createHmac('sha256', digits).update(message).digest('hex'), signature);
});

test('a payment counts once for its reference: before the user returns, repeated, at once, and a second one', async () => {
  const user = await newUser();
  const { id } = await ordered(user);
  const [first, second] = [unique('p'), unique('p')];
  const answers = await Promise.all(Array.from({ length: 20 }, () => paid(id, { reference: first, amount: '88.00' })));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [...Array(19).fill(200), 201], JSON.stringify(answers.map(({ text }) => text)));
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
  assert.deepEqual(answers[0].json, { id: answers[0].json.id, order: id, reference: first, amount_fen: 8800, ordered_fen: 8800, username: user.username });
  assert.equal(await balance(user), 8800);
  assert.equal((await paid(id, { reference: second, amount: '5' })).status, 201);
  assert.equal((await paid(id, { reference: second, amount: '5.00' })).status, 200);
  assert.equal(await balance(user), 9300);
  const { state, paid_fen: fen, pay_url: url, payments } = await shown(user, id);
  assert.deepEqual([state, fen, url, payments.map(({ reference }) => reference)], ['paid', 9300, null, [first, second]]);
});

test('a late payment counts', async () => {
  const user = await newUser();
  const { id } = await ordered(user);
  await sql(`UPDATE topup SET created_ms = 1, expires_ms = 2 WHERE id = ${id}`);
  assert.equal((await shown(user, id)).state, 'expired');
  assert.equal((await paid(id, { reference: unique('p'), amount: '88' })).status, 201);
  assert.deepEqual([(await shown(user, id)).state, await balance(user)], ['paid', 8800]);
});

test('what is refused changes nothing', async () => {
  const [user, leaver] = [await newUser(), await newUser()];
  const [{ id }, { id: left }] = [await ordered(user), await ordered(leaver)];
  const other = unique('c').slice(0, 20);
  await site.hongbao('money', 'channel', other);
  const [foreign, reader] = [await service('topup', other), await service('read credit', 'cards')];
  const used = unique('p');
  assert.equal((await paid(id, { reference: used, amount: '1' })).status, 201);
  const gone = await leaver.client.post('/account/delete', { username: leaver.username, password: leaver.password });
  assert.ok(gone.status < 300, gone.text);
  const fields = { reference: unique('p'), amount: '88' };
  const refused = [
    [409, 'reference-used', id, { reference: used, amount: '2' }],
    [409, 'reference-used', left, { reference: used, amount: '1' }],
    [409, 'user-deleted', left, fields],
    [404, 'not-found', 999_999_999, fields],
    [404, 'not-found', 'x', fields],
    [404, 'not-found', id, fields, foreign],
    [403, 'insufficient-scope', id, fields, reader],
    [401, 'unauthorized', id, fields, `hbs_${'A'.repeat(43)}`],
    [422, 'invalid-form', id, {}],
    [422, 'invalid-form', id, { ...fields, amount: '0' }],
    [422, 'invalid-form', id, { ...fields, amount: '1.234' }],
    [422, 'invalid-form', id, { ...fields, amount: '-5' }],
    [422, 'invalid-form', id, { ...fields, reference: 'a\nb' }],
    [422, 'invalid-form', id, { ...fields, reference: 'x'.repeat(65) }],
  ];
  for (const [status, type, order, form, text] of refused) {
    const answer = await paid(order, form, text);
    assert.equal(answer.status, status, `${type}: ${answer.text}`);
    assert.match(answer.json.type, new RegExp(`${type}$`), answer.text);
  }
  assert.equal(await balance(user), 100);
  assert.equal(await sql(`SELECT COUNT(*) FROM topup_payment WHERE topup_id = ${left}`).then((text) => text.trim()), '0');
});

test('an operator lists what waits and says what was paid', async () => {
  const user = await newUser();
  const [first, second] = [await ordered(user, '20'), await ordered(user, '30')];
  const { stdout: csv } = await site.hongbao('money', 'topups', '--csv');
  assert.match(csv, new RegExp(`^${first.id},2\\d{3}-\\S+,2\\d{3}-\\S+,${user.username},cards,20\\.00,CNY\\r?$`, 'm'));
  const { topups } = JSON.parse((await site.hongbao('money', 'topups', '--json')).stdout);
  assert.equal(topups.find(({ id }) => id === second.id).amount_fen, 3000);
  assert.match((await site.hongbao('money', 'topups')).stdout, new RegExp(`^order ${first.id} {2}.* {2}20\\.00 {2}channel cards$`, 'm'));
  const reference = unique('p');
  const args = ['money', 'paid', String(first.id), '--reference', reference];
  const made = JSON.parse((await site.hongbao(...args, '--json')).stdout);
  assert.deepEqual(made, { id: made.id, order: first.id, username: user.username, ordered_fen: 2000, amount_fen: 2000, channel: 'cards', reference, repeated: false });
  assert.match((await site.hongbao(...args)).stdout, /was so before$/m);
  assert.match((await site.hongbao('money', 'paid', String(second.id), '--reference', unique('p'), '--amount', '29.5')).stdout, /29\.50 .* ordered 30\.00$/m);
  assert.equal(await balance(user), 4950);
  const refused = [
    [1, /belongs to another transfer/, 'paid', String(second.id), '--reference', reference],
    [1, /there is no order 999999999/, 'paid', '999999999', '--reference', unique('p')],
    [2, /is no number/, 'paid', 'x', '--reference', reference],
    [2, /the amount is 0/, 'paid', String(second.id), '--reference', reference, '--amount', '0'],
    [2, /a reference has 1 to 64/, 'paid', String(second.id), '--reference', ''],
    [2, /must begin with https/, 'channel', 'cards', '--topup-url', 'http://pay.example/'],
    [2, /has a user or a password/, 'channel', 'cards', '--topup-url', 'https://me@pay.example/'],
    [2, /a name that the link uses/, 'channel', 'cards', '--topup-url', 'https://pay.example/?order=1'],
    [1, /forfeited takes no payments/, 'channel', 'forfeited', '--topup-url', 'https://pay.example/'],
  ];
  for (const [status, why, ...words_] of refused) {
    const { code, stderr } = await tried(['money', ...words_]);
    assert.equal(code, status, `${words_.join(' ')}: ${stderr}`);
    assert.match(stderr, why);
  }
  assert.equal(await balance(user), 4950);
});

test('a channel that takes no payments any more offers nothing; its orders may still be paid', async () => {
  const user = await newUser();
  const fields = { amount: '88', channel: 'cards', request_key: unique('k') };
  const first = await user.client.post('/wallet/topup', fields);
  const { id } = first.json;
  assert.match((await site.hongbao('money', 'channel', 'cards', '--topup-url', '')).stdout, /^top-ups: none$/m);
  assert.equal((await user.client.getHtml('/wallet/topup')).status, 404);
  const repeat = (more) => user.client.post('/wallet/topup', { ...fields, ...more });
  for (const more of [{}, { channel: '' }]) {
    const again = await repeat(more);
    assert.deepEqual([again.status, again.json], [201, { ...first.json, pay_url: null }]);
  }
  assert.equal((await user.client.postHtml('/wallet/topup', fields)).headers.get('location'), `/wallet/topup/${id}`);
  for (const more of [{ request_key: unique('k') }, { amount: '89' }, { channel: 'other' }]) assert.equal((await repeat(more)).status, 404);
  assert.doesNotMatch((await user.client.getHtml('/wallet')).text, /wallet\/topup/);
  assert.equal((await shown(user, id)).pay_url, null);
  assert.equal((await paid(id, { reference: unique('p'), amount: '88' })).status, 201);
  assert.equal(await balance(user), 8800);
  assert.deepEqual((await repeat()).json, await shown(user, id), 'a repeat shows what was paid');
  await site.hongbao('money', 'channel', 'cards', '--topup-url', pageUrl);
});
