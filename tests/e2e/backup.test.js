// The commands of docs/how-to/backup.md: a backup that was made under load is restored, and no fen is missing. A backup
// that is damaged or does not fit is refused.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { HowTo } from './support/how_to.js';
import { env } from './support/instance.js';
import { sql } from './support/mysql.js';
import { redis } from './support/redis.js';
import { audit, newUser, poll, pooled, sendPacket, site } from './support/site.js';

const TOP = 'Without the package';
const page = new HowTo('backup.md', import.meta.url);
const run = promisify(execFile);
let FOLDER;

before(() => { FOLDER = mkdtempSync(join(tmpdir(), 'hongbao-backup-')); });
after(async () => {
  await site.allUp();
  rmSync(FOLDER, { recursive: true });
  page.end();
});

const folder = (name) => join(FOLDER, name);

const open = async (user, packet) => {
  const answer = await user.client.post(`/p/${packet.json.id}/open`, {});
  assert.equal(answer.status, 200, answer.text);
  return answer.json.amount_fen;
};

const view = async (user, packet) => (await user.client.get(`/p/${packet.json.id}`)).json;

const settled = (user, packet) => poll('the grab is settled', async () => (await view(user, packet))?.mine?.settled);

// Logs in, once the pool, which was started anew, is ready.
async function logIn({ client, username, password }) {
  let answer;
  await poll('the pool auth is ready', async () => {
    answer = await client.post('/login', { username, password });
    return answer.status !== 503;
  });
  assert.equal(answer.status, 200, answer.text);
}

// Runs the program with other settings; expects that it fails, and returns what it says.
const refusal = async (args, settings = {}) => {
  const failed = await run(env.HB_TEST_BINARY, args, { env: { ...process.env, HB_CONFIG: env.HB_TEST_CONFIG, ...settings } })
    .then(() => assert.fail(`${args.join(' ')} did not fail`), (error) => error);
  assert.equal(failed.code, 1, failed.stderr);
  return failed.stderr;
};

// Visitors who send packets and open them until stop() is called. grabs: what was acknowledged, in the order of time.
function load(users) {
  const grabs = [];
  let running = true;
  const visitor = async (user, others) => {
    while (running) {
      const packet = await sendPacket(user, { kind: 'lucky', amount: '1', count: '6' });
      for (const other of others) {
        const answer = await other.client.post(`/p/${packet.json.id}/open`, {});
        if (answer.status === 200) grabs.push({ user: other, packet, fen: answer.json.amount_fen });
      }
    }
  };
  const visitors = users.map((user) => visitor(user, users.filter((other) => other !== user)));
  return { grabs, stop: async () => { running = false; await Promise.all(visitors); } };
}

test('backups made at random moments of a load are restored with every grab that was acknowledged before them', async () => {
  const users = await Promise.all(Array.from({ length: 5 }, () => newUser({ yuan: '500' })));
  const visitors = load(users);
  const backups = [];
  for (let i = 0; i < 2; i++) {
    const moment = visitors.grabs.length + 1 + Math.floor(Math.random() * 60);
    await poll('some grabs', () => visitors.grabs.length >= moment);
    const promised = visitors.grabs.length;
    const BACKUP = folder(`load-${i}`);
    await page.step(TOP, 0, { BACKUP });
    assert.ok(visitors.grabs.length > promised, 'the load goes on during the backup');
    assert.ok(!existsSync(`${BACKUP}.partial`));
    backups.push({ BACKUP, promised });
  }
  await visitors.stop();
  for (const { BACKUP, promised } of backups.sort(() => Math.random() - 0.5)) {
    await page.step(TOP, 1, { BACKUP });
    await audit();
    await pooled(visitors.grabs.slice(0, promised), 8, async ({ user, packet, fen }) => {
      assert.equal((await view(user, packet)).mine.amount_fen, fen);
    });
    const packet = await sendPacket(users[0], { kind: 'even', amount: '3', count: '3' });
    assert.equal(await open(users[1], packet), 300);
    await settled(users[1], packet);
    await audit();
  }
});

