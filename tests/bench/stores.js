// An instance of which only some servers run, filled by bench_world; CPU and memory of processes.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../support/deployment.js';
import { cpuBetween, cpuOf, processTree } from './cpu.js';
import { Site } from './site.js';

export const DAY_MS = 24 * 3600 * 1000;
const USER_FIRST = 10_001; // as in bench_world.c
const USERS_MIN = 10_000;

// A Site of which only these servers run; start others by name. It ends with the case.
export async function startStores(bench, names = ['mariadb', 'redis']) {
  const site = bench.keep(new Site({ root: bench.root, build: bench.build, folder: bench.newFolder('stores') }));
  for (const name of names) await site.start(name);
  await site.redis('CONFIG', 'SET', 'auto-aof-rewrite-percentage', '0');
  return site;
}

// Runs work() without waiting for the disk; what it returns.
export async function unsynced(site, work) {
  const sync = (redis, mariadb) => Promise.all([site.redis('CONFIG', 'SET', 'appendfsync', redis), site.sql(`SET GLOBAL innodb_flush_log_at_trx_commit = ${mariadb}`)]);
  await sync('no', 0);
  const result = await work();
  await sync('always', 1);
  return result;
}

// Runs a command of bench_world.c on the stores, with the rights of an administrator and long timeouts.
export async function world(bench, site, command, { first = 0, step = 1, packets, shares = 1, expiresMs = Date.now() + DAY_MS }) {
  const lines = (file) => readFileSync(join(site.var, file), 'utf8').split('\n');
  const settings = join(site.var, 'admin.conf');
  if (!existsSync(settings)) {
    writeFileSync(settings, [...lines('hongbao.conf').filter((line) => !line.startsWith('rights_dir ')),
      ...lines('rights/migrate.conf').filter((line) => line.startsWith('mysql_'))].join('\n'), { mode: 0o600 });
  }
  const { code, stdout, stderr } = await run(bench.program('bench_world'), [command, first, step, packets, shares, expiresMs].map(String),
    { env: { ...process.env, HB_CONFIG: settings, HB_REDIS_TIMEOUT_MS: '60000', HB_MYSQL_TIMEOUT_S: '60' } });
  if (code !== 0) throw new Error(`bench_world ${command}: ${code}\n${stderr}`);
  return JSON.parse(stdout);
}

// The rows to which packets and grabs refer: people with a deposit of all that they sent, balances, monthly totals.
const people = (count) => `SET foreign_key_checks = 0;
  INSERT INTO user (id, username, nickname, created_ms) SELECT seq, CONCAT('u', seq), 'x', 1 FROM seq_${USER_FIRST}_to_${USER_FIRST + count - 1};
  INSERT INTO account (id, kind, balance_fen) SELECT id, 'escrow', amount_fen - grabbed_fen FROM packet;
  INSERT INTO transfer (kind, debit_id, credit_id, amount_fen, packet_id, seq, created_ms)
    SELECT 'send', sender_id, id, amount_fen, id, 0, created_ms FROM packet;
  INSERT INTO transfer (kind, debit_id, credit_id, amount_fen, created_ms, request_key)
    SELECT 'deposit', 1, sender_id, SUM(amount_fen), 1, CONCAT(sender_id, ':bench') FROM packet GROUP BY sender_id;
  UPDATE account SET balance_fen = -(SELECT SUM(amount_fen) FROM packet) WHERE id = 1;
  INSERT INTO user_month (user_id, year, month, sent_count, sent_fen)
    SELECT sender_id, YEAR(FROM_UNIXTIME(created_ms / 1000)) AS y, MONTH(FROM_UNIXTIME(created_ms / 1000)) AS m, COUNT(*), SUM(amount_fen)
    FROM packet GROUP BY sender_id, y, m;
  INSERT INTO user_month (user_id, year, month, received_count, received_fen, best_count)
    SELECT g.user_id, YEAR(FROM_UNIXTIME(grabbed_ms / 1000)) AS y, MONTH(FROM_UNIXTIME(grabbed_ms / 1000)) AS m, COUNT(*), SUM(g.amount_fen),
      SUM(share_no = best_share_no) FROM \`grab\` AS g JOIN packet AS p ON p.id = g.packet_id GROUP BY g.user_id, y, m
    ON DUPLICATE KEY UPDATE received_count = VALUES(received_count), received_fen = VALUES(received_fen), best_count = VALUES(best_count);
  INSERT INTO account (id, kind, balance_fen) SELECT u.id, 'wallet', COALESCE(SUM(received_fen), 0)
    FROM user AS u LEFT JOIN user_month ON user_id = u.id GROUP BY u.id`;

// Fills empty stores with packets, closed ones of which every share is taken, or open ones, which are also in Redis.
export function makeWorld(bench, site, state, packets, shares, expiresMs = Date.now() + DAY_MS) {
  return unsynced(site, async () => {
    await world(bench, site, state, { packets, shares, expiresMs });
    await site.sql(people(Math.max(shares, USERS_MIN)));
    if (state === 'open') await world(bench, site, 'load', { packets, shares, expiresMs });
  });
}

// Wall time of work(), and CPU time of the named servers meanwhile: { seconds, NAME: seconds, … }.
export async function timed(site, names, work) {
  const sample = () => names.map((name) => cpuOf(processTree(site.pid(name))));
  const before = sample();
  const started = performance.now();
  await work();
  const seconds = (performance.now() - started) / 1000;
  const after = sample();
  return { seconds, ...Object.fromEntries(names.map((name, i) => [name, cpuBetween(before[i], after[i]) / 1e9])) };
}

// Runs a program to its end: { code, stdout, seconds, cpu, peak_kib }; the last two are sampled.
export function watched(file, args, environment) {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const child = spawn(file, args, { env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'inherit'] });
    let stdout = '', peak = 0, cpu = 0;
    const timer = setInterval(() => {
      try {
        peak = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? peak);
        cpu = Math.max(cpu, cpuBetween(new Map(), cpuOf([child.pid])) / 1e9);
      } catch {
        // It has ended.
      }
    }, 20);
    child.stdout.on('data', (part) => { stdout += part; });
    child.on('error', reject);
    child.on('close', (code) => {
      clearInterval(timer);
      resolve({ code, stdout, seconds: (performance.now() - started) / 1000, cpu, peak_kib: peak });
    });
  });
}
