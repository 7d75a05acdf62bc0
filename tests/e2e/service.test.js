// Programs of the operator: service tokens, and the routes of the money pool.
import assert from 'node:assert/strict';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { request } from './support/client.js';
import { requestFrom } from './support/from_address.js';
import { blocksOf } from './support/how_to_blocks.js';
import { env, tried } from './support/instance.js';
import { sql } from './support/mysql.js';
import { pendingWithdrawal } from './support/operations.js';
import { run, temporaryFolder } from './support/run.js';
import { Client, PASSWORD, audit, newUser, site, unique } from './support/site.js';

const FOLDER = temporaryFolder('service');
const ALL = 'credit debit read withdraw topup';
const CHANNEL = unique('c').slice(0, 20);
const OTHER = unique('c').slice(0, 20);

// { code, stdout, stderr without lines of the log }
async function command(...args) {
  const { code, stdout, stderr } = await tried(args, { SUDO_USER: 'anna' });
  return { code, stdout, stderr: stderr.split('\n').filter((line) => !line.startsWith('ts=')).join('\n') };
}

// A new service: { name, token }.
async function added(scopes = ALL, ...more) {
  const name = unique('s').slice(0, 20);
  const { code, stdout, stderr } = await command('service', 'add', name, '--scopes', scopes, '--channel', CHANNEL, ...more);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^hbs_[A-Za-z0-9_-]{43}\n$/);
  return { name, token: stdout.trim() };
}

const bearer = (token) => (token === undefined ? {} : { authorization: `Bearer ${token}` });
const get = (token, path) => request(path, { headers: bearer(token) });
const post = (token, path, fields, more = {}) => request(path, { method: 'POST', body: new URLSearchParams(fields).toString(),
  headers: { 'content-type': 'application/x-www-form-urlencoded', ...bearer(token), ...more } });
const typeOf = ({ json }) => json?.type?.split(':').pop();
const balance = async ({ id }) => Number(await sql(`SELECT balance_fen FROM account WHERE id = ${id}`));
const moved = async () => Number(await sql('SELECT COUNT(*) FROM external_transfer'));

let alice;
let all;
before(async () => {
  alice = await newUser();
  for (const channel of [CHANNEL, OTHER]) assert.equal((await command('money', 'channel', channel)).code, 0);
  all = await added();
});
after(audit);

test('a credit and a debit move money once, however often they are repeated', async () => {
  const [R1, R2] = [unique('r'), unique('r')];
  const before = await balance(alice);
  const credit = { username: alice.username.toUpperCase(), amount: '¥88', channel: CHANNEL, reference: R1, memo: ' 奖金 ' };
  const first = await post(all.token, '/money/credits', credit);
  assert.equal(first.status, 201, first.text);
  assert.deepEqual(first.json, { id: first.json.id, reference: R1, amount_fen: 8800, username: alice.username });
  for (const same of [credit, { ...credit, amount: '88.00', memo: '奖金', channel: '' }]) {
    const again = await post(all.token, '/money/credits', same);
    assert.deepEqual([again.status, again.text], [200, first.text]);
  }
  const debit = await post(all.token, '/money/debits', { username: alice.username, amount: '8', reference: R2 });
  assert.equal(debit.status, 201, debit.text);
  assert.equal(await balance(alice), before + 8000);
  const row = await sql(`SELECT author, interface, memo FROM external_transfer WHERE reference = '${R1}'`);
  assert.equal(row, `service:${all.name}\thttp\t奖金\n`);
});

test('fifty calls with one reference at once make one transfer', async () => {
  const before = await balance(alice);
  const fields = { username: alice.username, amount: '1', reference: unique('r') };
  const answers = await Promise.all(Array.from({ length: 50 }, () => post(all.token, '/money/credits', fields)));
  assert.deepEqual([...new Set(answers.map(({ text }) => text))].length, 1, answers.map(({ text }) => text).join('\n'));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [...Array(49).fill(200), 201]);
  assert.equal(await balance(alice), before + 100);
});

