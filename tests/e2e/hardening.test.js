// The release program and each of its running processes, as a deployment has them: how it was built, from its ELF headers,
// and what the processes may do, from /proc. Checks that only root can make are skipped for other users, with a
// message.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { env, poll, staysRoot } from './support/instance.js';
import { freePort } from '../support/port.js';
import { run } from './support/run.js';

const ROOT = dirname(env.HB_TEST_DEV);
const BUILD = join(ROOT, 'build/release');
const PROGRAM = join(BUILD, 'hongbao');
const ROLES = ['hot', 'page', 'auth', 'sso', 'card', 'money', 'settle'];
// Nobody answers there: the pool sso runs because an issuer is set.
const ISSUER = { HB_OIDC_ISSUER: 'http://127.0.0.1:9', HB_OIDC_CLIENT_ID: 'hongbao', HB_OIDC_NAME: 'Example' };
const folder = join(dirname(env.HB_TEST_VAR), 'hardening');
let url;
let asRoot; // why the servers run as root; undefined: they don't

const dev = (...args) => {
  const environment = { ...process.env, ...ISSUER, HB_BUILD: 'release', SECRET_OF_THE_SHELL: 'x' };
  delete environment.HB_BINARY;
  return run(env.HB_TEST_DEV, ['--var', folder, ...args], { env: environment });
};

before(async () => {
  await rm(folder, { recursive: true, force: true });
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  asRoot = staysRoot((await dev('--port', String(port), 'up')).stderr);
});

after(async () => {
  await dev('down');
  await rm(folder, { recursive: true, force: true });
});

// ---- the program ----

test('the program is position independent, with full RELRO, and no stack is executable', async () => {
  const { stdout } = await run('readelf', ['-hldW', PROGRAM]);
  assert.match(stdout, /Type: +DYN \(Position-Independent Executable file\)/);
  assert.match(stdout, /^ +GNU_RELRO /m);
  assert.match(stdout, /\(FLAGS\) +BIND_NOW/);
  assert.match(stdout, /^ +GNU_STACK( +0x\w+){5} RW +/m);
});

test('every source was compiled with the stack protector and FORTIFY 3, and the program uses both', async () => {
  const commands = JSON.parse(readFileSync(join(BUILD, 'compile_commands.json'), 'utf8')).filter(({ file }) => file.startsWith(join(ROOT, 'app/')));
  assert.ok(commands.length > 100);
  for (const { file, command } of commands) {
    for (const flag of ['-D_FORTIFY_SOURCE=3', '-fstack-protector-strong', '-fstack-clash-protection', '-fcf-protection=full', '-O2']) {
      assert.ok(command.includes(` ${flag} `), `${file} without ${flag}`);
    }
  }
  const { stdout } = await run('readelf', ['-W', '--dyn-syms', PROGRAM]);
  for (const symbol of ['__stack_chk_fail', '__snprintf_chk', '__memcpy_chk']) assert.ok(stdout.includes(` ${symbol}@`), symbol);
});

// ---- its processes ----

const supervisor = (role) => Number(readFileSync(join(folder, `run/${role}.pid`), 'utf8'));
const children = (pid) => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
const each = () => ROLES.flatMap((role) => children(supervisor(role)).map((pid) => ({ role, pid })));

