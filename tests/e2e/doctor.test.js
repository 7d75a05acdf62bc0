// `hongbao doctor`: nothing is wrong with a running site. Then faults are planted, one after another. The doctor must
// find each under its name, print a command that mends it, and no longer find it afterwards.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { FAULTS } from '../support/faults.js';
import { certificate, day } from './support/certificate.js';
import { dev, env, processes } from './support/instance.js';
import { sql } from './support/mysql.js';
import { OwnNginx } from './support/own_nginx.js';
import { Client, poll, site } from './support/site.js';

const ROOT = new URL('../..', import.meta.url).pathname.replace(/\/$/, '');
const VAR = env.HB_TEST_VAR;
const NGINX = join(VAR, 'nginx.conf');
let folder;
let authority;
let audited;

// ---- the doctor ----

// Runs the doctor: { code, wrong: [{name, text, mend}], unchecked: [{name, text}] }.
async function doctor(settings = {}, args = ['--nginx', NGINX], binary = env.HB_TEST_BINARY) {
  const run = promisify(execFile)(binary, ['doctor', '--json', ...args],
    { env: { ...process.env, HB_CONFIG: env.HB_TEST_CONFIG, ...settings }, maxBuffer: 64 << 20 });
  const { code, stdout, stderr } = await run.then((done) => ({ code: 0, ...done }), (error) => error);
  assert.ok(code === 0 || code === 1, `${code}: ${stderr}`);
  assert.equal(stderr, '');
  return { code, ...JSON.parse(stdout) };
}

const names = (list) => list.map((one) => one.name);
const planted = new Set();
const shown = (list) => JSON.stringify(list, null, 1);

// In place of a mend: the test runs the command that the doctor prints.
const PASTED = 'the mend that the doctor prints';

// Checks that the fault is found as this finding, with a text that matches `says`. After mend() it is gone, and so are
// its consequences: for example, a worker that was stopped compares all partitions again.
async function finds(finding, says, { plant = () => {}, mend = () => {}, settings, args, binary, mends = /./, without = [], count }) {
  planted.add(finding);
  await plant();
  let seen;
  try {
    seen = await doctor(settings, args, binary);
    // some commands name files of the sources
    if (mend === PASTED) for (const one of seen.wrong.filter(({ name }) => name === finding)) await promisify(execFile)('bash', ['-c', one.mend], { cwd: ROOT });
  } finally {
    if (mend !== PASTED) await mend();
  }
  const found = seen.wrong.filter((one) => one.name === finding);
  assert.ok(found.length > 0, `${finding} is not among ${shown(seen.wrong)}`);
  assert.ok(found.some((one) => says.test(one.text)), `${finding} says ${shown(found)}`);
  for (const one of found) assert.match(one.mend, mends);
  if (count) assert.equal(found.length, count, shown(found));
  for (const name of without) assert.ok(!names(seen.wrong).includes(name), `${name} is among ${shown(seen.wrong)}`);
  assert.equal(seen.code, 1);
  assert.equal(seen.ok, false);
  await poll(`${finding} is gone`, async () => (await doctor()).wrong.length === 0);
}

// ---- ways to plant ----

// Runs a command of Redis as the administrator: in an instance, that is everybody who can open its sockets.
const redis = async (...args) => {
  const { stdout } = await promisify(execFile)('redis-cli', ['-s', env.HB_TEST_REDIS_SOCKET, ...args]);
  assert.doesNotMatch(stdout, /^(ERR|WRONG|NO)/, args.join(' '));
  return stdout.trim();
};

const config = (name, bad, good) => ({ plant: () => redis('CONFIG', 'SET', name, bad), mend: () => redis('CONFIG', 'SET', name, good) });
const user = (...rules) => ({ plant: () => redis('ACL', 'SETUSER', ...rules), mend: () => redis('ACL', 'LOAD') });
const statements = (bad, good) => ({ plant: () => sql(bad), mend: () => sql(good) });
const stopped = (name) => ({ plant: () => site.dev('stop', name), mend: () => site.dev('start', name) });

function mode(path, bad) {
  let good;
  return {
    plant: () => { good = statSync(path).mode & 0o7777; chmodSync(path, bad); },
    mend: () => chmodSync(path, good),
  };
}

const password = (role) => /^mysql_password = (.*)$/m.exec(readFileSync(join(VAR, `rights/${role}.conf`), 'utf8'))[1];

// Writes a configuration of nginx with the instance's, and with this text in addition.
function nginx(text) {
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, `include "${NGINX}"; # of the instance\n${text}\n`);
  return ['--nginx', file];
}

