// A backup for other stores: its routines belong to a user of another host, and what the new stores do not allow is
// reported before anything is changed.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { folder, refusal, spoil } from './support/backups.js';
import { env } from './support/instance.js';
import { sql } from './support/mysql.js';
import { opened, settled } from './support/packets.js';
import { freePort } from '../support/port.js';
import { redis } from './support/redis.js';
import { run } from './support/run.js';
import { audit, poll, POOLS, registerUser as newUser, sendPacket, site } from './support/site.js';

const ROOT = new URL('../..', import.meta.url).pathname.replace(/\/$/, '');
const ELSEWHERE = "sed -i 's/DEFINER=`hongbao_migrate`@`localhost`/DEFINER=`hongbao_migrate`@`10.0.0.%`/' tables.sql; grep -q '10[.]0[.]0' tables.sql";
const MIGRATE = 'hongbao_migrate@localhost';
let other; // a MariaDB that has a binary log, reached by TCP

after(async () => {
  other?.kill();
  await site.allUp();
});

const stopSite = () => site.dev('stop', ...POOLS);
const definers = () => sql("SELECT DISTINCT definer FROM information_schema.routines WHERE routine_schema = 'hongbao'").then((text) => text.trim());

test('a backup of stores elsewhere is verified with grabs that wait, and restored: the routines are those of the user here', async () => {
  const DIR = folder('elsewhere');
  const [sender, early, late] = await Promise.all([newUser({ yuan: '100' }), newUser(), newUser()]);
  const packet = await sendPacket(sender, { kind: 'even', amount: '3', count: '2' });
  await poll('the packet is open', async () => (await sql(`SELECT state FROM packet WHERE sender_id = ${sender.id}`)).trim() === 'open');
  await site.dev('stop', 'settle');
  await opened(early, `/p/${packet.json.id}`); // the worker of the verification calls the routines
  await site.hongbao('backup', DIR);
  await spoil(DIR, ELSEWHERE);
  assert.match((await site.hongbao('backup', '--verify', DIR)).stdout, /the audit is clean/);
  await stopSite();
  await site.hongbao('restore', '--replace', DIR);
  assert.equal(await definers(), MIGRATE);
  await site.allUp();
  assert.equal((await late.client.post(`/p/${packet.json.id}/open`, {})).json.amount_fen, 300);
  await settled(late, `/p/${packet.json.id}`);
  await audit();
});

// The restore of something that a store does not allow is refused with these words, and changes nothing.
async function refused(backup, says, { plant = () => {}, mend = () => {}, settings } = {}) {
  const state = async () => [await sql('SELECT COUNT(*) FROM user; SELECT MIN(version) FROM schema_migration'), await redis('DBSIZE'), await redis('GET', 'hb:{p00}:fence')];
  await plant();
  try {
    const before = await state();
    const said = await refusal(['restore', '--replace', backup], settings);
    assert.match(said, says);
    assert.doesNotMatch(said, /is not complete/);
    assert.deepEqual(await state(), before);
  } finally {
    await mend();
  }
}

test('a restore checks what the stores allow before it changes anything', async () => {
  const DIR = folder('checks');
  await site.hongbao('backup', DIR);
  await stopSite();
  await refused(DIR, new RegExp(`the user ${MIGRATE} lacks rights on the database hongbao: CREATE ROUTINE, ALTER ROUTINE\\. GRANT ALL`), {
    plant: () => sql(`REVOKE CREATE ROUTINE, ALTER ROUTINE ON hongbao.* FROM ${MIGRATE}`), mend: () => sql(`GRANT ALL PRIVILEGES ON hongbao.* TO ${MIGRATE}`) });
  await refused(DIR, /the database server is read-only/, { plant: () => sql('SET GLOBAL read_only = 1'), mend: () => sql('SET GLOBAL read_only = 0') });
  await refused(DIR, /can't use the database: .*max_allowed_packet is 1024, not at least 1048576/, {
    plant: () => sql('SET GLOBAL max_allowed_packet = 1024'), mend: () => sql('SET GLOBAL max_allowed_packet = DEFAULT') });
  const long = folder('long');
  cpSync(DIR, long, { recursive: true });
  await spoil(long, `printf "SELECT LENGTH('%017000000d');\\n" 0 >>tables.sql`);
  await refused(long, /the longest statement of the backup has 17000018 bytes, and the database server takes 16777216: SET GLOBAL max_allowed_packet/);
  const later = folder('later');
  cpSync(DIR, later, { recursive: true });
  await spoil(later, "sed -i 's/COLLATE=utf8mb4_bin/COLLATE=utf8mb4_later_bin/' tables.sql");
  await refused(later, /does not know the collation utf8mb4_later_bin of the backup: it needs the version of the backup, \d+\S+MariaDB/);
  const acl = await redis('ACL', 'LIST').then((text) => text.split('\n').find((line) => line.includes('user hongbao_migrate ')).replace(/.*user /, '').split(' '));
  await refused(DIR, /Redis does not let the role migrate empty it: .*NOPERM/, {
    plant: () => redis('ACL', 'SETUSER', 'hongbao_migrate', '-flushall'), mend: () => redis('ACL', 'SETUSER', acl[0], 'reset', ...acl.slice(1)) });
  await refused(DIR, /Redis is a replica/, { plant: () => redis('REPLICAOF', '127.0.0.1', '1'), mend: () => redis('REPLICAOF', 'NO', 'ONE') });
  await site.hongbao('restore', '--replace', DIR);
  await site.allUp();
  await audit();
});

