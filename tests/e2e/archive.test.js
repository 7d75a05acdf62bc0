// The scripts of `hongbao backup` and `hongbao restore`, as far as they need no server: which folders they accept as a
// backup, which old ones they remove, and how they read the tables and the audit. backup.test.js tests the whole
// procedure.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { run, temporaryFolder } from './support/run.js';

const ROOT = join(new URL('.', import.meta.url).pathname, '../..');
const COMMANDS = join(ROOT, 'deploy/commands');
const BINARY = process.env.HB_TEST_BINARY;
const SECRET = '0123456789abcdef0123456789abcdef';
const PARTS = ['manifest', 'redis.rdb', 'tables.sql.gz'];
const NEWEST = Number(readdirSync(join(ROOT, 'sql/migrations')).sort().at(-1).slice(0, 4));
const folder = temporaryFolder('archive');

const sha256 = (text) => createHash('sha256').update(text).digest('hex');
const secretId = (secret) => sha256(`hongbao backup ${secret}`).slice(0, 16);

// Makes a backup with this manifest, whose files no store could read. sums: the files listed in SHA256SUMS.
function archive(name, manifest = {}, sums = PARTS) {
  const path = join(folder, name);
  mkdirSync(path);
  const values = { format: 1, program: 'hongbao 9.9', schema: NEWEST, schema_needed: NEWEST, partitions: 16, letters: 0,
    secret_id: secretId(SECRET), ...manifest };
  writeFileSync(join(path, 'manifest'), Object.entries(values).map(([key, value]) => `${key} = ${value}\n`).join(''));
  writeFileSync(join(path, 'redis.rdb'), 'no copy of Redis');
  writeFileSync(join(path, 'tables.sql.gz'), 'no tables');
  writeFileSync(join(path, 'SHA256SUMS'), sums.map((part) => `${sha256(readFileSync(join(path, part)))}  ${part}\n`).join(''));
  return path;
}

const POINTS = ['unit = POINT', 'unit_symbol =', 'unit_name_zh = 积分', 'unit_name_en = points'];

// Why `hongbao backup --verify` fails. It checks the folder before it starts any server.
async function refusal(path, ...settings) {
  const config = join(folder, 'hongbao.conf');
  writeFileSync(config, [`secret = ${SECRET}`, `command_dir = ${COMMANDS}`, `sql_dir = ${ROOT}/sql`, `template_dir = ${ROOT}/templates`,
    `lua_dir = ${ROOT}/lua`, `static_dir = ${ROOT}/static`, 'partitions = 16', ...settings, ''].join('\n'));
  const failed = await run(BINARY, ['--config', config, 'backup', '--verify', path], { env: { PATH: process.env.PATH, TMPDIR: folder } })
    .then(() => assert.fail('it is verified'), (error) => error);
  assert.equal(failed.code, 1, failed.stderr);
  return failed.stderr;
}

