// `hongbao check`: prints everything that is wrong, and needs no server.
import assert from 'node:assert/strict';
import { chmodSync, chownSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { run, temporaryFolder } from './support/run.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BINARY = process.env.HB_TEST_BINARY;
const folder = temporaryFolder('check');

// Runs the program with these arguments and only these settings (environment): { code, stdout, stderr }.
const hongbao = (args, settings = {}) => run(BINARY, args, { env: settings })
  .then((done) => ({ code: 0, ...done }), (error) => error);

const config = () => join(folder, 'hongbao.conf');
const check = (settings, ...args) => hongbao(['--config', config(), 'check', ...args], settings);

// Writes a right configuration with these additional lines.
function configure(...lines) {
  writeFileSync(config(), ['secret = 0123456789abcdef0123456789abcdef', `template_dir = ${ROOT}/templates`, `lua_dir = ${ROOT}/lua`,
    `sql_dir = ${ROOT}/sql`, `static_dir = ${ROOT}/static`, `redis = unix:${folder}/redis.sock`,
    `mysql = unix:${folder}/mysql.sock`, `metrics_file = ${folder}/metrics`]
    .filter((line) => !lines.some((other) => other.startsWith(`${line.split(' ')[0]} `))).concat(lines, '').join('\n'));
}

test('a configuration whose files are there is fine, without any server', async () => {
  configure();
  const done = await check({});
  assert.equal(done.code, 0, done.stderr);
  assert.match(done.stdout, /are fine/);
  assert.equal(done.stderr, '');
});

// The output of `hongbao setting` for a file with this text, or its message when it fails.
async function setting(text, name, settings = {}) {
  writeFileSync(config(), text);
  const { code, stdout, stderr } = await hongbao(['--config', config(), 'setting', name], settings);
  assert.equal(code === 0 ? stderr : stdout, '', 'it answers or complains');
  return code === 0 ? stdout : `${code} ${stderr}`;
}

// tests/unit/test_config.c tests every form of a line.
test('a script that asks for a setting gets the value that the processes use, however the file writes it', async () => {
  assert.equal(await setting('\uFEFF\tdemo\t=\ton # to try\r\n', 'demo'), 'on\n');
  assert.equal(await setting('', 'demo'), 'off\n', 'the default');
  assert.equal(await setting('demo = off\n', 'demo', { HB_DEMO: 'on' }), 'on\n', 'the environment');
  assert.equal(await setting('redis_socket = /run/a.sock\r\n', 'redis'), 'unix:/run/a.sock\n', 'the older name');
  assert.equal(await setting('template_dir = /a\n', 'redis_user'), '\n', 'an empty value');
  assert.equal(await setting('secret_file = /nowhere/secret\n', 'secret_file'), '/nowhere/secret\n', 'before setup');
});

test('a setting that can not be answered is a status 2 with the reason', async () => {
  const fine = 'secret = 0123456789abcdef0123456789abcdef\nredis_password = word\nmysql_password = word\n';
  for (const [name, said] of [['secret', '.*: secret is not shown, because it is a password or a key\n$'],
    ['base_ulr', '.*: there is no such setting: base_ulr; did you mean base_url\\?\n$'], ['lucky_number', '.*: there is no such setting: lucky_number\n$'],
    ['redis_socket', '.*: redis_socket is now called redis\n$'], ['--all', 'usage: hongbao setting NAME']]) {
    assert.match(await setting(fine, name), new RegExp(`^2 ${said}`));
  }
  assert.match(await setting('demo = on\npartitons = 16\n', 'demo'), /^2 hongbao: .*\.conf:2: there is no such setting: partitons/);
  rmSync(config());
  const { code, stderr } = await hongbao(['--config', config(), 'setting', 'demo']);
  assert.match(`${code} ${stderr}`, /^2 hongbao: .*\.conf: No such file or directory\n$/);
});

test('the settings that setup writes into other files are printed at once, and every name has a value', async () => {
  const all = await setting('  redis_socket = /run/a.sock # ours\r\nsecret = 0123456789abcdef0123456789abcdef\n', '--setup');
  assert.match(all, /^redis = unix:\/run\/a\.sock\nmysql = unix:.*\n[\s\S]*^demo = off$/m);
  assert.doesNotMatch(all, /0123456789abcdef|packet_shares_max/);
  const names = (await setting('', '--names')).trim().split('\n');
  assert.ok(names.includes('base_url') && !names.includes('secret') && !names.includes('mysql_password'));
  for (const name of [names[0], names.at(-1)]) assert.match(await setting('', name), /^.+\n$/);
});

test('every mistake is told at once', async () => {
  configure('template_dir = /nowhere/templates', 'lua_dir = /nowhere/lua', 'sql_dir = /nowhere/sql', 'static_dir = /nowhere/static',
    'redis = unix:/nowhere/redis.sock', 'mysql = unix:/nowhere/mysql.sock', 'metrics_file = /nowhere/metrics',
    'base_url = http://hongbao.example', 'receipt_keys_file = /nowhere/keys');
  const { code, stdout, stderr } = await check({ HB_REDIS_SOKET: 'x', HB_demo: 'on', HB_LUCKY_NUMBER: '7', HB_TEST_ENV: 'x', HB_CONFIG: 'x' });
  assert.equal(code, 1);
  assert.equal(stdout, '');
  const found = [...stderr.matchAll(/^wrong: ([a-z-]+): /gm)].map((match) => match[1]);
  assert.deepEqual(found.sort(), ['base-url', 'environment', 'environment', 'environment', 'metrics-file', 'migrations', 'mysql-socket',
    'receipt-keys', 'redis-socket', 'scripts', 'static', 'templates']);
  assert.equal(stderr.match(/^ {4}mend: \S/gm).length, found.length, 'each says what to do');
  assert.match(stderr, /HB_REDIS_SOKET .*\n.*did you mean HB_REDIS_SOCKET\?/);
  assert.match(stderr, /HB_demo .*\n.*did you mean HB_DEMO\?/);
  assert.match(stderr, /HB_LUCKY_NUMBER .*\n +mend: unset HB_LUCKY_NUMBER$/m);
});

test('folders that exist, but are the wrong ones, are found', async () => {
  configure(`template_dir = ${ROOT}/lua`, `lua_dir = ${ROOT}/static`, `sql_dir = ${ROOT}/templates`, `static_dir = ${ROOT}/sql`);
  const { stderr } = await check({});
  for (const name of ['templates', 'scripts', 'migrations', 'static']) assert.match(stderr, new RegExp(`^wrong: ${name}: `, 'm'));
  const empty = join(folder, 'empty');
  mkdirSync(join(empty, 'migrations'), { recursive: true });
  configure(`sql_dir = ${empty}`);
  assert.match((await check({})).stderr, /wrong: migrations: .*no migrations in/);
});

test('a broken template and a gap in the migrations are named', async () => {
  cpSync(`${ROOT}/templates`, join(folder, 'templates'), { recursive: true });
  cpSync(`${ROOT}/sql`, join(folder, 'sql'), { recursive: true });
  writeFileSync(join(folder, 'templates/pages/login.mustache'), '{{#open}}');
  rmSync(join(folder, 'sql/migrations/0007_transfer.sql'));
  configure(`template_dir = ${folder}/templates`, `sql_dir = ${folder}/sql`);
  const { stderr } = await check({});
  assert.match(stderr, /wrong: templates: .*login/);
  assert.match(stderr, /wrong: migrations: .*0007 is missing/);
});

test('every page that is missing is named, and a partial that a page includes', async () => {
  const templates = join(folder, 'fewer');
  const wrong = async () => {
    configure(`template_dir = ${templates}`);
    return /^wrong: templates: (.*)$/m.exec((await check({})).stderr)?.[1];
  };
  cpSync(`${ROOT}/templates`, templates, { recursive: true });
  assert.equal(await wrong(), undefined);
  for (const name of ['pages/login', 'pages/wallet', 'pictures/card_wide']) rmSync(join(templates, `${name}.mustache`));
  assert.match(await wrong(), /fewer: there is no pages\/login\.mustache, pages\/wallet\.mustache, pictures\/card_wide\.mustache$/);
  cpSync(`${ROOT}/templates`, templates, { recursive: true });
  rmSync(join(templates, 'partials/avatar.mustache'));
  assert.match(await wrong(), /there is no template partials\/avatar/);
});

test('files that the processes can not read are found, also by root', async () => {
  const templates = join(folder, 'private');
  const metrics = join(folder, 'counters'); // the processes have its owner and group
  cpSync(`${ROOT}/templates`, templates, { recursive: true });
  configure(`template_dir = ${templates}`, `metrics_file = ${metrics}`);
  chmodSync(join(templates, 'pages/login.mustache'), 0o040);
  chmodSync(join(templates, 'partials'), 0o700);
  assert.doesNotMatch((await check({})).stderr, /unreadable-file/, 'no process has made the counters yet');
  writeFileSync(metrics, '');
  if (process.getuid() !== 0) return; // another owner is root's to make
  assert.doesNotMatch((await check({})).stderr, /unreadable-file/, 'the owner reads them, and the group');
  chownSync(metrics, 65534, 65534);
  assert.match((await check({})).stderr, new RegExp(`^wrong: unreadable-file: the processes may not pass through .*: (.*; )?${folder}(;.*)?\\n +mend: chmod a\\+x (.* )?${folder}( .*)?$`, 'm'));
  chmodSync(folder, 0o711);
  const stderr = (await check({})).stderr.replace(/^wrong: unreadable-file: the processes may not pass through .*\n.*\n/gm, ''); // the project's own folders
  const [, text, mend] = /^wrong: unreadable-file: the processes can't read files of template_dir, .*: (\S+; \S+)\n +mend: chmod a\+rX (\S+ \S+)$/m.exec(stderr);
  for (const name of ['pages/login.mustache', 'partials']) assert.ok(text.split('; ').includes(join(templates, name)) && mend.split(' ').includes(join(templates, name)), name);
  assert.equal(stderr.match(/unreadable-file/g).length, 1);
  assert.doesNotMatch((await check({}, '--offline')).stderr, /unreadable-file/);
});

test('a file of counters that can not be written is found', async () => {
  const metrics = join(folder, 'a-folder');
  mkdirSync(metrics);
  configure(`metrics_file = ${metrics}/metrics/x`);
  assert.match((await check({})).stderr, /wrong: metrics-file: /);
  configure(`metrics_file = ${metrics}/metrics`);
  assert.equal((await check({})).code, 0, 'the first process makes it');
  if (process.getuid() === 0) return; // root may write to any file
  writeFileSync(join(metrics, 'metrics'), '');
  chmodSync(join(metrics, 'metrics'), 0o400);
  assert.match((await check({})).stderr, /wrong: metrics-file: .*Permission denied/);
});

test('--offline leaves out what only the machine of the service has', async () => {
  configure('redis = unix:/nowhere/redis.sock', 'mysql = unix:/nowhere/mysql.sock', 'metrics_file = /nowhere/metrics');
  assert.equal((await check({})).code, 1);
  const done = await check({}, '--offline');
  assert.equal(done.code, 0, done.stderr);
  assert.equal((await check({}, '--online')).code, 2);
});

test('http is accepted for demo money and for this machine alone', async () => {
  for (const [address, demo, code] of [['http://localhost:8080', 'off', 0], ['http://127.0.0.1', 'off', 0], ['http://[::1]:1', 'off', 0],
    ['https://hongbao.example', 'off', 0], ['http://localhost.example', 'off', 1], ['http://127.0.0.1.example', 'off', 1], ['http://localhost.example', 'on', 0]]) {
    configure(`base_url = ${address}`);
    const done = await check({ HB_DEMO: demo });
    assert.equal(done.code, code, address);
    if (code === 1) assert.match(done.stderr, /^wrong: base-url: /m, address);
  }
});

const COMMANDS = [...readFileSync(join(ROOT, 'app/main.c'), 'utf8').replace(/^#ifdef HB_CRASH_POINTS[\s\S]*?^#endif/gm, '')
  .matchAll(/^ {4}\{ "([a-z-]+)"/gm)].map((match) => match[1]);

test('without any configuration a command says that the setup has to run', async () => {
  for (const command of ['check', 'doctor']) {
    const { code, stdout, stderr } = await hongbao([command]);
    assert.deepEqual([code, stdout, stderr], [2, '', 'hongbao: not set up yet: run hongbao setup\n']);
  }
});

test('a mistyped command is refused with the one that is meant', async () => {
  for (const [words, meant] of [[['setpu'], "'setpu'; did you mean setup?"], [['help', 'setpu'], "'setpu'; did you mean setup?"], [['x'], "'x'"]]) {
    const { code, stdout, stderr } = await hongbao(words);
    assert.deepEqual([code, stdout, stderr], [2, '', `hongbao: no command ${meant}\nhongbao --help lists the commands.\n`]);
  }
});

let helps; // what --help of each command prints
before(async () => {
  helps = await Promise.all(COMMANDS.map(async (command) => [command, await hongbao([command, '--help'])]));
});

test('--help of every command, -h and help print the same, without configuration or secret', async () => {
  assert.ok(COMMANDS.length > 10);
  for (const [command, help] of helps) {
    assert.deepEqual([help.code, help.stderr], [0, ''], command);
    assert.match(help.stdout, new RegExp(`^usage: hongbao \\[--config FILE\\] ${command}`));
    for (const words of [[command, '-h'], ['help', command]]) assert.deepEqual(await hongbao(words), help, words.join(' '));
  }
});

// The words of a command's usage (options, actions and places), and the words that a line of its help explains.
function wordsOf(help) {
  const [usage, , ...lines] = help.split('\n');
  const named = usage.replace(/^usage: hongbao \[--config FILE\] \S+ ?/, '').replace('--pool hot|page|auth|sso|card|money', '--pool');
  const used = named.match(/--[a-z-]+|[a-z-]+(?=[| ])|[A-Z_]+/g) ?? [];
  return { used, explained: lines.map((line) => /^ {2}(\S+)(?: [A-Z]+)? {3,}\S.*$/.exec(line)?.[1]).filter(Boolean) };
}

test('--help explains each word of the usage in a line, and nothing else', () => {
  const script = readFileSync(join(ROOT, 'deploy/commands/setup/options.sh'), 'utf8');
  const options = [...script.matchAll(/^ {8}(--[a-z-]+)\) /gm)].map((match) => match[1]);
  assert.ok(options.length >= 7);
  for (const [command, { stdout }] of helps) {
    const { used, explained } = wordsOf(stdout);
    assert.equal(new Set(explained).size, explained.length, `${command}: twice`);
    // A place behind an option or an action, such as ID in "--packet ID", is explained in the line of the option. The
    // usage of setup has only the word OPTION.
    const own = command === 'setup' ? options
      : used.filter((word, i) => explained.includes(word) || !/^[A-Z]/.test(word) || !/^[a-z-]/.test(used[i - 1] ?? 'A'));
    assert.deepEqual(new Set(own), new Set(explained), command);
  }
});

test('the manual page has every command with the lines of its help', async () => {
  const { stdout } = await hongbao(['help', '--man']);
  const plain = stdout.replaceAll('\\-', '-');
  assert.doesNotMatch(plain, /^[.'](?!TH|SH|TP|BI?R? |B |RS|RE|I |BR )/m, 'no line of text is a request');
  for (const [command, help] of helps) {
    assert.match(plain, new RegExp(`^\\.TP\\n\\.B ${command}( .*)?\\n`, 'm'));
    for (const [, word, meaning] of help.stdout.matchAll(/^ {2}(\S.*?) {3,}(\S.*)$/gm)) {
      assert.ok(plain.includes(`\n.TP\n.B ${word}\n${meaning}\n`), `${command}: ${word}`);
    }
  }
});

test('the reference of the commands is what the program prints', async () => {
  const { stdout } = await hongbao(['help', '--markdown']);
  // without the commands that only builds for tests have
  const printed = stdout.replace(/\n## crash-points\n[\s\S]*?(?=\n## )/, '');
  const reference = readFileSync(join(ROOT, 'docs/reference/commands.md'), 'utf8');
  assert.equal(reference.slice(reference.indexOf('\n## ')), printed);
  for (const command of COMMANDS) assert.match(printed, new RegExp(`^## ${command}\n\n\`\`\`\nhongbao ${command}( |$)`, 'm'));
});

// What bash offers behind these words.
async function completed(...words) {
  const script = `hongbao() { "$HB_TEST_BINARY" "$@"; }; source "${ROOT}/deploy/debian/completion/hongbao"
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _hongbao; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = await run('bash', ['-c', script, 'bash', ...words], { cwd: folder, env: { PATH: process.env.PATH, HB_TEST_BINARY: BINARY } });
  return stdout.trim().split('\n').sort();
}

// Typed words, and what bash offers. It offers options and files only where they are allowed.
const COMPLETED = [
  ['hongbao do', ['doctor']],
  ['hongbao --c', ['--config']],
  ['hongbao help do', ['doctor']],
  ['hongbao --config ali', ['alice.conf']],
  ['hongbao --config alice.conf tra', ['trace']],
  ['hongbao --config alice.conf --', ['']], // once is enough
  ['hongbao user ', ['--check', '--csv', '--days', '--links', 'disable', 'enable', 'end-sessions', 'export', 'find', 'import', 'login-link', 'reset', 'show']],
  ['hongbao user reset sho', ['']], // no second action
  ['hongbao user reset ali', ['alice.conf']],
  ['hongbao doctor --json --', ['--free', '--json', '--names', '--nginx', '--skip']], // but not --config
  ['hongbao doctor --skip redis-a', ['redis-appendfsync', 'redis-appendonly']],
  ['hongbao doctor --json --skip unit', ['unit-disabled', 'unit-failed', 'unit-masked', 'unit-old-file', 'unit-stopped', 'units']],
  ['hongbao doctor --nginx ali', ['alice.conf']],
  ['hongbao setting base', ['base_url']],
  ['hongbao serve --pool ', ['auth', 'card', 'hot', 'money', 'page', 'sso']],
  ['hongbao --config alice.conf replay --', ['--as', '--drop', '--packet']],
];

test('the shell completes commands, actions, options and files', async () => {
  writeFileSync(join(folder, 'alice.conf'), '');
  for (const [words, offered] of COMPLETED) assert.deepEqual(await completed(...words.split(' ')), offered, words);
});