test('a repeat whose user is deleted by now does not say that there is no such user', async () => {
  const leaver = await newUser();
  const fields = { username: leaver.username, amount: '3', reference: unique('r') };
  assert.equal((await post(all.token, '/money/credits', fields)).status, 201);
  const gone = await leaver.client.post('/account/delete', { username: leaver.username, password: leaver.password, give_up: '1' });
  assert.equal(gone.status, 204, gone.text);
  for (const [type, reference] of [['reference-used', fields.reference], ['invalid-form', unique('r')]]) {
    const { text, json } = await post(all.token, '/money/credits', { ...fields, reference });
    assert.equal(json.type.split(':').pop(), type, text);
  }
});

test('what is refused moves nothing, and says why', async () => {
  const used = unique('r');
  assert.equal((await post(all.token, '/money/credits', { username: alice.username, amount: '5', reference: used })).status, 201);
  const [reads, credits, here, revoked] = [await added('read'), await added('credit,topup'), await added(ALL, '--addresses', '192.0.2.0/24', '2001:db8::/32'), await added()];
  assert.equal((await command('service', 'revoke', revoked.name)).code, 0);
  const pending = (await pendingWithdrawal(CHANNEL)).trim();
  const others = (await pendingWithdrawal(OTHER)).trim();
  const good = { username: alice.username, amount: '1', channel: CHANNEL, reference: unique('r') };
  const guessed = `${all.token.slice(0, -2)}${all.token.endsWith('AA') ? 'EA' : 'AA'}`;
  const user = await alice.client.post('/account/tokens', { name: 'x', scopes: 'read send open', days: '1', password: PASSWORD });
  const refused = [
    [401, 'unauthorized', undefined, '/money/credits', good],
    [401, 'unauthorized', '', '/money/credits', good],
    [401, 'unauthorized', guessed, '/money/credits', good],
    [401, 'unauthorized', revoked.token, '/money/credits', good],
    [401, 'unauthorized', `${all.token}x`, '/money/credits', good],
    [401, 'unauthorized', user.json.token, '/money/credits', good],
    [403, 'insufficient-scope', reads.token, '/money/credits', good],
    [403, 'insufficient-scope', credits.token, '/money/debits', good],
    [403, 'insufficient-scope', credits.token, `/money/withdrawals/${pending}/post`, { reference: unique('r') }],
    [403, 'insufficient-scope', reads.token, `/money/withdrawals/${pending}/void`, { reason: 'x' }],
    [403, 'service-channel', all.token, '/money/credits', { ...good, channel: OTHER }],
    [403, 'service-channel', all.token, '/money/debits', { ...good, channel: 'demo' }],
    [403, 'service-address', here.token, '/money/credits', good],
    [404, 'not-found', all.token, `/money/withdrawals/${others}/post`, { reference: unique('r') }],
    [404, 'not-found', all.token, '/money/withdrawals/99999999/void', { reason: 'x' }],
    [404, 'not-found', all.token, '/money/withdrawals/x/void', { reason: 'x' }],
    [404, 'not-found', all.token, '/money/nothing', good],
    [405, 'method-not-allowed', all.token, '/money/report', good],
    [409, 'reference-used', all.token, '/money/credits', { ...good, amount: '6', reference: used }],
    [409, 'reference-used', all.token, '/money/debits', { ...good, amount: '5', reference: used }],
    [409, 'reference-used', all.token, '/money/credits', { ...good, amount: '5', reference: used, memo: 'x' }],
    [409, 'reference-used', all.token, `/money/withdrawals/${pending}/post`, { reference: used }],
    [422, 'username', all.token, '/money/credits', { ...good, username: 'nobody-here' }],
    [422, 'username', all.token, '/money/credits', { ...good, username: '艾丽' }],
    [422, 'username', all.token, '/money/credits', { ...good, username: '' }],
    [422, 'amount', all.token, '/money/credits', { ...good, amount: '' }],
    [422, 'amount', all.token, '/money/credits', { ...good, amount: '1.005' }],
    [422, 'amount', all.token, '/money/credits', { ...good, amount: '0' }],
    [422, 'amount', all.token, '/money/credits', { ...good, amount: '-1' }],
    [422, 'amount', all.token, '/money/credits', { ...good, amount: '10000000' }],
    [422, 'amount', all.token, '/money/debits', { ...good, amount: '9999999.99' }],
    [422, 'reference', all.token, '/money/credits', { ...good, reference: '' }],
    [422, 'reference', all.token, '/money/credits', { ...good, reference: '编号' }],
    [422, 'reference', all.token, '/money/credits', { ...good, reference: ' r' }],
    [422, 'reference', all.token, '/money/credits', { ...good, reference: 'r'.repeat(65) }],
    [422, 'memo', all.token, '/money/credits', { ...good, memo: 'x'.repeat(401) }],
    [422, 'reference', all.token, `/money/withdrawals/${pending}/post`, {}],
    [422, 'reason', all.token, `/money/withdrawals/${pending}/void`, { reason: ' ' }],
    [422, 'reason', all.token, `/money/withdrawals/${pending}/void`, { reason: 'x'.repeat(201) }],
  ];
  const unchanged = [await balance(alice), await moved()];
  for (const [status, type, token, path, fields] of refused) {
    const answer = await post(token, path, fields);
    const what = `${path} ${JSON.stringify(fields)}: ${answer.text}`;
    assert.equal(answer.status, status, what);
    assert.equal(answer.headers.get('content-type'), 'application/problem+json', what);
    if (status === 422) assert.deepEqual(answer.json.errors.map(({ field }) => field), [type], what);
    else assert.equal(typeOf(answer), type, what);
    if (status === 401) assert.match(answer.headers.get('www-authenticate'), /^Bearer/, what);
    assert.deepEqual([await balance(alice), await moved()], unchanged, what);
  }
  for (const [status, type] of [[400, 'bad-request'], [415, 'media-type']]) {
    const body = status === 400 ? 'username=a&username=b' : '{}';
    const answer = await request('/money/credits', { method: 'POST', body,
      headers: { ...bearer(all.token), 'content-type': status === 400 ? 'application/x-www-form-urlencoded' : 'application/json' } });
    assert.deepEqual([answer.status, typeOf(answer)], [status, type]);
  }
});