// A MariaDB with a binary log at a port, with the users of the roles for clients of 127.0.0.%. Returns its address.
async function otherStart() {
  const data = folder('other'), socket = folder('other.sock'), port = await freePort();
  mkdirSync(data);
  const user = process.getuid() === 0 ? ['--user=root'] : [];
  await run('mariadb-install-db', ['--no-defaults', ...user, `--datadir=${data}`, '--skip-test-db', '--auth-root-authentication-method=normal', '--skip-name-resolve']);
  other = spawn('mariadbd', ['--no-defaults', ...user, `--datadir=${data}`, `--socket=${socket}`, '--bind-address=127.0.0.1', `--port=${port}`, '--skip-name-resolve',
    '--log-bin=binlog', '--server-id=1', '--character-set-server=utf8mb4', '--collation-server=utf8mb4_bin', '--innodb-use-native-aio=0'], { stdio: 'ignore' });
  const root = (statements, ...args) => run('mariadb', ['--no-defaults', `--socket=${socket}`, '--user=root', '-N', ...args, '-e', statements]).then(({ stdout }) => stdout.trim());
  await poll('the other MariaDB answers', () => root('SELECT 1').then(() => true, () => false));
  const rights = (commands, ...args) => run('bash', ['-euo', 'pipefail', '-c', `. "$0/deploy/common.sh"; . "$0/deploy/rights/roles.sh"
    { ${commands}; } | rights_hosts '127.0.0.%' | mariadb --no-defaults --socket="$1" --user=root "\${@:3}"`, ROOT, socket, join(env.HB_TEST_VAR, 'rights'), ...args]);
  await rights('rights_sql "$2" hongbao');
  return { root, settings: { HB_MYSQL: `127.0.0.1:${port}` },
    grant: () => rights("sed '/^REVOKE /d' \"$0/deploy/rights/grants.sql\" \"$0/deploy/rights/grants-demo.sql\"", 'hongbao') };
}

test('a site goes from its stores to another MariaDB with a binary log, and back', async () => {
  const there = folder('there'), back = folder('back');
  const user = await newUser({ yuan: '5' });
  await site.hongbao('backup', there);
  await stopSite();
  const { root, settings, grant } = await otherStart();
  const program = (...args) => run(env.HB_TEST_BINARY, args, { env: { ...process.env, HB_CONFIG: env.HB_TEST_CONFIG, ...settings } });
  assert.match(await refusal(['restore', '--replace', there], settings), /has a binary log and lets only an administrator create functions.*SET GLOBAL log_bin_trust_function_creators = 1/);
  assert.equal(await root("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'hongbao'"), '0');
  await root('SET GLOBAL log_bin_trust_function_creators = 1');
  await program('migrate', '--restoring');
  await grant();
  await program('restore', '--replace', there);
  assert.equal(await root("SELECT DISTINCT definer FROM information_schema.routines WHERE routine_schema = 'hongbao'"), 'hongbao_migrate@127.0.0.%');
  assert.equal(await root(`SELECT balance_fen FROM hongbao.account WHERE id = ${user.id}`), '500');
  await root(`CALL hongbao.ledger_deposit(${user.id}, 100, '${user.id}:there', 1)`);
  await program('backup', '--verify', back);
  assert.match(readFileSync(join(back, 'manifest'), 'utf8'), /^audit = clean$/m);
  other.kill();
  await once(other, 'exit');
  await site.hongbao('restore', '--replace', back);
  assert.equal(await definers(), MIGRATE);
  assert.equal(await sql(`SELECT balance_fen FROM account WHERE id = ${user.id}`).then((text) => text.trim()), '600');
  await site.allUp();
  await audit();
});
