// Every command while a store does not answer, or refuses the login: it prints a plain sentence with the store, its
// address, the reason, and what to do, never only the words of a store's client.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { env, tried } from './support/instance.js';
import { temporaryFolder } from './support/run.js';
import { newUser, site } from './support/site.js';

const FOLDER = temporaryFolder('down');
const BACKUP = join(FOLDER, 'backup');

// The commands that need a store.
const COMMANDS = {
  audit: [['audit']],
  replay: [['replay'], ['replay', '5']],
  migrate: [['migrate'], ['migrate', '--check']],
  user: [['user', 'find', 'SOMEBODY'], ['user', 'show', 'SOMEBODY'], ['user', 'export'], ['user', 'login-link', 'SOMEBODY']],
  money: [['money', 'channels'], ['money', 'credit', 'SOMEBODY', '1', '--channel', 'demo', '--reference', 'R']],
  invitation: [['invitation', 'list'], ['invitation', 'create']],
  service: [['service', 'list'], ['service', 'revoke', 'SOMEBODY']],
  demo: [['demo', '--users', '1', '--out', join(FOLDER, 'users')]],
  backup: [['backup', join(FOLDER, 'another')], ['backup', '--verify', join(FOLDER, 'another')]],
  restore: [['restore', BACKUP], ['restore', '--replace', BACKUP], ['restore', '--without-redis', BACKUP]],
  settle: [['settle', '--check']],
  serve: ['hot', 'page', 'auth', 'sso', 'card', 'money'].map((pool) => ['serve', '--pool', pool, '--check']),
};
// These commands need no store, or have other tests: e2e/check, e2e/doctor and package/setup.
const OTHERS = ['setup', 'check', 'doctor', 'trace', 'setting', 'settings', 'keys', 'picture', 'verify', 'verify-receipt', 'crash-points', 'version', 'help'];
// Whether a command continues: a process waits for its stores, and commands that only read tables work without Redis.
const goesOn = (words, stores) => /^(serve|settle) /.test(words)
  || (!stores.includes('MariaDB') && /^(migrate|replay|user find|user export|user login-link|invitation|money|service)\b/.test(words));

// The other states are tested with one command of each kind: processes, scripts, and commands that read rows.
const OF_EACH_KIND = ['audit', 'replay', 'backup', 'serve'];

const NOWHERE = 'unix:/nonexistent/store.sock';
const PORT = '127.0.0.1:1'; // without a server
const MARIADB = env.HB_TEST_MYSQL_SOCKET, REDIS = env.HB_TEST_REDIS_SOCKET;
// Each state: its name, the stores concerned, their address; settings, or the server to stop; commands.
const STATES = [
  ['MariaDB is stopped', ['MariaDB'], MARIADB, 'mariadb', Object.keys(COMMANDS)],
  ['Redis is stopped', ['Redis'], REDIS, 'redis', Object.keys(COMMANDS)],
  ['both are nowhere', ['MariaDB', 'Redis'], NOWHERE, { HB_MYSQL: NOWHERE, HB_REDIS: NOWHERE }, Object.keys(COMMANDS)],
  ['MariaDB is on a port without a server', ['MariaDB'], PORT, { HB_MYSQL: PORT }, OF_EACH_KIND],
  ['Redis is on a port without a server', ['Redis'], PORT, { HB_REDIS: PORT }, OF_EACH_KIND],
  ['MariaDB refuses the password', ['MariaDB'], MARIADB, { HB_MYSQL_PASSWORD: 'wrong' }, OF_EACH_KIND],
  ['Redis refuses the password', ['Redis'], REDIS, { HB_REDIS_PASSWORD: 'wrong' }, OF_EACH_KIND],
];

let somebody;
before(async () => {
  ({ username: somebody } = await newUser());
  await site.hongbao('backup', BACKUP);
});

test('every command of the program is looked at', async () => {
  const { stdout } = await site.hongbao('help');
  const names = [...stdout.matchAll(/^ {2}([a-z][a-z-]*)/gm)].map((match) => match[1]);
  assert.deepEqual([...new Set(names)].sort(), [...Object.keys(COMMANDS), ...OTHERS].sort());
});

// Checks that each command says in plain words that these stores do not answer at this address.
async function assertPlain(commands, stores, address, settings) {
  for (const command of commands.flatMap((name) => COMMANDS[name])) {
    const words = command.join(' ');
    const { code, stdout, stderr } = await tried(command.map((word) => (word === 'SOMEBODY' ? somebody : word)), settings);
    const said = `${stdout}${stderr}`.split('\n').filter((line) => !line.startsWith('ts='));
    for (const line of said) assert.doesNotMatch(line, /ERROR \d|Got error: \d|: *$/, `${words}: ${line}`);
    if (goesOn(words, stores)) continue;
    assert.notEqual(code, 0, words);
    for (const store of stores) {
      const told = said.filter((line) => line.startsWith(`hongbao ${command[0]}: `) && line.includes(store) && line.includes(address));
      assert.ok(told.length > 0, `${words} does not name ${store} and ${address}:\n${said.join('\n')}`);
      for (const line of told) assert.match(line, /: .*\. hongbao doctor says what mends it; when its data is lost: \S+\/lost\.md$|the lines above/, words);
    }
  }
}

for (const [state, stores, address, how, commands] of STATES) {
  test(`${state}: each command says it in plain words`, async () => {
    if (typeof how === 'string') await site.without([how], () => assertPlain(commands, stores, address));
    else await assertPlain(commands, stores, address, how);
  });
}