test('a user’s session or token is no way in, and other pools take no service token', async () => {
  const answer = await alice.client.post('/money/credits', { username: alice.username, amount: '1', reference: unique('r') });
  assert.equal(answer.status, 401, answer.text);
  for (const path of ['/wallet', '/account', '/records/sent']) assert.ok([401, 403].includes((await get(all.token, path)).status), path);
});

test('a list of addresses is about the address that nginx sees', async () => {
  const { token } = await added(ALL, '--addresses', '127.0.0.66', '10.0.0.0/8');
  const from = (address, more = {}) => requestFrom(address, `${site.url}/money/report`, { more: { ...bearer(token), ...more } });
  assert.equal((await from('127.0.0.66')).status, 200);
  const forged = { 'x-forwarded-for': '127.0.0.66', 'x-real-ip': '127.0.0.66', forwarded: 'for=127.0.0.66', 'remote-addr': '127.0.0.66' };
  const refused = await from('127.0.0.67', forged);
  assert.equal(refused.status, 403, refused.text);
  assert.match(refused.text, /service-address/);
});

test('a service moves no more in a day than its limit, and repeats are free', async () => {
  const { name, token } = await added(ALL, '--day-max', '10');
  const credit = (amount, reference) => post(token, '/money/credits', { username: alice.username, amount, reference });
  const first = unique('r');
  assert.equal((await credit('6', first)).status, 201);
  assert.equal((await post(token, '/money/debits', { username: alice.username, amount: '4', reference: unique('r') })).status, 201);
  const refused = await credit('0.01', unique('r'));
  assert.deepEqual([refused.status, typeOf(refused)], [403, 'service-day-limit']);
  assert.equal((await credit('6', first)).status, 200);
  const id = (await pendingWithdrawal(CHANNEL)).trim();
  assert.equal((await post(token, `/money/withdrawals/${id}/void`, { reason: 'x' })).status, 403);
  await sql(`UPDATE service_hour SET hour = hour - 25 WHERE service_id = (SELECT id FROM service WHERE name = '${name}')`);
  assert.equal((await credit('10', unique('r'))).status, 201);
});

