// MariaDB and Redis of an instance without the program's own processes, filled by bench_world; CPU and memory of processes.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { measure } from './program.js';
import { Site } from './site.js';

let made = 0;

// A Site of which only the stores run: start what else is wanted by name. It ends with the case.
export async function startStores(bench, settings = {}) {
  const site = bench.keep(new Site({ root: bench.root, build: bench.build, folder: join(bench.folder, `stores-${++made}`), settings }));
  await site.dev('start', 'mariadb');
  await site.dev('start', 'redis');
  const lines = (file) => readFileSync(join(site.var, file), 'utf8').split('\n');
  const own = [...lines('hongbao.conf').filter((line) => !line.startsWith('rights_dir ')),
    ...lines('rights/migrate.conf').filter((line) => line.startsWith('mysql_'))];
  writeFileSync(join(site.var, 'admin.conf'), own.join('\n'), { mode: 0o600 });
  return site;
}

// The environment of a program that does what an administrator may, and as slowly as it needs.
const administrator = (site) => ({ HB_CONFIG: join(site.var, 'admin.conf'), HB_REDIS_TIMEOUT_MS: '60000', HB_MYSQL_TIMEOUT_S: '60' });

// bench_world and bench_live on these stores. Loading does not wait for the disk at every step.
export async function makeWorld(bench, site, ...args) {
  await site.redis('CONFIG', 'SET', 'appendfsync', 'no');
  await site.sql('SET GLOBAL innodb_flush_log_at_trx_commit = 0');
  const world = await runOn(bench, site, 'bench_world', ...args);
  await site.sql('SET GLOBAL innodb_flush_log_at_trx_commit = 1');
  await site.redis('CONFIG', 'SET', 'appendfsync', 'always');
  return world;
}

export const runOn = (bench, site, program, ...args) => measure(bench.program(program), args, administrator(site));

// CPU of a process and its children, in ns: every thread's time on a processor.
export function cpuNs(pid) {
  const ids = [pid, ...readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean)];
  let sum = 0;
  for (const id of ids) {
    for (const task of readdirSync(`/proc/${id}/task`)) {
      try {
        sum += Number(readFileSync(`/proc/${id}/task/${task}/schedstat`, 'utf8').split(' ')[0]);
      } catch {
        // The thread has ended in between.
      }
    }
  }
  return sum;
}

// Wall time, and CPU of the named servers, of what work does: { seconds, NAME: seconds, … }.
export async function timed(site, names, work) {
  const before = names.map((name) => cpuNs(site.pid(name)));
  const started = performance.now();
  await work();
  const seconds = (performance.now() - started) / 1000;
  return { seconds, ...Object.fromEntries(names.map((name, i) => [name, (cpuNs(site.pid(name)) - before[i]) / 1e9])) };
}

// Runs a program to its end: { code, stdout, seconds, cpu, peak_kib }; the last two by looking at it now and then.
export function watched(file, args, environment) {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const child = spawn(file, args, { env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'inherit'] });
    let stdout = '', peak = 0, cpu = 0;
    const look = () => {
      try {
        peak = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? peak);
        cpu = cpuNs(child.pid) / 1e9;
      } catch {
        // It has ended.
      }
    };
    const timer = setInterval(look, 20);
    child.stdout.on('data', (part) => { stdout += part; });
    child.on('error', reject);
    child.on('close', (code) => {
      clearInterval(timer);
      resolve({ code, stdout, seconds: (performance.now() - started) / 1000, cpu, peak_kib: peak });
    });
  });
}
