// Backups that fail, that a verification finds wrong, or that can't be restored: the messages, and the files that are
// left.
import assert from 'node:assert/strict';
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { FOLDER, folder, processesWith, refusal, spoil, withLockedTable } from './support/backups.js';
import { env } from './support/instance.js';
import { sql } from './support/mysql.js';
import { redis } from './support/redis.js';
import { run } from './support/run.js';
import { audit, POOLS, site } from './support/site.js';

after(() => site.allUp());

test('a damaged or unfinished backup is neither verified nor restored', async () => {
  const BACKUP = folder('whole');
  await site.hongbao('backup', BACKUP);
  const damage = {
    'tables.sql.gz': (path) => { const bytes = readFileSync(path); bytes[bytes.length >> 1] ^= 1; writeFileSync(path, bytes); },
    'redis.rdb': (path) => writeFileSync(path, readFileSync(path).subarray(0, -1)),
    manifest: (path) => writeFileSync(path, readFileSync(path, 'utf8').replace(/^letters = 0/m, 'letters = 1')),
    SHA256SUMS: (path) => rmSync(path),
  };
  for (const [part, damaged] of Object.entries(damage)) {
    const copy = folder(`damaged-${part}`);
    cpSync(BACKUP, copy, { recursive: true });
    damaged(join(copy, part));
    for (const args of [['backup', '--verify', copy], ['restore', '--replace', copy]]) {
      assert.match(await refusal(args), part === 'SHA256SUMS' ? /is not a complete backup/ : new RegExp(`is damaged.*${part}`, 's'));
    }
  }
});

test('a backup whose money is wrong is told at once, with what the audit finds', async () => {
  const BACKUP = folder('wrong-money');
  await site.hongbao('backup', BACKUP);
  await spoil(BACKUP, `echo "UPDATE account SET balance_fen = balance_fen + 1 WHERE kind = 'wallet' LIMIT 1;" >>tables.sql`);
  const said = await refusal(['backup', '--verify', BACKUP]);
  assert.match(said, /the audit of \S+\/wrong-money is violated:\n[\s\S]*^I\d +FAIL/m);
  assert.ok(existsSync(join(BACKUP, 'manifest')));
});

test('keys that end are no progress of a backup whose audit is wrong', async () => {
  const BACKUP = folder('keys');
  const keys = Array.from({ length: 300 }, (_, i) => `hb:planted:${i}`);
  for (const [i, key] of keys.entries()) await redis('SET', key, 'nobody', 'PX', String(5000 + i * 1000));
  await site.hongbao('backup', BACKUP);
  await redis('DEL', ...keys);
  assert.match(await refusal(['backup', '--verify', BACKUP]), /^sessions +FAIL/m);
});

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
  await site.dev('stop', ...POOLS);
  assert.match(await refusal(['restore', BACKUP]), /the database has users or packets; --replace/);
  await site.allUp();
  await audit();
});

test('a backup that fails leaves no folder and says why', async (t) => {
  assert.match(await refusal(['backup', folder('no-redis')], { HB_REDIS: 'unix:/nonexistent/redis' }), /Redis on unix:\/nonexistent\/redis does not answer: No such file/);
  assert.match(await refusal(['backup', folder('no-tables')], { HB_MYSQL_SOCKET: '/nonexistent/mysql' }), /MariaDB on unix:\/nonexistent\/mysql does not answer: Can't connect/);
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
  assert.match(verify.stderr, /the copy is kept, but is no good backup: \S+\/no-room\.unverified$/m);
  await site.hongbao('backup', '--verify', folder('no-room.unverified')); // it is whole
});

test('a backup that gets nothing from a store ends, says so, and leaves no process', async () => {
  const temporary = folder('stall-tmp');
  mkdirSync(temporary);
  await withLockedTable(async () => {
    const said = await refusal(['backup', folder('no-answer')], { ARCHIVE_STALL_SECONDS: '3', TMPDIR: temporary });
    assert.match(said, /^hongbao backup: the tables can't be copied; \d+ MB are free in [^\n]*: nothing has come for 3 s; is the disk of the store full/);
    assert.deepEqual(processesWith(temporary), []);
  });
  assert.deepEqual(readdirSync(FOLDER).filter((name) => name.startsWith('no-answer')), []);
});