test('withdrawals are listed, posted and voided once', async () => {
  const [paid, unpaid, others] = [await pendingWithdrawal(CHANNEL), await pendingWithdrawal(CHANNEL), await pendingWithdrawal(OTHER)].map((id) => Number(id));
  const reads = await added('read');
  const listed = (await get(reads.token, '/money/withdrawals?state=pending')).json;
  assert.equal(listed.next, null);
  const ids = listed.withdrawals.map(({ id }) => id);
  assert.ok(ids.includes(paid) && ids.includes(unpaid) && !ids.includes(others), `${ids}`);
  const later = (await get(reads.token, `/money/withdrawals?after=${paid}`)).json.withdrawals.map(({ id }) => id);
  assert.ok(!later.includes(paid) && later.includes(unpaid), `${later}`);
  const reference = unique('p');
  for (let repeat = 0; repeat < 2; repeat += 1) {
    const post1 = await post(all.token, `/money/withdrawals/${paid}/post`, { reference });
    assert.equal(post1.status, 200, post1.text);
    assert.deepEqual([post1.json.state, post1.json.reference, post1.json.amount_fen], ['posted', reference, 100]);
    const void1 = await post(all.token, `/money/withdrawals/${unpaid}/void`, { reason: '账号有误' });
    assert.deepEqual([void1.status, void1.json.state, void1.json.reason], [200, 'voided', '账号有误']);
  }
  for (const [id, what, fields] of [[paid, 'post', { reference: unique('p') }], [paid, 'void', { reason: 'x' }], [unpaid, 'post', { reference: unique('p') }]]) {
    const answer = await post(all.token, `/money/withdrawals/${id}/${what}`, fields);
    assert.deepEqual([answer.status, typeOf(answer)], [409, 'withdrawal-ended']);
  }
  assert.equal(await sql(`SELECT author FROM withdrawal WHERE id IN (${paid}, ${unpaid})`), `service:${all.name}\nservice:${all.name}\n`);
});