const certificateOf = (file, from, to) => certificate(folder, file, 'DNS:hongbao.example', from, to, authority);
const tls = ({ pem, key }) => nginx(`server { listen 443 ssl; ssl_certificate ${pem}; ssl_certificate_key "${key}"; }`);

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hongbao-doctor-'));
  authority = certificate(folder, 'authority', 'DNS:authority.example', '20200101', day(900));
  symlinkSync(join(VAR, 'hongbao'), join(folder, 'hongbao')); // nginx.conf includes files of this folder
  audited = Date.now();
  rmSync(join(VAR, 'backups'), { force: true }); // the records of earlier tests
  await site.hongbao('audit'); // clean: what earlier tests planted is gone
});
after(async () => {
  rmSync(folder, { recursive: true });
  await site.allUp();
});

// ---- ----

test('nothing is wrong with a site that runs, and everything was looked at', async () => {
  const seen = await doctor();
  assert.deepEqual([seen.wrong, seen.unchecked], [[], []]);
  assert.deepEqual([seen.code, seen.ok], [0, true]);
  const { stdout } = await site.hongbao('doctor', '--nginx', NGINX);
  assert.equal(stdout, `the audit was last clean: ${seen.audited_at}\n0 wrong, 0 not checked\n`);
  assert.ok(Date.parse(seen.audited_at) >= audited, seen.audited_at);
});

test('what could not be looked at is told, and why', async () => {
  const seen = await doctor({}, []);
  assert.deepEqual(names(seen.unchecked), ['nginx', 'pools']);
  assert.equal(seen.code, 0);
});

test('faults of Redis', async () => {
  const used = Number(/used_memory:(\d+)/.exec(await redis('INFO', 'memory'))[1]);
  await finds('redis-appendonly', /loses every grab/, config('appendonly', 'no', 'yes'));
  await finds('redis-appendfsync', /everysec, not always/, config('appendfsync', 'everysec', 'always'));
  await finds('redis-rewrite', /rewrite/, config('no-appendfsync-on-rewrite', 'yes', 'no'));
  await finds('redis-eviction', /allkeys-lru/, config('maxmemory-policy', 'allkeys-lru', 'noeviction'));
  await finds('redis-maxmemory', /maxmemory is 0/, config('maxmemory', '0', '2gb'));
  await finds('redis-memory', /of the \d+ bytes/, config('maxmemory', String(Math.round(used / 0.85)), '2gb'));
  await finds('redis-timeout', /timeout is 300/, config('timeout', '300', '0'));
  await finds('redis-replica', /replica/, { plant: () => redis('REPLICAOF', '127.0.0.1', '1'), mend: () => redis('REPLICAOF', 'NO', 'ONE') });
  await finds('redis-fence', /not compared/, {
    plant: async () => { await site.dev('stop', 'settle'); await redis('SET', 'hb:{p03}:fence', 'another 16'); },
    mend: () => site.dev('start', 'settle'),
  });
  await finds('redis-functions', /lacks 14 functions/, {
    plant: async () => { await site.dev('stop', 'settle'); await redis('FUNCTION', 'FLUSH'); },
    mend: () => site.dev('start', 'settle'),
  });
  await finds('redis-functions-other', /another text of 1 functions of this version, first hongbao_limit_/, {
    plant: async () => {
      await site.dev('stop', 'settle');
      const [name] = /hongbao_limit_\w+/.exec(await redis('FUNCTION', 'LIST'));
      await redis('FUNCTION', 'LOAD', 'REPLACE', `#!lua name=${name}\nredis.register_function('${name}', function() return {} end)`);
    },
    mend: () => site.dev('start', 'settle'),
    without: ['redis-functions'],
  });
  await finds('redis-default', /no password/, mode(env.HB_TEST_REDIS_SOCKET, 0o777));
});

test('faults of the rights in Redis', async () => {
  await finds('redis-right-missing', /hongbao_page lacks \+xadd/, user('hongbao_page', '-xadd'));
  await finds('redis-right-missing', /hongbao_settle lacks 1:~hb:sessions:\*/, user('hongbao_settle', 'clearselectors'));
  await finds('redis-right-excess', /hongbao_hot has \+flushall/, user('hongbao_hot', '+flushall'));
  await finds('redis-right-excess', /hongbao_card .*~\*/, user('hongbao_card', '~*'));
  await finds('redis-replay', /loses grabs when it restarts$/, user('default', '-flushall'));
  await finds('redis-nopass', /hongbao_support/, user('hongbao_support', 'nopass'));
  await finds('redis-passwords', /hongbao_audit/, user('hongbao_audit', '>another'));
  await finds('redis-login', /hongbao_support/, { ...user('hongbao_support', 'off'), mends: /^REDISCLI_AUTH=\$\(sed -n 's\/\^redis_password = \/\/p' \S+\/rights\/operator\.conf\) redis-cli -s \S+ --user hongbao_operator ACL LOAD$/ });
  await finds('redis-login', /hongbao_operator/, user('hongbao_operator', 'resetpass', '>another'));
  await finds('redis-login', /hongbao_audit/, { plant: () => redis('ACL', 'DELUSER', 'hongbao_audit'), mend: () => redis('ACL', 'LOAD') });
});