test('a site whose stores are gone is restored, and a packet of the backup goes on', async () => {
  const BACKUP = folder('gone');
  const sender = await newUser({ yuan: '100' });
  const [early, late, last] = await Promise.all([newUser(), newUser(), newUser()]);
  const packet = await sendPacket(sender, { kind: 'lucky', amount: '40', count: '3' });
  const fen = await open(early, packet);
  await site.hongbao('backup', BACKUP);
  await open(late, packet);
  for (const name of ['nginx', 'hot', 'page', 'auth', 'card', 'settle', 'redis', 'mariadb']) await site.dev('stop', name);
  for (const store of ['redis', 'mariadb']) rmSync(join(env.HB_TEST_VAR, 'data', store), { recursive: true });
  for (const name of ['mariadb', 'redis']) await site.dev('start', name);
  const keys = join(env.HB_TEST_VAR, 'rights/card.keys');
  const right = readFileSync(keys, 'utf8');
  writeFileSync(keys, right.replace(/[0-9a-f]{64}/, 'a'.repeat(64))); // as of the secret that a new machine has made
  await page.step(TOP, 1, { BACKUP });
  assert.equal(readFileSync(keys, 'utf8'), right);
  await site.allUp();
  assert.equal((await view(early, packet)).mine.amount_fen, fen); // with the session of the backup
  assert.equal(await open(early, packet), fen);
  assert.equal(await open(late, packet) + await open(last, packet) + fen, 4000);
  await settled(last, packet);
  await audit();
});

test('without its copy of Redis every packet is rebuilt from the tables, and everybody logs in again', async () => {
  const BACKUP = folder('without-redis');
  const sender = await newUser({ yuan: '100' });
  const [early, late] = await Promise.all([newUser(), newUser()]);
  const packet = await sendPacket(sender, { kind: 'even', amount: '4', count: '2' });
  await open(early, packet);
  await settled(early, packet);
  await site.hongbao('backup', BACKUP);
  await page.step('Restore', 0, { BACKUP });
  assert.equal((await early.client.get('/wallet')).status, 401);
  for (const user of [early, late]) await logIn(user);
  assert.equal((await view(early, packet)).mine.amount_fen, 400);
  assert.equal(await open(late, packet), 400);
  await settled(late, packet);
  await audit();
});

test('a damaged or unfinished backup is neither verified nor restored', async () => {
  const BACKUP = folder('whole');
  await site.hongbao('backup', BACKUP);
  await page.step('Back up', 0, { BACKUP });
  const damage = {
    'tables.sql.gz': (path) => { const bytes = readFileSync(path); bytes[bytes.length >> 1] ^= 1; writeFileSync(path, bytes); },
    'redis.rdb': (path) => writeFileSync(path, readFileSync(path).subarray(0, -1)),
    manifest: (path) => writeFileSync(path, readFileSync(path, 'utf8').replace(/^letters = 0/m, 'letters = 1')),
    SHA256SUMS: (path) => rmSync(path),
  };
  for (const [part, spoil] of Object.entries(damage)) {
    const copy = folder(`damaged-${part}`);
    cpSync(BACKUP, copy, { recursive: true });
    spoil(join(copy, part));
    for (const args of [['backup', '--verify', copy], ['restore', '--replace', copy]]) {
      assert.match(await refusal(args), part === 'SHA256SUMS' ? /is not a complete backup/ : new RegExp(`is damaged.*${part}`, 's'));
    }
  }
});

test('a backup whose money is wrong is given up once the audit comes no nearer, with what it finds', async () => {
  const BACKUP = folder('wrong-money');
  await site.hongbao('backup', BACKUP);
  await run('bash', ['-euo', 'pipefail', '-c', `cd "$0"; gzip -dc tables.sql.gz >tables.sql
    echo "UPDATE account SET balance_fen = balance_fen + 1 WHERE kind = 'wallet' LIMIT 1;" >>tables.sql
    gzip -f tables.sql; sha256sum manifest redis.rdb tables.sql.gz >SHA256SUMS`, BACKUP]);
  const said = await refusal(['backup', '--verify', BACKUP], { ARCHIVE_STALL_SECONDS: '1' });
  assert.match(said, /the audit is not clean, and has come no nearer for 1 s:\n[\s\S]*^I\d +FAIL/m);
});

test('keys that end are no progress of a backup whose audit is wrong', async () => {
  const BACKUP = folder('keys');
  const keys = Array.from({ length: 300 }, (_, i) => `hb:planted:${i}`);
  for (const [i, key] of keys.entries()) await redis('SET', key, 'nobody', 'PX', String(5000 + i * 1000));
  await site.hongbao('backup', BACKUP);
  await redis('DEL', ...keys);
  const said = await refusal(['backup', '--verify', BACKUP], { ARCHIVE_STALL_SECONDS: '5' });
  assert.match(said, /^sessions +FAIL/m);
});

