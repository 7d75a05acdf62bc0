// ./dev cluster: several machines on this one. The site works through the balancer while one machine is cut off or killed.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Site } from '../support/http.js';
import { poll } from '../support/poll.js';
import { Cluster } from '../support/cluster.js';
import { testCluster } from './visitors.js';

const { cluster, skip } = testCluster();
let site;
let number = 0;

after(() => site?.close());

// Registers a user with a session; null while the site can't.
async function register() {
  const { status, cookies } = await site.post('/register', '', { username: `u${Date.now()}${number++}`, nickname: 'u', password: 'correct-horse' });
  return status === 201 ? cookies.find((text) => /^(__Host-)?sid=/.test(text)) : null;
}

// One user sends, another one opens, and the money arrives. False while a part of it can't.
async function flowWorks() {
  const sender = await register();
  const receiver = await register();
  if (!sender || !receiver) return false;
  const key = `k${number++}`;
  if ((await site.post('/wallet/deposit', sender, { amount: '10.00', request_key: key })).status >= 400) return false;
  const sent = await site.post('/send', sender, { kind: 'even', amount: '1.00', count: 2, request_key: key });
  if (sent.status !== 201) return false;
  const opened = await site.post(`/p/${sent.json.id}/open`, receiver);
  if (opened.json?.result !== 'grabbed') return false;
  assert.equal(opened.json.amount_fen, 100);
  await poll('the grab is in the wallet', async () => (await site.get('/wallet', receiver)).json?.balance_fen === 100);
  return true;
}

// Packets of several partitions.
async function flowWorksOften() {
  for (let i = 0; i < 6; i++) if (!await flowWorks()) return false;
  return true;
}

// Whether the site answers at this address. (In a network that has the same addresses, something else may accept a
// connection.)
async function answers(host, port) {
  try {
    const answer = await fetch(`http://${host}:${port}/healthz`, { signal: AbortSignal.timeout(5000) });
    return answer.ok && (await answer.text()).startsWith('ok');
  } catch {
    return false;
  }
}

test('a cluster starts, tells its machines, and is reached at one address only', { skip }, async () => {
  await cluster.up();
  site = new Site(cluster.url);
  await cluster.wellAgain();
  const { machines } = await cluster.status();
  assert.deepEqual([...new Set(Object.values(machines).map(({ kind }) => kind))], ['redis', 'db', 'app', 'lb']);
  for (const [name, { pid }] of Object.entries(machines)) assert.ok(pid > 0, name);
  const { hostname, port } = new URL(cluster.url);
  assert.deepEqual([await answers(hostname, port), await answers(machines.app1.address, 8080), await answers(machines.lb.address, port)], [true, false, false]);
  assert.ok(await flowWorks());
  assert.match((await cluster.try('up')).stderr, /a cluster is in .* already/);
  assert.match((await cluster.try('kill', 'db4')).stderr, /no machine 'db4'; there are: redis1 /);
});

test('a Galera node that is cut off is told, and the others go on', { skip }, async () => {
  await cluster.do('cut', 'db1');
  await poll('the site works without db1', flowWorks);
  const { machines, isWell: well } = await poll('db1 knows it', async () => {
    const state = await cluster.status();
    return /not in the primary component/.test(state.machines.db1.role) && state;
  });
  assert.equal(well, false);
  assert.match(machines.db1.role, /cut off/);
  await cluster.do('heal');
  await cluster.wellAgain();
});

test('after kill -9 of a primary its replica takes over, and the killed one becomes a replica', { skip }, async () => {
  const { machines } = await cluster.status();
  const primary = Object.keys(machines).find((name) => /^primary of/.test(machines[name].role));
  const [, slots] = /^primary of (\S+)/.exec(machines[primary].role);
  await cluster.do('kill', primary);
  assert.equal((await cluster.status()).machines[primary].role, 'down');
  await poll('its replica serves its slots', async () => Object.entries((await cluster.status()).machines)
    .some(([name, { role }]) => name !== primary && role.startsWith(`primary of ${slots} `)));
  await poll('the site works without it', flowWorksOften);
  await cluster.do('start', primary);
  await cluster.wellAgain();
  assert.match((await cluster.status()).machines[primary].role, /^replica of/);
});

test('slots move to another primary while the site works', { skip }, async () => {
  const before = (await cluster.status()).machines;
  await cluster.do('reshard');
  const { machines } = await cluster.status();
  assert.notDeepEqual(Object.values(machines).map(({ role }) => role), Object.values(before).map(({ role }) => role));
  await poll('the site works', flowWorksOften);
});

test('a primary that is cut off with a machine of the site takes part again after the cut is healed', { skip }, async () => {
  const { machines } = await cluster.status();
  const primary = Object.keys(machines).find((name) => /^primary of/.test(machines[name].role));
  await cluster.do('cut', primary, 'with', 'app1');
  await poll('its replica has taken over', async () => Object.values((await cluster.status()).machines)
    .filter(({ role }) => /^primary of \S+ /.test(role)).length === 4);
  await poll('the site works without both', flowWorksOften);
  await cluster.do('heal');
  await cluster.wellAgain();
  const { code, stdout, stderr } = await cluster.hongbaoOn('app1', 'audit');
  assert.equal(code, 0, stdout + stderr);
});

test('down leaves nothing: no process, namespace, link or file', { skip }, async () => {
  await cluster.do('down');
  assert.deepEqual(cluster.remains(), []);
  assert.match((await cluster.try('down')).stderr, /no cluster runs/);
});

test('down leaves nothing of a start that was killed half-way', { skip }, async () => {
  const half = new Cluster(join(cluster.dir, 'half'), cluster.binary);
  const child = await half.spawn('up', '--profile', 'sentinel');
  const ended = new Promise((resolve) => { child.on('exit', resolve); });
  await poll('the first server runs', () => existsSync(`${half.folder}/redis1/run/redis.pid`));
  child.kill('SIGKILL');
  await ended;
  assert.notDeepEqual(half.remains(), []);
  await half.do('down');
  assert.deepEqual(half.remains(), []);
});