test('faults of MariaDB', async () => {
  // A wrong global setting, mended by the command that the doctor prints.
  const global = (name, bad) => ({ plant: () => sql(`SET GLOBAL ${name} = ${bad}`), mend: () => pasted(name),
    mends: new RegExp(`^mariadb --socket=\\S+ --user=root hongbao -e "SET GLOBAL ${name} = \\w+"$`) });
  const pasted = async (name) => {
    const { mend } = (await doctor()).wrong.find((one) => one.mend.includes(name));
    await promisify(execFile)('bash', ['-c', mend]);
  };
  await finds('mysql-flush', /is 2, not 1/, global('innodb_flush_log_at_trx_commit', 2));
  await finds('mysql-read-only', /read_only is ON/, global('read_only', 1));
  await finds('mysql-checks', /rules for balances/, global('check_constraint_checks', 0));
  await finds('mysql-foreign-keys', /foreign_key_checks/, global('foreign_key_checks', 0));
  await finds('mysql-charset', /latin1_swedish_ci/, statements('ALTER DATABASE hongbao CHARACTER SET latin1', 'ALTER DATABASE hongbao CHARACTER SET utf8mb4 COLLATE utf8mb4_bin'));
  await finds('mysql-session', /max_allowed_packet is 65536, not at least 1048576/, { ...global('max_allowed_packet', 65536) });
  const { wrong } = await doctor();
  assert.deepEqual(wrong, []);
});

test('faults of MariaDB with a binary log', async () => {
  const restart = async (...lines) => {
    const file = join(VAR, 'node-mariadb.conf'); // further settings of an instance
    if (lines.length > 0) writeFileSync(file, lines.join('\n'));
    else rmSync(file);
    await site.dev('stop', 'mariadb');
    await site.dev('start', 'mariadb');
  };
  const logging = (...lines) => ({ plant: () => restart('log-bin', ...lines), mend: () => restart() });
  const set = (assignment) => ({ mends: new RegExp(`-e "SET GLOBAL ${assignment}"$`) });
  const mysqlIs = async (state) => {
    const { status, json } = await new Client().get('/readyz');
    return status === (state === 'ok' ? 200 : 503) && json.parts.find(({ part }) => part === 'mysql').state === state;
  };
  const good = ['sync-binlog = 1', 'log-bin-trust-function-creators = ON'];
  await finds('mysql-binlog', /sync_binlog is 0/, { ...logging(good[1]), ...set('sync_binlog = 1') });
  await finds('mysql-routines', /is OFF, not ON/, { ...logging(good[0]), ...set('log_bin_trust_function_creators = ON') });
  await finds('mysql-session', /binlog_format is STATEMENT: InnoDB refuses every write/, {
    ...set('binlog_format = DEFAULT'),
    plant: async () => {
      await restart('log-bin', ...good);
      await sql("SET GLOBAL binlog_format = 'STATEMENT'; KILL CONNECTION USER hongbao_page@localhost");
      await poll('the site is not ready', () => mysqlIs('failed'));
    },
    mend: async () => {
      const { mend } = (await doctor()).wrong.find(({ name }) => name === 'mysql-session');
      await promisify(execFile)('bash', ['-c', mend]);
      await poll('the site is ready again', () => mysqlIs('ok'));
      await restart();
    },
  });
});