test('the lists and the report have the channel of the token alone, page by page', async () => {
  const [one, other] = [unique('c').slice(0, 20), unique('c').slice(0, 20)];
  const rows = Array.from({ length: 501 }, (_, i) => `[${alice.id},1,"r${i}","m"]`).join(',');
  for (const channel of [one, other]) {
    assert.equal((await command('money', 'channel', channel)).code, 0);
    await sql(`CALL ledger_external('credit', (SELECT id FROM channel WHERE name = '${channel}'), '[${rows}]', 'anna', 'import', UNIX_TIMESTAMP() * 1000)`);
  }
  const { stdout } = await command('service', 'add', unique('s').slice(0, 20), '--scopes', 'read', '--channel', one);
  const token = stdout.trim();
  const first = (await get(token, '/money/transfers')).json;
  assert.deepEqual([first.channel, first.transfers.length], [one, 500]);
  const second = (await get(token, `/money/transfers?channel=${one}&after=${first.next}`)).json;
  assert.deepEqual([second.transfers.length, second.next], [1, null]);
  const last = second.transfers[0].id;
  const after = async (id) => (await get(token, `/money/transfers?after=${id}`)).json.transfers.map((one) => one.id);
  assert.deepEqual([await after(last), await after(first.transfers[499].id)], [[], [last]], 'a program goes on behind any row');
  const references = [...first.transfers, ...second.transfers].map(({ reference }) => reference);
  assert.equal(new Set(references).size, 501);
  const [found] = (await get(token, '/money/transfers?reference=r7')).json.transfers;
  assert.deepEqual({ ...found, id: 0, created_at: '' }, { id: 0, created_at: '', kind: 'credit', username: alice.username, amount_fen: 1,
    reference: 'r7', memo: 'm', author: 'anna', interface: 'import', reverses: null });
  const command1 = await command('money', 'transfers', '--channel', one, '--json');
  assert.deepEqual(JSON.parse(command1.stdout).transfers.slice(0, 500), first.transfers, 'the same members as the command');
  const { channels } = (await get(token, '/money/report')).json;
  assert.deepEqual(channels.map(({ name, closing_fen }) => [name, closing_fen]), [[one, -501]]);
  for (const path of ['/money/transfers?from=2000-01-01&to=2000-01-02', '/money/transfers?reference=none&from=&to=&channel=&after=']) {
    assert.deepEqual((await get(token, path)).json.transfers, [], path);
  }
  assert.deepEqual((await get(token, '/money/report?from=2000-01-01&to=2000-01-02')).json.channels[0].closing_fen, 0);
  for (const path of ['/money/transfers?from=x', '/money/transfers?after=x', '/money/transfers?after=-5', '/money/withdrawals?state=posted',
    '/money/report?from=2026-02-02&to=2026-02-01', '/money/transfers?reference=%E7%BC%96']) {
    assert.equal((await get(token, path)).status, 400, path);
  }
  assert.equal((await get(token, `/money/transfers?channel=${other}`)).status, 403);
});

test('a revocation counts at once, and the last use is noted', async () => {
  const { name, token } = await added('read', '--day-max', '7', '--addresses', '127.0.0.0/8,::1');
  const row = async () => JSON.parse((await command('service', 'list', '--json')).stdout).services.find((one) => one.name === name);
  const before = await row();
  assert.deepEqual({ ...before, created_at: '' }, { name, scopes: 'read', channel: CHANNEL, day_max_fen: 700, addresses: '127.0.0.0/8,::1',
    author: before.author, created_at: '', revoked_at: null, used_at: null });
  assert.equal((await get(token, '/money/report')).status, 200);
  assert.match((await row()).used_at, /^2\d{3}-/);
  for (let repeat = 0; repeat < 2; repeat += 1) {
    assert.equal((await command('service', 'revoke', name)).stdout, `service ${name}: revoked\n`);
    assert.equal((await get(token, '/money/report')).status, 401);
  }
  assert.match((await command('service', 'list')).stdout, new RegExp(`^${name} {2}revoked {2}channel ${CHANNEL}`, 'm'));
});

