// The package on a separate Debian, as an operator uses it: install, set up, use, reload, restart, kill, upgrade,
// remove, purge. Needs root, for debootstrap and systemd-nspawn.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { poll } from '../support/poll.js';
import { temporaryFolder } from '../e2e/support/run.js';
import { Machine, RELEASE, packageEdited, packageReady, toldBy } from './machine.js';
import { HOST, SETUP, Site } from './site.js';

const EXPOSURE_MAX = 1.5;
const machine = new Machine('machine');
const site = new Site(machine);
let deb;
let packet;

const { before, test } = toldBy(machine);
before(async () => {
  deb = await packageReady();
  await machine.boot(deb);
});

test('one command installs the package, nothing runs before the setup, and a second command makes a site of it', async () => {
  await machine.run('apt-get', 'install', '/root/hongbao.deb');
  assert.equal(await machine.run('systemctl', 'list-units', '--plain', '--no-legend', 'hongbao*'), '');
  const notSetUp = async () => {
    for (const command of ['check', 'doctor', 'audit']) {
      assert.equal(await machine.try('hongbao', command), 'hongbao: not set up yet: run hongbao setup');
    }
  };
  await notSetUp();
  await machine.shell('mkdir /etc/hongbao; echo "secret_file = /etc/hongbao/secret" >/etc/hongbao/hongbao.conf');
  await notSetUp();
  await machine.run('rm', '-r', '/etc/hongbao');
  const said = await machine.run(...SETUP);
  assert.equal(said.split('\n').pop(), `https://${HOST}/`);
  await site.allRun();
  assert.equal(await site.status('/readyz'), '200');
  await machine.run('hongbao', 'doctor'); // finds nothing
});

test('the stores get more time than by default, as concurrent tests share a disk: less than nginx gives the pools', async () => {
  await machine.shell("printf '%s = %s\\n' redis_timeout_ms 2500 mysql_timeout_s 8 >>/etc/hongbao/hongbao.conf");
  await machine.run('systemctl', 'restart', ...(await site.units()).map(({ name }) => name));
  await site.allRun();
});

test('what the reference of the files names is there, with its mode and owner', async () => {
  const paths = await site.hasFiles((path) => !path.includes('/valkey/')); // valkey.test.js checks these
  assert.ok(paths.length > 20);
});

test('the whole flow works over TLS: register, deposit, send, open', async () => {
  await site.register('ming', 'hong');
  await site.deposit('ming', 100);
  packet = await site.send('ming', 'first-packet', 'kind=lucky', 'amount=50', 'count=100');
  assert.equal(await site.open('hong', packet), await site.share('hong', packet));
  await machine.run('hongbao', 'demo', '--users', '300', '--out', '/root/users.tsv');
  await machine.run('hongbao', 'audit');
});

test('the id of an answer leads to its lines in the journal and in the log of nginx', async () => {
  const answer = await site.curl('/login', '-i', '-d', 'username=nobody&password=a-wrong-password');
  const [, id] = /^x-request-id: ([0-9a-f]{32})\r?$/m.exec(answer);
  const lines = await poll('nginx has written its line', async () => {
    const found = (await machine.try('hongbao', 'trace', id)).split('\n');
    return found.length > 1 && found;
  });
  assert.match(lines[0], new RegExp(`role=auth .*event=login-refused .*request_id=${id}$`));
  assert.deepEqual([lines.length, JSON.parse(lines[1]).uri], [2, '/login']);
});

test('a restart of Redis loses no share, also when nobody has settled it', () => site.keepsUnsettled('redis-server@hongbao', packet));

// Each answer, also nginx's own, is tested in e2e/front.test.js, with the same site.in.
test('nginx redirects to TLS, speaks HTTP/2, tells browsers to stay with TLS, and serves what the package has compressed', async () => {
  const plain = await machine.run('curl', '-sSi', '-H', `Host: ${HOST}`, 'http://127.0.0.1/x?y=1');
  assert.match(plain, new RegExp(`^HTTP/1\\.1 308 [^]*^Location: https://${HOST}/x\\?y=1\\r$`, 'm'));
  const style = await site.curl('/static/app.css', '-I', '--http2', '-H', 'Accept-Encoding: gzip');
  assert.match(style, /^HTTP\/2 200 [^]*^strict-transport-security: max-age=63072000/m);
  assert.match(style, /^content-encoding: gzip/m);
  const { size } = statSync(join(machine.folder, 'var/lib/hongbao/static/app.css.gz'));
  assert.match(style, new RegExp(`^content-length: ${size}\\r?$`, 'm'), 'the file beside it');
  assert.equal(await machine.run('curl', '-s', '-o', '/dev/null', '-w', '%{http_code}', 'http://127.0.0.1/'), '200', "Debian's own site");
});

