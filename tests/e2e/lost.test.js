// docs/how-to/lost.md: a store is lost, is an older copy, or belongs to another site. The site then serves nothing
// until the stores belong together again, and nobody is logged in as somebody else.
import assert from 'node:assert/strict';
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { folder, FOLDER, refusal } from './support/backups.js';
import { HowTo } from './support/how_to.js';
import { env, tried } from './support/instance.js';
import { sql } from './support/mysql.js';
import { opened, sentPath, settled } from './support/packets.js';
import { redis } from './support/redis.js';
import { run } from './support/run.js';
import { audit, Client, poll, POOLS, registerUser as newUser, site } from './support/site.js';

const PAGE = 'Without the package';
const page = new HowTo('lost.md', import.meta.url);
const STARTED = [...POOLS].reverse();
const REDIS_FILES = join(env.HB_TEST_VAR, 'data/redis/appendonlydir');

after(() => site.allUp());

const open = async (user, packet) => {
  const { amount_fen: fen } = await opened(user, packet);
  await settled(user, packet);
  return fen;
};
const stop = (...names) => site.dev('stop', ...names);
const start = (...names) => site.dev('start', ...names);

async function logIn({ client, username, password }) {
  const answer = await client.post('/login', { username, password });
  assert.equal(answer.status, 200, answer.text);
}

// No part of the site is ready, and each place shows the reason.
async function refuses(says) {
  await poll('the page pool has compared the stores', async () => {
    const { status, text } = await new Client().get('/readyz');
    return status === 503 && says.test(text);
  });
  const log = join(env.HB_TEST_VAR, 'log/settle.log');
  await poll('the worker says it', () => says.test(readFileSync(log, 'utf8').split('settle worker started').at(-1)));
  assert.match((await site.hongbao('migrate').catch((error) => error)).stdout, says);
}

// Nobody is served, and nobody is logged in as somebody else.
async function servesNobody(user) {
  const guest = new Client();
  for (const path of ['/wallet', '/', '/account']) {
    const answer = await user.client.get(path);
    assert.equal(answer.status, 503, `${path}: ${answer.text}`);
    assert.doesNotMatch(answer.text, new RegExp(user.username));
  }
  assert.equal((await guest.post('/register', { username: 'stranger', nickname: 'stranger', password: 'correct-horse-9' })).status, 503);
  assert.equal((await guest.post('/login', { username: user.username, password: user.password })).status, 503);
  assert.equal((await guest.get('/healthz')).status, 200);
}

const served = (user, fen) => poll('the site serves', async () => {
  const answer = await user.client.get('/wallet');
  return answer.status === 200 && answer.json.balance_fen === fen;
});

// The commands for a store that is an older copy.
async function emptyRedis() {
  rmSync(join(FOLDER, 'appendonlydir'), { recursive: true, force: true });
  await page.step(PAGE, 2, { FOLDER });
}

test('MariaDB has lost its data: nobody is logged in as somebody else, and a backup brings the site back', async () => {
  const BACKUP = folder('lost');
  const user = await newUser({ yuan: '7' });
  const packet = await sentPath(user, { kind: 'even', amount: '2', count: '2' });
  await site.hongbao('backup', BACKUP);
  await open(user, packet);
  await stop(...POOLS, 'mariadb');
  rmSync(join(env.HB_TEST_VAR, 'data/mariadb'), { recursive: true });
  const failed = await start('mariadb').then(() => assert.fail('it has not failed'), (error) => error);
  assert.match(failed.stdout + failed.stderr, /MariaDB has lost its data/, 'no tables are made beside the Redis of a site');
  await stop('redis'); // as after the loss of both: then it can't be seen
  await start('mariadb', 'redis', ...STARTED);
  await refuses(/MariaDB has lost its data/);
  await servesNobody(user);
  const { stdout } = await tried(['doctor', '--json', '--nginx', join(env.HB_TEST_VAR, 'nginx.conf')]);
  const { wrong } = JSON.parse(stdout); // doctor.test.js has the other findings
  assert.equal(wrong[0].name, 'site-tables-gone', JSON.stringify(wrong, null, 1));
  assert.match(wrong[0].text, /MariaDB has lost its data/);
  for (const name of ['redis-fence', 'pool-not-ready', 'mysql-login']) assert.ok(!wrong.some((one) => one.name === name), name);
  assert.equal(await sql('SELECT COUNT(*) FROM user'), '0\n');
  assert.match(await refusal(['backup', folder('of-two-sites')]), /the tables are of the site [0-9a-f]{32}, but Redis is of the site/);
  await page.step(PAGE, 1, { BACKUP });
  await served(user, 300);
  assert.equal(await open(user, packet), 200);
  await audit();
});

