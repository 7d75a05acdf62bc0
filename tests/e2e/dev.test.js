// Tests of ./dev, on separate instances beside the one under test.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdir, readFile, readdir, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { env, poll, staysRoot, url } from './support/instance.js';
import { freePort } from '../support/port.js';
import { run, temporaryFolder } from './support/run.js';

// Folders beside the instance under test, where `servers stop-all` stops them even after a failure.
const FOLDER = dirname(env.HB_TEST_VAR);
const SERVERS = ['mariadb', 'redis', 'nginx', 'hot', 'page', 'auth', 'card', 'money', 'settle'];
const used = [];

// A new instance: its folder, its port and ./dev on it.
async function newInstance(name) {
  const folder = join(FOLDER, name);
  await rm(folder, { recursive: true, force: true });
  const port = await freePort();
  const options = ['--var', folder, '--port', String(port)];
  const environment = { ...process.env, HB_BINARY: env.HB_TEST_BINARY };
  const instance = {
    folder,
    port,
    url: `http://127.0.0.1:${port}`,
    dev: (args, extra = {}) => run(env.HB_TEST_DEV, [...options, ...args], { env: { ...environment, ...extra } }),
    spawn: (args, extra = {}) => spawn(env.HB_TEST_DEV, [...options, ...args],
      { env: { ...environment, ...extra }, stdio: ['ignore', 'pipe', 'pipe'] }),
  };
  used.push(instance);
  return instance;
}

// The processes that run in the folder; ./dev identifies them by the folder, too.
async function processesOf({ folder }) {
  const found = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => '');
    const [, state] = (await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')).match(/\) (\w)/) ?? [];
    if ((cwd === folder || cwd.startsWith(`${folder}/`)) && state !== 'Z') found.push(Number(pid));
  }
  return found;
}

const nothingLeft = async (instance) => assert.deepEqual(await processesOf(instance), []);

const get = async (address) => {
  const answer = await fetch(address);
  return { status: answer.status, text: await answer.text() };
};

const failure = (promise) => promise.then(() => assert.fail('it should have failed'), (error) => error);

// A process that ended stays a zombie (state Z) until its parent has read its exit status.
async function hasEnded(pid) {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '(gone) Z');
  return /\) [ZX]/.test(stat);
}

// The output and the exit of a child: { text(), ended }.
function listen(child) {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => { text += chunk; });
  return { text: () => text, ended: new Promise((resolve) => { child.on('close', (code, signal) => resolve({ code, signal })); }) };
}

after(async () => {
  for (const instance of used) {
    await instance.dev(['down']);
    await rm(instance.folder, { recursive: true, force: true });
  }
});

test('a second instance lives beside the first, in a folder with a space and more than ASCII', async () => {
  const second = await newInstance('二 nd');
  const { stdout } = await second.dev(['up']);
  assert.match(stdout, new RegExp(second.url));
  assert.match(stdout, /log in as alice, .*hongbao-demo/);
  assert.match(stdout, /\.\/dev --var .* down stops everything/);
  await second.dev(['status']);
  assert.deepEqual([await get(`${second.url}/readyz`), await get(`${url}/readyz`)].map((answer) => answer.status), [200, 200]);

  for (const name of SERVERS) {
    await second.dev(['stop', name]);
    const told = await failure(second.dev(['status']));
    assert.match(told.stdout, new RegExp(`^${name} +stopped$`, 'm'));
    await second.dev(['start', name]);
    await second.dev(['status']);
  }

  assert.match((await second.dev(['down'])).stderr, /stopped/);
  await nothingLeft(second);
  assert.match((await second.dev(['down'])).stderr, /nothing runs/);
  assert.equal((await get(`${url}/readyz`)).status, 200);
});

test('a path that is too long for sockets is supported', async () => {
  const long = await newInstance(join('a-rather-long-name'.repeat(3), 'a-rather-long-name'.repeat(3)));
  await long.dev(['up']);
  assert.equal((await get(`${long.url}/readyz`)).status, 200);
  await long.dev(['down']);
  await nothingLeft(long);
});

test('a port in use is reported before any server starts', async () => {
  const instance = await newInstance('taken');
  for (const address of ['127.0.0.1', '::1']) {
    const other = createServer();
    const error = await new Promise((resolve) => { other.on('error', resolve).listen(instance.port, address, () => resolve()); });
    if (error?.code === 'EADDRNOTAVAIL') continue; // no IPv6 here
    assert.equal(error, undefined);
    for (const command of [['up'], ['start', 'nginx']]) {
      const refused = await failure(instance.dev(command));
      assert.match(refused.stderr, /port \d+ is taken by another program/, `${address} ${command}`);
    }
    await nothingLeft(instance);
    await new Promise((resolve) => { other.close(resolve); });
  }
});

