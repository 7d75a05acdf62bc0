// Backups of the site under test, in a folder that is removed with the test file's process.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { env, tried } from './instance.js';
import { run, temporaryFolder } from './run.js';

export const FOLDER = temporaryFolder('backup');

export const folder = (name) => join(FOLDER, name);

// Runs the program with other settings; expects it to fail, and returns its output.
export const refusal = async (args, settings) => {
  const { code, stderr } = await tried(args, settings);
  assert.equal(code, 1, `${args.join(' ')}: ${stderr}`);
  return stderr;
};

// Changes a backup: runs shell commands on its tables.sql, and makes its sums anew.
export const spoil = (backup, commands) => run('bash', ['-euo', 'pipefail', '-c', `cd "$0"; gzip -dc tables.sql.gz >tables.sql
  ${commands}
  gzip -f tables.sql; sha256sum manifest redis.rdb tables.sql.gz >SHA256SUMS`, backup]);

// Starts the command with its private folder in a folder of its own: { child, work, ended }.
export function start(name, args) {
  const temporary = folder(`${name}-tmp`);
  mkdirSync(temporary, { recursive: true });
  const child = spawn(env.HB_TEST_BINARY, args, { env: { ...process.env, HB_CONFIG: env.HB_TEST_CONFIG, TMPDIR: temporary }, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stderr.on('data', (text) => { child.said = (child.said ?? '') + text; });
  child.stdout.resume();
  const work = () => readdirSync(temporary).map((one) => join(temporary, one));
  return { child, temporary, work, ended: once(child, 'close') }; // with all that it says
}

// Runs work while the tables can't be read, so that no backup can proceed.
export async function withLockedTable(work) {
  const client = ['--no-defaults', `--socket=${env.HB_TEST_MYSQL_SOCKET}`, '--user=root', '-N', '--unbuffered', 'hongbao'];
  const lock = spawn('mariadb', client, { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    lock.stdin.write("LOCK TABLES username_retired WRITE; SELECT 'locked';\n");
    await once(lock.stdout, 'data');
    await work();
  } finally {
    lock.kill();
  }
}

// The processes, other than zombies, that have the text among their arguments or in their environment.
export function processesWith(text) {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && Number(pid) !== process.pid && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8')) &&
        ['cmdline', 'environ'].some((file) => readFileSync(`/proc/${pid}/${file}`, 'utf8').includes(text));
    } catch {
      return false; // it has ended
    }
  });
}
