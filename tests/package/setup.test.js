// `hongbao setup` on a separate Debian: its questions, its behaviour when the new program would not start, and stores
// that existed before the site. Needs root, as machine.test.js.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { certificate, day } from '../e2e/support/certificate.js';
import { blocksOf } from '../e2e/support/how_to_blocks.js';
import { poll } from '../support/poll.js';
import { Machine, packageReady, toldBy } from './machine.js';
import { HOST, Site } from './site.js';
import { converse, setupDialogue } from './terminal.js';

const CONF = '/etc/hongbao/hongbao.conf';
const OWN = ['--host', HOST, '--certificate', '/root/tls/site.pem', '--key', '/root/tls/site.key'];
const machine = new Machine('setup');
const site = new Site(machine);

const { before, test } = toldBy(machine);
before(async () => {
  await machine.boot(await packageReady());
  await machine.run('apt-get', 'install', '/root/hongbao.deb');
  mkdirSync(join(machine.folder, 'root/tls'));
  const tls = join(machine.folder, 'root/tls');
  const authority = certificate(tls, 'authority', 'DNS:authority.example', day(-30), day(90));
  const make = (file, name, to, from = -30) => certificate(tls, file, `DNS:${name}`, day(from), day(to), authority);
  make('site', HOST, 90);
  make('other', 'other.example', 90);
  make('old', HOST, -2);
  make('early', HOST, 90, 3);
});

const setup = (...options) => machine.run('hongbao', 'setup', '--non-interactive', ...options);
const refusal = (...command) => machine.run(...command).then(() => assert.fail('it has not failed'), ({ stderr }) => stderr);
const refused = (...options) => refusal('hongbao', 'setup', '--non-interactive', ...options);

// Runs work after this command has changed hongbao.conf, and then sets the site up as it was.
async function whileConf(change, work) {
  await machine.shell(`cp -a ${CONF} /root/made.conf; ${change} ${CONF}`);
  await work();
  await machine.shell(`mv /root/made.conf ${CONF}`);
  await setup();
}

const pids = async () => (await machine.shell("systemctl show -P MainPID 'hongbao-*.service' | sort -n")).split('\n').filter(Boolean);

