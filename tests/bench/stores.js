// MariaDB and Redis of an instance without the program's own processes, filled by bench_world; CPU and memory of processes.
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cpuNs } from './cpu.js';
import { measure } from './program.js';
import { Site } from './site.js';

let made = 0;

// A Site of which only the stores run; start other servers by name. It ends with the case.
export async function startStores(bench, settings = {}) {
  const site = bench.keep(new Site({ root: bench.root, build: bench.build, folder: join(bench.folder, `stores-${++made}`), settings }));
  await site.dev('start', 'mariadb');
  await site.dev('start', 'redis');
  await site.redis('CONFIG', 'SET', 'auto-aof-rewrite-percentage', '0');
  administer(site);
  return site;
}

// Writes admin.conf, the settings of a program with the rights of an administrator: runOn needs it.
export function administer(site) {
  const lines = (file) => readFileSync(join(site.var, file), 'utf8').split('\n');
  const own = [...lines('hongbao.conf').filter((line) => !line.startsWith('rights_dir ')),
    ...lines('rights/migrate.conf').filter((line) => line.startsWith('mysql_'))];
  writeFileSync(join(site.var, 'admin.conf'), own.join('\n'), { mode: 0o600 });
}

// The environment of a program with the rights of an administrator and long timeouts.
const administrator = (site) => ({ HB_CONFIG: join(site.var, 'admin.conf'), HB_REDIS_TIMEOUT_MS: '60000', HB_MYSQL_TIMEOUT_S: '60' });

// Runs bench_world and bench_live on these stores, without waiting for the disk at every step.
export async function makeWorld(bench, site, ...args) {
  await site.redis('CONFIG', 'SET', 'appendfsync', 'no');
  await site.sql('SET GLOBAL innodb_flush_log_at_trx_commit = 0');
  const world = await runOn(bench, site, 'bench_world', ...args);
  await site.sql('SET GLOBAL innodb_flush_log_at_trx_commit = 1');
  await site.redis('CONFIG', 'SET', 'appendfsync', 'always');
  return world;
}

export const runOn = (bench, site, program, ...args) => measure(bench.program(program), args, administrator(site));


// Wall time of work(), and CPU time of the named servers meanwhile: { seconds, NAME: seconds, … }.
export async function timed(site, names, work) {
  const before = names.map((name) => cpuNs(site.pid(name)));
  const started = performance.now();
  await work();
  const seconds = (performance.now() - started) / 1000;
  return { seconds, ...Object.fromEntries(names.map((name, i) => [name, (cpuNs(site.pid(name)) - before[i]) / 1e9])) };
}

// Runs a program to its end: { code, stdout, seconds, cpu, peak_kib }; the last two are sampled.
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
