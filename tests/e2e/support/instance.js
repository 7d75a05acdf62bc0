// The site under test: HB_TEST_ENV names a file of NAME=value lines that tests/support/servers wrote.
import { closeSync, openSync, readFileSync, readdirSync, writeSync } from 'node:fs';
import { PATIENCE, poll, pollWithin } from '../../support/poll.js';
import { run } from './run.js';

export { PATIENCE, poll, pollWithin };

function readEnv(file) {
  if (!file) throw new Error('HB_TEST_ENV is not set: run the tests by ./dev test e2e, or by ctest');
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
}

export const env = readEnv(process.env.HB_TEST_ENV);
export const url = env.HB_TEST_URL;

// On servers of the kind `clock` (tests/support/servers): the variables that give a program the servers' clock.
const clock = Object.fromEntries(['LD_PRELOAD', 'HB_TEST_CLOCK_FILE', 'ASAN_OPTIONS'].filter((name) => env[name]).map((name) => [name, env[name]]));

const clockShiftMs = () => (clock.HB_TEST_CLOCK_FILE ? Number(readFileSync(clock.HB_TEST_CLOCK_FILE).readBigInt64LE()) : 0);

// The time of the servers.
export const now = () => Date.now() + clockShiftMs();

// Moves the clock of all servers and programs of this instance, of the kind `clock`, forward at once. It stays there
// for later tests, which must use now() to compare with the site's time.
export function passTime(ms) {
  const shift = Buffer.alloc(8);
  shift.writeBigInt64LE(BigInt(clockShiftMs() + ms));
  const file = openSync(clock.HB_TEST_CLOCK_FILE, 'r+'); // the same file: they have it in memory
  writeSync(file, shift);
  closeSync(file);
}

// ./dev COMMAND on this instance, with its program. extra: environment, e.g. { HB_PACKET_GRACE_MS: '500' }.
export function dev(args, extra = {}) {
  return run(env.HB_TEST_DEV, ['--var', env.HB_TEST_VAR, ...args], {
    env: { ...process.env, HB_BINARY: env.HB_TEST_BINARY, ...clock, ...extra }, maxBuffer: 64 << 20,
  });
}

// Why root's ./dev could not leave root, from its output; undefined: it could.
export const staysRoot = (stderr) => /the servers run as root: .*/.exec(stderr)?.[0];

// The program with the configuration of this instance; rejects (with code, stdout and stderr) when it fails.
export function hongbao(...args) {
  return run(env.HB_TEST_BINARY, args, { env: { ...process.env, ...clock, HB_CONFIG: env.HB_TEST_CONFIG }, maxBuffer: 64 << 20 });
}

// Runs the program with these settings (environment) in addition to the instance's: { code, stdout, stderr }, also when
// it fails.
export const tried = (args, settings = {}) => run(env.HB_TEST_BINARY, args,
  { env: { ...process.env, ...clock, HB_CONFIG: env.HB_TEST_CONFIG, ...settings }, maxBuffer: 64 << 20 })
  .then((done) => ({ code: 0, ...done }), (error) => error);

// The processes of a server without its supervisor (for a server that has none: itself).
export function processes(name) {
  const first = readFileSync(`${env.HB_TEST_VAR}/run/${name}.pid`, 'utf8').trim();
  const children = readFileSync(`/proc/${first}/task/${first}/children`, 'utf8').trim().split(' ').filter(Boolean);
  return (children.length ? children : [first]).map(Number);
}

// Sends SIGSTOP and waits until every thread has stopped: on a busy machine other threads still answer for a moment
// after the signal.
export async function stopProcess(pid) {
  process.kill(pid, 'SIGSTOP');
  const threads = () => readdirSync(`/proc/${pid}/task`);
  const stopped = (tid) => / T /.test(readFileSync(`/proc/${pid}/task/${tid}/stat`, 'utf8').replace(/.*\)/s, ''));
  await poll(`process ${pid} stops`, () => stopped(pid) && threads().every(stopped));
}