test('behind a balancer the lines that the site has for it give each visitor an address of their own', async () => {
  const conf = '/etc/nginx/sites-available/hongbao';
  const from = () => machine.shell('tail -n 1 /var/log/nginx/hongbao.access.log').then((line) => JSON.parse(line).from);
  const seen = (address) => poll(`a request from ${address}`, async () => {
    await site.curl('/healthz', '-H', 'X-Forwarded-For: 203.0.113.9');
    return await from() === address;
  });
  await seen('127.0.0.1');
  await machine.shell(`cp -p ${conf} /root/site; sed -i 's/192\\.0\\.2\\.7/127.0.0.1/; s/^\\( *\\)# \\(set_real_ip_from\\|real_ip_\\)/\\1\\2/' ${conf}
    systemctl reload nginx`);
  await seen('203.0.113.9');
  await machine.shell(`cp -p /root/site ${conf}; systemctl reload nginx`);
  await seen('127.0.0.1');
});

test('each unit is confined', async (t) => {
  const files = (await site.units()).map(({ name }) => name);
  assert.equal(await machine.try('systemd-analyze', 'verify', '--man=no', ...files, 'hongbao.target'), '');
  for (const { name } of await site.units()) {
    const last = (await machine.run('systemd-analyze', 'security', '--no-pager', name)).split('\n').pop();
    assert.ok(Number(/ ([0-9.]+) /.exec(last)[1]) <= EXPOSURE_MAX, last);
    t.diagnostic(last);
  }
  const owners = await machine.shell("stat -c '%U:%G %a' /run/hongbao/*.sock /run/hongbao/metrics | sort | uniq -c | sed 's/^ *//'");
  assert.deepEqual(owners.split('\n'), ['1 root:hongbao 660', '5 www-data:www-data 660']);
  const environment = await machine.shell('cat /proc/$(systemctl show -P MainPID hongbao-hot@1)/environ | tr "\\0" "\\n"');
  const secret = machine.read('etc/hongbao/secret').trim();
  assert.ok(secret.length >= 32 && !environment.includes(secret));
  const has = Object.fromEntries(await Promise.all((await site.units()).map(async ({ name }) => [name.split(/[@.]/)[0],
    (await machine.shell(`ls /run/credentials/${name}`)).split('\n').sort().join(' ')])));
  const pool = (role) => [`hongbao-${role}`, `${role}.conf ${role}.keys`];
  assert.deepEqual(has, { ...Object.fromEntries(['hot', 'page', 'auth', 'card'].map(pool)), 'hongbao-money': 'money.conf', 'hongbao-settle': 'settle.conf' }, 'no process has the secret');
  assert.match(machine.read('etc/hongbao/hongbao.conf'), /^older_keys = off$/m, 'a new site has nothing of an earlier version');
  assert.ok(!machine.read('etc/hongbao/rights/hot.keys').includes('before'));
  assert.match(await machine.run('journalctl', '-u', 'hongbao-settle', '-o', 'json', '--no-pager'), /"PRIORITY":"6".*settle worker started|settle worker started.*"PRIORITY":"6"/);
});

test('a reload of all units loses no request', async () => {
  await site.losesNothing(packet, async () => {
    for (let i = 0; i < 3; i++) for (const { name } of await site.units()) await machine.run('systemctl', 'reload', name);
  });
  assert.match(await machine.shell('cat /proc/$(systemctl show -P MainPID hongbao-hot@1)/comm'), /^hongbao 3$/);
});

test('a restart of each unit loses no request', async () => {
  await site.losesNothing(packet, async () => {
    for (let i = 0; i < 3; i++) for (const { name } of await site.units()) await machine.run('systemctl', 'restart', name);
  });
  await machine.run('hongbao', 'audit');
});