test('what a killed restore leaves is not taken for a site; the next one with --replace brings the site back', async () => {
  const BACKUP = folder('killed');
  const user = await newUser({ yuan: '7' });
  const packet = await sendPacket(user, { kind: 'even', amount: '2', count: '2' });
  await site.hongbao('backup', BACKUP);
  const slow = folder('slow');
  cpSync(BACKUP, slow, { recursive: true });
  await run('bash', ['-euo', 'pipefail', '-c', `cd "$0"; gzip -dc tables.sql.gz | sed 's/^-- Table structure for table .user.$/SELECT SLEEP(600);/' >tables.sql
    gzip -f tables.sql; sha256sum manifest redis.rdb tables.sql.gz >SHA256SUMS`, slow]);
  for (const name of ['nginx', 'hot', 'page', 'auth', 'card', 'settle']) await site.dev('stop', name);
  const killed = spawn(env.HB_TEST_BINARY, ['restore', '--replace', slow], { env: { ...process.env, HB_CONFIG: env.HB_TEST_CONFIG }, detached: true, stdio: 'ignore' });
  await poll('the tables are half restored', async () => /SLEEP/.test(await sql("SELECT info FROM information_schema.processlist WHERE user = 'hongbao_migrate'")));
  process.kill(-killed.pid, 'SIGKILL');
  assert.match(await sql('SHOW TABLES'), /^transfer$/m);
  for (const args of [['migrate'], ['migrate', '--check']]) {
    const failed = await site.hongbao(...args).then(() => assert.fail(`${args.join(' ')} did not fail`), (error) => error);
    assert.match(failed.stdout + failed.stderr, /a restore was interrupted: repeat it with --replace/);
  }
  await noFenceOpens(user, packet);
  assert.match(await refusal(['backup', folder('half')]), /have no schema, as after a restore that was interrupted/);
  await page.step(TOP, 1, { BACKUP });
  await site.allUp();
  assert.equal((await user.client.get('/wallet')).json.balance_fen, 300);
  assert.equal(await open(user, packet), 200);
  await audit();
});

// Starts the pools on half the tables: the worker refuses them, and no share is given out.
async function noFenceOpens(user, packet) {
  const log = join(env.HB_TEST_VAR, 'log/settle.log');
  const before = readFileSync(log).length;
  for (const name of ['settle', 'hot', 'page', 'nginx']) await site.dev('start', name);
  await poll('the worker refuses the tables', () =>
    readFileSync(log).subarray(before).includes('a restore was interrupted: repeat it with --replace'));
  const refused = await user.client.post(`/p/${packet.json.id}/open`, {});
  assert.equal(refused.status, 503, refused.text);
  const ready = await user.client.get('/readyz');
  assert.equal(ready.status, 503);
  assert.match(ready.text, /a restore was interrupted: repeat it with --replace/);
  for (const name of ['nginx', 'page', 'hot', 'settle']) await site.dev('stop', name);
}

test('a later program verifies a backup: it brings the tables up to date', async () => {
  const BACKUP = folder('earlier');
  await site.hongbao('backup', BACKUP);
  const later = folder('later');
  cpSync(join(env.HB_TEST_DEV, '../sql'), later, { recursive: true });
  const next = String(readdirSync(join(later, 'migrations')).length + 1).padStart(4, '0');
  writeFileSync(join(later, `migrations/${next}_later.sql`), '-- additive: yes\nCREATE TABLE later (id INT);\n');
  const { stdout } = await run(env.HB_TEST_BINARY, ['backup', '--verify', BACKUP], { env: { ...process.env, HB_CONFIG: env.HB_TEST_CONFIG, HB_SQL_DIR: later } });
  assert.match(stdout, /restored into private stores, the audit is clean/);
});

test('an earlier program verifies a backup of tables that are newer by additive migrations, and no other', async () => {
  const next = readdirSync(join(env.HB_TEST_DEV, '../sql/migrations')).length + 1;
  await sql(`INSERT INTO schema_migration VALUES (${next}, 'later', REPEAT('x', 32), 1, TRUE)`);
  try {
    const { stdout } = await site.hongbao('backup', '--verify', folder('additive'));
    assert.match(stdout, /restored into private stores, the audit is clean/);
    await sql(`UPDATE schema_migration SET additive = FALSE WHERE version = ${next}`);
    assert.match(await refusal(['backup', '--verify', folder('not-additive')]), new RegExp(`the backup needs schema ${next}, this program knows ${next - 1}: install`));
  } finally {
    await sql(`DELETE FROM schema_migration WHERE version = ${next}`);
  }
});

