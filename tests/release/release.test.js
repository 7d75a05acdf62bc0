// The README's two commands on a bare Debian: they install, build, serve and test. HB_TEST_RELEASE says which release, as
// in `./dev test release/13`. Needs root, for debootstrap and systemd-nspawn, and the mirrors that this machine uses.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { poll } from '../support/poll.js';
import { freePort } from '../support/port.js';
import { RELEASES, toldBy } from '../package/machine.js';
import { Bare } from './bare.js';

const RELEASE = Number(process.env.HB_TEST_RELEASE);
assert.ok(RELEASE in RELEASES, `HB_TEST_RELEASE is one of ${Object.keys(RELEASES)}`);
// The store that is installed before ./dev runs: none, or Valkey.
const STORE = process.env.HB_TEST_STORE ?? 'redis';
const FOUND = STORE === 'valkey' ? ['valkey-server'] : [];

const QUICK = ['unit', 'integration', 'tidy'];
const INSTALL_SECONDS_MAX = 1800; // usually a minute, and another minute to build

const machine = new Bare(`release-${STORE}`, RELEASE);
const { before, test } = toldBy(machine);
const dev = (...args) => machine.starts('./dev', ...args);
const source = (path) => readFileSync(machine.source(path), 'utf8');

before(() => machine.bootBare(FOUND));

test('the first command installs, builds only the program, and serves', async () => {
  const port = await freePort();
  const site = dev('--port', String(port), 'run');
  const url = `http://127.0.0.1:${port}`;
  await poll('the URL is printed', () => site.code !== undefined || site.text.includes(url), INSTALL_SECONDS_MAX);
  assert.equal(site.code, undefined, site.text);
  assert.equal((await fetch(`${url}/readyz`)).status, 200);
  assert.match(source('var/log/redis.log'), new RegExp(` ${STORE} is starting`, 'i'));
  await machine.succeeds(dev('down'));
  await machine.succeeds(site);
  assert.doesNotMatch(source('build/release.log'), /warning:/i);
  assert.doesNotMatch(source('var/log/nginx.log'), /\[(?:warn|error|crit|alert|emerg)\]/);
  assert.ok(!existsSync(machine.source('build/release/tests')), 'tests were configured');
});

test(`the second command passes: ${QUICK.join(', ')}`, async (t) => {
  const text = await machine.succeeds(dev('test', ...QUICK));
  assert.match(text, /^100% tests passed, 0 tests failed out of \d{2,}$/m);
  assert.doesNotMatch(text, /^dev: red:/m);
  for (const line of text.match(/^dev: unsteady: .*/gm) ?? []) t.diagnostic(line);
});