test('each unit comes back after it was killed, and the money is right', async () => {
  for (const { name } of await site.units()) {
    const pid = () => machine.run('systemctl', 'show', '-P', 'MainPID', name);
    const killed = await pid();
    await machine.run('systemctl', 'kill', '-s', 'KILL', '--kill-whom=main', name);
    await poll(`${name} runs again`, async () => ![killed, '0'].includes(await pid()));
    await site.allRun();
  }
  assert.equal(await site.status('/readyz'), '200');
  await machine.run('hongbao', 'audit');
});

// redis-cli as the user of the role; for a script of the shell.
const redisAs = (role) => `REDISCLI_AUTH=$(sed -n 's/^redis_password = //p' /etc/hongbao/rights/${role}.conf) \
  redis-cli -s /run/redis-hongbao/redis-server.sock --user hongbao_${role}`;

// Opens a connection as the role audit. The returned function uses it once more, and returns both answers.
async function connectionOpen() {
  await machine.shell('rm -f /root/answers /root/again');
  const ended = machine.shell(`{ echo PING; until [ -e /root/again ]; do sleep 0.2; done; echo PING; } |
    ${redisAs('audit')} >/root/answers 2>&1 || true`);
  await poll('the connection is open', () => machine.shell('cat /root/answers || true').then((text) => text === 'PONG'));
  return async () => {
    await machine.shell('touch /root/again');
    await ended;
    return machine.read('root/answers');
  };
}

// The package of a later program with the same version: another style sheet, other users of Redis, and a migration of a
// table that is in use.
async function packageLater() {
  const folder = temporaryFolder('later');
  const made = await packageEdited(folder, () => {
    const edit = (file, from, to) => {
      const text = readFileSync(join(folder, file), 'utf8');
      assert.match(text, from, file);
      writeFileSync(join(folder, file), text.replace(from, to));
    };
    edit('static/app.css', /^/, '/* of a later version */\n');
    edit('deploy/rights/users.acl.in', /^(user hongbao_(?:hot|audit) .*?) -@all/gm, '$1 ~hb:later:* -@all +object|help');
    edit('deploy/rights/users.acl.in', /$/, 'user hongbao_later off resetchannels -@all\n');
    const migrations = join(folder, 'sql/migrations');
    const number = String(readdirSync(migrations).length + 1).padStart(4, '0');
    writeFileSync(join(migrations, `${number}_later.sql`), `-- additive: yes
ALTER TABLE packet ADD COLUMN later_no INT NOT NULL DEFAULT 7;
CREATE TABLE later (id INT NOT NULL PRIMARY KEY);
`);
  });
  return { path: machine.give(made, 'hongbao-later.deb'), version: versionOf(made) };
}

const versionOf = (file) => execFileSync('dpkg-deb', ['-f', file, 'Version'], { encoding: 'utf8' }).trim();

// The version of the program that answers, and whether the tables have the later migration.
const version = async () => /hongbao_build_info\{version="([^"]*)"\}/.exec(await site.curl('/metrics'))[1];
const later = () => machine.run('mariadb', '-N', 'hongbao', '-e', "SELECT COUNT(*) FROM schema_migration WHERE name = 'later'");

// Whether the running Redis has the later rights and the later user.
const laterRights = async () => Promise.all([
  machine.shell(`${redisAs('operator')} ACL GETUSER hongbao_hot`).then((text) => /\+object\|help/.test(text)),
  machine.shell(`${redisAs('operator')} ACL GETUSER hongbao_later`).then((text) => text !== ''),
]);

test('a later program with a migration and other rights, and this one again, are installed without losing a request', async () => {
  const next = await packageLater();
  const now = { path: '/root/hongbao.deb', version: versionOf(deb) };
  assert.equal(await version(), now.version);
  for (const { path, version: expected } of [next, now]) { // docs/how-to/upgrade.md
    const answers = await connectionOpen();
    const install = () => machine.run('apt-get', 'install', '-y', ...(path === now.path ? ['--allow-downgrades'] : []), path);
    await site.losesNothing(packet, install, '/readyz'); // which is never 503
    assert.equal(await machine.run('dpkg-query', '-W', '-f', '${Version}', 'hongbao'), expected);
    assert.equal(await machine.run('hongbao', 'version'), `hongbao ${expected}`);
    assert.equal(await answers(), 'PONG\nPONG\n');
    await site.allRun();
    assert.equal(await version(), expected);
    assert.equal(await later(), '1');
    assert.deepEqual(await laterRights(), Array(2).fill(path === next.path));
    await machine.run('hongbao', 'doctor');
  }
  await machine.run('hongbao', 'audit');
});

