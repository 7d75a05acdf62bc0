// The site under test, one instance or a cluster, as the load, the checker and the report use it.
import { execFile } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { PATIENCE } from './poll.js';

const OUTPUT_MAX = 512 << 20;

export const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

// Polls until probe returns a true value, and returns it; null when `seconds`, times PATIENCE, have passed.
export async function poll(seconds, probe) {
  for (const end = Date.now() + seconds * 1000 * PATIENCE; Date.now() < end; await pause(50)) {
    const found = await probe();
    if (found) return found;
  }
  return null;
}

// Runs a program: { code, stdout, stderr }; code is the signal's name when a signal ended it. Never rejects.
export function run(file, args, options = {}) {
  return new Promise((resolve) => {
    execFile(file, args, { maxBuffer: OUTPUT_MAX, ...options }, (error, stdout, stderr) => {
      resolve({ code: error ? error.code ?? error.signal ?? 1 : 0, stdout, stderr });
    });
  });
}

// Rows of text cells, as the administrator of the MariaDB behind the socket. Rejects when it is unreachable.
export async function rowsOf(socket, query, options = [], timeout = 0) {
  const { code, stdout, stderr } = await run('mariadb', ['--no-defaults', `--socket=${socket}`, '--user=root', ...options,
    '--default-character-set=utf8mb4', '--batch', '--raw', '--skip-column-names', '--quick', '--connect-timeout=5', '-e', query, 'hongbao'], { timeout });
  if (code !== 0) throw new Error(`mariadb: ${stderr}`);
  return stdout.split('\n').filter(Boolean).map((line) => line.split('\t'));
}

export function signalPids(pids, what) {
  for (const pid of pids) {
    try {
      process.kill(pid, what);
    } catch (error) {
      if (error.code !== 'ESRCH') throw error;
    }
  }
}

// Ends servers and removes files by end() when a run is interrupted.
export function whenInterrupted(end) {
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => end().then(() => process.exit(130)));
}

// A subclass has dir (its folder), url, servers (their names), logFolders, and
//   up(), down(keep)     starts it; ends it, and removes the folder unless keep
//   isRunning(server)    canExpire, passTime(ms): whether all packets can be made to expire, and how
//   hongbao(...args)     runs a command of the program: { code, stdout, stderr }
//   redis(...commands)   their replies; sql(query): rows of text cells. Both reject when the store is unreachable.
export class Deployment {
  // Creates count users with a session and money: [{ id, name, cookie }].
  async demoUsers(count) {
    const file = join(this.dir, 'users');
    const { code, stderr } = await this.hongbao('demo', '--users', String(count), '--out', file);
    if (code !== 0) throw new Error(`hongbao demo: ${stderr}`);
    return readFileSync(file, 'utf8').trim().split('\n').map((line) => {
      const [id, name, cookie] = line.split('\t');
      return { id, name, cookie };
    });
  }

  // The report of `hongbao audit --json`; null when the audit could not run.
  async audit() {
    const { code, stdout, stderr } = await this.hongbao('audit', '--json');
    if (![0, 1, 2].includes(code)) throw new Error(`hongbao audit ended with ${code}:\n${stderr}`);
    return code === 2 ? null : JSON.parse(stdout);
  }

  // Lines of the logs that match, as { log, line }.
  logLines(pattern) {
    const found = [];
    for (const file of this.logFolders.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))) {
      if (!file.endsWith('.log') || file.endsWith('/access.log')) continue;
      for (const line of readFileSync(file, 'utf8').split('\n')) {
        if (pattern.test(line)) found.push({ log: relative(this.dir, file), line });
      }
    }
    return found;
  }
}
