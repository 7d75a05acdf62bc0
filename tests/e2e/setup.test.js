// The parts of `hongbao setup` that can be tested without a separate machine: what they refuse before anything is made,
// and the requests that they send to the site. tests/package/setup.test.js tests the whole procedure.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { poll } from '../support/poll.js';
import { certificate, day } from './support/certificate.js';
import { OwnNginx, PROGRAM } from './support/own_nginx.js';
import { run, temporaryFolder } from './support/run.js';

const ROOT = new URL('../..', import.meta.url).pathname.replace(/\/$/, '');
const LONG = `${'a'.repeat(60)}.example`; // longer than CN, and than nginx's default
const folder = temporaryFolder('setup');

before(() => {
  for (const name of ['bin', 'etc', 'state', 'home', 'nginx', 'nginx/conf.d', 'nginx/sites-available', 'nginx/sites-enabled']) mkdirSync(join(folder, name));
  symlinkSync(process.env.HB_TEST_BINARY, join(folder, 'bin/hongbao'));
  writeFileSync(join(folder, 'bin/nginx'), `#!/bin/sh\n[ "$1" != -T ] || cat ${folder}/nginx/shown\n`);
  chmodSync(join(folder, 'bin/nginx'), 0o755);
});

// Runs lines of bash with the functions of setup: { code, said }; said is all output.
async function shell(lines, environment = {}) {
  const head = `set -euo pipefail; PROGRAM=setup ETC=${folder}/etc STATE=${folder}/state NGINX=${folder}/nginx SHARE=${ROOT} SUMS=${folder}/state/made
    for part in common commands/setup/{options,questions,files,config,certificate,nginx,site}; do . "${ROOT}/deploy/$part.sh"; done`;
  return run('bash', ['-c', `${head}\n${lines}`], { env: { PATH: `${folder}/bin:${process.env.PATH}`, HOME: join(folder, 'home'), ...environment } })
    .then(({ stdout, stderr }) => ({ code: 0, said: stdout + stderr }), ({ code, stdout, stderr }) => ({ code, said: stdout + stderr }));
}
const says = async (lines, environment) => (await shell(lines, environment)).said.trim();

test('a host is what the program takes as the host of base_url, and other letters are told as they are written', async () => {
  for (const host of ['hongbao.example', 'localhost', '192.168.1.30', 'xn--uirv82h.example', LONG]) assert.equal(await says(`host_problem '${host}'`), '', host);
  const wrong = {
    'https://x.example': /is not a host name, such as hongbao\.example/,
    'x.example:8443': /without a port/,
    '192.168.1.300': /looks like an address, but is none/,
    'a b': /has a character that no host has/,
    '-x.example': /its host is no name/,
    '': /has no host/,
    红包: /its host must be written in ASCII: https:\/\/xn--uirv82h$/,
  };
  for (const [host, words] of Object.entries(wrong)) assert.match(await says(`host_problem '${host}'`), words, host);
  assert.match(await says(`host_problem '${'a.'.repeat(130)}b'`), /must have from 1 to 255 bytes|253/);
  assert.equal(await says('url_host https://hongbao.example:8443; url_host http://hongbao.example; url_host https://[::1]:1'),
    'hongbao.example\nhongbao.example\n[::1]');
});

test('a mistake in the configuration ends setup before anything is changed, and a value is as the program has it', async () => {
  const conf = join(folder, 'etc/hongbao.conf');
  assert.equal(await says('settings_check; setting demo'), '', 'no configuration yet');
  writeFileSync(conf, '\tdemo = on # to try\r\n  redis_socket = /run/a.sock\r\nsecret_file = /nowhere\n');
  assert.equal(await says('settings_check; setting demo; socket_setting redis; socket_setting mysql'), 'on\n/run/a.sock\n/run/mysqld/mysqld.sock');
  writeFileSync(conf, 'demo = on\npartitons = 16\n');
  for (const [action, again] of [['install', 'hongbao setup'], ['upgrade', 'hongbao setup --upgrade']]) {
    const { code, said } = await shell(`ACTION=${action}; . ${ROOT}/deploy/commands/setup/stores.sh; settings_check; echo on`);
    assert.equal(code, 1);
    assert.match(said, new RegExp(`:2: there is no such setting: partitons[\\s\\S]*nothing was changed: correct .*, then run: ${again}\n$`));
  }
  rmSync(conf);
});