test('faults of the rights in MariaDB', async () => {
  const at = (role) => `'hongbao_${role}'@'localhost'`;
  await finds('mysql-login', /hongbao_audit/, statements(`ALTER USER ${at('audit')} IDENTIFIED BY 'another'`, `ALTER USER ${at('audit')} IDENTIFIED BY '${password('audit')}'`));
  await finds('mysql-right-missing', /hongbao_audit lacks SELECT on packet/, {
    ...statements(`REVOKE SELECT ON packet FROM ${at('audit')}`, `GRANT SELECT ON packet TO ${at('audit')}`),
    mends: /^cat (\S+\/rights)\/grants\.sql \1\/grants-demo\.sql \| mariadb --socket=\/\S+ --user=root hongbao$/,
  });
  await finds('mysql-right-missing', /hongbao_page lacks UPDATE\(nickname\) on user/, statements(`REVOKE UPDATE (nickname) ON user FROM ${at('page')}`, `GRANT UPDATE (nickname) ON user TO ${at('page')}`));
  await finds('mysql-right-missing', /EXECUTE on PROCEDURE ledger_settle/, statements(`REVOKE EXECUTE ON PROCEDURE ledger_settle FROM ${at('settle')}`, `GRANT EXECUTE ON PROCEDURE ledger_settle TO ${at('settle')}`));
  const granted = (grant, count = 1) => ({ plant: () => sql(grant), mend: PASTED, count, mends: /^mariadb \S+ \S+ hongbao -e 'REVOKE [^']+'$/ });
  await finds('mysql-right-excess', /hongbao_page .*EXECUTE on FUNCTION ledger_move/, granted(`GRANT EXECUTE ON FUNCTION ledger_move TO ${at('page')}`));
  await finds('mysql-right-excess', /hongbao_support .*SELECT on \*/, granted(`GRANT SELECT ON hongbao.* TO ${at('support')}`));
  await finds('mysql-right-excess', /hongbao_card .*PROCESS on \*\.\*/, granted(`GRANT PROCESS ON *.* TO ${at('card')}`));
  await finds('mysql-right-excess', /hongbao_card has more than it needs: UPDATE\(balance_fen\) on account, INSERT on grab$/,
    granted(`GRANT UPDATE (balance_fen) ON account TO ${at('card')}; GRANT INSERT ON \`grab\` TO ${at('card')}`));
  await finds('mysql-right-excess', /everybody, and so each role, has SELECT on \*$/, granted('GRANT SELECT ON hongbao.* TO PUBLIC', 1));
  await finds('mysql-right-excess', /ledger_deposit/, { settings: { HB_DEMO: 'off' } });
  await site.demoUsers(1);
  await finds('demo-money', /demo is off, but the tables have play money: \d+ deposits of \d+ fen/, { settings: { HB_DEMO: 'off' }, mends: /^demo = on$/ });
});

test('faults of the tables', async () => {
  const newer = join(folder, 'sql');
  cpSync(join(ROOT, 'sql'), newer, { recursive: true });
  const next = String(readdirSync(join(newer, 'migrations')).length + 1).padStart(4, '0');
  writeFileSync(join(newer, `migrations/${next}_later.sql`), '-- additive: yes\nDO 1;\n');
  await finds('schema', /migrations are applied/, { settings: { HB_SQL_DIR: newer }, mends: /^hongbao migrate && cat \S+\/grants\.sql / });
  const unknown = statements(`INSERT INTO schema_migration VALUES (${Number(next)}, 'later', REPEAT('x', 32), 1, FALSE)`, `DELETE FROM schema_migration WHERE version = ${Number(next)}`);
  await finds('schema', /does not know/, unknown);
  await finds('pool-not-ready', /schema does not fit/, { ...unknown, mends: /^hongbao doctor # again/ });
  await finds('pool-not-ready', /schema does not fit/, { ...unknown, args: ['--nginx', NGINX, '--skip', 'schema'], mends: /^restart the pool (hot|page|auth|card|money),/ });
  await finds('schema', /tables are missing, and only a backup has their rows: thanks$/, { mends: /^stop the site, hongbao restore --replace BACKUP/,
    ...statements('RENAME TABLE thanks TO thanks_away', 'RENAME TABLE thanks_away TO thanks') });
  await finds('schema-interrupted', /interrupted: 0099/, statements("INSERT INTO schema_progress VALUES (99, REPEAT('x', 32), 2)", 'DELETE FROM schema_progress'));
  await finds('schema-engine', /not InnoDB.*: odd/, { ...statements('CREATE TABLE odd (id INT) ENGINE = Aria', 'DROP TABLE odd'),
    mends: /-e "ALTER TABLE odd ENGINE = InnoDB" && hongbao audit$/ });
  await finds('schema-engine', /not InnoDB.*: a`b"\$\(x\)/, { ...statements('CREATE TABLE `a``b"$(x)` (id INT) ENGINE = Aria', 'DROP TABLE `a``b"$(x)`'),
    mends: /-e "ALTER TABLE NAME ENGINE = InnoDB"/ }); // the command contains no character that a shell expands
  await finds('schema-definer', /: odd/, statements('CREATE DEFINER = root@localhost PROCEDURE odd() DO 1', 'DROP PROCEDURE odd'));
  await finds('schema-definer', /: \w+; \w+; \w+; \w+; \w+; and \d+ more$/, { count: 1, mend: PASTED,
    plant: () => sql("UPDATE mysql.proc SET definer = 'root@localhost' WHERE db = 'hongbao'; FLUSH TABLES") });
  await finds('dead-letters', /operator: 1/, statements("INSERT INTO dead_letter (partition_no, event_id, content, reason, created_ms) VALUES (0, '1-1', 'x', 'planted', 1)", "DELETE FROM dead_letter WHERE reason = 'planted'"));
  await finds('partitions', /made for 16/, { settings: { HB_PARTITIONS: '8' } });
  const settings = { HB_TIMEZONE: 'Europe/Berlin' };
  await finds('timezone', /timezone is Europe\/Berlin, and the tables, which have no months yet, were made for Asia\/Shanghai/,
    { ...statements('CREATE TABLE kept SELECT * FROM user_month; DELETE FROM user_month', 'DO 1'), settings, mends: /^hongbao migrate$/ });
  await finds('timezone', /timezone is Europe\/Berlin, but the months of the tables were made with Asia\/Shanghai/, {
    ...statements('SET foreign_key_checks = 0; INSERT INTO user_month (user_id, year, month) VALUES (9, 2026, 1)',
      'DELETE FROM user_month; INSERT INTO user_month SELECT * FROM kept; DROP TABLE kept'),
    settings, mends: /^timezone = Asia\/Shanghai$/ });
  const amount = statements(`SET foreign_key_checks = 0; INSERT INTO topup (user_id, channel_id, amount_fen, request_key, state, created_ms, expires_ms)
      VALUES (9, 2, 1, 'unit', 'waiting', 1, 1)`, "DELETE FROM topup WHERE request_key = 'unit'");
  await finds('money-unit', /unit is USD, but the amounts of the tables were made with CNY: no process works with them/, { ...amount,
    settings: { HB_UNIT: 'USD', HB_UNIT_SYMBOL: '$', HB_UNIT_NAME_ZH: '美元', HB_UNIT_NAME_EN: 'dollars' }, mends: /^unit = CNY$/ });
  await finds('money-unit', /unit_decimals is 0, but the amounts of the tables were made with 2:/, { ...amount,
    settings: { HB_UNIT_DECIMALS: '0' }, mends: /^unit_decimals = 2$/ });
  await finds('money-unit', /unit is POINT with 0 decimals, but the amounts of the tables were made with CNY with 2 decimals:/, { ...amount, count: 1,
    settings: { HB_UNIT: 'POINT', HB_UNIT_DECIMALS: '0', HB_UNIT_SYMBOL: '', HB_UNIT_NAME_ZH: '积分', HB_UNIT_NAME_EN: 'points' }, mends: /^unit = CNY; unit_decimals = 2$/ });
});

test('an audit that was violated, until one is clean', async () => {
  const user = (await sql("SELECT id FROM account WHERE kind = 'wallet' ORDER BY id LIMIT 1")).trim();
  const add = (fen) => sql(`UPDATE account SET balance_fen = balance_fen + ${fen} WHERE id = ${user}`);
  await finds('audit-violations', /^`hongbao audit` has found violations, and no audit was clean since then: 20/, {
    plant: async () => { await add(1); await assert.rejects(site.hongbao('audit')); },
    mend: async () => { await add(-1); await site.hongbao('audit'); },
    mends: /^hongbao audit #/,
  });
});

test('backups that do not exist, are old, or have violations', async () => {
  const record = join(folder, 'backups'), dir = join(folder, 'copy');
  const noted = (...lines) => ({ settings: { HB_BACKUP_RECORD: record }, plant: () => writeFileSync(record, lines.join('\n')) });
  const old = new Date(Date.now() - 3 * 86400e3).toISOString(), now = new Date().toISOString();
  mkdirSync(dir);
  writeFileSync(join(dir, 'manifest'), '');
  await finds('backup-none', /known: that of 20\S+ was not verified, \/dir$/, noted('unknown = /dir', `unknown_at = ${now}`));
  await finds('backup-none', /is not at its place any more: \/nowhere: No such file/, noted('clean = /nowhere', `clean_at = ${now}`));
  await finds('backup-old', /is of 20\S+: \/\S+\/copy$/, { ...noted(`clean = ${dir}`, `clean_at = ${old}`), mends: /^hongbao backup --verify DIR #/ });
  await finds('audit-violations', /the last backup has violations, .* 20\S+, \/bad$/, noted(`clean = ${dir}`, `clean_at = ${now}`, 'violated = /bad', `violated_at = ${new Date(Date.now() + 1000).toISOString()}`));
  noted(`clean = ${dir}`, `clean_at = ${now}`, 'violated = /bad', `violated_at = ${old}`, 'other').plant();
  assert.deepEqual((await doctor({ HB_BACKUP_RECORD: record })).wrong, []);
  assert.deepEqual((await doctor({ HB_BACKUP_RECORD: '' })).wrong, []);
});

test('faults of settings and files', async () => {
  const card = join(VAR, 'rights/card.conf');
  await finds('secret-file', /hongbao\.conf/, mode(env.HB_TEST_CONFIG, 0o644));
  const others = ['hot', 'auth', 'card'].map((role) => join(VAR, `rights/${role}.conf`));
  await finds('secret-file', /passwords of roles: \S+hot\.conf; \S+auth\.conf; \S+card\.conf$/, { count: 1, mend: PASTED, plant: () => others.forEach((file) => chmodSync(file, 0o644)) });
  await finds('secret-file', /page\.conf/, mode(join(VAR, 'rights/page.conf'), 0o604));
  await finds('role-file', /card\.conf: No such file/, { plant: () => renameSync(card, `${card}.away`), mend: () => renameSync(`${card}.away`, card) });
  const audit = join(VAR, 'rights/audit.conf');
  const passwords = readFileSync(audit, 'utf8');
  for (const [store, other] of [['mysql', 'redis'], ['redis', 'mysql']]) {
    const another = { plant: () => writeFileSync(audit, passwords.replace(new RegExp(`^${store}_password = .*`, 'm'), `${store}_password = another`)),
      mend: () => writeFileSync(audit, passwords) };
    await finds('role-passwords', /audit\.conf has one password/, another);
    await finds(`${store}-login`, /refuses users of roles: .*: hongbao_audit$/, { ...another, without: [`${other}-login`] });
  }
  const secret = join(folder, 'secret');
  const apart = join(folder, 'apart.conf');
  writeFileSync(apart, `${readFileSync(env.HB_TEST_CONFIG, 'utf8').replace(/^secret = .*/m, '')}\nsecret_file = ${secret}\n`, { mode: 0o600 });
  await finds('secret-missing', /\/secret: No such file or directory\. No link .*docs\/how-to\/rotate-secrets\.md/, {
    settings: { HB_CONFIG: apart }, mends: /^install -m 600 COPY \S+\/secret #/, without: ['secret-weak', 'redis-login', 'mysql-login', 'schema'] });
  writeFileSync(secret, 'short\n');
  await finds('secret-missing', /from 32 to 255 bytes/, { settings: { HB_CONFIG: apart } });
  await finds('secret-weak', /only 1 different/, { settings: { HB_SECRET: 'a'.repeat(40) } });
  const given = join(folder, 'oidc.secret');
  const issuer = { HB_OIDC_ISSUER: 'https://id.example.com', HB_OIDC_CLIENT_ID: 'hongbao', HB_OIDC_NAME: 'Example', HB_OIDC_CLIENT_SECRET_FILE: given };
  const only = { settings: issuer, args: ['--nginx', NGINX, '--skip', 'pools'] }; // this site has no pool sso
  await finds('issuer-secret', /oidc\.secret: No such file/, { ...only, mends: /^install -m 400 / });
  writeFileSync(given, 'secret\n', { mode: 0o644 });
  await finds('issuer-secret', /others than the pool sso may read or change/, { ...only, mends: /^chmod o= / });
  chmodSync(given, 0o600);
  await finds('pool-down', /\/sso\.sock/, { settings: issuer, count: 1 });
  const keys = join(VAR, 'rights/hot.keys');
  const right = readFileSync(keys, 'utf8');
  await finds('role-keys', /hot\.keys has other keys/, { plant: () => writeFileSync(keys, right.replace(/[0-9a-f]{64}/, 'a'.repeat(64))),
    mend: () => writeFileSync(keys, right) });
  await finds('metrics-mode', /metrics/, mode(join(VAR, 'run/metrics'), 0o666));
  await finds('metrics-missing', /no file of counters/, { settings: { HB_METRICS_FILE: join(VAR, 'run/none') } });
  await finds('nginx-counts', /\/nowhere/, { settings: { HB_NGINX_COUNTS_DIR: '/nowhere' } });
});

test('a clock that differs from those of the stores', async () => {
  const clock = join(folder, 'clock');
  const ahead = Buffer.alloc(8);
  ahead.writeBigInt64LE(3_600_000n); // an hour, less the time that a request to a clock takes
  writeFileSync(clock, ahead);
  const library = join(dirname(env.HB_TEST_BINARY), 'chaos/libclock_shift.so'); // tests/chaos/clock_shift.c
  const settings = { LD_PRELOAD: library, HB_TEST_CLOCK_FILE: clock, ASAN_OPTIONS: 'verify_asan_link_order=0' };
  await finds('clock-redis', /differs .* by -(35|36)\d{5} ms/, { settings });
  await finds('clock-mysql', /differs .* by -(35|36)\d{5} ms/, { settings });
});

test('full disks', async () => {
  const args = ['--nginx', NGINX, '--free', '1000000000'];
  for (const name of ['disk-redis', 'disk-mysql', 'disk-logs']) await finds(name, /MiB are free/, { args });
});

test('faults of nginx', async () => {
  const port = env.HB_TEST_PORT;
  await finds('nginx-port', new RegExp(`port ${port}`), stopped('nginx'));
  await finds('nginx-conf', /\/nowhere/, { args: ['--nginx', '/nowhere/nginx.conf'] });
});

test('an nginx that refused a reload', async () => {
  const own = new OwnNginx(join(folder, 'own'));
  const args = ['--nginx', own.conf];
  const refused = async () => (await doctor({}, args)).wrong.some((one) => one.name === 'nginx-old-file');
  await own.start();
  try {
    assert.equal(await refused(), false);
    writeFileSync(own.site, own.siteText('$request_uri'));
    await own.reload();
    await poll('nginx has refused', refused);
    await finds('nginx-old-file', /refused the last reload, .* while previously it used/, { args, mends: /restart/, count: 1 });
    await own.restart();
    assert.equal(await refused(), false);
  } finally {
    await own.stop();
  }
});

test('faults of certificates', async () => {
  const fine = certificateOf('fine', '20200101', day(300));
  const settings = { HB_BASE_URL: 'https://hongbao.example' };
  const wrong = names((await doctor(settings, tls(fine))).wrong);
  assert.deepEqual(wrong, ['nginx-port'], 'nothing listens on port 443; the certificate is fine');
  await finds('certificate-expired', /expired \d+ days ago/, { settings, args: tls(certificateOf('expired', '20200101', '20200201')) });
  await finds('certificate-host', /other\.example/, { settings: { HB_BASE_URL: 'https://other.example' }, args: tls(fine) });
  await finds('certificate-key-mode', /fine\.key/, { settings, args: tls(fine), ...mode(fine.key, 0o644) });
});

test('nginx that serves the certificate of before', async () => {
  const fine = certificateOf('served', '20200101', day(300));
  const settings = { HB_BASE_URL: 'https://hongbao.example' };
  const server = `server { listen unix:${folder}/tls ssl; ssl_certificate ${fine.pem}; ssl_certificate_key ${fine.key}; }`;
  const args = nginx(server);
  const conf = join(folder, 'own.conf');
  writeFileSync(conf, `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; events {}\nhttp { access_log off; ${server} }\n`);
  const own = spawn('nginx', ['-e', join(folder, 'error.log'), '-p', folder, '-c', conf], { stdio: 'inherit' });
  const served = async () => (await doctor(settings, args)).wrong.filter((one) => one.name === 'certificate-served');
  try {
    await poll('nginx listens', () => existsSync(join(folder, 'tls')));
    assert.deepEqual(await served(), []);
    const renewed = certificateOf('renewed', '20200101', day(300));
    await finds('certificate-served', /serves an old certificate for hongbao\.example/, { settings, args, mends: /reload/,
      plant: () => { cpSync(renewed.pem, fine.pem); cpSync(renewed.key, fine.key); }, mend: () => own.kill('SIGHUP') });
    await poll('nginx serves the new one', async () => (await served()).length === 0);
  } finally {
    if (own.exitCode === null && own.kill()) await once(own, 'exit');
  }
  rmSync(join(folder, 'tls'), { force: true });
  const plain = createServer((socket) => socket.on('error', () => {}).end('HTTP/1.1 400 Bad Request\r\n\r\n')).listen(join(folder, 'tls'));
  await once(plain, 'listening');
  assert.ok(names((await doctor(settings, args)).unchecked).includes('certificate-served'), 'a server without TLS');
  plain.close();
});

test('processes of an earlier program, or with earlier settings', async () => {
  const text = readFileSync(env.HB_TEST_CONFIG, 'utf8');
  const onlyHot = /: hot( \d+)+$/;
  const everyone = /: hot( \d+)+, page( \d+)+, auth( \d+)+, card( \d+)+, settle \d+, money \d+$/;
  await finds('process-settings', everyone, { mends: /restart/,
    plant: () => writeFileSync(env.HB_TEST_CONFIG, `${text}greeting_graphemes_max = 20\n`), mend: () => writeFileSync(env.HB_TEST_CONFIG, text) });
  await finds('process-settings', onlyHot, {
    plant: async () => {
      writeFileSync(env.HB_TEST_CONFIG, `${text}greeting_graphemes_max = 20\n`);
      await site.dev('restart', 'page', 'auth', 'card', 'money', 'settle');
      await poll('the earlier processes have ended', async () => onlyHot.test((await doctor()).wrong.find(({ name }) => name === 'process-settings')?.text));
    },
    mend: async () => { writeFileSync(env.HB_TEST_CONFIG, text); await site.dev('restart', 'page', 'auth', 'card', 'money', 'settle'); } });
  // Another program than the installed one, which is the doctor's own, has another build id.
  const program = readFileSync(env.HB_TEST_BINARY);
  const id = program.indexOf(Buffer.from('GNU\0')) + 4;
  for (let at = id; at > 3; at = program.indexOf(Buffer.from('GNU\0'), at) + 4) if (program.readUInt32LE(at - 8) === 3) program[at] ^= 1;
  const later = join(folder, 'later');
  writeFileSync(later, program, { mode: 0o755 });
  await finds('process-program', everyone, { binary: later, mends: /restart/ });
});

test('faults of processes', async () => {
  const paused = (signal) => processes('card').forEach((pid) => process.kill(pid, signal));
  await finds('pool-down', /hot\.sock/, stopped('hot'));
  await finds('pool-silent', /card\.sock/, { plant: () => paused('SIGSTOP'), mend: () => paused('SIGCONT') });
  await finds('pool-missing', /these pools: card$/, { args: ['--nginx', NGINX.replace('nginx.conf', 'nginx-3.conf')],
    plant: () => writeFileSync(NGINX.replace('nginx.conf', 'nginx-3.conf'), readFileSync(NGINX, 'utf8').replace(/server "unix:[^;]*card\.sock"/, 'server 127.0.0.1:1')),
    mend: () => rmSync(NGINX.replace('nginx.conf', 'nginx-3.conf')) });
  await finds('worker-down', /no settle worker/, stopped('settle'));
  await finds('mysql-down', /does not answer/, stopped('mariadb'));
  await finds('redis-down', /does not answer/, { ...stopped('redis'), without: ['pool-not-ready', 'worker-down'] });
});

test('several faults are told together, and --skip leaves out what one knows', async () => {
  const settings = { HB_REDIS_SOKET: '/x', HB_STATIC_DIR: '/nowhere', HB_SECRET: 'a'.repeat(40) };
  assert.deepEqual(names((await doctor(settings)).wrong).sort(), ['environment', 'secret-weak', 'static']);
  const skip = (...list) => ['--nginx', NGINX, ...list.flatMap((name) => ['--skip', name])];
  assert.deepEqual(names((await doctor(settings, skip('environment', 'static'))).wrong), ['secret-weak']);
  assert.deepEqual(names((await doctor(settings, skip('settings', 'files'))).wrong), [], 'areas, too');
  const { code, stdout } = await promisify(execFile)(env.HB_TEST_BINARY, ['doctor', ...skip()],
    { env: { ...process.env, HB_CONFIG: env.HB_TEST_CONFIG, ...settings } }).catch((error) => error);
  assert.equal(code, 1);
  assert.equal(stdout.match(/^wrong: [a-z-]+: .*\n {4}mend: .+$/gm).length, 3);
  assert.match(stdout, /\n3 wrong, 0 not checked\n$/);
});

test('stores that do not belong together are the first finding', async () => {
  const key = 'hb:{p00}:site';
  await site.dev('restart', 'settle'); // each start raises the generation
  const [id, generation] = await poll('a generation before this one', async () => {
    const words = (await redis('GET', key)).split(' ');
    return Number(words[1]) >= 2 && words;
  });
  const mark = (text) => ({ plant: () => redis('SET', key, text), mend: () => redis('SET', key, `${id} ${generation}`) });
  await finds('site-other', /another site/, { ...mark(`${'0'.repeat(32)} 1`), without: ['redis-fence', 'pool-not-ready'] });
  await finds('site-tables-older', /the tables are an older copy/, { ...mark(`${id} ${Number(generation) + 1}`), mends: /restore --replace BACKUP/ });
  await finds('site-redis-older', /Redis is an older copy/, { ...mark(`${id} ${Number(generation) - 2}`), mends: /FLUSHALL # .*lost\.md/ });
});

// Faults that can't be planted in running servers.
const UNPLANTED = ['disk-run', 'mysql-doublewrite', 'redis-disk', 'redis-version', 'site-tables-gone']; // the last one: lost.test.js
// Findings about something that could not be checked.
const UNCHECKED = ['mysql-settings', 'redis-settings', 'redis-state'];
// Findings that unit/test_doctor_checks.c tests.
const OF_UNIT = ['nginx-address', 'nginx-body', 'pool-socket-mode', 'writable-file'];
// Findings of `hongbao check`, which check.test.js plants.
const OF_CHECK = ['base-url', 'environment', 'metrics-file', 'migrations', 'no-login', 'receipt-keys', 'scripts', 'static', 'templates', 'unreadable-file'];
// Findings that doctor_script.test.js tests.
const OF_SCRIPT = ['certificate-early', 'certificate-expires', 'certificate-key', 'certificate-missing', 'certificate-self-signed'];
// Findings about an installed site, which package/doctor.test.js and package/machine.test.js plant.
const OF_SERVICE = new Set([...FAULTS.map((fault) => fault.finding).filter((name) => name.startsWith('unit-')), 'out-of-service',
  'file-missing', 'file-mode', 'log-rotation', 'setup-needed', 'static-copy']);

test('the reference has a row for each finding, and each was planted', () => {
  const rows = [...readFileSync(join(ROOT, 'docs/reference/doctor.md'), 'utf8').matchAll(/^\| `([a-z][a-z-]*)` \|/gm)].map((match) => match[1]);
  assert.deepEqual(rows.sort(), [...planted, ...UNPLANTED, ...UNCHECKED, ...OF_UNIT, ...OF_CHECK, ...OF_SCRIPT, ...OF_SERVICE].sort());
  assert.ok(planted.size >= 30);
});

test('a name that is no finding is refused with the one that is meant', async () => {
  const refused = async (name) => {
    const { code, stdout, stderr } = await dev(['hongbao', 'doctor', '--skip', name]).catch((error) => error);
    assert.deepEqual([code, stdout], [2, '']);
    return stderr;
  };
  assert.match(await refused('redis-appendony'), /no finding or area 'redis-appendony'; did you mean redis-appendonly\?; hongbao doctor --names lists them/);
  assert.match(await refused('nothing-like-it'), /no finding or area 'nothing-like-it'; hongbao doctor --names/);
  const { stdout } = await promisify(execFile)(env.HB_TEST_BINARY, ['doctor', '--names'], { env: {} });
  const listed = stdout.trim().split('\n');
  for (const name of ['settings', 'certificates', 'environment', 'redis-state', 'process-settings']) assert.ok(listed.includes(name), name);
});

test('wrong arguments are refused with the names of all areas', async () => {
  for (const args of [['--nonsense'], ['--nginx'], ['--free', 'x'], ['--skip']]) {
    await assert.rejects(dev(['hongbao', 'doctor', ...args]), ({ code, stderr }) => code === 2 && /usage: .*\n.*\n*.*certificates/.test(stderr));
  }
});