const field = (pid, name) => new RegExp(`^${name}:\\s+(\\S+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];

// A command of this user without capabilities, which root has otherwise.
const plain = (...command) => (process.getuid() === 0 ? ['setpriv', '--bounding-set=-all', '--inh-caps=-all', ...command] : command);

// Whether another process of the same user may read this one.
async function isOpen(pid) {
  const [file, ...args] = plain('head', '-c', '1', `/proc/${pid}/environ`);
  return run(file, args).then(() => true, () => false);
}

test('an ordinary process can be read by others of its user', async () => {
  const [file, ...args] = plain('sleep', '600');
  const other = spawn(file, args);
  try {
    await poll('it can be read', () => isOpen(other.pid));
  } finally {
    other.kill();
  }
});

async function closed() {
  const filters = String(Number(field(process.pid, 'Seccomp_filters')) + 1); // a container has some already
  for (const { role, pid } of each()) {
    const have = Object.fromEntries(['Seccomp', 'Seccomp_filters', 'NoNewPrivs', 'CapEff', 'CapPrm'].map((name) => [name, field(pid, name)]));
    const nothing = '0'.repeat(16);
    assert.deepEqual(have, { Seccomp: '2', Seccomp_filters: filters, NoNewPrivs: '1', CapEff: nothing, CapPrm: nothing }, role);
    assert.match(readFileSync(`/proc/${pid}/limits`, 'utf8'), /^Max core file size +0 +0 /m, role);
    assert.equal(await isOpen(pid), false, `${role} can be read by others`);
    // Only root can read the environment of the process, but its supervisor has passed on the same.
    const names = readFileSync(`/proc/${supervisor(role)}/environ`, 'utf8').split('\0').filter(Boolean).map((line) => line.split('=')[0]);
    assert.ok(names.includes('HB_CONFIG'));
    assert.deepEqual(names.filter((name) => !/^(?:PATH|LANG|HB_\w+)$/.test(name)), [], role);
  }
}

const refused = () => readdirSync(join(folder, 'log')).flatMap((name) => readFileSync(join(folder, 'log', name), 'utf8').split('\n'))
  .filter((line) => line.includes('system call'));

// One connection for each request: old workers of a reloaded nginx close kept connections.
const ask = (path, { headers, ...options } = {}) => fetch(url + path, { ...options, headers: { ...headers, connection: 'close' } });

const wait = (path) => poll(`${path} is there`, async () => (await ask(path)).status === 200);

// One walk through all pools.
async function walk(name) {
  const post = async (path, fields, cookie = '') => {
    const answer = await ask(path, { method: 'POST', body: new URLSearchParams(fields), headers: { accept: 'application/json', cookie } });
    assert.ok(answer.status < 300, `${path} ${answer.status}: ${await answer.clone().text()}`);
    return answer;
  };
  const registered = await post('/register', { username: name, nickname: name, password: 'five green islands' });
  const cookie = registered.headers.get('set-cookie').split(';')[0];
  await post('/wallet/deposit', { amount: '10', request_key: 'd' }, cookie);
  const { id } = await (await post('/send', { kind: 'lucky', amount: '1', count: '1', request_key: 's' }, cookie)).json();
  await post(`/p/${id}/open`, {}, cookie);
  await wait(`/p/${id}/card.png`);
  await wait('/readyz/sso');
  await ask('/login/oidc');
  await poll('the grab is settled', async () => (await (await ask(`/p/${id}`, { headers: { accept: 'application/json', cookie } })).json()).mine?.settled);
  await dev('hongbao', 'audit');
}

test('each process has the filter of its role, no capabilities, no core dump, and shows nothing of itself', async () => {
  await closed();
  await walk('before');
  await dev('restart', ...ROLES, 'nginx');
  await closed();
  await walk('after');
  assert.deepEqual(refused(), []);
});

// ---- the user of the servers ----

const isRoot = process.getuid() === 0;
const skip = isRoot ? false : 'only root can start processes as other users';
const SERVERS = ['mariadb', 'redis', 'nginx', ...ROLES];
const SECOND_MS = 1000;

// The processes of the instance: of each server its first one and all below it.
const tree = (pid) => [pid, ...children(pid).filter(Boolean).flatMap(tree)];
const all = () => SERVERS.flatMap((name) => tree(supervisor(name)).map((pid) => ({ name, pid })));

const uids = () => all().map(({ name, pid }) => {
  const ids = /^Uid:\s+(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1].split('\t').map(Number);
  assert.equal(new Set(ids).size, 1, `${name} ${pid}: ${ids}`);
  return { name, pid, uid: ids[0] };
});

test('no server runs as root, also when root has started it, and after a restart', { skip }, async (t) => {
  if (asRoot) {
    t.skip(asRoot);
    return;
  }
  const { uid } = statSync(join(folder, 'run'));
  const check = () => {
    const found = uids();
    assert.ok(found.length > 2 * SERVERS.length, `${found.length} processes`);
    for (const one of found) assert.equal(one.uid, uid, `${one.name} ${one.pid}`);
  };
  assert.notEqual(uid, 0);
  check();
  await dev('restart', ...ROLES, 'nginx');
  check();
  for (const name of ['nginx', 'hot', 'redis']) {
    await dev('stop', name);
    await dev('start', name);
  }
  check();
  for (const { pid, name } of uids().filter((one) => one.name === 'mariadb' || one.pid !== supervisor(one.name))) {
    assert.equal(field(pid, 'NoNewPrivs'), '1', name);
    assert.equal(field(pid, 'CapEff'), '0'.repeat(16), name);
  }
  await wait('/readyz'); // the settle worker has checked the Redis that was started anew
  await walk('again');
});

test('another user reaches neither the sockets nor the settings, the logs and the data', { skip }, async () => {
  const nobody = (...command) => run('setpriv', ['--reuid=65534', '--regid=65534', '--clear-groups', ...command], { timeout: 10 * SECOND_MS });
  for (const name of ['hot.sock', 'page.sock', 'auth.sock', 'sso.sock', 'card.sock', 'money.sock', 'redis.sock', 'mariadb.sock']) {
    const connect = ['curl', '-sS', '--max-time', '2', '--unix-socket', join(folder, 'run', name), 'http://localhost/'];
    await assert.rejects(nobody(...connect), (error) => error.code === 7, `nobody connects to ${name}`);
    await assert.rejects(run(connect[0], connect.slice(1)), (error) => error.code !== 7, `root connects to ${name}`);
  }
  for (const name of ['hongbao.conf', 'rights/page.conf', 'run/environment', 'log/access.log', 'data/redis']) {
    assert.ok(statSync(join(folder, name)));
    await assert.rejects(nobody('test', '-e', join(folder, name)), name);
  }
});

test('the instance, its sockets and its saved environment are for its user alone', () => {
  const mode = (path) => (statSync(join(folder, path)).mode & 0o777).toString(8);
  assert.equal(mode('.'), '700');
  assert.equal(mode('run/environment'), '600');
  for (const role of ['hot', 'page', 'auth', 'sso', 'card', 'money']) {
    assert.equal(mode(`run/${role}.sock`), '660', role);
    assert.equal(statSync(join(folder, `run/${role}.sock`)).gid, Number(field(supervisor('nginx'), 'Gid')), `the group of ${role}.sock is nginx's`);
  }
});