// A statement of grants.sql as SHOW GRANTS writes it: the database, and backquotes around each name.
function asGranted(statement) {
  const [, rights, kind, object, user] = /^GRANT (.*) ON ((?:PROCEDURE |FUNCTION )?)(\S+) TO '(\w+)'/.exec(statement);
  const columns = rights.replace(/\(([^)]*)\)/g, (all, names) => `(${names.split(/, */).map((name) => `\`${name}\``).join(', ')})`);
  const named = (object.includes('.') ? object : `hongbao.${object}`).replace(/[`\w]+/g, (name) => `\`${name.replaceAll('`', '')}\``);
  return { user, line: `GRANT ${columns} ON ${kind}${named} TO \`${user}\`@\`localhost\`` };
}

test('setup takes no right from a role that needs it, and each other right', async () => {
  const granted = readFileSync(join(ROOT, 'deploy/rights/grants.sql'), 'utf8').split('\n').filter((line) => line.startsWith('GRANT ')).map(asGranted);
  assert.ok(['PROCEDURE', 'FUNCTION', '(`'].every((word) => granted.some(({ line }) => line.includes(word))));
  granted.push({ user: 'hongbao_migrate', line: 'GRANT ALL PRIVILEGES ON `hongbao`.* TO `hongbao_migrate`@`localhost`' });
  const excess = (...more) => {
    for (const user of new Set(granted.map((one) => one.user))) {
      writeFileSync(join(folder, `shown.${user}`), [...granted, ...more].filter((one) => one.user === user).map(({ line }) => `${line}\n`).join(''));
    }
    return says(`. ${ROOT}/deploy/rights/roles.sh; . ${ROOT}/deploy/commands/setup/rights.sh; SHARE=${ROOT}/deploy DATABASE=hongbao
      setting() { echo off; }; shown() { cat ${folder}/shown.hongbao_$1; }; mkdir -p $ETC/rights; rights_make $ETC/rights; rights_excess shown; rm -r $ETC/rights`);
  };
  assert.equal(await excess(), '');
  const others = ['EXECUTE ON FUNCTION `hongbao`.`another`', 'EXECUTE ON PROCEDURE `hongbao`.`packet_needs_phrase`', 'SELECT (`phrase_hash`) ON `hongbao`.`packet`', 'DELETE ON `hongbao`.`site`'];
  const told = await excess(...others.map((right) => ({ user: 'hongbao_card', line: `GRANT ${right} TO \`hongbao_card\`@\`localhost\`` })));
  assert.deepEqual(told.split('\n').sort(), others.map((right) => `REVOKE ${right} FROM \`hongbao_card\`@\`localhost\`;`).sort());
});

test('a configuration of the operator that differs from the backup ends a restore before anything is changed', async () => {
  const conf = join(folder, 'etc/hongbao.conf');
  const fits = (more) => shell(`HOST=hongbao.example RESTORE=${folder}/backup; config_fits https://hongbao.example; echo fits`, more);
  mkdirSync(join(folder, 'backup'));
  const manifest = (...lines) => writeFileSync(join(folder, 'backup/manifest'), lines.map((line) => `${line}\n`).join(''));
  writeFileSync(conf, 'base_url = https://hongbao.example\npartitions = 8\ntimezone = Asia/Tokyo\n');
  for (const same of [['partitions = 8', 'timezone = Asia/Tokyo'], ['partitions = 8'], []]) {
    manifest(...same);
    assert.deepEqual(await fits(), { code: 0, said: 'fits\n' }, 'a backup of a version before has no timezone');
  }
  const wrong = [['partitions = 16', 'timezone = Asia/Tokyo'], ['partitions = 8', 'timezone = Europe/Berlin'], ['partitions = 16', 'timezone = Europe/Berlin']];
  for (const lines of wrong) {
    manifest(...lines);
    const words = lines.filter((line) => !/ (8|Asia\/Tokyo)$/.test(line)).join(' and ');
    assert.deepEqual(await fits(), { code: 1, said: `setup: ${conf} is yours: set ${words} there first\n` });
  }
  for (const [lines, words] of [[['unit = POINT', 'unit_decimals = 2', 'unit_symbol = '], 'unit = POINT'], [['unit = CNY', 'unit_decimals = 0'], 'unit_decimals = 0']]) {
    manifest(...lines);
    assert.deepEqual(await fits(), { code: 1, said: `setup: ${conf} is yours: set ${words} there first\n` });
  }
  rmSync(conf);
  assert.deepEqual(await fits(), { code: 0, said: 'fits\n' }, 'setup writes it as the backup has it');
  rmSync(join(folder, 'backup'), { recursive: true });
});

