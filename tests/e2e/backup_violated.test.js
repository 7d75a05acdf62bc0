// Backups whose audit finds a lasting violation, and commands that are killed: what is kept, the messages, the files
// that are left.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { folder, processesWith, refusal, start, withLockedTable } from './support/backups.js';
import { env } from './support/instance.js';
import { sql } from './support/mysql.js';
import { redis } from './support/redis.js';
import { run } from './support/run.js';
import { audit, newUser, poll, POOLS, site } from './support/site.js';

after(() => site.allUp());

const manifest = (path, name) => new RegExp(`^${name} = (.*)$`, 'm').exec(readFileSync(join(path, 'manifest'), 'utf8'))?.[1];

// Runs work while a wallet has a fen too much.
async function withWrongMoney(work) {
  const user = await newUser({ yuan: '3' });
  await sql(`UPDATE account SET balance_fen = balance_fen + 1 WHERE id = ${user.id}`);
  try {
    await work(user);
  } finally {
    await sql(`UPDATE account SET balance_fen = 300 WHERE id = ${user.id}`);
  }
}

test('a copy with a lasting violation is kept as what it is, and restored only when asked for as evidence', async () => {
  const DIR = folder('lasting');
  let user;
  await withWrongMoney(async (owner) => {
    user = owner;
    const said = await refusal(['backup', '--verify', DIR]);
    assert.match(said, new RegExp(`the audit of ${DIR} is violated:\n[\\s\\S]*^I5 +FAIL[\\s\\S]*^ +account ${user.id}: [\\s\\S]*the copy is kept, but is no good backup: ${DIR}\\.violated$`, 'm'));
    assert.ok(!existsSync(DIR) && !existsSync(`${DIR}.partial`));
    const again = await refusal(['backup', '--verify', DIR]);
    assert.match(again, /lasting\.violated\.2$/m); // the first one stays
    await site.hongbao('backup', folder('not-verified'));
  });
  assert.equal(manifest(`${DIR}.violated`, 'audit'), 'violated');
  assert.match(manifest(`${DIR}.violated`, 'violations'), /^I5 \d+$/);
  assert.equal(manifest(folder('not-verified'), 'audit'), 'unknown');
  assert.match(await refusal(['restore', '--replace', `${DIR}.violated`]), /the audit of the backup itself was violated \(I5 \d+\): use another backup\. .* --violated/);
  await site.dev('stop', ...POOLS);
  assert.match(await refusal(['restore', '--replace', folder('not-verified')]),
    /the audit is violated:\n[\s\S]*^I5 +FAIL[\s\S]*all of the backup is restored, but the audit is violated, so the backup has these violations: do not start the site/m);
  const taken = await site.hongbao('restore', '--replace', '--violated', `${DIR}.violated`);
  assert.match(taken.stderr, /^I5 +FAIL/m);
  assert.match(taken.stdout, /restored, the audit is violated/);
  assert.equal((await sql(`SELECT balance_fen FROM account WHERE id = ${user.id}`)).trim(), '301');
  await sql(`UPDATE account SET balance_fen = 300 WHERE id = ${user.id}`);
  await site.allUp();
  await audit();
});

test('a backup that is right says so in its manifest', async () => {
  await site.hongbao('backup', '--verify', folder('right'));
  assert.equal(manifest(folder('right'), 'audit'), 'clean');
  await site.hongbao('backup', '--verify', folder('right')); // the manifest has its sums
});

test('nightly copies with violations count apart: they push out no good one, and the newest stay', async () => {
  const NIGHTLY = folder('nightly');
  const good = ['2011-01-01T000000Z', '2012-01-01T000000Z'];
  const bad = ['2013-01-01T000000Z.violated', '2014-01-01T000000Z.violated'];
  for (const name of [...good, ...bad]) mkdirSync(join(NIGHTLY, name), { recursive: true });
  await withWrongMoney(() => refusal(['backup', '--verify', '--keep', '2', NIGHTLY]));
  const names = readdirSync(NIGHTLY).sort();
  assert.deepEqual(names.slice(0, 3), [...good, bad[1]]);
  assert.match(names[3], /^20\d\d-\d\d-\d\dT\d{6}Z\.violated$/);
  assert.equal(names.length, 4);
  await site.hongbao('backup', '--verify', '--keep', '2', NIGHTLY);
  assert.deepEqual(readdirSync(NIGHTLY).filter((name) => name.endsWith('.violated')).sort(), names.slice(2));
});

