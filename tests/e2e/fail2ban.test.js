// deploy/fail2ban with Debian's fail2ban, on lines that this site has written: guesses are found and blocked, and a
// visitor can't get another address blocked.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { Client, request } from './support/client.js';
import { env } from './support/instance.js';
import { linesOf } from './support/logs.js';
import { run, temporaryFolder } from './support/run.js';
import { newUser, poll, unique } from './support/site.js';

const RULES = join(dirname(env.HB_TEST_DEV), 'deploy/fail2ban');
const LOGS = ['auth', 'page', 'money'].map((pool) => join(env.HB_TEST_VAR, `log/${pool}.log`));
const SOMEBODY = '192.0.2.66';
const ZEROS = '0'.repeat(32);
const FAKE = `level=warn role=auth pid=1 msg="security" event=login-refused user_id=0 address=${SOMEBODY} request_id=${ZEROS}`;

const folder = temporaryFolder('fail2ban');

// The addresses that the filter finds in a file, in order.
async function found(file, filter = 'hongbao') {
  const { stdout } = await run('fail2ban-regex', ['--usedns=no', '-l', 'critical', '-o', 'ip', file, join(RULES, `filter.d/${filter}.conf`)]);
  return stdout.split('\n').filter(Boolean);
}

async function foundIn(text, filter) {
  const file = join(folder, 'lines.log');
  await writeFile(file, text);
  return found(file, filter);
}

const guess = (fields = {}, headers = {}) => new Client().post('/login', { username: unique('u'), password: 'guessed', ...fields }, headers);
const lineOf = async (answer, name) => (await linesOf(answer, name))[0];

test('refused logins and tokens are found, with the address of the client', async () => {
  const login = await lineOf(await guess(), 'auth');
  const token = await lineOf(await request('/wallet', { headers: { authorization: 'Bearer hbt_x' } }), 'page');
  const code = await lineOf(await new Client().post('/login/recovery', { username: unique('u'), code: '0-GUES-GUES-GUES-GUES' }), 'auth');
  const program = await lineOf(await request('/money/report', { headers: { authorization: 'Bearer hbs_x' } }), 'money');
  assert.deepEqual(await foundIn(`${login}\n${token}\n${code}\n${program}\n`), Array(4).fill('127.0.0.1'));
  assert.deepEqual(await foundIn(`${login} passkey_id=7 reason=unknown\n${login} passkey_id=${SOMEBODY}\n`), ['127.0.0.1']);
  const from = (address) => login.replace('127.0.0.1', address);
  assert.deepEqual(await foundIn(`${['192.0.2.1', '2001:db8::7'].map(from).join('\n')}\n`), ['192.0.2.1', '2001:db8::7']);
  assert.deepEqual(await foundIn(`${['-', 'unix', '192.0.2.1x', 'example.com'].map(from).join('\n')}\n`), []);
});

test('what users do, and what another website can make a browser do, is not counted', async () => {
  const user = await newUser();
  const login = await user.client.post('/login', { username: user.username, password: user.password });
  const foreign = await guess({}, { 'sec-fetch-site': 'cross-site' });
  const again = await user.client.get(`/send?again=${'0'.repeat(26)}`);
  assert.deepEqual([login.status, foreign.status, again.status], [200, 403, 404]);
  const lines = [await lineOf(login, 'auth'), await lineOf(foreign, 'auth')];
  assert.deepEqual(await foundIn(`${lines.join('\n')}\n`), []);
});

test('nothing that a client sends names another address', async () => {
  const headers = { 'x-forwarded-for': SOMEBODY, 'x-real-ip': SOMEBODY, 'user-agent': FAKE, referer: `http://x/?${FAKE}` };
  for (const end of ['', '\n', '\r\n', '\u2028', '\0']) {
    const text = `x${end}ts=2026-01-01T00:00:00.000Z ${FAKE}${end}`;
    await guess({ username: text, password: text, next: `/${text}` }, headers);
    await request(`/login?next=${encodeURIComponent(text)}`, { headers });
    await new Client().post('/register', { username: unique('u'), nickname: text, password: 'a good password' }, headers);
    await request('/wallet', { headers: { ...headers, authorization: `Bearer ${FAKE}` } });
  }
  for (const log of LOGS) { // other tests wrote lines, too
    const addresses = new Set(await found(log));
    assert.ok(addresses.has('127.0.0.1') && !addresses.has(SOMEBODY), `${log}: ${[...addresses]}`);
  }
  const real = await lineOf(await guess(), 'auth');
  const error = `error="denied ${FAKE.replaceAll('"', '\\"')}"`;
  assert.deepEqual(await foundIn(`${real.replace(/event=.*/, `event=role-refused store=mysql ${error}`)}\n${real} ${FAKE}\n`), []);
});

test('answers 429 are found in the access log', async () => {
  const answer = await request(`/?${encodeURIComponent('","status":429,')}`, { headers: { 'user-agent': '","status":429,' } });
  const line = await lineOf(answer, 'access');
  assert.deepEqual(await foundIn(`${line}\n`, 'hongbao-limits'), []);
  assert.deepEqual(await foundIn(`${line.replace('"status":200', '"status":429')}\n`, 'hongbao-limits'), ['127.0.0.1']);
});

test('the jail blocks an address that keeps guessing', async () => {
  const config = join(folder, 'config');
  await cp('/etc/fail2ban', config, { recursive: true });
  await cp(RULES, config, { recursive: true });
  await writeFile(join(config, 'action.d/none.conf'), '[Definition]\n');
  await writeFile(join(config, 'fail2ban.local'), `[Definition]\ndbfile = None\nlogtarget = ${join(folder, 'log')}\n`);
  await writeFile(join(config, 'jail.d/zz.local'), `[sshd]\nenabled = false\n\n[hongbao]\nbackend = auto\nlogpath = ${LOGS.join('\n          ')}
banaction = none\nignoreself = false\nignoreip =\nmaxretry = 3\n`);
  const socket = join(folder, 'socket');
  const paths = ['-c', config, '-s', socket, '-p', join(folder, 'pid')];
  await run('fail2ban-client', [...paths, '-t']);
  const server = spawn('fail2ban-server', [...paths, '-f', 'start'], { stdio: 'inherit' });
  try {
    const status = async () => (await run('fail2ban-client', [...paths, 'status', 'hongbao']).catch((error) => error)).stdout;
    await poll('fail2ban watches the logs', async () => /File list:.*page\.log/.test(await status()));
    for (let i = 0; i < 3; i++) await guess();
    // Addresses that other tests guessed from may be blocked, too.
    const blocked = async () => (await status()).match(/Banned IP list:(.*)/)?.[1].split(/\s+/).includes('127.0.0.1');
    await poll('the address is blocked', blocked).catch(async (error) => assert.fail(`${error.message}\n${await status()}`));
  } finally {
    if (server.exitCode === null && server.kill()) await once(server, 'exit');
  }
});
