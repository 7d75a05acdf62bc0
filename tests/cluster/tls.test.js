// TLS between a site and a Redis with a replica: deploy/stunnel and deploy/redis/tls.conf on 127.0.0.1, real servers.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Site } from '../bench/site.js';
import { poll } from '../support/poll.js';
import { freePort } from '../support/port.js';

const DIR = process.env.HB_TEST_CLUSTER_DIR;
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const NAMES = ['redis1', 'redis2', 'rogue'];
const servers = [];
let ports;
let site;

const stunnel = ['stunnel4', '/usr/bin/stunnel4'].find((name) => spawnSync(name, ['-version']).status === 0);
const skip = stunnel ? false : 'stunnel4 is not installed';

function openssl(...args) {
  execFileSync('openssl', args, { cwd: DIR, stdio: 'pipe' });
}

// An authority, and a certificate that it signs for 127.0.0.1.
function certify(authority, name) {
  openssl('req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2',
    '-subj', `/CN=${authority}`, '-keyout', `${authority}.key`, '-out', `${authority}.pem`);
  openssl('req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-subj', `/CN=${name}`,
    '-keyout', `${name}.key`, '-out', `${name}.csr`);
  writeFileSync(join(DIR, 'names'), 'subjectAltName=IP:127.0.0.1\n');
  openssl('x509', '-req', '-days', '2', '-in', `${name}.csr`, '-CA', `${authority}.pem`, '-CAkey', `${authority}.key`, '-CAcreateserial',
    '-extfile', 'names', '-out', `${name}.pem`);
}

// Writes the users of Redis, with the passwords that the site's instance will read.
function makeUsers(folder) {
  const text = execFileSync('bash', ['-c', `set -eu; PROGRAM=test; . "$1/deploy/common.sh"; . "$1/deploy/rights/roles.sh"; rights_make "$2"
    rights_acl "$2" "on nopass ~* &* +@all"`, 'users', ROOT, join(folder, 'rights')], { encoding: 'utf8' });
  writeFileSync(join(DIR, 'users.acl'), text);
}

function start(command, args) {
  const child = spawn(command, args, { cwd: DIR, stdio: 'ignore' });
  servers.push(child);
  return child;
}

// A Redis with deploy/redis/tls.conf; primary: the port of the Redis that it follows.
function startRedis(name, authority, cert, primary) {
  const folder = join(DIR, `data-${name}`);
  mkdirSync(folder, { recursive: true });
  const tls = readFileSync(join(ROOT, 'deploy/redis/tls.conf'), 'utf8').replace('tls-port 6379', `tls-port ${ports[name]}`)
    .replaceAll('/etc/redis/tls/server', join(DIR, cert)).replace('/etc/redis/tls/ca.pem', join(DIR, `${authority}.pem`));
  writeFileSync(join(DIR, `${name}.conf`), `include ${join(ROOT, 'deploy/redis/settings.conf')}\n${tls}dir ${folder}
aclfile ${join(DIR, 'users.acl')}\nbind 127.0.0.1\n${primary ? `replicaof 127.0.0.1 ${primary}\n` : ''}`);
  return start('redis-server', [join(DIR, `${name}.conf`)]);
}

// deploy/stunnel/redis-client.conf with the ports of this test; the third part leads to the server of another authority.
function startStunnel() {
  let text = readFileSync(join(ROOT, 'deploy/stunnel/redis-client.conf'), 'utf8').replace('/etc/stunnel/redis-ca.pem', join(DIR, 'ca.pem'));
  if (process.getuid() !== 0) text = text.replace(/^set[ug]id .*\n/gm, '');
  NAMES.forEach((name, i) => {
    text = text.replace(`accept = 127.0.0.1:638${i + 1}`, `accept = 127.0.0.1:${ports[`${name} client`]}`)
      .replace(`connect = 10.0.0.1${i + 1}:6379`, `connect = 127.0.0.1:${ports[name]}`).replace(`checkIP = 10.0.0.1${i + 1}`, 'checkIP = 127.0.0.1');
  });
  writeFileSync(join(DIR, 'stunnel.conf'), text);
  return start(stunnel, [join(DIR, 'stunnel.conf')]);
}

// What a port answers to PING without TLS: '' when the connection is closed, or stays silent.
function plainPing(port) {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    const timer = setTimeout(() => socket.destroy(), 5000);
    socket.on('data', (bytes) => { text += bytes.toString('latin1'); socket.end(); });
    socket.on('error', () => {});
    socket.on('close', () => { clearTimeout(timer); resolve(text); });
  });
}

before(async () => {
  if (skip) return;
  mkdirSync(DIR, { recursive: true });
  chmodSync(DIR, 0o755);
  ports = {};
  for (const name of NAMES) for (const side of [name, `${name} client`]) ports[side] = await freePort();
  certify('ca', 'server');
  certify('other', 'stranger');
  const folder = join(DIR, 'site');
  mkdirSync(folder);
  makeUsers(folder);
  startRedis('redis1', 'ca', 'server');
  startRedis('redis2', 'ca', 'server', ports.redis1);
  startRedis('rogue', 'other', 'stranger');
  startStunnel();
  await poll('Redis answers through TLS', async () => (await plainPing(ports['redis1 client'])) === '+PONG\r\n');
  site = new Site({ root: ROOT, build: dirname(process.env.HB_TEST_BINARY), folder,
    settings: { HB_REDIS: ['redis1', 'redis2'].map((name) => `127.0.0.1:${ports[`${name} client`]}`).join(', ') } });
  await site.up();
});

after(async () => {
  await site?.down();
  for (const child of servers) child.kill('SIGKILL');
  rmSync(DIR, { recursive: true, force: true });
});

async function grabArrives() {
  const [sender, receiver] = await site.users(2);
  const packet = await site.send(sender, 1);
  const opened = await site.request(`/p/${packet}/open`, { cookie: receiver.cookie, fields: {} });
  assert.equal(opened.status, 200, opened.text);
  assert.equal(opened.json.result, 'grabbed');
  await poll('the grab is in the wallet', async () => (await site.request(`/p/${packet}`, { cookie: receiver.cookie })).json.mine?.settled);
}

test('a grab travels through TLS, is confirmed by the replica and settled', { skip }, async () => {
  await grabArrives();
  assert.equal((await site.hongbao('audit', '--json').then(JSON.parse)).ok, true);
});

test('Redis answers nobody without TLS', { skip }, async () => {
  assert.doesNotMatch(await plainPing(ports.redis1), /PONG/);
});

test('a server whose certificate another authority has signed gets no request', { skip }, async () => {
  const ask = ['-p', String(ports.rogue), '--tls', '--cacert', join(DIR, 'other.pem'), 'PING'];
  await poll('the server answers those who trust its authority', () => spawnSync('redis-cli', ask, { encoding: 'utf8' }).stdout === 'PONG\n');
  assert.equal(await plainPing(ports['rogue client']), '');
});

test('the site goes on after stunnel was restarted', { skip }, async () => {
  const old = servers.pop();
  const ended = new Promise((resolve) => { old.on('exit', resolve); });
  old.kill('SIGKILL');
  await ended;
  startStunnel();
  await poll('the site works', async () => (await site.request('/readyz')).status === 200);
  await poll('grabs work', () => grabArrives().then(() => true, () => false));
});