test('the command refuses what it can’t read, and adds nothing', async () => {
  const name = unique('s').slice(0, 20);
  const args = ['--scopes', 'read', '--channel', CHANNEL];
  const refused = [
    [2, /usage: hongbao service add/],
    [2, /nothing is no command/, 'nothing'],
    [2, /the name of the service is missing/, 'add', ...args],
    [2, /--scopes and --channel are needed/, 'add', name, '--channel', CHANNEL],
    [2, /--scopes and --channel are needed/, 'add', name, '--scopes', 'read'],
    [2, /--scopes has one or more of: credit debit read withdraw topup/, 'add', name, '--scopes', 'read all', '--channel', CHANNEL],
    [2, /--scopes has no value/, 'add', name, '--scopes', '--channel', CHANNEL],
    [2, /--channel stands twice/, 'add', name, ...args, '--channel', CHANNEL],
    [2, /a name has 1 to 32 small letters/, 'add', 'Shop', ...args],
    [2, /is one word too many/, 'add', name, 'x', ...args],
    [2, /--force is one word too many/, 'add', name, ...args, '--force'],
    [2, /--day-max is no amount from 0\.01 to 9999999\.99 of CNY/, 'add', name, ...args, '--day-max', '0'],
    [2, /--day-max is no amount from 0\.01 to 9999999\.99 of CNY/, 'add', name, ...args, '--day-max', 'x'],
    [2, /10\.0\.0\.1\/8 is no network or address/, 'add', name, ...args, '--addresses', '127.0.0.1', '10.0.0.1/8'],
    [2, /example\.com is no network or address/, 'add', name, ...args, '--addresses', 'example.com'],
    [1, /there is no channel nowhere/, 'add', name, '--scopes', 'read', '--channel', 'nowhere'],
    [1, /demo is for the money that users/, 'add', name, '--scopes', 'read', '--channel', 'demo'],
    [1, /forfeited has what deleted users/, 'add', name, '--scopes', 'read', '--channel', 'forfeited'],
    [1, /there is or was a service/, 'add', all.name, ...args],
    [1, /there is no such service/, 'revoke', name],
    [1, /there is no such service/, 'revoke', '艾丽'],
    [2, /the name of one service is needed/, 'revoke'],
    [2, /--csv is one word too many/, 'list', '--csv'],
  ];
  const count = () => sql('SELECT COUNT(*) FROM service');
  const unchanged = await count();
  for (const [code, why, ...words] of refused) {
    const answer = await command('service', ...words);
    assert.equal(answer.code, code, `${words.join(' ')}: ${answer.stdout}${answer.stderr}`);
    assert.match(answer.stderr, why, words.join(' '));
    assert.equal(answer.stdout, '', words.join(' '));
  }
  assert.equal(await count(), unchanged);
});

test('refused tokens are in the security log, and no token is', async () => {
  const { name, token } = await added('read');
  const reference = unique('r');
  await post(token, '/money/credits', { username: alice.username, amount: '1', reference });
  await get(`hbs_${'x'.repeat(43)}`, '/money/report');
  const log = readFileSync(join(env.HB_TEST_VAR, 'log/money.log'), 'utf8');
  assert.match(log, new RegExp(`event=scope-refused user_id=0 address=127\\.0\\.0\\.1 request_id=[0-9a-f]{32} scope=credit service=${name}`));
  assert.match(log, /event=token-refused user_id=0 address=127\.0\.0\.1/);
  assert.ok(!log.includes('hbs_'));
});

test('while MariaDB is away, the answer is 503 with Retry-After, and a repeat pays once', async () => {
  const fields = { username: alice.username, amount: '3', reference: unique('r') };
  const before = await balance(alice);
  await site.without(['mariadb'], async () => {
    const answer = await post(all.token, '/money/credits', fields);
    assert.deepEqual([answer.status, typeOf(answer)], [503, 'busy'], answer.text);
    assert.ok(Number(answer.headers.get('retry-after')) > 0);
  });
  let answer = await post(all.token, '/money/credits', fields);
  for (let tries = 0; tries < 50 && answer.status === 503; tries += 1) {
    await new Promise((done) => { setTimeout(done, 100); });
    answer = await post(all.token, '/money/credits', fields);
  }
  assert.equal(answer.status, 201, answer.text);
  assert.equal(await balance(alice), before + 300);
});

test('the commands of the page run in their order', async () => {
  const registered = await new Client().post('/register', { username: 'alice', nickname: 'alice', password: PASSWORD });
  assert.ok([201, 422].includes(registered.status), registered.text); // 422: a run before has registered it
  symlinkSync(env.HB_TEST_BINARY, join(FOLDER, 'hongbao'));
  const name = unique('web').slice(0, 20); // a name is used once, also on a site that had a run before
  const script = Object.values(blocksOf('money-http.md', import.meta.url)).flat().join('\n').replaceAll('webshop', name);
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script],
    { cwd: FOLDER, env: { ...process.env, SITE: site.url, HB_CONFIG: env.HB_TEST_CONFIG, PATH: `${FOLDER}:${process.env.PATH}` } });
  assert.match(stdout, /"reference":"order-17","amount_fen":8800,"username":"alice"/);
  assert.ok(stdout.includes(`service ${name}: revoked\n`), stdout);
});