test('a backup goes only to where it fits', async () => {
  const BACKUP = folder('fits');
  await site.hongbao('backup', BACKUP);
  assert.match(await refusal(['backup', BACKUP]), /exists already/);
  assert.match(await refusal(['restore', '--replace', BACKUP], { HB_SECRET: 'x'.repeat(40) }), /another secret/);
  assert.match(await refusal(['restore', '--replace', BACKUP], { HB_PARTITIONS: '7' }), /partitions = 16/);
  assert.match(await refusal(['restore', '--replace', BACKUP], { HB_OLDER_KEYS: 'off' }), /set older_keys = on/);
  const older = folder('migrations');
  mkdirSync(join(older, 'migrations'), { recursive: true });
  copyFileSync(join(env.HB_TEST_DEV, '../sql/migrations/0001_first_tables.sql'), join(older, 'migrations/0001_first_tables.sql'));
  assert.match(await refusal(['restore', '--replace', BACKUP], { HB_SQL_DIR: older }), /this program knows 1: install hongbao/);
  assert.match(await refusal(['restore', '--replace', BACKUP]), /the site runs: .*hongbao_settle/);
  for (const name of ['nginx', 'hot', 'page', 'auth', 'card', 'settle']) await site.dev('stop', name);
  assert.match(await refusal(['restore', BACKUP]), /the database has users or packets; --replace/);
  await site.allUp();
  await audit();
});

