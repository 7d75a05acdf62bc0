// hongbao trace: from the id on the page of an error to the lines of nginx and of the pools.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { env } from './support/instance.js';
import { run, temporaryFolder } from './support/run.js';
import { Client, newUser, poll, site, unique } from './support/site.js';

const LOGS = join(env.HB_TEST_VAR, 'log');
const COMMANDS = new URL('../../deploy/commands', import.meta.url).pathname;
const ID = /^[0-9a-f]{32}$/;

const trace = async (...args) => {
  const { stdout } = await site.hongbao('trace', ...args);
  return stdout.trim().split('\n');
};

// The lines of a request, once nginx has written its line.
const complete = (id) => poll('the access log has the request', async () => {
  const lines = await trace(id, LOGS).catch(() => []);
  return lines.some((line) => line.startsWith('{')) && lines;
});

test('the id of an answer leads to the line of the pool and to that of nginx, in this order', async () => {
  const client = new Client();
  const refused = await client.post('/login', { username: unique('u'), password: 'a wrong password' });
  const id = refused.headers.get('x-request-id');
  assert.match(id, ID);
  assert.equal(refused.json.request_id, id);
  const lines = await complete(id);
  assert.equal(lines.length, 2, lines.join('\n'));
  assert.match(lines[0], new RegExp(`role=auth .*event=login-refused .* request_id=${id}$`));
  assert.equal(JSON.parse(lines[1]).uri, '/login');
  assert.deepEqual(await trace(id.toUpperCase(), LOGS), lines, 'capital letters are the same id');
});

test('a line that is not of the security log has the id, too, and only those of its request', async () => {
  const user = await newUser();
  const deposit = () => user.client.post('/wallet/deposit', { amount: '1', request_key: unique('k') });
  const [first, second] = [await deposit(), await deposit()];
  const id = first.headers.get('x-request-id');
  const lines = await complete(id);
  assert.match(lines[0], new RegExp(`role=page .*msg="deposit" user_id=${user.id} .* request_id=${id}$`));
  assert.ok(lines.every((line) => !line.includes(second.headers.get('x-request-id'))));
});

test('the page of an error shows the id', async () => {
  const page = await new Client().getHtml('/nowhere');
  assert.equal(page.status, 404);
  assert.ok(page.text.includes(`<code translate="no">${page.headers.get('x-request-id')}</code>`), page.text);
});

test('lines come from all folders, rotated and compressed files too, in the order of time', async () => {
  const folder = temporaryFolder('trace');
  const id = 'ab'.repeat(16);
  const line = (time, msg) => `ts=${time} level=info role=page pid=1 msg="${msg}" request_id=${id}\n`;
  writeFileSync(join(folder, 'page.log'), line('2026-11-22T08:00:02.001Z', 'third') + line('2026-11-22T08:00:00.900Z', 'first'));
  writeFileSync(join(folder, 'hot.log.1'), line('2026-11-22T08:00:04.000Z', 'last'));
  writeFileSync(join(folder, 'access.log.2.gz'), gzipSync(`{"time":"2026-11-22T16:00:01+08:00","id":"${id}"}\n`));
  writeFileSync(join(folder, 'secret.txt'), line('2026-11-22T08:00:04.000Z', 'no log'));
  const lines = await trace(id, LOGS, folder);
  assert.deepEqual(lines.map((each) => /msg="(\w+)"|access|time/.exec(each)?.[1] ?? 'nginx'), ['first', 'nginx', 'third', 'last']);
});

// Runs the program in folder as an operator who may read the logs, but not the secret. Only root can become another
// user.
const asNobody = (folder, settings, ...args) => run('./hongbao', ['trace', ...args],
  { cwd: folder, uid: 65534, gid: 65534, env: settings })
  .then((done) => ({ code: 0, ...done }), (error) => error);

test('a user who may read the logs needs neither the secret nor the role files', { skip: process.getuid() !== 0 }, async () => {
  const folder = temporaryFolder('trace', 0o755);
  const id = 'ef'.repeat(16);
  const conf = join(folder, 'hongbao.conf');
  const commands = join(folder, 'commands');
  copyFileSync(env.HB_TEST_BINARY, join(folder, 'hongbao')); // the checkout may lie in a folder of its user alone
  cpSync(COMMANDS, commands, { recursive: true });
  writeFileSync(join(folder, 'page.log'), `ts=2026-11-22T08:00:02.001Z level=info msg="seen" request_id=${id}\n`);
  writeFileSync(join(folder, 'hot.log'), 'private\n', { mode: 0o600 });
  writeFileSync(join(folder, 'secret'), 'x'.repeat(40), { mode: 0o600 });
  writeFileSync(conf, `secret_file = ${folder}/secret\nrights_dir = ${folder}/rights\ncommand_dir = ${commands}\nno_such_setting = 1\n`);
  const { code, stdout, stderr } = await asNobody(folder, { HB_CONFIG: conf, PATH: process.env.PATH }, id, folder);
  assert.deepEqual([code, /msg="(\w+)"/.exec(stdout)?.[1]], [0, 'seen'], stderr);
  assert.match(stderr, /^hongbao trace: you may not read \S+\/hot\.log; members of the group adm read logs$/m);
  chmodSync(conf, 0o600);
  const unread = await asNobody(folder, { HB_CONFIG: conf, HB_COMMAND_DIR: commands, PATH: process.env.PATH }, id, folder);
  assert.equal(unread.code, 0, unread.stderr);
});

test('an id that is nowhere, or is none, is said so', async () => {
  const fails = (...args) => trace(...args).then(() => assert.fail('found'), (error) => error);
  const nowhere = await fails('cd'.repeat(16), LOGS);
  assert.equal(nowhere.code, 1);
  assert.match(nowhere.stderr, /no line has this id in /);
  assert.equal((await fails('cd'.repeat(16), '/nowhere')).stderr, `hongbao trace: there is no folder /nowhere\nhongbao trace: no line has this id in /nowhere${existsSync('/run/systemd/system') ? ' or the journal' : ''}\n`);
  assert.equal((await fails('x; rm', LOGS)).code, 2);
  assert.equal((await fails()).code, 2);
});

test('a word that find takes as its expression is no folder, and deletes nothing', async () => {
  const folder = temporaryFolder('trace');
  const kept = join(folder, 'kept.log');
  writeFileSync(kept, '');
  const words = [[folder, '-delete'], ['-delete', folder], ['!', folder], ['(', folder], ['']];
  for (const args of words) {
    const said = spawnSync('bash', [join(COMMANDS, 'trace.sh'), 'cd'.repeat(16), ...args], { cwd: folder, encoding: 'utf8' });
    assert.equal(said.status, 2, said.stderr);
    assert.match(said.stderr, /^usage: hongbao trace /);
    assert.ok(existsSync(kept));
  }
});