// Runs lines of bash with the functions of the parts; returns what they print.
async function shell(parts, lines, input = '') {
  const sources = ['../common', ...parts].map((part) => `. "${COMMANDS}/${part}.sh"`).join('; ');
  const child = spawn('bash', ['-euo', 'pipefail', '-c', `${sources}\nWORK=${folder}\n${lines}`], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.on('error', () => {}).end(input);
  const chunks = [];
  child.stdout.on('data', (chunk) => chunks.push(chunk));
  const [code] = await once(child, 'close');
  assert.equal(code, 0, lines);
  return Buffer.concat(chunks).toString();
}

test('a folder that is a backup of this site is read', async () => {
  assert.match(await refusal(archive('fits')), /redis-server can't read the copy of Redis/);
  assert.match(await refusal(archive('additive', { schema: NEWEST + 1 })), /redis-server can't read/);
  assert.match(await refusal(archive('no-demo', { demo: 'off' })), /redis-server can't read/);
  assert.match(await refusal(archive('same-zone', { timezone: 'Asia/Shanghai', unit: 'CNY', unit_decimals: 2 })), /redis-server can't read/);
  assert.match(await refusal(archive('points', { unit: 'POINT', unit_decimals: 2, unit_symbol: '' }), ...POINTS), /redis-server can't read/);
});

test('a folder that is not a whole backup is refused, and why', async () => {
  assert.match(await refusal(archive('other-format', { format: 2 })), /has the format 2; this program knows 1/);
  for (const [i, part] of PARTS.entries()) {
    const changed = archive(`changed-${i}`);
    writeFileSync(join(changed, part), 'changed');
    assert.match(await refusal(changed), new RegExp(`is damaged, use another backup: ${part}: FAILED`));
    const missing = archive(`without-${i}`, {}, PARTS.filter((other) => other !== part));
    assert.match(await refusal(missing), /is damaged, use another backup: SHA256SUMS names /);
  }
  const unfinished = archive('unfinished');
  rmSync(join(unfinished, 'SHA256SUMS'));
  assert.match(await refusal(unfinished), /is not a complete backup/);
});

test('a backup of another site, or of a later program, is refused', async () => {
  assert.match(await refusal(archive('secret', { secret_id: secretId('x'.repeat(32)) })), /another secret/);
  assert.match(await refusal(archive('partitions', { partitions: 8 })), /partitions = 8, the configuration 16: set partitions = 8 in/);
  assert.match(await refusal(archive('zone', { timezone: 'Europe/Berlin' })), /timezone = Europe\/Berlin, the configuration Asia\/Shanghai: set timezone = /);
  assert.match(await refusal(archive('unit', { unit: 'POINT', unit_decimals: 2 })), /unit = POINT, the configuration CNY: set unit = POINT in/);
  assert.match(await refusal(archive('decimals', { unit: 'CNY', unit_decimals: 0 })), /unit_decimals = 0, the configuration 2: set unit_decimals = 0 in/);
  assert.match(await refusal(archive('of-yuan'), ...POINTS), /unit = CNY, the configuration POINT: set unit = CNY in/, 'of a version before');
  assert.match(await refusal(archive('demo', { demo: 'on' })), /is of a site with play money, .* set demo = on/);
  const later = new RegExp(`needs schema ${NEWEST + 1}, this program knows ${NEWEST}: install hongbao 9\\.9 or a later one`);
  assert.match(await refusal(archive('later', { schema: NEWEST + 1, schema_needed: NEWEST + 1 })), later);
  assert.match(await refusal(archive('of-before', { schema: NEWEST + 1, schema_needed: '' })), later);
});

test('only backups that are older than the newest N of their kind are removed, and what killed ones have left', async () => {
  const kept = join(folder, 'kept');
  const others = ['2012-02-01T000000Z', '2012-11-01T000000Z', '2011-01-01', '2011-notes', '2013-01-01T000000Z.partial', '2005-01-01T000000Z.violated',
    '2006-01-01T000000Z.violated', '2004-01-01T000000Z.unverified'];
  for (const name of ['2011-01-01T000000Z', '2010-01-01T000000Z.partial', '2004-01-01T000000Z.violated', ...others]) mkdirSync(join(kept, name), { recursive: true });
  // Only this function of the script is read: the rest would make a backup.
  await shell([], `. <(sed -n '/^backups_rotate/,/^}/p' "${COMMANDS}/backup.sh"); KEEP=2
    exec 8<"${kept}/2013-01-01T000000Z.partial"; flock 8; backups_rotate "${kept}"`);
  assert.deepEqual(readdirSync(kept).sort(), others.sort());
});

test('the table that says which schema the tables have is restored last', async () => {
  const table = (name) => `-- Table structure for table \`${name}\`\nCREATE TABLE \`${name}\`;\n-- Dumping data for table \`${name}\`\nINSERT INTO \`${name}\`;\n`;
  const [head, routines, tail] = ['SET NAMES utf8mb4;\n', '-- Dumping routines\nCREATE PROCEDURE p;\n', '/*!40103 SET TIME_ZONE=@OLD_TIME_ZONE */;\n'];
  const [early, late, schema] = ['packet', 'user', 'schema_migration'].map(table);
  for (const dump of [head + early + schema + late + routines + tail, head + early + late + schema + routines + tail]) {
    assert.equal(await shell(['archive'], 'tables_reorder', dump), head + early + late + routines + schema + tail);
  }
});

test('routines are restored as those of the user who restores, whatever server they come from', async () => {
  const names = ['`hongbao_migrate`@`localhost`', '`hongbao_migrate`@`10.0.0.%`', '`a``b`@`%`', '`a b`@`::1`'];
  const dump = (definer) => [`CREATE DEFINER=${definer} PROCEDURE \`p\`()`, `/*!50003 CREATE*/ /*!50020 DEFINER=${definer}*/ /*!50003 FUNCTION \`f\`()`,
    "INSERT INTO `user` VALUES (1,'CREATE DEFINER=`a`@`b` ');", '  SELECT "DEFINER=`a`@`b`";', ''].join('\n');
  for (const name of names) assert.equal(await shell(['archive'], 'tables_reorder', dump(name)), dump('CURRENT_USER'));
});

test('what a dump does to its client or its server is no part of the tables', async () => {
  const tables = '-- MariaDB dump\n/*!40101 SET NAMES utf8mb4 */;\nINSERT INTO `user` VALUES (1,"SET @@x; /*M!999999\\\\- y */");\n';
  const reordered = (text) => shell(['stores', 'archive'], 'tables_reorder', text);
  for (const mark of ['/*M!999999\\- enable the sandbox mode */ \n', '/*!999999\\- enable the sandbox mode */\n']) {
    assert.equal(await reordered(mark + tables), tables);
  }
  // mariadb-dump 10.6.16 and later; 10.11.0 to 10.11.5 do not know the variable.
  const [notes, end] = ['SET @OLD_NOTE_VERBOSITY=@@NOTE_VERBOSITY, NOTE_VERBOSITY=0', 'SET NOTE_VERBOSITY=@OLD_NOTE_VERBOSITY'].map((text) => `/*M!100616 ${text} */;\n`);
  assert.equal(await reordered(notes + tables + end), tables);
  const kept = '/*M!100616 SET @x=1 */;\nINSERT INTO `user` VALUES (1,"/*M!100616 SET NOTE_VERBOSITY=0 */;");\n';
  assert.equal(await reordered(kept), kept);
  const gtids = 'SET @@SESSION.SQL_LOG_BIN= 0;\nSET @@GLOBAL.GTID_PURGED=/*!80000 \'+\'*/ \'a:1-5,\nb:1-7\';\n';
  assert.equal(await reordered(gtids + tables), tables);
});

// The manifest that backup.sh writes, or { said } when it fails. answer: bash, which prints the tables' answer to the
// query $1.
async function manifest(answer) {
  rmSync(join(folder, 'manifest'), { force: true });
  const said = await shell(['common', 'archive'], `. <(sed -n '/^demo_of_tables/,/^}/p; /^site_column/,/^}/p; /^manifest_write/,/^}/p' "${COMMANDS}/backup.sh")
    sql() { local question="\${!#}"; case $question in ${answer} *) echo 1 ;; esac; }
    redis() { echo redis_version:7.0.0; }
    PROGRAM=backup PARTIAL=${folder} HONGBAO=${BINARY} DATABASE=hongbao; declare -A SETTING=([partitions]=16 [secret]=s [older_keys]=on [demo]=off [unit_symbol]= [unit_name_zh]=积分 [unit_name_en]=points)
    (manifest_write then later) 2>&1 || echo "ended $?"`);
  return said === '' ? readFileSync(join(folder, 'manifest'), 'utf8') : { said };
}

test('a backup whose tables do not answer while the manifest is written is none', async () => {
  assert.match(await manifest("*'SELECT timezone'*) echo Asia/Tokyo ;;"), /^timezone = Asia\/Tokyo\nunit = 1\nunit_decimals = 1\nunit_symbol = \nunit_name_zh = 积分\nunit_name_en = points\nsite = 1$/m);
  assert.match(await manifest('*information_schema*) echo 0 ;;'), /^timezone = \nunit = \nunit_decimals = \n[^]*\nsite = $/m, 'tables of a version before');
  for (const question of ['SELECT timezone', 'SELECT unit ', 'SELECT unit_decimals', 'SELECT id', 'information_schema', 'COUNT', 'NOT additive']) {
    assert.deepEqual(await manifest(`*'${question}'*) return 7 ;;`), { said: 'ended 7\n' }, question);
  }
  for (const name of ['timezone', 'unit', 'unit_decimals', 'id']) {
    assert.match((await manifest(`*'SELECT ${name} '*) ;;`)).said, new RegExp(`have no ${name} of the site: hongbao migrate\nended 1`));
  }
});

test('a command of a newer client is refused before anything is dropped', async () => {
  const needs = (text) => shell(['stores', 'archive', 'target'], 'awk "$DUMP_NEEDS_AWK"', text);
  assert.doesNotMatch(await needs('/*M!999999\\- enable the sandbox mode */ \nINSERT INTO `a` VALUES ("/*M!999999\\\\+");\n'), /^command/m);
  assert.match(await needs('/*M!110900\\+ something new */\n'), /^command \/\*M!110900\\\+ something new \*\/$/m);
});

test('what the tables of a backup need of a server is read from them', async () => {
  const lines = ['/*!40101 SET NAMES utf8mb4 */;', 'CREATE TABLE `a` (', '  `b` varchar(9) CHARACTER SET ascii COLLATE ascii_bin', ') ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;',
    "INSERT INTO `a` VALUES ('COLLATE=nothing');", '/*!50003 SET collation_connection  = utf8mb4_uca1400_ai_ci */ ;', ''];
  const needs = await shell(['archive', 'target'], 'awk "$DUMP_NEEDS_AWK"', lines.join('\n'));
  assert.deepEqual(needs.trim().split('\n'), ['charset ascii', 'collation ascii_bin', 'charset utf8mb4', 'collation utf8mb4_bin', 'collation utf8mb4_uca1400_ai_ci',
    `bytes ${lines.join('\n').length}`, `longest ${Math.max(...lines.map((line) => line.length))}`]);
});

test('the folder of a command that was killed is removed by the next one; that of one that runs is not', async () => {
  const temporary = join(folder, 'work');
  for (const name of ['killed', 'runs00', 'before']) mkdirSync(join(temporary, `hongbao-bash.${name}`), { recursive: true });
  for (const name of ['killed', 'runs00']) writeFileSync(join(temporary, `hongbao-bash.${name}/lock`), '');
  const left = await shell(['common'], `COMMAND=bash; export TMPDIR="${temporary}"; exec 8<"${temporary}/hongbao-bash.runs00/lock"; flock 8
    WORK=; private_stop() { :; }; work_start; ls "${temporary}" | wc -l; work_end; ls "${temporary}"`);
  // a folder made before there were locks
  assert.deepEqual(left.trim().split('\n'), ['3', 'hongbao-bash.before', 'hongbao-bash.runs00']);
});

test('a site is nearer to a clean audit with fewer unsettled grabs or violations, and those of sessions do not count', async () => {
  const left = (...lines) => {
    writeFileSync(join(folder, 'audit.log'), lines.map((line) => `${line}\n`).join(''));
    return shell(['archive'], 'audit_left').then((text) => text.trim().split(' ').map(Number));
  };
  assert.deepEqual(await left('I1    FAIL  wallets: 3', 'I2    FAIL  packets: 4', 'sessions FAIL  of nobody: 90', '5 packets, 6 grabs not yet settled: VIOLATED'), [6, 7]);
  assert.deepEqual(await left('I1    ok    wallets', '5 packets, 0 grabs not yet settled: clean'), [0, 0]);
  const [grabs, violations] = await left('I1    FAIL  wallets: 3');
  assert.ok(grabs > 1e9 && violations > 1e9, 'an audit that was not completed');
});

test('the clients of the stores get the first address, of a socket or of a host', async () => {
  const options = async (mysql, redis) => shell(['common', 'stores'], `SETTING[mysql_database]=hongbao SETTING[mysql_user]=u
      SETTING[mysql_password]= SETTING[mysql]='${mysql}' SETTING[redis]='${redis}' SETTING[redis_user]= SETTING[redis_password]= HONGBAO=hongbao
      stores_use_site
      my_print_defaults --defaults-file=<(printf '%s\\n' "$SQL_OPTIONS") client
      printf '%s ' "\${REDIS[@]}"`);
  const local = await options('unix:/run/a b.sock, unix:/c', 'unix:/run/r.sock');
  assert.match(local, /^--socket=\/run\/a b\.sock$/m);
  assert.doesNotMatch(local, /--(host|port|protocol)=/);
  assert.match(local, / -s \/run\/r\.sock $/);
  const remote = await options('db-1.example:3307,db-2.example:3306', '[fd00::7]:6380, redis-2:6379');
  assert.match(remote, /^--protocol=tcp\n--host=db-1\.example\n--port=3307$/m);
  assert.doesNotMatch(remote, /--socket=/);
  assert.match(remote, / -h fd00::7 -p 6380 $/);
});

test('passwords reach the client of MariaDB as they are', async () => {
  for (const password of ['plain', 'back\\slash', 'sharp # and ; more', 'a=b', "one'quote", ' spaces ']) {
    const text = await shell(['common', 'stores'], `SETTING[mysql_database]=hongbao SETTING[mysql]=unix:/s SETTING[mysql_user]=u
      SETTING[redis]=unix:/r SETTING[redis_user]= SETTING[redis_password]= HONGBAO=hongbao
      IFS= read -r SETTING[mysql_password]; stores_use_site
      my_print_defaults --defaults-file=<(printf '%s\\n' "$SQL_OPTIONS") client`, `${password}\n`);
    assert.ok(text.includes(`--password=${password}\n`), text);
  }
});
