// A separate site with demo = off: money can't be made, neither through the site nor with the rights of a pool, and the
// audit finds a deposit that exists nevertheless.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { poll } from './support/instance.js';
import { realSite } from './support/real_site.js';

const JSON_TYPE = 'application/json';
const EXECUTE_DENIED = 1370;
let site;
let cookie;
let user;

const post = (path, fields, accept) => fetch(site.url + path, {
  method: 'POST', redirect: 'manual', body: new URLSearchParams(fields), headers: { accept, ...(cookie && { cookie }) } });

const get = (path, accept) => fetch(site.url + path, { headers: { accept, cookie } });

const sql = (...args) => site.sql(...args);

before(async () => {
  site = await realSite('demo-off');
  const registered = await post('/register', { username: 'ming', nickname: 'Ming', password: 'a good password' }, JSON_TYPE);
  assert.equal(registered.status, 201);
  [cookie] = registered.headers.get('set-cookie').match(/sid=[^;]+/);
  user = (await registered.json()).id;
});

after(() => site.down());

const balance = () => sql(`SELECT balance_fen FROM account WHERE id = ${user}`);

test('a deposit is refused as page and as JSON, and the wallet offers none', async () => {
  const fields = { amount: '1', request_key: 'a-key' };
  for (const accept of [JSON_TYPE, 'text/html']) assert.equal((await post('/wallet/deposit', fields, accept)).status, 404, accept);
  const wallet = await get('/wallet', 'text/html');
  assert.equal(wallet.status, 200);
  assert.doesNotMatch(await wallet.text(), /\/wallet\/deposit/);
  assert.equal(await balance(), '0');
});

test('no role may call a routine that makes money', async () => {
  const calls = [`CALL ledger_deposit(${user}, 5, 'x', 1)`, `CALL ledger_demo('[${user}]', 5, 1)`];
  for (const role of ['page', 'auth', 'sso', 'card', 'money', 'settle', 'audit', 'support', 'treasury']) {
    for (const call of calls) {
      await assert.rejects(sql(call, role), ({ stderr }) => stderr.includes(`ERROR ${EXECUTE_DENIED} `), `${role}: ${call}`);
    }
  }
  assert.equal(await balance(), '0');
  assert.equal(JSON.parse((await site.dev('hongbao', 'audit', '--json')).stdout).ok, true);
});

test('a deposit that an administrator plants is named by the audit, and found by the settle worker', async () => {
  const violations = async () => Number((await (await get('/metrics', '*/*')).text()).match(/^hongbao_audit_sampled_violations_total (\d+)$/m)[1]);
  assert.equal(await violations(), 0);
  await sql(`CALL ledger_deposit(${user}, 500, 'planted', 1)`);
  assert.equal(await balance(), '500');
  const { code, stdout } = await site.dev('hongbao', 'audit', '--json').then(() => assert.fail('the audit is clean'), (error) => error);
  assert.equal(code, 1);
  const found = JSON.parse(stdout).checks.filter((check) => check.violations > 0);
  assert.deepEqual(found.map(({ id, rows: [{ subject }] }) => [id, subject]), [['origin', `account ${user}`]]);
  assert.match(found[0].rows[0].detail, /while demo is off$/);
  await poll('the settle worker has found it', async () => await violations() > 0);
  assert.match(await readFile(join(site.folder, 'log/settle.log'), 'utf8'), new RegExp(`audit violation" check=origin subject="account ${user}"`));
});