test('a violation in Redis, and play money while demo is off, are told at once, too', async () => {
  await redis('SET', 'hb:planted', 'nobody');
  const planted = await refusal(['backup', '--verify', folder('planted')]);
  await redis('DEL', 'hb:planted');
  assert.match(planted, /^sessions +FAIL[\s\S]*planted\.violated$/m);
  await newUser({ yuan: '1' });
  const said = await refusal(['backup', '--verify', folder('play')], { HB_DEMO: 'off' });
  assert.match(said, /^origin +FAIL[\s\S]*while demo is off[\s\S]*play\.violated$/m);
  assert.equal(manifest(folder('play.violated'), 'demo'), 'on'); // it belongs to the tables
  await site.hongbao('backup', '--verify', folder('play.violated')); // right, where demo is on
  assert.match(await refusal(['restore', '--replace', folder('play.violated')], { HB_DEMO: 'off' }), /is of a site with play money.*: set demo = on/);
});

// ---- killed ----

const mariadbAnswers = async (work) => work.length > 0 &&
  run('mariadb', ['--no-defaults', `--socket=${work[0]}/mariadb.sock`, '--user=root', '-e', 'SELECT 1']).then(() => true, () => false);

test('a verification that is killed leaves no process, and the next command removes its folder', async () => {
  const DIR = folder('killed');
  const { child, temporary, work, ended } = start('killed', ['backup', '--verify', DIR]);
  await poll('its MariaDB runs', () => mariadbAnswers(work()));
  assert.ok(processesWith(temporary).length > 2);
  child.kill('SIGKILL');
  await ended;
  await poll('nothing runs', () => processesWith(temporary).length === 0);
  assert.equal(work().length, 1);
  await run(env.HB_TEST_BINARY, ['backup', DIR], { env: { ...process.env, HB_CONFIG: env.HB_TEST_CONFIG, TMPDIR: temporary } });
  assert.deepEqual(work(), []);
  assert.ok(existsSync(DIR) && !existsSync(`${DIR}.partial`));
});

test('the folder of a backup that runs stays; a backup that is stopped in its verification keeps the copy, unverified', async () => {
  const DIR = folder('runs');
  const { child, temporary, work, ended } = start('runs', ['backup', '--verify', DIR]);
  await poll('its MariaDB runs', () => mariadbAnswers(work()));
  await run(env.HB_TEST_BINARY, ['backup', folder('beside')], { env: { ...process.env, HB_CONFIG: env.HB_TEST_CONFIG, TMPDIR: temporary } });
  if (child.exitCode === null) assert.equal(work().length, 1);
  child.kill('SIGTERM');
  const [code] = await ended;
  assert.deepEqual(work(), []);
  if (code === 0) return assert.ok(existsSync(DIR)); // it was quicker
  assert.match(child.said, /the copy is kept, but is no good backup: \S+\/runs\.unverified/);
  await site.hongbao('backup', '--verify', `${DIR}.unverified`);
});

test('a backup that is killed while it copies leaves no process', async () => {
  await withLockedTable(async () => {
    const { child, temporary, ended } = start('copies', ['backup', folder('copies')]);
    await poll('it waits for the table', async () => /username_retired/.test(await sql("SELECT info FROM information_schema.processlist WHERE user = 'hongbao_backup'")));
    assert.ok(processesWith(temporary).length > 2);
    child.kill('SIGKILL');
    await ended;
    await poll('nothing runs', () => processesWith(temporary).length === 0);
  });
});