test('what can only be a mistake is refused before anything is made', async () => {
  assert.match(await machine.run('hongbao', 'setup', '--help'), /^usage: hongbao .*setup[\s\S]*--redis-socket PATH/);
  const tls = (pem, key) => ['--host', HOST, '--certificate', `/root/tls/${pem}`, '--key', `/root/tls/${key}`];
  const wrong = [ // e2e/setup.test.js has other cases: a wrong host, and chains of certificates
    [['--self-signed'], /which name has the site\? --host NAME/],
    [['--host', 'https://x.example', '--self-signed'], /'https:\/\/x\.example' is not a host name/],
    [['--host', HOST], /which certificate has the site\?/],
    [tls('nothing.pem', 'site.key'), /can't read the certificate \/root\/tls\/nothing\.pem: No such file or directory/],
    [['--host', HOST, '--certificate', '/root/tls', '--key', '/root/tls'], /can't read the certificate \/root\/tls: it is no file/],
    [tls('site.key', 'site.key'), /site\.key is no certificate/],
    [tls('old.pem', 'old.key'), /old\.pem has expired: /],
    [tls('early.pem', 'early.key'), /early\.pem is not valid before /],
    [tls('site.pem', 'other.key'), /other\.key is not the key of \/root\/tls\/site\.pem/],
    [['--host', HOST, '--self-signed', '--redis-socket', 'redis.sock'], /begins with \//],
    [['--remove', '--host', HOST], /--remove takes no other option/],
  ];
  for (const [given, says] of wrong) assert.match(await refused(...given), says);
  await machine.shell("sed -i.before 's/^user www-data;/user daemon;/' /etc/nginx/nginx.conf");
  assert.match(await refused('--host', HOST, '--self-signed'), /nginx is not laid out as Debian's[\s\S]*\n {4}user www-data;/);
  await machine.run('mv', '/etc/nginx/nginx.conf.before', '/etc/nginx/nginx.conf');
  assert.equal(await machine.run('systemctl', 'list-units', '--plain', '--no-legend', 'hongbao*'), '');
  assert.equal(existsSync(join(machine.folder, 'etc/hongbao')), false);
});

test('what a store refuses is told before a secret is made', async () => {
  const redis = '/run/redis-other/redis.sock';
  await machine.shell(`systemd-run -q --unit=redis-other -p User=redis -p RuntimeDirectory=redis-other -p RuntimeDirectoryMode=755 \\
      redis-server --port 0 --unixsocket ${redis} --unixsocketperm 777 --save ''
    for i in $(seq 600); do [ "$(redis-cli -s ${redis} SET cache:1 x 2>/dev/null)" != OK ] || break; sleep 0.1; done`);
  assert.match(await refused('--host', HOST, '--self-signed', '--redis-socket', redis), /has keys of others, such as 'cache:1'/);
  await machine.shell(`systemctl stop redis-other
    mariadb -e "ALTER USER root@localhost IDENTIFIED VIA mysql_native_password USING PASSWORD('typed')"`);
  assert.match(await refused('--host', HOST, '--self-signed'), /MariaDB does not let root in[\s\S]*\/etc\/hongbao\/admin\.conf/);
  assert.equal(existsSync(join(machine.folder, 'etc/hongbao')), false);
  await machine.run('mariadb', '--password=typed', '-e',
    'ALTER USER root@localhost IDENTIFIED VIA mysql_native_password USING \'invalid\' OR unix_socket');
});

test('before the setup a unit does not start, and there is nothing to remove', async () => {
  for (const unit of ['hongbao-hot@1.service', 'hongbao-hot.socket', 'hongbao-settle.service']) {
    await machine.run('systemctl', 'start', unit);
    assert.equal(await machine.run('systemctl', 'show', '-P', 'ActiveState', unit), 'inactive');
    await machine.run('journalctl', '--sync');
    assert.match(await machine.run('journalctl', '-u', unit, '-o', 'cat', '--no-pager'),
      /skipped(,| because of) .*ConditionPathExists=\/etc\/hongbao\/hongbao\.conf/);
  }
  assert.equal(await machine.shell('hongbao setup --remove 2>&1'), 'There is no site on this machine.');
});

test('at a terminal a wrong answer is asked for again, play money has to be chosen, and a summary tells what is next', async () => {
  const { code, output } = await converse(machine.enter('hongbao', 'setup'), [
    [/Name of the site.*: $/, 'https://hongbao.example/'],
    [/is not a host name[\s\S]*Name of the site.*: $/, HOST],
    [/certificate.*: $/, '/nothing.pem'],
    [/can't read[\s\S]*certificate.*: $/, '/etc/passwd'],
    [/is no certificate[\s\S]*certificate.*: $/, '/root/tls/old.pem'],
    [/has expired: [\s\S]*certificate.*: $/, '/root/tls/site.pem'],
    [/File of its key: $/, '/root/tls/other.key'],
    [/is not the key of[\s\S]*File of its key: $/, '/root/tls/site.key'],
    [/never beside real money[\s\S]*Play money\? \[no\]: $/, 'perhaps'],
    [/answer yes or no[\s\S]*Play money\? \[no\]: $/, ''],
    [/A backup every night.*\[yes\]: $/, 'perhaps'],
    [/answer yes or no[\s\S]*A backup every night.*\[yes\]: $/, 'no'],
  ]);
  assert.equal(code, 0, output);
  for (const text of ['/etc/hongbao/secret', 'hongbao-backup.timer', 'hongbao doctor', '/root/tls/site.pem: systemctl reload nginx', '80 and 443', 'every name below it',
    `https://${HOST}/\r\n`]) assert.ok(output.includes(text), text);
  assert.match(machine.read(CONF), /^demo = off$/m);
  assert.equal(await site.status('/readyz'), '200');
  const timer = () => machine.try('systemctl', 'is-enabled', 'hongbao-backup.timer');
  assert.equal(await timer(), 'disabled');
  await machine.run('hongbao', 'setup', '--non-interactive');
  assert.equal(await timer(), 'disabled', 'another setup keeps the answer');
  assert.match(await machine.try('hongbao', 'doctor'), /^wrong: backup-none: .*\n +mend: systemctl enable --now hongbao-backup\.timer; /m);
  await machine.run('systemctl', 'enable', '-q', '--now', 'hongbao-backup.timer');
  await machine.run('hongbao', 'setup', '--remove');
  await machine.run('hongbao', 'setup', '--non-interactive');
  assert.equal(await timer(), 'enabled', 'a site that comes back has its timer');
});

test('a certificate for another host is told, and used', async () => {
  const both = await machine.shell('hongbao setup --non-interactive --certificate /root/tls/other.pem --key /root/tls/other.key 2>&1');
  assert.match(both, /other\.pem is not for hongbao\.example: browsers will refuse the site/);
  await setup('--certificate', '/root/tls/site.pem', '--key', '/root/tls/site.key');
  assert.match(machine.read('etc/nginx/sites-available/hongbao'), /ssl_certificate +\/root\/tls\/site\.pem;/);
});

test('a name that is longer than CN and than nginx\'s own hash, a proxy and a ~/.curlrc, and a port in base_url', async () => {
  const long = `${'a'.repeat(60)}.${'b'.repeat(63)}.example`;
  await machine.shell(`echo 'proxy = http://127.0.0.1:1' >/root/.curlrc
    HTTPS_PROXY=http://127.0.0.1:1 MYSQL_HOST=192.0.2.1 hongbao setup --non-interactive --host ${long} --self-signed`);
  assert.match(machine.read('etc/nginx/sites-available/hongbao'), /^server_names_hash_bucket_size 512;$/m);
  await setup(...OWN);
  assert.match(machine.read('etc/nginx/sites-available/hongbao'), /^# server_names_hash_bucket_size 512;$/m);
  await whileConf("sed -i 's,^base_url = .*,&:8443,'", () => machine.shell('hongbao setup --upgrade; hongbao setup --non-interactive; rm /root/.curlrc'));
});

test('no role may connect to the sockets of the pools, nor after an upgrade from a version whose sockets were open to them', async () => {
  await machine.shell('chown root:hongbao /run/hongbao/*.sock; chmod 666 /run/hongbao/*.sock');
  await setup();
  assert.match(await machine.run('stat', '-c', '%U:%G %a', '/run/hongbao/hot.sock'), /^www-data:www-data 660$/);
  for (const role of ['hot', 'page', 'auth', 'sso', 'card', 'money', 'settle']) {
    const connects = await machine.try('setpriv', `--reuid=hongbao-${role}`, '--regid=hongbao', '--init-groups', 'bash', '-c',
      'for s in /run/hongbao/*.sock; do [ ! -w "$s" ] || echo "$s"; done');
    assert.equal(connects, '', role);
  }
});

test('the pool sso runs while there is an issuer, reads its secret, and is the only one with a way out', async () => {
  const running = "systemctl list-units --plain --no-legend --state=active 'hongbao-sso*' | cut -d ' ' -f 1";
  assert.equal(await machine.shell(running), '');
  assert.equal(await site.status('/login/oidc'), '503');
  await machine.shell('echo secret | install -m 400 -o hongbao-sso /dev/stdin /etc/hongbao/oidc-secret');
  await whileConf("sed -i '$ a oidc_issuer = https://id.example.com\\noidc_client_id = hongbao\\noidc_name = Example\\noidc_client_secret_file = /etc/hongbao/oidc-secret'", async () => {
    await setup();
    assert.deepEqual((await machine.shell(running)).split('\n').sort(), ['hongbao-sso.socket', 'hongbao-sso@1.service', 'hongbao-sso@2.service']);
    assert.equal(await site.status('/readyz/sso'), '200');
    await machine.run('hongbao', 'check');
    await machine.shell('chmod 644 /etc/hongbao/oidc-secret');
    assert.match(await refusal('hongbao', 'check'), /issuer-secret[^]*chmod 400/);
    await machine.shell('chmod 400 /etc/hongbao/oidc-secret');
    for (const [unit, network, families] of [['sso', 'no', /AF_INET/], ['auth', 'yes', /^AF_UNIX$/]]) {
      const [own, allowed] = (await machine.shell(`systemctl show --value -p PrivateNetwork -p RestrictAddressFamilies hongbao-${unit}@1`)).split('\n').filter(Boolean);
      assert.equal(own, network, unit);
      assert.match(allowed, families, unit);
    }
  });
  assert.equal(await machine.shell(running), '');
});

test('what would not start takes the place of nothing: a reload fails at once, and so does setup', async () => {
  const running = await pids();
  await whileConf("sed -i '$ a partitons = 16'", async () => {
    await refusal('systemctl', 'reload', 'hongbao-page@1');
    assert.match(await machine.run('journalctl', '-u', 'hongbao-page@1', '-o', 'cat', '--no-pager'),
      /partitons[\s\S]*restart refused[\s\S]*refuses the new program and goes on with the old one/);
    assert.match(await refused(), /no such setting: partitons; did you mean partitions\?/);
    await machine.run('cp', '/root/made.conf', CONF);
    assert.deepEqual(await pids(), running);
    assert.equal(await site.status('/readyz'), '200');
    // What setup asks before it restarts a process that has refused a reload.
    for (const pool of ['hot', 'page', 'auth', 'sso', 'card', 'money']) await machine.run('hongbao', 'serve', '--pool', pool, '--check');
  });
  assert.deepEqual(await pids(), running);
});

test('a setting is written as the program reads it, also with line ends of Windows; the environment of a shell does not count', async () => {
  const [recorded, served] = [machine.read('var/lib/hongbao/settings'), machine.read('etc/nginx/sites-available/hongbao')];
  await whileConf("sed -i 's/^/  /; s/$/ # mine\\r/'", async () => {
    await machine.shell('HB_BASE_URL=https://other.example HB_REDIS=unix:/run/typo.sock HB_CONFIG=/nowhere HB_PARTITIONS=0 hongbao setup --non-interactive');
    // options that only repeat the file are accepted
    await setup('--host', HOST, '--redis-socket', '/run/redis-hongbao/redis-server.sock');
    assert.match(await machine.shell('dpkg -i /root/hongbao.deb 2>&1'), /Setting up hongbao/);
    assert.equal(await machine.run('dpkg-query', '-W', '-f', '${Status}', 'hongbao'), 'install ok installed');
    const other = ['--redis-socket', '/run/r.sock', '--mysql-socket', '/run/m.sock'];
    assert.match(await refused(...other), /hongbao\.conf is yours: set redis = unix:\/run\/r\.sock and mysql = unix:\/run\/m\.sock there first/);
    other[1] = '/run/redis-hongbao/redis-server.sock';
    assert.match(await refused(...other), /hongbao\.conf is yours: set mysql = unix:\/run\/m\.sock there first/);
    assert.equal(machine.read('var/lib/hongbao/settings'), recorded);
    assert.equal(machine.read('etc/nginx/sites-available/hongbao'), served);
  });
});

test('an upgrade that can not be carried out changes nothing, leaves the package installed, and says how to go on', async () => {
  const running = await pids();
  const marks = () => machine.run('stat', '-c', '%y', '/var/lib/hongbao/settings', '/etc/hongbao/rights/hot.keys', '/var/lib/hongbao/static');
  const before = await marks();
  await whileConf("sed -i '$ a partitons = 16'", async () => {
    const said = await machine.shell('dpkg -i /root/hongbao.deb 2>&1');
    assert.match(said, /no such setting: partitons; did you mean partitions\?[\s\S]*nothing was changed: correct .*, then run: hongbao setup --upgrade/);
    assert.match(said, /the site goes on with the old program until [\s\S]* no backup is made\. [^\n]* then run:\n {4}hongbao setup --upgrade$/m);
    assert.equal(await machine.run('dpkg-query', '-W', '-f', '${Status}', 'hongbao'), 'install ok installed');
    assert.deepEqual([await marks(), await pids()], [before, running]);
    await machine.shell(`cp -a /root/made.conf ${CONF}; hongbao setup --upgrade`);
    assert.equal(await site.status('/readyz'), '200');
  });
});

test('a time zone or a unit of money that the tables do not have is refused before anything is changed', async () => {
  const running = await pids();
  const transfer = "INSERT INTO transfer (kind, debit_id, credit_id, amount_fen, created_ms) VALUES ('credit', 16, 1, 1, 1)";
  await machine.run('mariadb', 'hongbao', '-e', `SET foreign_key_checks = 0; ${transfer}`);
  await whileConf("printf 'unit = POINT\\nunit_symbol =\\nunit_name_zh = 积分\\nunit_name_en = points\\n' >>", async () => {
    for (const command of ['hongbao setup --non-interactive', 'hongbao setup --upgrade']) {
      assert.match(await refusal('bash', '-c', command), /the unit is POINT with 2 decimals, but the tables have amounts of another one/);
    }
    assert.deepEqual(await pids(), running);
  });
  await machine.run('mariadb', 'hongbao', '-e', 'DELETE FROM transfer WHERE debit_id = 16');
  await machine.run('mariadb', 'hongbao', '-e', 'SET foreign_key_checks = 0; INSERT INTO user_month (user_id, year, month) VALUES (1, 2026, 1)');
  await whileConf("sed -i 's,^timezone = .*,timezone = Europe/Berlin,'", async () => {
    for (const command of ['hongbao setup --non-interactive', 'hongbao setup --upgrade']) {
      assert.match(await refusal('bash', '-c', command), /timezone is Europe\/Berlin, but the tables have months of another one/);
    }
    assert.match(await machine.try('hongbao', 'doctor'), /timezone is Europe\/Berlin, but the months of the tables were made with Asia\/Shanghai/);
    assert.deepEqual(await pids(), running);
    await machine.run('mariadb', 'hongbao', '-e', 'DELETE FROM user_month WHERE user_id = 1');
  });
});

test('the user redis gets no file or folder of root by a symbolic link where setup writes', async () => {
  await machine.shell(`echo precious >/root/file; mkdir -m 755 /root/folder; cp -a /root/file /root/folder /srv/
    for name in redis-hongbao.conf hongbao-users.acl; do ln -s /srv/file /etc/redis/$name.hongbao-new; done`);
  await setup();
  await machine.shell('mv /var/lib/redis/hongbao /var/lib/redis/kept; ln -s /srv/folder /var/lib/redis/hongbao');
  await refused();
  await machine.shell(`rm /var/lib/redis/hongbao; mv /var/lib/redis/kept /var/lib/redis/hongbao; rm /etc/redis/*.hongbao-new`);
  assert.equal(await machine.run('stat', '-c', '%U', '/srv/file', '/srv/folder'), 'root\nroot');
  assert.equal(machine.read('srv/file'), 'precious\n');
  await setup();
});

test('an upgrade leaves a site with stores on other machines to its operator', async () => {
  for (const address of ['10.0.0.1:6379', 'unix:/run/a.sock, unix:/run/b.sock']) {
    await whileConf(`sed -i 's|^redis = .*|redis = ${address}|'`, async () => {
      assert.match(await machine.shell('hongbao setup --upgrade 2>&1'), /stores of this site are on other machines[\s\S]*cluster\.md/);
      assert.match(await refused(), /redis in \/etc\/hongbao\/hongbao\.conf is not one Unix socket/);
    });
  }
});

const fifo = (file) => [`a fifo in place of ${file}`, `mv ${file} /root/kept; setpriv --reuid=redis --regid=redis --init-groups mkfifo ${file}`,
  new RegExp(`${file} is a fifo, not a file: find out`), `rm ${file}; mv /root/kept ${file}`];
const DROPIN = '/run/systemd/system/hongbao-card@.service.d';
const append = (value) => `export REDISCLI_AUTH=$(sed -n 's/^redis_password = //p' /etc/hongbao/rights/operator.conf)
  redis-cli -e -s /run/redis-hongbao/redis-server.sock --user hongbao_operator CONFIG SET appendonly ${value}`;
for (const [what, plant, says, mend] of [
  fifo('/etc/redis/redis-hongbao.conf'), // where the user redis may write
  fifo('/etc/redis/hongbao-users.acl'),
  ['a unit that does not start, with its journal', `systemctl stop hongbao-card@1; mkdir ${DROPIN}
    printf '[Service]\\nEnvironment=HB_PARTITIONS=0\\n' >${DROPIN}/fault.conf`,
  /hongbao-card@1\.service does not start:\n[\s\S]*HB_PARTITIONS: partitions must be .*\nMore: journalctl -u hongbao-card@1\.service -n 50/, `rm -r ${DROPIN}`],
  ['an nginx that does not start, with its journal', 'systemctl stop nginx; systemd-run -q --unit=other-site systemd-socket-activate -l 0.0.0.0:443 sleep infinity',
    /nginx does not start:\n.* bind\(\) to 0\.0\.0\.0:443 failed \(98: [\s\S]*\nMore: journalctl -u nginx -n 50/, 'systemctl stop other-site'],
  ['a site that is not ready, with the part that keeps it', append('no'),
    /the site is not ready:\n {4}durability: failed: appendonly is off.*\nhongbao doctor tells what mends it/, append('yes')],
  ['a disk without room before anything is made', 'mount -t tmpfs -o size=1m none /var/lib/mysql',
    /only \d MB are free in \/var\/lib\/mysql, of 32 that setup needs: make room/, 'umount /var/lib/mysql'],
]) {
  test(`setup names ${what}, and goes on when it is mended`, async () => {
    await machine.shell(plant);
    assert.match(await refusal('timeout', '600', 'hongbao', 'setup', '--non-interactive'), says);
    await machine.shell(mend);
    await setup();
  });
}

test('when the file of a role is lost, setup makes new passwords, and every process of the role has them', async () => {
  await machine.run('rm', '/etc/hongbao/rights/hot.conf');
  await setup();
  await machine.run('systemctl', 'restart', 'redis-server@hongbao'); // each process logs in again
  const ready = () => machine.shell(`for i in {1..20}; do curl -sk --resolve ${HOST}:443:127.0.0.1 https://${HOST}/readyz/hot; done`);
  await poll('all processes of the pool are ready', async () => /^(ok\n){19}ok$/.test(await ready()));
  await machine.run('cmp', '/run/credentials/hongbao-hot@1.service/hot.conf', '/etc/hongbao/rights/hot.conf');
});

test('setup grants no rights anew that are as they should be, whatever the order in which MariaDB lists them', async () => {
  const granted = () => machine.run('stat', '-c', '%i %y', '/var/lib/hongbao/rights');
  const before = await granted();
  // The state after a restart of MariaDB, which reads the columns in another order than they were granted.
  await machine.run('mariadb', '-e', 'CREATE TABLE mysql.kept AS SELECT * FROM mysql.columns_priv; DELETE FROM mysql.columns_priv;'
    + 'INSERT INTO mysql.columns_priv SELECT * FROM mysql.kept ORDER BY Column_name DESC; DROP TABLE mysql.kept; FLUSH PRIVILEGES');
  await setup();
  assert.equal(await granted(), before);
});

test('while MariaDB is down, setup makes no other secret', async () => {
  await machine.shell('systemctl stop hongbao.target mariadb.socket mariadb; mv /etc/hongbao/secret /root/secret');
  const said = await refused();
  assert.match(said, /can't find out whether this site has users or packets: MariaDB on unix:\/run\/mysqld\/mysqld\.sock does not answer: Can't connect/);
  assert.match(said, /hongbao doctor says what mends it; when its data is lost: \/usr\/share\/doc\/hongbao\/docs\/how-to\/lost\.md/);
  assert.doesNotMatch(said, /ERROR \d/);
  await machine.shell('test ! -e /etc/hongbao/secret; mv /root/secret /etc/hongbao/secret; systemctl start mariadb.socket mariadb');
  await setup();
});

test('a wrong path of a socket changes nothing, by the option or in the settings', async () => {
  const made = ['etc/redis/redis-hongbao.conf', 'etc/hongbao/hongbao.conf'];
  const contents = made.map((file) => machine.read(file));
  assert.match(await refused('--redis-socket', '/run/typo.sock'), /Redis has no socket \/run\/typo\.sock/);
  assert.match(await refused('--mysql-socket', '/run/typo.sock'), /MariaDB has no socket \/run\/typo\.sock/);
  await whileConf("sed -i 's,^redis = .*,redis = unix:/run/typo.sock,'", async () => assert.match(await refused(), /Redis has no socket \/run\/typo\.sock/));
  assert.deepEqual(made.map((file) => machine.read(file)), contents);
  assert.equal(await machine.shell('cat /var/lib/hongbao/stores 2>/dev/null || true'), '');
});

// ---- stores that existed before the site ----

const REDIS = '/run/redis-shared/redis-server.sock';
const MYSQL = '/run/mariadb-shared/mysqld.sock';
const PASSWORD = 'it\'s "an\\administrator"';
const ADMIN = `redis_user = default\nredis_password = ${PASSWORD}\nmysql_user = root\nmysql_password = ${PASSWORD}\n`;
// The answer "delete the money, too".
const PURGE = "echo 'hongbao hongbao/drop-money boolean true' | debconf-set-selections; apt-get purge -y hongbao";
const redisAdmin = (...command) => machine.run('env', `REDISCLI_AUTH=${PASSWORD}`, 'redis-cli', '-s', REDIS, ...command);
const mysqlAdmin = (sql) => machine.run('env', `MYSQL_PWD=${PASSWORD}`, 'mariadb', `--socket=${MYSQL}`, '--user=root', '-N', '-e', sql);

// Stores that belong to others: each has an administrator with a password.
async function sharedStores() {
  const file = (path, text) => writeFileSync(join(machine.folder, path), text);
  file('etc/redis/redis-shared.conf', `include /usr/share/hongbao/redis/settings.conf\nunixsocket ${REDIS}\nunixsocketperm 777\n`
    + 'dir /var/lib/redis/shared\npidfile /run/redis-shared/redis-server.pid\nmaxmemory 256mb\ndatabases 16\naclfile /etc/redis/shared.acl\n');
  file('root/user', `user default on #${createHash('sha256').update(PASSWORD).digest('hex')} ~* &* +@all\n`);
  await machine.shell(`install -m 640 -o redis -g redis /root/user /etc/redis/shared.acl; chown redis:redis /etc/redis/redis-shared.conf
    install -d -o redis -g redis /var/lib/redis/shared; systemctl start redis-server@shared
    mariadb-install-db --no-defaults --user=mysql --datadir=/var/lib/mysql-shared --skip-test-db --auth-root-authentication-method=normal >/dev/null
    systemd-run -q --unit=mariadb-shared -p User=mysql -p RuntimeDirectory=mariadb-shared -p RuntimeDirectoryMode=755 \\
      mariadbd --no-defaults --datadir=/var/lib/mysql-shared --socket=${MYSQL} --skip-networking --innodb-rollback-on-timeout=1
    for i in $(seq 600); do ! mariadb --socket=${MYSQL} -u root -e 'SELECT 1' 2>/dev/null >&2 || break; sleep 0.1; done`);
  await machine.run('mariadb', `--socket=${MYSQL}`, '-u', 'root', '-e',
    `ALTER USER root@localhost IDENTIFIED BY '${PASSWORD.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`);
}

// Runs the commands that setup has printed for the administrators, as they would: at a terminal, with their password.
async function administratorsRun(told) {
  const commands = told.split('\n').filter((line) => line.startsWith('    ')).map((line) => line.trim());
  for (const command of commands) {
    const user = command.includes('redis-cli') ? 'default' : 'root';
    const { code, output } = await converse(machine.enter('bash', '-c', command.replace('ADMINISTRATOR', user)), [[/assword: $/, PASSWORD]]);
    assert.equal(code, 0, output);
    assert.doesNotMatch(output, /ERR|ERROR/);
  }
  return commands.length;
}

test('a site in stores of others: setup tells their administrators what to run, and starts no store of its own', async () => {
  await machine.shell(`${PURGE}; apt-get install -y /root/hongbao.deb`);
  await machine.run('systemctl', 'disable', '--now', 'mariadb', 'redis-server');
  await sharedStores();
  const [command] = blocksOf('install.md', import.meta.url)['Stores that exist already'];
  const { code, output } = await converse(machine.enter('bash', '-c', command), setupDialogue(HOST, '/root/tls/site.pem', '/root/tls/site.key', 'no'));
  assert.equal(code, 1, output);
  assert.equal(await administratorsRun(output), 2); // users in both
  const [, again] = /^Then run: (hongbao setup .*)$/m.exec(output);
  assert.equal(await administratorsRun(await refusal('bash', '-c', again)), 1); // rights on the tables
  await machine.shell(again);
  assert.equal(await site.status('/readyz'), '200');
  await machine.run('hongbao', 'doctor'); // finds nothing
  await machine.run('systemctl', 'restart', 'redis-server@shared', 'hongbao.target'); // the users are kept
  await machine.run('dpkg', '-i', '/root/hongbao.deb');
  assert.equal(await site.status('/readyz'), '200');
  await machine.run('systemctl', 'stop', 'redis-server@shared');
  assert.match(await machine.try('hongbao', 'doctor'), /redis-down: [^\n]*\n +mend: start Redis, or set redis/);
  await machine.run('systemctl', 'start', 'redis-server@shared');
  await mysqlAdmin('SET GLOBAL innodb_flush_log_at_trx_commit = 2');
  const mend = await poll('nothing else is wrong', async () => {
    const { wrong } = await site.doctor();
    return wrong.length === 1 && wrong[0].name === 'mysql-flush' && wrong[0].mend;
  });
  assert.equal(await administratorsRun(`    ${mend}`), 1);
  await site.nothingIsWrongSoon();
  const stores = await machine.try('systemctl', 'list-units', '--all', '--plain', '--no-legend', '--state=active,failed', 'redis-server@hongbao*', 'mariadb.service');
  assert.equal(stores, '');
});

test('rights that the roles do not need: doctor leads to setup, and setup and upgrade to what the administrators run', async () => {
  for (const command of ['hongbao setup --non-interactive', 'dpkg -i /root/hongbao.deb']) {
    await redisAdmin('ACL', 'SETUSER', 'hongbao_hot', '+flushall');
    await mysqlAdmin('GRANT SELECT ON hongbao.* TO hongbao_support@localhost');
    await mysqlAdmin('GRANT PROCESS ON *.* TO hongbao_migrate@localhost');
    const found = await machine.try('hongbao', 'doctor');
    assert.match(found, /redis-right-excess: [^\n]*\n +mend: hongbao setup\n/);
    for (const right of ['PROCESS', 'SELECT']) assert.match(found, new RegExp(`mysql-right-excess: [^\n]*\n +mend: mariadb .* --user=ADMINISTRATOR .* -e 'REVOKE ${right} ON [^']*'\n`));
    const told = await machine.shell(`${command} 2>&1`);
    assert.match(told, /The site serves\. But its roles have more rights in the stores than they need/);
    assert.equal(await administratorsRun(told.slice(told.indexOf('have to run this'))), 2);
    await machine.run('hongbao', 'doctor'); // finds nothing
  }
});

test('with an administrator in admin.conf setup does it itself', async () => {
  writeFileSync(join(machine.folder, 'etc/hongbao/admin.conf'), ADMIN);
  await machine.shell('chmod 644 /etc/hongbao/admin.conf; systemctl stop hongbao.target; rm /etc/hongbao/rights/*.conf');
  assert.match(await refused(), /others may read \/etc\/hongbao\/admin\.conf/);
  await machine.run('chmod', '600', '/etc/hongbao/admin.conf');
  await setup();
  await machine.run('hongbao', 'doctor');
  assert.equal(await site.status('/readyz'), '200');
});

test('setup does not write the configuration of a Redis of others: it says what to write there', async () => {
  const conf = '/etc/redis/redis-shared.conf';
  await machine.shell(`cp -p ${conf} /root/redis-shared.conf; { sed /^aclfile/d /root/redis-shared.conf; cat /root/user; } >${conf}
    systemctl restart redis-server@shared; cp ${conf} /root/before`);
  assert.match(await machine.shell('hongbao setup --non-interactive 2>&1'),
    /Redis would forget the users[\s\S]*configuration file of Redis:\n\n {4}\/etc\/hongbao\/for-administrators\/redis-users\.conf\n/);
  await machine.shell(`cmp ${conf} /root/before; cat /etc/hongbao/for-administrators/redis-users.conf >>${conf}; systemctl restart redis-server@shared`);
  await site.nothingIsWrongSoon(); // the worker compares Redis with the tables
  await machine.shell(`cp -p /root/redis-shared.conf ${conf}; systemctl restart redis-server@shared; rm /var/lib/hongbao/acl-loaded`);
  await setup();
});

test('a Redis that has keys of others is refused, by setup and by a restore', async () => {
  const cache = (command) => redisAdmin('EVAL', `for i = 1, 50000 do redis.call(${command}) end`, '0');
  await machine.shell('hongbao backup /root/copy; mv /etc/hongbao/admin.conf /root/');
  // The state after a setup with another Redis.
  await machine.shell('echo /run/redis-hongbao/redis-server.sock >/var/lib/hongbao/redis-alone');
  await cache("'SET', 'cache:' .. i, 'x'");
  assert.match(await refused(), /has keys of others, such as 'cache:\d+'/);
  await machine.shell('mv /root/admin.conf /etc/hongbao/; rm /var/lib/hongbao/acl-loaded');
  assert.match(await refused(), /has keys of others, such as 'cache:\d+'/);
  await cache("'DEL', 'cache:' .. i");
  await redisAdmin('-n', '3', 'SET', 'cache:1', 'x');
  assert.match(await refused(), /has keys of others, such as db3/);
  await machine.run('systemctl', 'stop', 'hongbao.target');
  assert.match(await refusal('hongbao', 'restore', '--replace', '/root/copy'), /Redis has keys of others \(db3\)/);
  await redisAdmin('-n', '3', 'DEL', 'cache:1');
  await setup();
});

test('when hongbao doctor can not tell what the stores lack, setup goes no further', async () => {
  await machine.shell(`mkdir /root/bin; printf '#!/bin/sh\n[ "$1" = doctor ] || exec /usr/bin/hongbao "$@"\n' >/root/bin/hongbao; chmod +x /root/bin/hongbao`);
  assert.match(await refusal('bash', '-c', 'PATH=/root/bin:$PATH; exec hongbao setup --non-interactive'), /hongbao doctor does not tell what the stores lack/);
  await machine.shell('rm -r /root/bin');
  await setup();
});

test('a removal and a purge leave the stores of others alone', async () => {
  await machine.run('systemctl', 'enable', 'redis-server@hongbao'); // the name may belong to an instance of theirs
  await machine.run('hongbao', 'setup', '--remove');
  assert.equal(await machine.run('systemctl', 'is-enabled', 'redis-server@hongbao'), 'enabled');
  await machine.run('systemctl', 'disable', 'redis-server@hongbao');
  assert.match(await machine.shell('dpkg -i /root/hongbao.deb 2>&1'), /The site is out of service\. `hongbao setup` brings it back/);
  await setup(); // with the earlier certificate
  assert.equal(await site.status('/readyz'), '200');
  const own = ['/etc/systemd/system/hongbao-hot@.service.d', '/etc/nginx/hongbao-metrics.conf', '/etc/mysql/mariadb.conf.d/70-hongbao.cnf'];
  await machine.shell(`mkdir ${own[0]}; touch ${own.slice(1).join(' ')} ${own[0]}/nice.conf`);
  const told = await machine.shell(`${PURGE} 2>&1`);
  assert.match(told, new RegExp(`kept: the database hongbao and the users hongbao_\\* in the MariaDB at unix:${MYSQL}`));
  assert.match(told, new RegExp(`kept: the keys hb:\\* and the users hongbao_\\* in the Redis at unix:${REDIS}`));
  for (const file of own) assert.ok(told.includes(`\n    ${file}`), told);
  await machine.shell(`rm -r ${own.join(' ')}`);
  assert.match(await mysqlAdmin('SHOW DATABASES'), /^hongbao$/m);
  assert.match(await redisAdmin('ACL', 'USERS'), /^hongbao_hot$/m);
  assert.equal(await machine.run('systemctl', 'is-active', 'redis-server@shared', 'mariadb-shared'), 'active\nactive');
});

test('move.md: a site leaves the stores of others with all it has, and never without', async () => {
  const [block] = blocksOf('move.md', import.meta.url)['Other stores on the same machine'];
  await mysqlAdmin('DROP DATABASE hongbao');
  await redisAdmin('FLUSHALL');
  await machine.shell('apt-get install -y /root/hongbao.deb; mkdir -p /etc/hongbao');
  writeFileSync(join(machine.folder, 'etc/hongbao/admin.conf'), ADMIN);
  await machine.run('chmod', '600', '/etc/hongbao/admin.conf');
  await setup(...OWN, '--redis-socket', REDIS, '--mysql-socket', MYSQL);
  await site.register('ming');
  assert.match(await refused('--own-stores'), /users or packets in the stores that it would leave[\s\S]*\n +hongbao setup --own-stores --restore \S+\n/);
  await machine.run('hongbao', 'backup', '/root/early');
  assert.match(await refused('--own-stores', '--restore', '/root/early'), /the site runs, and would change after the backup/);
  await machine.run('systemctl', 'stop', 'hongbao.target');
  assert.match(await refused('--own-stores', '--restore', '/root/early'), /the site still ran when the backup \/root\/early was begun: make a new one/);
  assert.match(await refused('--own-stores', '--restore', '/root/tls'), /\/root\/tls is not a backup/);
  assert.match(machine.read(CONF), new RegExp(`^redis = unix:${REDIS}$`, 'm'));
  await machine.shell(block);
  assert.equal(await site.status('/readyz'), '200');
  await site.login('ming');
  assert.match(machine.read(CONF), /^redis = unix:\/run\/redis-hongbao\/[\s\S]*^mysql = unix:\/run\/mysqld\//m);
  await machine.shell('! grep . /var/lib/hongbao/stores; systemctl is-active redis-server@hongbao mariadb; systemctl stop redis-server@shared mariadb-shared');
  await site.isRight();
});

test('demo = on by hand needs setup, as hongbao check says; setup then grants the right to make deposits', async () => {
  const grants = () => machine.run('mariadb', '-N', '-e', 'SHOW GRANTS FOR hongbao_page@localhost');
  assert.match(machine.read(CONF), /^# Some need hongbao setup after a change, .*: hongbao check says so\.$/m);
  await whileConf("sed -i 's/^demo = off/demo = on/'", async () => {
    const told = await refusal('hongbao', 'check');
    assert.match(told, /^wrong: setup-needed: demo has changed since the last hongbao setup, from 'off' to 'on': /m);
    assert.doesNotMatch(await grants(), /ledger_deposit/);
    await machine.shell(/\n +mend: (.*)\n/.exec(told)[1]);
    await machine.run('hongbao', 'check');
    assert.match(await grants(), /ledger_deposit/);
  });
  assert.doesNotMatch(await grants(), /ledger_deposit/);
  await site.nothingIsWrong();
});

test('a site whose tables have play money is not set to demo = off: setup refuses it, and an upgrade tells it', async () => {
  const demo = () => /^demo = (.*)$/m.exec(machine.read(CONF))[1];
  const upgrade = () => machine.shell('dpkg -i /root/hongbao.deb 2>&1');
  const running = await pids();
  await machine.run('hongbao', 'audit');
  assert.equal(demo(), 'off');
  await machine.shell(`id=$(mariadb -N hongbao -e "SELECT id FROM user WHERE username = 'ming'")
    mariadb hongbao -e "CALL ledger_deposit($id, 500, '$id:first', 1)"`);
  assert.match(await refused(), /the tables have play money[\s\S]*this one stays a demo: hongbao setup --demo/);
  assert.deepEqual(await pids(), running);
  await setup('--demo');
  assert.equal(demo(), 'on');
  assert.doesNotMatch(await upgrade(), /play money/);
  await machine.run('hongbao', 'audit');
  await machine.shell(`sed -i.mine 's/^demo = on/demo = off/' ${CONF}`); // the file is the operator's from here on
  assert.match(await refused(), /this one stays a demo: set demo = on in \/etc\/hongbao\/hongbao\.conf/);
  assert.match(await machine.try('hongbao', 'doctor', '--json'), /"name":"demo-money"/);
  assert.match(await upgrade(), /the tables have play money/);
  assert.equal(await site.status('/readyz'), '200');
  await machine.shell(`mv ${CONF} /root/`);
  assert.match(await refused('--host', HOST, '--self-signed'), /this one stays a demo: hongbao setup --demo/);
  await machine.shell(`rm -f ${CONF}; mv /root/hongbao.conf ${CONF}; mv ${CONF}.mine ${CONF}`);
  await setup();
  assert.equal(demo(), 'on');
  await machine.run('hongbao', 'audit'); // the worker has found what the audit refuses meanwhile
  await site.nothingIsWrong();
});

test('lost.md: MariaDB loses its data; nothing is made in its place, and a backup brings the site back', async () => {
  const sections = blocksOf('lost.md', import.meta.url);
  const [empty, back] = sections['MariaDB is lost'];
  await site.register('late');
  await machine.run('hongbao', 'backup', '--verify', '/var/backups/hongbao-now');
  await machine.shell(empty);
  const doctor = await site.doctor();
  assert.equal(doctor.wrong[0].name, 'site-tables-gone', JSON.stringify(doctor));
  assert.match(doctor.wrong[0].text, /^MariaDB knows no user of the site: /);
  assert.match(doctor.wrong[0].mend, /^hongbao setup --non-interactive/);
  assert.ok(!doctor.wrong.some(({ name }) => name === 'mysql-login'), JSON.stringify(doctor));
  assert.match(await refused(), /MariaDB has no tables of this site, but Redis has its data[\s\S]*hongbao setup --restore BACKUP --replace/);
  assert.equal(await machine.run('mariadb', '-N', '-e', "SHOW DATABASES LIKE 'hongbao'"), '');
  assert.equal(await site.status('/wallet', ...site.as('late')), '503');
  await machine.shell(back);
  assert.equal(await site.status('/readyz'), '200');
  assert.equal(await site.status('/wallet', ...site.as('late')), '200');
  await machine.run('hongbao', 'audit');
  await site.nothingIsWrong();
  await machine.run('mariadb', 'hongbao', '-e', 'DROP TABLE thanks');
  assert.match(await machine.try('hongbao', 'doctor'), /^wrong: schema: tables are missing, and only a backup has their rows: thanks$/m);
  await machine.shell(sections['A table is lost'][0]);
  await site.nothingIsWrong();
});