test('a second setup changes nothing, and keeps what the operator has changed', async () => {
  const made = ['etc/hongbao/secret', 'etc/hongbao/rights/page.conf', 'etc/hongbao/tls/privkey.pem', 'etc/redis/redis-hongbao.conf'];
  const contents = made.map((file) => machine.read(file));
  const conf = '/etc/nginx/sites-available/hongbao';
  await site.losesNothing(packet, () => machine.run(...SETUP));
  await machine.shell(`echo '# mine' >>${conf}; echo 'packet_shares_max = 50' >>/etc/hongbao/hongbao.conf`);
  await machine.run(...SETUP);
  assert.deepEqual(made.map((file) => machine.read(file)), contents);
  assert.match(machine.read(conf), /# mine\n$/);
  assert.match(machine.read('etc/hongbao/hongbao.conf'), /^packet_shares_max = 50$/m);
});

test('a role gets a new password, and the connections that had the old one are closed', async () => {
  for (const removed of ['audit', 'setup']) { // without the password of hongbao_setup Redis loads its file
    const before = machine.read('etc/hongbao/rights/audit.conf');
    const answers = await connectionOpen();
    await machine.run('rm', `/etc/hongbao/rights/${removed}.conf`);
    await machine.run('hongbao', 'setup', '--non-interactive');
    // Redis 8 keeps the connections of users that its file has, too.
    assert.match(await answers(), removed === 'audit' || RELEASE === 12 ? /^PONG\nError: / : /^PONG\nPONG\n$/);
    assert.equal(machine.read('etc/hongbao/rights/audit.conf') === before, removed === 'setup');
    assert.match(await machine.shell(`${redisAs('setup')} ACL LIST`), /^user hongbao_audit on /m);
    await site.isRight();
  }
});

test('setup grants what is missing again, and refuses to make another secret for packets that exist', async () => {
  const setup = ['hongbao', 'setup', '--non-interactive'];
  // The state that a setup of version 1.0 leaves when it is killed between REVOKE and GRANT.
  await machine.shell("mariadb -e \"$(grep '^REVOKE ' /usr/share/hongbao/rights/grants.sql)\"");
  const { wrong } = await site.doctor();
  const found = wrong.filter(({ name }) => /^mysql-(login|right)/.test(name));
  assert.deepEqual([...new Set(found.map(({ mend }) => mend))], [setup.join(' ')], JSON.stringify(wrong));
  await machine.run(...setup);
  await site.nothingIsWrongSoon();
  await machine.run('mv', '/etc/hongbao/secret', '/root/secret');
  assert.match(await machine.try(...setup), /secret is missing/);
  await machine.run('mv', '/root/secret', '/etc/hongbao/secret');
  assert.match(await machine.try(...setup, '--host', 'other.example'), /is yours: set base_url/);
});

test('setup takes away what the roles do not need, and the roles keep their rights meanwhile: no request is lost', async () => {
  await machine.run('mariadb', 'hongbao', '-e', `GRANT SELECT ON hongbao.* TO hongbao_page@localhost; GRANT UPDATE ON user TO hongbao_page@localhost;
    GRANT UPDATE (balance_fen) ON account TO hongbao_settle@localhost; GRANT PROCESS ON *.* TO hongbao_migrate@localhost WITH GRANT OPTION`);
  await site.losesNothing(packet, () => machine.run('hongbao', 'setup', '--non-interactive'));
  await machine.run('hongbao', 'doctor'); // finds nothing
});

const BACKUPS = '/var/backups/hongbao';
const backups = async () => (await machine.shell(`ls ${BACKUPS}`)).split('\n');

test('the timer makes up for a missed night with a verified backup, and the last 14 are kept', async () => {
  const dropin = '/etc/systemd/system/hongbao-backup.timer.d';
  const nights = Array.from({ length: 15 }, (_, i) => `2026-01-${String(i + 1).padStart(2, '0')}T033000Z`);
  assert.equal(await machine.run('systemctl', 'is-active', 'hongbao-backup.timer'), 'active', 'setup has started it');
  await machine.shell(`systemctl stop hongbao-backup.timer; mkdir -p ${dropin} /var/lib/systemd/timers; install -d -m 700 ${BACKUPS}
    cd ${BACKUPS}; mkdir mine ${nights.join(' ')}
    printf '[Timer]\\nRandomizedDelaySec=0\\n' >${dropin}/now.conf
    touch -d '2 days ago' /var/lib/systemd/timers/stamp-hongbao-backup.timer
    systemctl daemon-reload; systemctl enable -q --now hongbao-backup.timer`);
  await poll('the last 14 are kept', async () => (await backups()).length === 15); // and the folder with another name
  const kept = await backups();
  assert.deepEqual(kept.slice(0, 13).concat(kept[14]), [...nights.slice(2), 'mine']);
  const made = `${BACKUPS}/${kept[13]}`;
  assert.match(await machine.shell(`cd ${made}; sha256sum -c SHA256SUMS; stat -c %a .`), /OK\n700$/);
  const shown = (property, unit) => machine.run('systemctl', 'show', '-P', property, unit);
  await poll('the unit has ended', async () => (await shown('ActiveState', 'hongbao-backup.service')) === 'inactive');
  assert.equal(await shown('Result', 'hongbao-backup.service'), 'success');
  assert.match(await machine.run('journalctl', '-u', 'hongbao-backup', '-o', 'cat'), /the audit is clean/);
  assert.match(await shown('NextElapseUSecRealtime', 'hongbao-backup.timer'), / 03:30:00 /);
  await machine.shell(`rm -r ${dropin}; systemctl daemon-reload`);
  await machine.run('hongbao', 'doctor');
});

test('after a removal nothing runs and nginx goes on; an installation brings the same money back', async () => {
  await machine.run('apt-get', 'remove', '-y', 'hongbao');
  const left = await machine.try('bash', '-c', `exec 2>/dev/null; systemctl list-units --plain --no-legend 'hongbao*' 'redis-server@hongbao*'
    pgrep -u hongbao-hot,hongbao-page,hongbao-auth,hongbao-sso,hongbao-card,hongbao-money,hongbao-settle; ls /etc/nginx/*/hongbao* /etc/nginx/hongbao /run/hongbao/*.sock`);
  assert.equal(left, '/etc/nginx/sites-available/hongbao', "the operator's own");
  await machine.run('nginx', '-t', '-q');
  assert.equal(await machine.run('curl', '-s', '-o', '/dev/null', '-w', '%{http_code}', 'http://127.0.0.1/'), '200');
  assert.ok(existsSync(join(machine.folder, 'etc/hongbao/secret')));
  await machine.run('apt-get', 'install', '-y', '/root/hongbao.deb');
  const { wrong, unchecked } = await site.doctor();
  assert.deepEqual([wrong.map(({ name, mend }) => [name, mend]), unchecked], [[['out-of-service', 'hongbao setup']], []]);
  await machine.shell(wrong[0].mend);
  assert.ok(await site.share('hong', packet) > 0);
  await site.isRight();
});

test('a purge keeps the money unless the operator says otherwise, and then leaves no user, file or process', async () => {
  await machine.run('apt-get', 'purge', '-y', 'hongbao');
  assert.match(await machine.run('mariadb', '-N', '-e', 'SHOW DATABASES'), /^hongbao$/m);
  assert.ok(existsSync(join(machine.folder, 'etc/hongbao/secret')));
  await machine.run('apt-get', 'install', '-y', '/root/hongbao.deb');
  await machine.run(...SETUP);
  assert.ok(await site.share('hong', packet) > 0);
  await machine.run('rm', '-f', '/etc/nginx/sites-available/hongbao');
  await site.purgesAll('/var/backups');
  assert.equal(statSync(join(machine.folder, 'etc/nginx/nginx.conf')).isFile(), true);
});
