// The machines of the site are restarted, and get another program, one after the other; no visitor notices.
import assert from 'node:assert/strict';
import { cpSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { poll } from '../support/poll.js';
import { testCluster, underLoad } from './visitors.js';

const SQL = fileURLToPath(new URL('../../sql', import.meta.url));
const REQUESTS_MIN = 200; // far fewer requests than are expected: a load that hangs proves nothing
// Long limits: on a busy machine an answer of a store or a replica may be late, which is not tested here.
const { cluster, skip } = testCluster({ HB_REDIS_TIMEOUT_MS: '5000', HB_REDIS_REPLICAS_TIMEOUT_MS: '5000' });

before(async () => {
  if (!skip) await cluster.up();
});

// The files of sql/ with a migration of a table that is in use.
function laterTables() {
  const folder = join(cluster.dir, 'sql');
  cpSync(SQL, folder, { recursive: true });
  const migrations = join(folder, 'migrations');
  const number = String(readdirSync(migrations).length + 1).padStart(4, '0');
  writeFileSync(join(migrations, `${number}_later.sql`), `-- additive: yes
ALTER TABLE packet ADD COLUMN later_no INT NOT NULL DEFAULT 7;
CREATE TABLE later (id INT NOT NULL PRIMARY KEY);
`);
  return folder;
}

// The programs of the pools and the worker of a machine.
function programs(machine) {
  const found = cluster.pids(machine).map((pid) => {
    try {
      return readlinkSync(`/proc/${pid}/exe`);
    } catch {
      return ''; // it has ended
    }
  });
  return [...new Set(found.filter((path) => /\/hongbao[^/]*$/.test(path)))];
}

async function withoutError(work) {
  const { requests, errors } = await underLoad(cluster, work);
  assert.deepEqual(errors, []);
  assert.ok(requests > REQUESTS_MIN, `${requests} requests`);
}

async function isSound() {
  await cluster.wellAgain();
  await poll('the audit is clean', async () => (await cluster.hongbaoOn('app1', 'audit')).code === 0);
}

test('the machines of the site are restarted one after the other without an error', { skip }, async () => {
  const pids = async () => Object.values((await cluster.status()).machines).filter(({ kind }) => kind === 'app').map(({ pid }) => pid);
  const earlier = await pids();
  await withoutError(() => cluster.do('restart'));
  for (const pid of await pids()) assert.ok(pid > 0 && !earlier.includes(pid));
  await isSound();
});

test('a machine that is drained gets no request until it is ready', { skip }, async () => {
  await cluster.do('drain', 'app1');
  assert.match((await cluster.try('drain', 'app2')).stderr, /no machine of the site would be left/);
  assert.match((await cluster.try('drain', 'db1')).stderr, /db1 is no machine of the site/);
  const [earlier, other] = [cluster.lines('app1', 'access.log'), cluster.lines('app2', 'access.log')];
  await withoutError(() => poll('app2 is asked', () => cluster.lines('app2', 'access.log') > other + REQUESTS_MIN));
  // The old program only got the balancer's own requests, for /readyz and /healthz.
  assert.deepEqual(cluster.linesAfter('app1', 'access.log', earlier).filter((line) => !/\/(readyz|healthz)\b/.test(line)), []);
  await cluster.do('ready', 'app1');
  await isSound();
});

test('another program and its migration, and the one before, are taken over without an error', { skip }, async () => {
  const later = { HB_BINARY: process.env.HB_TEST_LATER, HB_SQL_DIR: laterTables() };
  const now = { HB_BINARY: process.env.HB_TEST_BINARY, HB_SQL_DIR: SQL };
  for (const settings of [later, now]) {
    cluster.set(settings);
    await withoutError(() => cluster.do('upgrade'));
    for (const machine of ['app1', 'app2']) assert.deepEqual(programs(machine), [settings.HB_BINARY]);
    await isSound();
  }
});
