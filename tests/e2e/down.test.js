// What every command says while a store does not answer, or lets nobody in: a plain sentence with the store, its address,
// why, and what to do; never only what a client of the store has printed.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { env } from './support/instance.js';
import { newUser, site } from './support/site.js';

const FOLDER = mkdtempSync(join(tmpdir(), 'hongbao-down-'));
const BACKUP = join(FOLDER, 'backup');

// The commands that need a store.
const COMMANDS = {
  audit: [['audit']],
  replay: [['replay'], ['replay', '5']],
  migrate: [['migrate'], ['migrate', '--check']],
  user: [['user', 'find', 'SOMEBODY'], ['user', 'show', 'SOMEBODY']],
  demo: [['demo', '--users', '1', '--out', join(FOLDER, 'users')]],
  backup: [['backup', join(FOLDER, 'another')], ['backup', '--verify', join(FOLDER, 'another')]],
  restore: [['restore', BACKUP], ['restore', '--replace', BACKUP], ['restore', '--without-redis', BACKUP]],
  settle: [['settle', '--check']],
  serve: ['hot', 'page', 'auth', 'card'].map((pool) => ['serve', '--pool', pool, '--check']),
};
// They need no store, or have a test of their own: e2e/check, e2e/doctor and package/setup.
const OTHERS = ['setup', 'check', 'doctor', 'trace', 'setting', 'settings', 'keys', 'picture', 'verify', 'verify-receipt', 'crash-points', 'version', 'help'];
// A process waits for its stores. Without Redis, commands that read only tables do what they can.
const goesOn = (words, stores) => /^(serve|settle) /.test(words)
  || (!stores.includes('MariaDB') && /^(migrate|replay|user find)\b/.test(words));

const NOWHERE = 'unix:/nonexistent/store.sock';
const STATES = {
  'MariaDB is nowhere': { settings: { HB_MYSQL: NOWHERE }, stores: ['MariaDB'], address: NOWHERE },
  'Redis is nowhere': { settings: { HB_REDIS: NOWHERE }, stores: ['Redis'], address: NOWHERE },
  'both are nowhere': { settings: { HB_MYSQL: NOWHERE, HB_REDIS: NOWHERE }, stores: ['MariaDB', 'Redis'], address: NOWHERE },
  'MariaDB is on a port without a server': { settings: { HB_MYSQL: '127.0.0.1:1' }, stores: ['MariaDB'], address: '127.0.0.1:1' },
  'Redis is on a port without a server': { settings: { HB_REDIS: '127.0.0.1:1' }, stores: ['Redis'], address: '127.0.0.1:1' },
  'MariaDB refuses the password': { settings: { HB_MYSQL_PASSWORD: 'wrong' }, stores: ['MariaDB'], address: env.HB_TEST_MYSQL_SOCKET },
  'Redis refuses the password': { settings: { HB_REDIS_PASSWORD: 'wrong' }, stores: ['Redis'], address: env.HB_TEST_REDIS_SOCKET },
  'MariaDB is stopped': { server: 'mariadb', stores: ['MariaDB'], address: env.HB_TEST_MYSQL_SOCKET },
  'Redis is stopped': { server: 'redis', stores: ['Redis'], address: env.HB_TEST_REDIS_SOCKET },
};

const run = (command, settings) => promisify(execFile)(env.HB_TEST_BINARY, command,
  { env: { ...process.env, HB_CONFIG: env.HB_TEST_CONFIG, ...settings } }).then((said) => ({ code: 0, ...said }), (error) => error);

let somebody;
before(async () => {
  ({ username: somebody } = await newUser());
  await site.hongbao('backup', BACKUP);
});
after(() => rmSync(FOLDER, { recursive: true }));

test('every command of the program is looked at', async () => {
  const { stdout } = await site.hongbao('help');
  const names = [...stdout.matchAll(/^ {2}([a-z][a-z-]*)/gm)].map((match) => match[1]);
  assert.deepEqual([...new Set(names)].sort(), [...Object.keys(COMMANDS), ...OTHERS].sort());
});

for (const [state, { settings, server, stores, address }] of Object.entries(STATES)) {
  test(`${state}: each command says it in plain words`, async () => {
    if (server) await site.dev('stop', server);
    try {
      for (const command of Object.values(COMMANDS).flat()) {
        const words = command.join(' ');
        const { code, stdout, stderr } = await run(command.map((word) => (word === 'SOMEBODY' ? somebody : word)), settings);
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
    } finally {
      if (server) await site.start(server, {});
    }
  });
}
