// The README's two commands on a bare Debian: they install, build, serve and test. HB_TEST_RELEASE says which release, as
// in `./dev test release/13`. Needs root, for debootstrap and systemd-nspawn, and the mirrors that this machine uses.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, createWriteStream, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { poll } from '../e2e/support/poll.js';
import { freePort } from '../e2e/support/port.js';
import { Machine, RELEASES, sourcesCopy } from '../package/machine.js';

if (process.getuid() !== 0) throw new Error('run this test as root: debootstrap and systemd-nspawn need it');

const RELEASE = Number(process.env.HB_TEST_RELEASE);
assert.ok(RELEASE in RELEASES, `HB_TEST_RELEASE is one of ${Object.keys(RELEASES)}`);
// What is there of the stores before ./dev comes: nothing, or Valkey.
const STORE = process.env.HB_TEST_STORE ?? 'redis';
const FOUND = STORE === 'valkey' ? ['valkey-server'] : [];

const SOURCES = '/srv/hongbao'; // where the user of the servers can read them
const CERTIFICATES = 'usr/local/share/ca-certificates'; // an administrator's own, which mirrors may need
const QUICK = ['unit', 'integration', 'tidy'];
const INSTALL_SECONDS_MAX = 1800; // a minute as a rule, and another one to build
const LINES_SHOWN = 150;

const machine = new Machine(`release-${STORE}`, RELEASE, { network: [] });
const log = `${machine.folder}.commands.log`;
const inSources = (path) => machine.read(join(SOURCES, path));

before(async () => {
  await machine.bootWith(['debian', RELEASE, 'bare', ...FOUND].join('-'), ['ca-certificates', ...FOUND]);
  if (existsSync(join('/', CERTIFICATES))) cpSync(join('/', CERTIFICATES), join(machine.folder, CERTIFICATES), { recursive: true });
  await machine.run('update-ca-certificates');
  mkdirSync(join(machine.folder, SOURCES));
  sourcesCopy(join(machine.folder, SOURCES));
});

after(() => machine.end());

// Starts ./dev in the machine. Its output goes to the log.
function dev(...args) {
  const registry = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim();
  const environment = ['CI=true', 'NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt', `npm_config_registry=${registry}`];
  const [file, ...command] = machine.enter('env', '-C', SOURCES, ...environment, './dev', ...args);
  const child = spawn(file, command, { stdio: ['ignore', 'pipe', 'pipe'] });
  const out = createWriteStream(log, { flags: 'a' });
  out.write(`---- ./dev ${args.join(' ')}\n`);
  const running = { text: '' };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      running.text += text;
      out.write(text);
    });
  }
  running.ended = new Promise((done) => { child.on('close', (code) => { running.code = code; done(code); }); });
  return running;
}

async function succeeds(running) {
  const code = await running.ended;
  assert.equal(code, 0, `${running.text.split('\n').slice(-LINES_SHOWN).join('\n')}\n(${log} has all)`);
  return running.text;
}

test('the first command installs, builds only the program, and serves', async () => {
  const port = await freePort();
  const site = dev('--port', String(port), 'run');
  const url = `http://127.0.0.1:${port}`;
  await poll('the URL is printed', () => site.code !== undefined || site.text.includes(url), INSTALL_SECONDS_MAX);
  assert.equal(site.code, undefined, `${site.text}\n(${log} has all)`);
  assert.equal((await fetch(`${url}/readyz`)).status, 200);
  assert.match(inSources('var/log/redis.log'), new RegExp(` ${STORE} is starting`, 'i'));
  await succeeds(dev('down'));
  await succeeds(site);
  assert.doesNotMatch(inSources('build/release.log'), /warning:/i);
  assert.doesNotMatch(inSources('var/log/nginx.log'), /\[(?:warn|error|crit|alert|emerg)\]/);
  assert.ok(!existsSync(join(machine.folder, SOURCES, 'build/release/tests')), 'tests were configured');
});

test(`the second command passes: ${QUICK.join(', ')}`, async (t) => {
  const text = await succeeds(dev('test', ...QUICK));
  assert.match(text, /^100% tests passed, 0 tests failed out of \d{2,}$/m);
  assert.doesNotMatch(text, /^dev: red:/m);
  for (const line of text.match(/^dev: unsteady: .*/gm) ?? []) t.diagnostic(line);
});
