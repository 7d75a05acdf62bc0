// The crash points of money from outside: an operator's command, the pool of a user's withdrawal, or the money pool while it
// answers a program of the operator, dies there, and the request is repeated.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { request } from '../e2e/support/client.js';
import { env, PATIENCE, poll } from '../e2e/support/instance.js';
import { sql } from '../e2e/support/mysql.js';
import { run, temporaryFolder } from '../e2e/support/run.js';
import { assertCrashed, assertDied, drained, restart, servers } from './site.js';

const CHANNEL = 'crashed';
const IMPORT_ROWS = 2500; // three batches

const money = (args, extra = {}) => run(env.HB_TEST_BINARY, ['money', ...args],
  { env: { ...process.env, HB_CONFIG: env.HB_TEST_CONFIG, ...extra } });

// A command for the user, and what it does to the wallet: a credit of each row of a file, a reversal, the payment of a
// withdrawal or of an order.
async function moneyCommand(point, user, mark) {
  const outside = (reference) => ['--channel', CHANNEL, '--reference', reference];
  if (point.startsWith('money-reverse')) {
    const { id } = JSON.parse((await money(['credit', user.username, '1', ...outside(`${mark}-1`), '--json'])).stdout);
    return { args: ['reverse', String(id), '--reference', `${mark}-2`], fen: 0 };
  }
  if (point.startsWith('money-end')) {
    await sql(`CALL withdrawal_hold(${user.id}, (SELECT id FROM channel WHERE name = '${CHANNEL}'), 100, 'bank', '${mark}', 0)`);
    const id = (await sql(`SELECT id FROM withdrawal WHERE user_id = ${user.id}`)).trim();
    return { args: ['post', id, '--reference', mark], fen: -100 };
  }
  if (point.startsWith('money-topup')) {
    const channel = `(SELECT id FROM channel WHERE name = '${CHANNEL}')`;
    await money(['channel', CHANNEL, '--topup-url', 'https://pay.example/']);
    await sql(`CALL topup_open(${user.id}, ${channel}, 100, '${mark}', 0)`);
    const id = (await sql(`SELECT id FROM topup WHERE user_id = ${user.id}`)).trim();
    return { args: ['paid', id, '--reference', mark, '--amount', '1.20'], fen: 120 };
  }
  const file = join(temporaryFolder('crash'), 'import.csv');
  const rows = Array.from({ length: IMPORT_ROWS }, (_, i) => `${user.username},0.01,${mark}-${i}`);
  writeFileSync(file, ['username,amount,reference', ...rows].join('\n'));
  return { args: ['import', file, '--channel', CHANNEL], fen: IMPORT_ROWS };
}

// The command dies at the point, and the operator repeats it, twice. passes: of an import, the batch.
export async function visitMoney(point, passes, user) {
  await money(['channel', CHANNEL, '--withdrawals', 'on']);
  const { args, fen } = await moneyCommand(point, user, randomBytes(4).toString('hex'));
  const crash = `${point}:${args[0] === 'import' ? passes : 1}`;
  assertCrashed(await money(args, { HB_CRASH: crash }).catch((error) => error), point);
  for (let i = 0; i < 2; i++) await money(args);
  assert.equal((await user.client.get('/wallet')).json?.balance_fen, user.balanceFen + fen);
  await drained();
}

// The auth pool dies while it takes the money of a withdrawal. The user repeats the form, twice: it is taken once.
export async function visitWithdraw(point, { client, id, password, balanceFen }) {
  const { auth } = servers;
  await money(['channel', CHANNEL, '--withdrawals', 'on']);
  const fields = { amount: '2.50', channel: CHANNEL, account: 'account 1', password, request_key: randomBytes(8).toString('hex') };
  const ask = () => client.post('/wallet/withdraw', fields).catch(() => undefined);
  await restart(auth, { HB_CRASH: point });
  const lost = await ask();
  assert.ok(lost === undefined || lost.status >= 500, lost?.text);
  assertDied(auth, await auth.endsWithin(30_000 * PATIENCE), point);
  const rows = `SELECT COUNT(*) FROM withdrawal WHERE user_id = ${id}`;
  assert.equal((await sql(rows)).trim(), point.includes('after') ? '1' : '0');
  await auth.start();
  const made = new Set();
  for (let i = 0; i < 2; i++) {
    const answer = await poll('the pool answers', async () => [await ask()].find((one) => one && one.status < 500));
    assert.equal(answer.status, 201, answer.text);
    made.add(answer.json.id);
  }
  assert.deepEqual([made.size, (await sql(rows)).trim()], [1, '1']);
  assert.equal((await client.get('/wallet')).json?.balance_fen, balanceFen - 250);
  await drained();
}

// ---- by HTTP ----

let token;

// The service that calls; it is added once.
async function serviceToken() {
  token ??= (await run(env.HB_TEST_BINARY, ['service', 'add', `crash-${randomBytes(4).toString('hex')}`, '--scopes', 'credit withdraw', '--channel', CHANNEL],
    { env: { ...process.env, HB_CONFIG: env.HB_TEST_CONFIG } })).stdout.trim();
  return token;
}

const call = async (path, fields) => request(path, { method: 'POST', body: new URLSearchParams(fields).toString(),
  headers: { 'content-type': 'application/x-www-form-urlencoded', authorization: `Bearer ${await serviceToken()}` } });

// The points that a call of a service passes.
export const SERVICE_POINTS = ['money-before-commit', 'money-after-commit', 'money-end-before-commit', 'money-end-after-commit', 'answer-half-sent'];

// A call for the user, and what it does to the wallet.
async function serviceCall(point, user, mark) {
  if (!point.startsWith('money-end')) return { path: '/money/credits', fields: { username: user.username, amount: '1', reference: mark }, fen: 100 };
  await sql(`CALL withdrawal_hold(${user.id}, (SELECT id FROM channel WHERE name = '${CHANNEL}'), 100, 'bank', '${mark}', 0)`);
  const id = (await sql(`SELECT id FROM withdrawal WHERE request_key = '${mark}'`)).trim();
  return { path: `/money/withdrawals/${id}/post`, fields: { reference: mark }, fen: -100 };
}

// The money pool dies at the point. Its program repeats the call until it is answered, and once more: the same answer.
export async function visitService(point, user) {
  await money(['channel', CHANNEL, '--withdrawals', 'on']);
  const mark = randomBytes(4).toString('hex');
  const { path, fields, fen } = await serviceCall(point, user, mark);
  await serviceToken();
  await servers.money.stop();
  await servers.money.start({ HB_CRASH: `${point}:1` });
  const broken = await call(path, fields).catch(() => undefined);
  assert.ok(broken === undefined || broken.status === 503, broken?.text);
  assert.equal((await servers.money.ended).signal, 'SIGKILL');
  assert.equal(servers.money.lastLogLine(), `crash point ${point}`);
  await servers.money.start();
  const answers = [await call(path, fields), await call(path, fields)];
  const isDone = !/before-commit$/.test(point);
  assert.deepEqual(answers.map(({ status }) => status), [isDone || path !== '/money/credits' ? 200 : 201, 200], answers.map(({ text }) => text).join('\n'));
  assert.equal(answers[0].text, answers[1].text);
  assert.equal((await user.client.get('/wallet')).json?.balance_fen, user.balanceFen + fen);
  await drained();
}
