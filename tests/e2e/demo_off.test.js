// A separate site with demo = off: money can't be made, neither through the site nor with the rights of a pool, and the
// audit finds a deposit that exists nevertheless.
import assert from 'node:assert/strict';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { env, poll } from './support/instance.js';
import { freePort } from '../support/port.js';
import { run } from './support/run.js';

const folder = join(dirname(env.HB_TEST_VAR), 'demo-off'); // there `servers stop-all` stops it even after a failure
const JSON_TYPE = 'application/json';
const EXECUTE_DENIED = 1370;
let port;
let dev;
let cookie;
let user;

const post = (path, fields, accept) => fetch(`http://127.0.0.1:${port}${path}`, {
  method: 'POST', redirect: 'manual', body: new URLSearchParams(fields), headers: { accept, ...(cookie && { cookie }) } });

const get = (path, accept) => fetch(`http://127.0.0.1:${port}${path}`, { headers: { accept, cookie } });

// Executes a statement as the administrator or as the user of a role; rejects with stderr when the server refuses.
async function sql(statement, role) {
  const user_options = ['--user=root'];
  const environment = { ...process.env };
  if (role) {
    const settings = await readFile(join(folder, `rights/${role}.conf`), 'utf8');
    user_options[0] = `--user=${/^mysql_user = (.*)$/m.exec(settings)[1]}`;
    environment.MYSQL_PWD = /^mysql_password = (.*)$/m.exec(settings)[1];
  }
  const { stdout } = await run('mariadb', ['--no-defaults', `--socket=${join(folder, 'run/mariadb.sock')}`, ...user_options, '-N', '-e', statement,
    'hongbao'], { env: environment });
  return stdout.trim();
}

before(async () => {
  port = await freePort();
  dev = (...args) => run(env.HB_TEST_DEV, ['--var', folder, '--port', String(port), ...args], { env: { ...process.env, HB_BINARY: env.HB_TEST_BINARY } });
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'hongbao.conf'), `# From here on it is yours.
secret = ${'0123456789abcdef'.repeat(2)}
mysql_database = hongbao
demo = off
redis_timeout_ms = 20000
mysql_timeout_s = 40
`, { mode: 0o600 });
  await writeFile(join(folder, 'nginx-seconds'), '120\n');
  await dev('up');
  const registered = await post('/register', { username: 'ming', nickname: 'Ming', password: 'a good password' }, JSON_TYPE);
  assert.equal(registered.status, 201);
  [cookie] = registered.headers.get('set-cookie').match(/sid=[^;]+/);
  user = (await registered.json()).id;
});

after(async () => {
  await dev('down');
  await rm(folder, { recursive: true, force: true });
});

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
  for (const role of ['page', 'auth', 'card', 'money', 'settle', 'audit', 'support', 'treasury']) {
    for (const call of calls) {
      await assert.rejects(sql(call, role), ({ stderr }) => stderr.includes(`ERROR ${EXECUTE_DENIED} `), `${role}: ${call}`);
    }
  }
  assert.equal(await balance(), '0');
  assert.equal(JSON.parse((await dev('hongbao', 'audit', '--json')).stdout).ok, true);
});

test('a deposit that an administrator plants is named by the audit, and found by the settle worker', async () => {
  const violations = async () => Number((await (await get('/metrics', '*/*')).text()).match(/^hongbao_audit_sampled_violations_total (\d+)$/m)[1]);
  assert.equal(await violations(), 0);
  await sql(`CALL ledger_deposit(${user}, 500, 'planted', 1)`);
  assert.equal(await balance(), '500');
  const { code, stdout } = await dev('hongbao', 'audit', '--json').then(() => assert.fail('the audit is clean'), (error) => error);
  assert.equal(code, 1);
  const found = JSON.parse(stdout).checks.filter((check) => check.violations > 0);
  assert.deepEqual(found.map(({ id, rows: [{ subject }] }) => [id, subject]), [['origin', `account ${user}`]]);
  assert.match(found[0].rows[0].detail, /while demo is off$/);
  await poll('the settle worker has found it', async () => await violations() > 0);
  assert.match(await readFile(join(folder, 'log/settle.log'), 'utf8'), new RegExp(`audit violation" check=origin subject="account ${user}"`));
});