test('the unit of money is set by options, and taken from the backup that is restored', async () => {
  const conf = join(folder, 'etc/hongbao.conf');
  const made = (options, lines) => says(`options_read ${options}; money_unit_check; ${lines}`);
  const points = "--unit POINT --unit-decimals 0 --unit-symbol '' --unit-name-zh 积分 --unit-name-en points";
  const lines = 'unit = POINT\nunit_decimals = 0\nunit_symbol = \nunit_name_zh = 积分\nunit_name_en = points';
  const before = 'partitions = 16\ntimezone = Asia/Shanghai';
  assert.equal(await made('', 'data_settings'), before, 'an earlier version knows no unit');
  assert.equal(await made(points, 'data_settings'), `${before}\n${lines}`);
  writeFileSync(conf, `base_url = https://hongbao.example\n${lines}\n`);
  assert.equal(await made('', 'data_settings'), `${before}\n${lines}`, 'as before');
  assert.equal(await made("--unit-name-en 'house points'", 'data_settings | tail -n 1'), 'unit_name_en = house points');
  assert.match(await made('--unit-name-en dots', 'HOST=hongbao.example; config_fits https://hongbao.example'), /is yours: set unit_name_en = dots there first$/);
  rmSync(conf);
  assert.match(await made('--unit POINT', 'echo no'), /^setup: .*unit = POINT needs unit_symbol, unit_name_zh and unit_name_en of its own$/m);
  assert.match(await made('--unit-decimals 3', 'echo no'), /^setup: .*unit_decimals/);
  mkdirSync(join(folder, 'backup'));
  for (const [manifest, wanted] of [[`timezone = Asia/Tokyo\n${lines}`, `partitions = 16\ntimezone = Asia/Tokyo\n${lines}`], ['', before]]) {
    writeFileSync(join(folder, 'backup/manifest'), `${manifest}\n`);
    assert.equal(await made(`--restore ${folder}/backup`, 'data_settings'), wanted);
  }
  assert.match(await made(`--restore ${folder}/backup --unit POINT`, 'echo no'), /--restore takes the unit of money from the backup/);
  rmSync(join(folder, 'backup'), { recursive: true });
});

test('the file of an administrator is read as it is written, with blanks and CRLF', async () => {
  writeFileSync(join(folder, 'etc/admin.conf'), "  mysql_user=root\r\nmysql_password =  it's \"a # \\word\" \r\nredis_user = a\nredis_user = default\n");
  assert.equal(await says(`. ${ROOT}/deploy/commands/setup/stores.sh; for name in mysql_user mysql_password redis_user redis_password; do echo "[$(admin_value $name)]"; done`),
    '[root]\n[it\'s "a # \\word"]\n[default]\n[]');
  rmSync(join(folder, 'etc/admin.conf'));
});

test('an nginx that refuses a reload is restarted, and its error told; one that takes it is not', async () => {
  const own = new OwnNginx(join(folder, 'own'));
  const site = join(folder, 'nginx/sites-available/hongbao');
  mkdirSync(join(folder, 'nginx/hongbao'));
  writeFileSync(site, '');
  writeFileSync(join(folder, 'nginx/shown'), `error_log ${own.log};\n`);
  const start = `${PROGRAM} ${own.arguments().map((text) => `'${text}'`).join(' ')} -g 'master_process on;' >/dev/null 2>&1 &`;
  const stop = `kill -QUIT $pid; while kill -0 $pid 2>/dev/null; do sleep 0.05; done; rm -f ${own.folder}/socket`;
  writeFileSync(join(folder, 'bin/systemctl'), `#!/bin/sh\npid=$(cat ${own.pidFile} 2>/dev/null)\ncase "$*" in
    '-q is-active nginx') [ -n "$pid" ] ;;\n'show -P MainPID nginx') echo $pid ;;\n'reload nginx') kill -HUP $pid ;;
    'start nginx') ${start}\n;;\n'restart nginx') ${stop}; ${start}\n;;\n*) echo "systemctl $*"; exit 1 ;;\nesac\n`, { mode: 0o755 });
  const reload = async (text) => {
    writeFileSync(site, text);
    const said = await says('NGINX_RELOAD_S=2; nginx_reload');
    await poll('nginx has a worker', () => own.processes().length > 0);
    return [said, readFileSync(own.pidFile, 'utf8')];
  };
  try {
    const [said, pid] = await reload('#1');
    assert.equal(said, '', 'started');
    const workers = own.processes();
    assert.deepEqual(await reload('#1'), ['', pid]);
    assert.deepEqual(own.processes(), workers, 'nothing has changed');
    assert.deepEqual(await reload('#2'), ['', pid]);
    assert.notDeepEqual(own.processes(), workers);
    writeFileSync(own.site, own.siteText('$request_uri'));
    const [told, after] = await reload('#3');
    assert.match(told, /^nginx has not taken its new configuration by a reload, so setup restarts it\. It said:\n.*\[emerg\] .* "own" uses the "\$request_uri" key/);
    assert.notEqual(after, pid);
    assert.deepEqual(await reload('#4'), ['', after]);
  } finally {
    await says('kill -QUIT "$(systemctl show -P MainPID nginx)"');
    rmSync(join(folder, 'bin/systemctl'));
    rmSync(join(folder, 'nginx/hongbao'), { recursive: true });
    rmSync(site);
  }
});