// An operator's mistake: the tables of a backup beside the running Redis.
async function tablesAlone(backup) {
  await run('bash', ['-euo', 'pipefail', '-c', `mariadb --no-defaults -u root -S "$0" -e 'DROP DATABASE hongbao; CREATE DATABASE hongbao'
    gzip -dc "$1/tables.sql.gz" | mariadb --no-defaults -u root -S "$0" hongbao`, env.HB_TEST_MYSQL_SOCKET, backup]);
}

test('tables that are older than Redis are refused; with an empty Redis the site goes on from them', async () => {
  const BACKUP = folder('older');
  const [sender, early, lost] = [await newUser({ yuan: '10' }), await newUser(), await newUser()];
  const packet = await sentPath(sender, { kind: 'even', amount: '4', count: '2' });
  await open(early, packet);
  await site.hongbao('backup', BACKUP);
  await open(lost, packet);
  const later = await newUser({ yuan: '5' });
  await stop(...POOLS);
  await tablesAlone(BACKUP);
  await start(...STARTED);
  await refuses(/the tables are an older copy than Redis/);
  await servesNobody(later);
  await emptyRedis();
  const next = await newUser({ yuan: '1' });
  assert.equal(next.id, later.id); // the same number is given again
  assert.equal((await later.client.get('/wallet')).status, 401);
  await logIn(early);
  await served(early, 400);
  await logIn(lost);
  assert.equal(await open(lost, packet), 400);
  await audit();
});

test('an older copy of Redis is refused; an empty one is rebuilt from the tables', async () => {
  const sender = await newUser({ yuan: '10' });
  const packet = await sentPath(sender, { kind: 'even', amount: '4', count: '2' });
  await stop(...POOLS, 'redis');
  const old = folder('old-redis');
  cpSync(REDIS_FILES, old, { recursive: true });
  await start('redis', ...STARTED);
  await poll('the site is ready', async () => (await new Client().get('/readyz')).status === 200);
  await site.dev('restart', 'settle');
  await sender.client.post('/logout', {}); // the older copy does not know this logout
  await stop(...POOLS, 'redis');
  rmSync(REDIS_FILES, { recursive: true });
  cpSync(old, REDIS_FILES, { recursive: true });
  await start('redis', ...STARTED);
  await refuses(/Redis is an older copy/);
  await servesNobody(sender);
  await emptyRedis();
  await logIn(sender);
  await served(sender, 200);
  assert.equal(await open(sender, packet), 400);
  await audit();
});

test('the Redis of another site is refused, and not deleted by mistake', async () => {
  const BACKUP = folder('other');
  const other = 'c0ffee'.padEnd(32, '0');
  const user = await newUser({ yuan: '4' });
  await site.hongbao('backup', BACKUP);
  await stop(...POOLS);
  for (const key of (await redis('--scan', '--pattern', 'hb:{p??}:site')).split('\n')) await redis('SET', key, `${other} 3`);
  await start(...STARTED);
  await refuses(/Redis has the data of another site/);
  await servesNobody(user);
  await stop(...POOLS);
  assert.match(await refusal(['restore', '--replace', BACKUP]), new RegExp(`the stores have the site ${other}, the backup is of the site [0-9a-f]{32}.*--replace --site ${other}`, 's'));
  await site.hongbao('restore', '--replace', '--site', other, BACKUP);
  await start(...STARTED);
  await served(user, 400);
  await audit();
});

test('Redis has lost its data: packets are rebuilt, and users log in again', async () => {
  const sender = await newUser({ yuan: '10' });
  const packet = await sentPath(sender, { kind: 'even', amount: '4', count: '2' });
  await open(sender, packet);
  await stop('redis');
  rmSync(REDIS_FILES, { recursive: true });
  await start('redis');
  await poll('the session is gone', async () => (await sender.client.get('/wallet')).status === 401);
  await logIn(sender);
  const friend = await newUser();
  await poll('the packet is rebuilt', async () => (await friend.client.post(`${packet}/open`)).status === 200);
  await settled(friend, packet);
  await page.step(PAGE, 0);
});

test('every command of the page was run', () => {
  assert.deepEqual(page.untested(), []);
});