test('a backup that fails leaves no folder and says why', async (t) => {
  assert.match(await refusal(['backup', folder('no-redis')], { HB_REDIS: 'unix:/nonexistent/redis' }), /Redis can't be copied.*\/nonexistent\/redis/s);
  assert.match(await refusal(['backup', folder('no-tables')], { HB_MYSQL_SOCKET: '/nonexistent/mysql' }), /the tables can't be copied.*\/nonexistent\/mysql/s);
  assert.match(await refusal(['backup', folder('no-such/parent/backup')]), /there is no folder \S+\/no-such\/parent for the backup: [\s\S]*mkdir/);
  assert.match(await refusal(['backup', '--keep', '3', folder('no-such/nightly')]), /there is no folder \S+\/no-such for the backup/);
  assert.deepEqual(readdirSync(FOLDER).filter((name) => /^no-|partial$/.test(name)), []);
  if (process.getuid() !== 0) return t.diagnostic('the full disk is not tested: only root can mount a small one');
  const disk = folder('disk');
  mkdirSync(disk);
  const script = 'mount -t tmpfs -o size=8k none "$1" && shift && "$@"; status=$?; ls -A "$0" >&2; exit $status';
  const full = await run('unshare', ['-m', 'sh', '-c', script, disk, disk, env.HB_TEST_BINARY, 'backup', join(disk, 'full')],
    { env: { ...process.env, HB_CONFIG: env.HB_TEST_CONFIG } }).then(() => assert.fail('it fits'), (error) => error);
  assert.match(full.stderr, /can't be copied; 0 MB are free in [\s\S]*No space left on device/);
  assert.doesNotMatch(full.stderr, /^full/m);
  const verify = await run('unshare', ['-m', 'sh', '-c', script.replace('8k', '1m'), disk, disk, env.HB_TEST_BINARY, 'backup', '--verify', folder('no-room')],
    { env: { ...process.env, HB_CONFIG: env.HB_TEST_CONFIG, TMPDIR: disk } }).then(() => assert.fail('it fits'), (error) => error);
  assert.match(verify.stderr, /no private (Redis|MariaDB); \d MB are free in /);
  assert.match(verify.stderr, /No space left|[Ee]rror|full/);
  assert.ok(!existsSync(folder('no-room')));
});

test('a backup that gets nothing from a store ends, says so, and leaves no process', async () => {
  const client = ['--no-defaults', `--socket=${env.HB_TEST_MYSQL_SOCKET}`, '--user=root', '-N', '--unbuffered', 'hongbao'];
  const lock = spawn('mariadb', client, { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    lock.stdin.write("LOCK TABLES username_retired WRITE; SELECT 'locked';\n");
    await once(lock.stdout, 'data');
    const said = await refusal(['backup', folder('no-answer')], { ARCHIVE_STALL_SECONDS: '3' });
    assert.match(said, /^hongbao backup: the tables can't be copied; \d+ MB are free in [^\n]*: nothing has come for 3 s; is the disk of the store full/);
    assert.deepEqual(dumps(), []);
  } finally {
    lock.kill();
  }
  assert.deepEqual(readdirSync(FOLDER).filter((name) => name.startsWith('no-answer')), []);
});

// The processes that copy the tables of this site.
function dumps() {
  const has = (pid, file, text) => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, 'utf8').includes(text);
    } catch {
      return false; // it has ended
    }
  };
  return readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && has(pid, 'cmdline', 'mariadb-dump') && has(pid, 'environ', env.HB_TEST_CONFIG));
}

test('nightly backups: the newest are kept', async () => {
  const BACKUP = folder('kept');
  for (const name of ['2001-01-01T000000Z', '2002-01-01T000000Z.partial']) mkdirSync(join(`${BACKUP}-nightly`, name), { recursive: true });
  for (let i = 1; i < 14; i++) mkdirSync(join(`${BACKUP}-nightly`, `20${String(i + 10)}-01-01T000000Z`));
  writeFileSync(join(`${BACKUP}-nightly`, 'a note'), '');
  await page.step('Back up', 1, { BACKUP });
  const names = readdirSync(`${BACKUP}-nightly`).sort();
  assert.equal(names.length, 15);
  assert.ok(names.includes('a note') && !names.some((name) => /^2001|partial/.test(name)), names.join(' '));
});

test('tables older than Redis make letters of what contradicts, and an empty Redis ends it', async () => {
  const BACKUP = folder('older');
  const sender = await newUser({ yuan: '100' });
  const users = await Promise.all(Array.from({ length: 5 }, () => newUser()));
  const [early, lost, newest, late, other] = users;
  const packet = await sendPacket(sender, { kind: 'lucky', amount: '40', count: '5' });
  const fits = await sendPacket(sender, { kind: 'even', amount: '3', count: '3' });
  const earlyFen = await open(early, packet);
  await settled(early, packet);
  await site.hongbao('backup', BACKUP);
  for (const user of [lost, newest]) {
    await open(user, packet);
    await settled(user, packet);
  }
  await site.dev('stop', 'settle');
  await open(late, packet); // waits in the stream, as the next one
  await open(late, fits);
  for (const name of ['nginx', 'hot', 'page', 'auth', 'card']) await site.dev('stop', name);
  await tablesAlone(BACKUP);
  for (const name of ['settle', 'auth', 'card', 'page', 'hot', 'nginx']) await site.dev('start', name);

  await poll('the other packet is open', async () => (await other.client.post(`/p/${fits.json.id}/open`, {})).status === 200);
  await settled(late, fits);
  await settled(other, fits);
  assert.equal((await other.client.post(`/p/${packet.json.id}/open`, {})).status, 503);
  assert.equal((await view(late, packet)).grabbed_count, 4); // as it was promised
  const unclean = await site.hongbao('audit', '--json').catch((error) => error);
  const violated = JSON.parse(unclean.stdout).checks.filter((check) => check.violations > 0).map((check) => check.id);
  assert.deepEqual(violated, ['I8', 'letters']);

  await backupWithLetters();
  await page.steps('Older tables beside a newer Redis', { FOLDER });
  assert.match(readFileSync(folder('letters.txt'), 'utf8'), /^letter \d+ {2}packet \d+ /);
  const promised = readFileSync(folder('promised.txt'), 'utf8');
  for (const user of [early, lost, newest, late]) assert.match(promised, new RegExp(`^${user.id},`, 'm'));
  for (const user of users) await logIn(user);
  assert.equal(await open(early, packet), earlyFen);
  const rest = [];
  for (const user of [lost, newest, late, other]) rest.push(await open(user, packet));
  assert.equal(rest.reduce((sum, amount) => sum + amount, earlyFen), 4000);
  await settled(other, packet);
  await audit();
});

// What nobody should do: the tables of a backup beside the Redis that runs. Redis starts again, as after a failover.
async function tablesAlone(backup) {
  await run('bash', ['-euo', 'pipefail', '-c', `mariadb --no-defaults -u root -S "$0" -e 'DROP DATABASE hongbao; CREATE DATABASE hongbao'
    gzip -dc "$1/tables.sql.gz" | mariadb --no-defaults -u root -S "$0" hongbao`, env.HB_TEST_MYSQL_SOCKET, backup]);
  await site.dev('restart', 'redis');
}

// A site with dead letters can be backed up; the backup is verified with them.
async function backupWithLetters() {
  const BACKUP = folder('letters');
  const { stderr } = await page.step(TOP, 0, { BACKUP });
  assert.match(stderr, /the backup has \d+ dead letters/);
  assert.match(readFileSync(join(BACKUP, 'manifest'), 'utf8'), /^letters = [1-9]/m);
}

test('every command of the page was run', () => {
  assert.deepEqual(page.untested(), []);
});