const first = Number(readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8'));

test('a port that only root may open is refused before any server starts', { skip: first <= 80 && 'here everybody may open port 80' }, async () => {
  const instance = await newInstance('low-port');
  const refused = await failure(instance.dev(['--port', '80', 'up']));
  assert.match(refused.stderr, new RegExp(`port 80 is for root only, .* from ${first} with --port`));
  await nothingLeft(instance);
});

test('a start that fails half-way leaves nothing behind, and the next one succeeds', async () => {
  const instance = await newInstance('half-way');
  await instance.dev(['start', 'redis']);
  await instance.dev(['down']);
  const manifest = join(instance.folder, 'data/redis/appendonlydir/appendonly.aof.manifest');
  const kept = await readFile(manifest);
  await writeFile(manifest, 'nonsense\n');
  const failed = await failure(instance.dev(['up']));
  assert.match(failed.stderr, /redis ended while it started/);
  await nothingLeft(instance);

  await writeFile(manifest, kept);
  await instance.dev(['up']);
  const pids = await Promise.all(SERVERS.map((name) => readFile(join(instance.folder, `run/${name}.pid`), 'utf8')));
  for (const pid of pids) process.kill(Number(pid), 'SIGKILL'); // the supervisors; their children keep running
  for (const pid of pids) await poll(`process ${pid.trim()} has ended`, () => hasEnded(pid.trim()));
  await instance.dev(['up']);
  assert.equal((await get(`${instance.url}/readyz`)).status, 200);
  assert.match((await instance.dev(['up'])).stderr, /already running/);
  await instance.dev(['down']);
  await nothingLeft(instance);
});

test('run reloads templates, keeps the last good ones after an error, and stops everything when interrupted', async () => {
  const instance = await newInstance('run');
  const templates = join(instance.folder, 'templates');
  const page = join(templates, 'pages/login.mustache');
  await mkdir(instance.folder, { recursive: true });
  await cp(join(dirname(env.HB_TEST_DEV), 'templates'), templates, { recursive: true });
  const child = instance.spawn(['run'], { HB_TEMPLATE_DIR: templates });
  const heard = listen(child);
  try {
    await poll('the site runs', () => heard.text().includes('Ctrl-C stops everything'), 120);
    const shown = (text) => poll(`the page shows ${text}`, async () => (await get(`${instance.url}/login`)).text.includes(text));
    const good = await readFile(page, 'utf8');
    await writeFile(page, good.replace('<h1>', '<h1>Moon '));
    await shown('<h1>Moon ');
    await writeFile(page, '{{#never closed');
    await poll('the error is logged', () => /role=auth .*templates not reloaded.*login\.mustache:1:1/.test(heard.text()));
    await shown('<h1>Moon ');
    await writeFile(page, good.replace('<h1>', '<h1>Sun '));
    await shown('<h1>Sun ');
    await poll('a visitor is in the log', () => heard.text().includes('"uri":"/login"'));
    assert.ok(!heard.text().includes('"uri":"/register"'), 'not what ./dev itself asked for');
  } finally {
    child.kill('SIGINT');
  }
  assert.deepEqual(await heard.ended, { code: 0, signal: null });
  await nothingLeft(instance);
});

test('what the user of the servers can’t reach runs as root, says so, and ends with the next start', { skip: process.getuid() !== 0 && 'only root leaves root' }, async (t) => {
  const usual = await newInstance('usual');
  const why = staysRoot((await usual.dev(['start', 'redis'])).stderr);
  await usual.dev(['down']);
  if (why) {
    t.skip(why);
    return;
  }
  const instance = await newInstance('root');
  const closed = temporaryFolder('closed'); // for root only
  const owner = async (name) => (await stat(`/proc/${(await readFile(join(instance.folder, `run/${name}.pid`), 'utf8')).trim()}`)).uid;
  const program = join(closed, 'hongbao');
  await symlink(env.HB_TEST_BINARY, program);
  const told = await instance.dev(['start', 'redis'], { HB_BINARY: program });
  assert.match(told.stderr, /the servers run as root: the user hongbao-dev can't reach .*hongbao-closed/);
  assert.equal(await owner('redis'), 0);
  assert.match((await instance.dev(['start', 'nginx'])).stderr, /run as root, until they are stopped/);
  assert.equal(await owner('nginx'), 0);
  await instance.dev(['down']);
  await nothingLeft(instance);

  const { stderr } = await instance.dev(['start', 'redis']);
  assert.doesNotMatch(stderr, /root/);
  assert.notEqual(await owner('redis'), 0);
  assert.equal((await stat(join(instance.folder, 'data/redis'))).uid, await owner('redis'));
  await instance.dev(['down']);
  await nothingLeft(instance);
});

// Runs in a mount namespace with a separate /etc, in which the user does not exist yet.
const MAKE_AT_ONCE = `
  source "$1/deploy/dev/user.sh"
  cp -a /etc "$2/etc" && mount --bind "$2/etc" /etc
  sed -i "/^$SERVICE_USER:/d" /etc/passwd /etc/group /etc/shadow /etc/gshadow
  for process in 1 2 3 4 5 6 7 8; do
    (user_exists || user_make && id -u "$SERVICE_USER") &
  done
  wait
  grep -c "^$SERVICE_USER:" /etc/passwd`;

test('several ./dev at once make one user', { skip: process.getuid() !== 0 && 'only root makes a user' }, async () => {
  const folder = temporaryFolder('etc');
  const { stdout } = await run('unshare', ['--mount', 'bash', '-c', MAKE_AT_ONCE, 'bash', dirname(env.HB_TEST_DEV), folder]);
  const lines = stdout.trim().split('\n');
  assert.equal(lines.length, 9, stdout);
  assert.equal(new Set(lines.slice(0, 8)).size, 1, stdout);
  assert.equal(lines[8], '1');
});

test('on a system without the packages of Debian ./dev says what it needs, and goes on when it is told that all is there', async () => {
  const release = join(FOLDER, 'other-os-release');
  await writeFile(release, 'ID=fedora\nVERSION_ID=41\nPRETTY_NAME="Fedora Linux 41"\n');
  const script = `PROGRAM=dev; source "$ROOT/deploy/common.sh"; source "$ROOT/deploy/dev/packages.sh"
    PATH=/nowhere PACKAGES_OS_RELEASE=${release}; packages_install run`;
  const install = (extra) => run('bash', ['-c', script], { env: { ...process.env, ROOT: dirname(env.HB_TEST_DEV), ...extra } });
  const { code, stderr } = await failure(install());
  assert.equal(code, 1);
  assert.match(stderr, /^dev: this is Fedora Linux 41, and .* on Debian only\. .* libhiredis-dev .* HB_PACKAGES=installed /);
  assert.equal((await install({ HB_PACKAGES: 'installed' })).stderr, '');
  await rm(release);
});

test('Valkey takes the place of Redis where only it is installed, or HB_TEST_STORE says so', async () => {
  const folder = temporaryFolder('stores');
  const put = (name) => writeFile(join(folder, name), '#!/bin/sh\n', { mode: 0o755 });
  const script = `PROGRAM=dev; PATH=$FOLDER; source "$ROOT/deploy/common.sh"; source "$ROOT/deploy/dev/packages.sh"
    packages_choose_store; packages_choose_store; command -v redis-server; echo "$PATH"; packages_have 'redis-server|valkey-server'`;
  const chosen = (extra) => run('/bin/bash', ['--norc', '-c', script], { env: { ROOT: dirname(env.HB_TEST_DEV), FOLDER: folder, ...extra } })
    .then(({ stdout }) => stdout.trimEnd().split('\n'), ({ stdout, stderr }) => stdout + stderr);
  const own = join(dirname(env.HB_TEST_DEV), 'deploy/dev/valkey');
  assert.equal(await chosen(), `${folder}\n`); // neither is there
  assert.match(await chosen({ HB_TEST_STORE: 'valkey' }), /there is no valkey-server/);
  await put('valkey-server');
  assert.deepEqual(await chosen(), [`${own}/redis-server`, `${own}:${folder}`]);
  await put('redis-server');
  assert.deepEqual(await chosen(), [`${folder}/redis-server`, folder]);
  assert.deepEqual(await chosen({ HB_TEST_STORE: 'valkey' }), [`${own}/redis-server`, `${own}:${folder}`]);
  assert.match(await chosen({ HB_TEST_STORE: 'keydb' }), /is redis or valkey, not keydb/);
});

test('an unknown test is refused with similar names, and nothing runs', async () => {
  const build = basename(dirname(env.HB_TEST_BINARY));
  const told = async (...args) => {
    const refused = await failure(run(env.HB_TEST_DEV, args, { env: { ...process.env, HB_BUILD: build } }));
    assert.equal(refused.stdout, '');
    return [refused.code, refused.stderr];
  };
  const expect = async (args, code, message) => {
    const [status, text] = await told(...args);
    assert.equal(status, code, text);
    assert.match(text, message);
  };
  await expect(['test', 'unit/base_srt'], 2, /no test 'unit\/base_srt'; near it: .*unit\/base_str /);
  await expect(['test', 'unit', 'integration/setle'], 2, /near it: .*integration\/settle /);
  await expect(['test', 'unti'], 2, /no label 'unti'; there are: chaos cluster container e2e faults fuzz integration machines package pages release tidy unit watch /);
  await expect(['test', '../unit'], 2, /no label '\.\.'/);
  await expect(['build', 'no-such-preset'], 1, /no preset 'no-such-preset'/);
  await expect(['mutants', '--only', 'no-such-folder'], 1, /nothing at no-such-folder has mutations/);
});

test('an interrupt during the start leaves nothing behind', async () => {
  const instance = await newInstance('interrupted');
  await instance.dev(['start', 'mariadb']); // creates the data folder, so that the next start is quick
  await instance.dev(['down']);
  for (const name of ['mariadb', 'settle', 'nginx']) {
    const child = instance.spawn(['run']);
    const heard = listen(child);
    await poll(`${name} is under way`, async () => readFile(join(instance.folder, `run/${name}.pid`)).catch(() => false), 60);
    child.kill('SIGINT');
    const { code } = await heard.ended;
    assert.ok(code === 130 || code === 0, `${name}: ${code}\n${heard.text()}`);
    await nothingLeft(instance);
  }
});