// The output of `nginx -T` on a machine.
const shown = ({ user = 'www-data', include = '/etc/nginx/sites-enabled/*', more = '' } = {}) => writeFileSync(join(folder, 'nginx/shown'),
  `# configuration file /etc/nginx/nginx.conf:\nuser ${user};\nhttp {\n    include /etc/nginx/conf.d/*.conf;\n    include ${include};\n${more}}\n`);

test('an nginx that is not as Debian has it is refused with what it lacks', async () => {
  shown();
  assert.equal(await says('HOST=hongbao.example; nginx_check'), '');
  symlinkSync('/nowhere', join(folder, 'nginx/sites-enabled/hongbao'));
  shown({ user: 'nginx' });
  assert.equal(await says('HOST=hongbao.example; nginx_check'), '', 'a site that has lost its file');
  rmSync(join(folder, 'nginx/sites-enabled/hongbao'));
  assert.match(await says('HOST=hongbao.example; nginx_check'), /not laid out as Debian's[\s\S]*\n {4}user www-data;[^\n]*$/);
  shown({ include: '/etc/nginx/sites-enabled/*.conf' });
  assert.match(await says('HOST=hongbao.example; nginx_check'), /\n {4}include \S+\/sites-enabled\/\*; in http \{ \}/);
  shown();
  rmSync(join(folder, 'nginx/sites-available'), { recursive: true });
  assert.match(await says('HOST=hongbao.example; nginx_check'), /the folders \S+sites-enabled and \S+sites-available/);
  mkdirSync(join(folder, 'nginx/sites-available'));
});

test('a long name has room in the hash of nginx, unless nginx has a size of its own that is too small', async () => {
  const size = (bytes) => `    server_names_hash_bucket_size ${bytes};\n`;
  shown();
  assert.equal(await says(`HOST=${LONG}; nginx_check; names_hash_there`), '');
  shown({ more: size(128) });
  assert.match(await says(`HOST=${LONG}; nginx_check`), /is longer than nginx takes with server_names_hash_bucket_size 128: make it 512/);
  assert.equal(await says('HOST=hongbao.example; nginx_check; names_hash_there'), '128');
  shown({ more: size(512) });
  assert.equal(await says(`HOST=${LONG}; nginx_check; names_hash_there`), '512');
  shown({ more: `# configuration file /etc/nginx/sites-enabled/hongbao:\n${size(512)}# configuration file /etc/nginx/sites-enabled/other:\n` });
  assert.equal(await says('names_hash_there'), '', 'the one of the site itself');
});

test('a self-signed certificate is for names of any length, and openssl is heard when it fails', async () => {
  const { said, code } = await shell(`HOST=${LONG} KEY=$ETC/tls/privkey.pem CERTIFICATE=$ETC/tls/fullchain.pem; certificate_sign; certificate_fits && echo fits`);
  assert.equal(`${code} ${said}`, '0 fits\n');
  const failed = await shell("HOST=hongbao.example KEY=/nowhere/key CERTIFICATE=/nowhere/pem; certificate_sign; echo on");
  assert.equal(failed.code, 1);
  assert.match(failed.said, /no certificate can be made: .*\/nowhere\/key/);
});

test('the certificate of the site is the first of its file, and that of an issuer which must be fetched is there', async () => {
  const [path, read] = [(name) => join(folder, name), (name) => readFileSync(join(folder, name), 'utf8')];
  const problem = (file) => says(`certificate_problem ${path(file)}`);
  const root = certificate(folder, 'root', 'DNS:root.example', day(-9), day(90));
  const middle = certificate(folder, 'middle', 'DNS:middle.example', day(-9), day(90), root);
  certificate(folder, 'leaf', 'DNS:hongbao.example', day(-9), day(90), middle);
  certificate(folder, 'public', 'DNS:hongbao.example\nauthorityInfoAccess = caIssuers;URI:http://r.example/r.cer', day(-9), day(90), middle);
  // Another root has also signed the key of middle: there is a second certificate with the same name.
  const older = certificate(folder, 'older', 'DNS:older.example', day(-9), day(90));
  execFileSync('openssl', ['x509', '-req', '-in', path('middle.csr'), '-CA', older.pem, '-CAkey', older.key, '-CAcreateserial', '-out', path('crossed.pem')], { stdio: 'pipe' });
  const files = { chain: ['leaf', 'middle'], whole: ['leaf', 'middle', 'root'], public_chain: ['public', 'middle'], reversed: ['middle', 'leaf'], mixed: ['leaf', 'root', 'middle'], twice: ['leaf', 'leaf'],
    crossed: ['public', 'middle', 'crossed'], crossed_first: ['public', 'crossed', 'middle'], last: ['root', 'middle', 'leaf'], between: ['middle', 'leaf', 'root'],
    other: ['leaf', 'root'] };
  for (const [name, parts] of Object.entries(files)) writeFileSync(path(`${name}.pem`), parts.map((part) => read(`${part}.pem`)).join(''));
  for (const right of ['leaf', 'root', 'chain', 'whole', 'public_chain', 'mixed', 'crossed', 'crossed_first']) assert.equal(await problem(`${right}.pem`), '', right);
  for (const wrong of ['reversed', 'last', 'between']) assert.match(await problem(`${wrong}.pem`), /are in the wrong order: first the one of the site/, wrong);
  for (const short of ['public', 'twice', 'other']) assert.match(await problem(`${short}.pem`), /lacks the certificate of its issuer: use the file with the chain/, short);
});

test('setup asks the site itself, on the port of its nginx: no proxy, no ~/.curlrc', async () => {
  const { pem, key } = certificate(folder, 'served', 'DNS:hongbao.example', day(-9), day(90));
  const server = createServer({ cert: readFileSync(pem), key: readFileSync(key) }, (request, response) => response.end(request.headers.host));
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  try {
    const { port } = server.address();
    writeFileSync(join(folder, 'nginx/sites-available/hongbao'), `server {\n    listen 80;\n}\nserver {\n    listen 127.0.0.1:${port} ssl http2;\n    listen [::]:${port} ssl;\n}\n`);
    writeFileSync(join(folder, 'home/.curlrc'), 'proxy = http://127.0.0.1:1\noutput = /nowhere/file\n');
    const proxy = { HTTPS_PROXY: 'http://127.0.0.1:1', https_proxy: 'http://127.0.0.1:1', ALL_PROXY: 'http://127.0.0.1:1' };
    assert.equal(await says('HOST=hongbao.example; site_get /login', proxy), `hongbao.example:${port}`);
    assert.equal(await says('HOST=hongbao.example; ! site_answers /login || echo yes', proxy), 'yes');
  } finally {
    server.close();
    rmSync(join(folder, 'nginx/sites-available/hongbao'));
  }
  assert.equal(await says('nginx_port'), '443');
});

// A machine whose package is removed and purged with the answer to delete the money: the output of the package's
// scripts, and the statements that MariaDB gets. The scripts are the package's; the folders of the machine are inside a
// folder of the test.
function machine(conf, store = 'redis') {
  const root = mkdtempSync(join(folder, 'machine-'));
  const moved = (name) => {
    const text = readFileSync(join(ROOT, 'deploy/debian', name), 'utf8').replace(/(?<![\w./-])\/(?=(etc|var|run|usr)\/)/g, `${root}/`);
    assert.doesNotMatch(text.replaceAll(root, ''), /rm -\S+ (?!\/(etc|var|run|usr)\/)/, 'it deletes what is below the folder');
    return text;
  };
  const program = (path, text) => { writeFileSync(join(root, path), text); chmodSync(join(root, path), 0o755); };
  for (const path of ['bin', 'etc/hongbao/rights', 'var/lib/hongbao', `var/lib/${store}/hongbao`, 'usr/share/debconf']) mkdirSync(join(root, path), { recursive: true });
  writeFileSync(join(root, 'usr/share/debconf/confmodule'), 'db_fset() { :; }\ndb_input() { :; }\ndb_go() { :; }\ndb_get() { RET=true; }\n');
  program('bin/mariadb', `#!/bin/sh\ncat >>${root}/told\n`);
  program('bin/getent', '#!/bin/sh\nexit 2\n');
  program('prerm', moved('hongbao.prerm'));
  program('postrm', moved('hongbao.postrm'));
  const path = (name) => join(root, name);
  const script = (name, action) => run('sh', [path(name), action], { env: { PATH: `${root}/bin:${folder}/bin:${process.env.PATH}` } }).then(({ stderr }) => stderr);
  const write = (text, file = 'etc/hongbao/hongbao.conf') => writeFileSync(path(file), text.replaceAll('unix:/', `unix:${root}/`));
  if (conf !== undefined) write(conf);
  return { path, write, remove: () => script('prerm', 'remove'), purge: () => script('postrm', 'purge'),
    left: () => [path('told'), path('etc/hongbao'), path(`var/lib/${store}/hongbao`)].map((name) => existsSync(name)) };
}
const [KEPT, DELETED] = [[false, true, true], [true, false, false]];
const OWN = 'redis = unix:/run/redis-hongbao/redis-server.sock\nmysql = unix:/run/mysqld/mysqld.sock\n';
const unknown = /kept: the money, secrets and settings: .* which are not known: \S+hongbao\.conf had a mistake [\s\S]*install the package, correct/;

test('a purge deletes the money of the stores that setup has made, and nothing of others', async () => {
  const own = machine(`${OWN}demo = on\n`);
  await own.remove();
  await own.purge();
  assert.deepEqual(own.left(), DELETED);
  assert.match(readFileSync(own.path('told'), 'utf8'), /^DROP DATABASE IF EXISTS hongbao;$/m);
  const valkey = machine(OWN.replaceAll('redis-', 'valkey-'), 'valkey');
  await valkey.remove();
  assert.equal(await valkey.purge(), '');
  assert.deepEqual(valkey.left(), DELETED);
  const tables = machine(`${OWN}mysql_database = hongbao_two\n`);
  await tables.remove();
  assert.match(await tables.purge(), /kept: the database hongbao_two and the users hongbao_\* in the MariaDB at unix:\S+: hongbao setup has not made it/);
  assert.equal(tables.left()[0], false);
  const elsewhere = machine('mysql = 10.0.0.5:3306\nredis = 10.0.0.6:6379\n');
  await elsewhere.remove();
  assert.match(await elsewhere.purge(), /in the MariaDB at 10\.0\.0\.5:3306: [\s\S]*in the Redis at 10\.0\.0\.6:6379: /);
  assert.equal(elsewhere.left()[0], false);
});

test('a purge deletes nothing while it is not known in which stores the money is', async () => {
  const wrong = 'mysql = 10.0.0.5:3306\npartitons = 16\n';
  const byHand = machine(wrong);
  assert.match(await byHand.remove(), /there is no such setting: partitons/);
  assert.match(await byHand.purge(), unknown);
  assert.deepEqual(byHand.left(), KEPT);
  byHand.write(OWN); // installed again, corrected
  await byHand.remove();
  assert.doesNotMatch(await byHand.purge(), unknown);
  assert.deepEqual(byHand.left(), DELETED);

  const stale = machine(wrong); // setup has made a site here before
  stale.write(OWN, 'var/lib/hongbao/settings');
  await stale.remove();
  assert.match(await stale.purge(), unknown);
  assert.deepEqual(stale.left(), KEPT);

  const since = machine(OWN);
  await since.remove();
  await new Promise((resolve) => { setTimeout(resolve, 50); }); // the clock of the disk counts in some ms
  since.write('mysql = 10.0.0.5:3306\n');
  assert.match(await since.purge(), unknown);
  assert.deepEqual(since.left(), KEPT);

  const before = machine(OWN); // removed by an older version, whose prerm kept nothing
  assert.match(await before.purge(), unknown);
  assert.deepEqual(before.left(), KEPT);

  const lost = machine(); // no configuration, but passwords of the roles
  await lost.remove();
  assert.match(await lost.purge(), unknown);
  assert.deepEqual(lost.left(), KEPT);
  rmSync(lost.path('etc/hongbao'), { recursive: true }); // there was never a site
  assert.doesNotMatch(await lost.purge(), unknown);
});
