// A load by wrk, and its cost by group of processes.
import { fileURLToPath } from 'node:url';
import { run } from '../support/deployment.js';
import { cpuBetween, cpuOf, memoryOf } from './cpu.js';

export const CONNECTIONS = 64;
const TIMEOUT_S = 10;
const SCRIPT = fileURLToPath(new URL('wrk/wrk.lua', import.meta.url));

// Runs wrk with wrk/wrk.lua: { requests, seconds, errors: { connect, read, write, status, timeout }, p50, p99, p999, max }, the
// last four in milliseconds. close: a connection for each request. delayMs: the pause of a connection between two requests.
// cpu: wrk runs on this CPU only. answers: a file into which the bodies of the answers are written; '' for none.
export async function wrk({ url, kind, cookies, paths, seconds, connections = CONNECTIONS, threads = 1, accept = 'application/json',
  close = false, delayMs = 0, cpu = null, answers = '' }) {
  const command = cpu === null ? ['wrk'] : ['taskset', '-c', String(cpu), 'wrk'];
  const { code, stdout, stderr } = await run(command[0], [...command.slice(1), '-t', String(threads), '-c', String(connections), '-d', `${seconds}s`,
    '--timeout', `${TIMEOUT_S}s`, '-s', SCRIPT, url, '--', kind, String(threads), cookies, paths, accept,
    close ? 'close' : 'keep-alive', String(delayMs), String(connections), answers]);
  const result = parseWrk(stdout);
  if (code !== 0 || !result) throw new Error(`wrk: ${code}\n${stdout}${stderr}`);
  return result;
}

// Parses what wrk/wrk.lua prints at its end; null: no such line.
export function parseWrk(stdout) {
  const text = /^RESULT (\{.*\})$/m.exec(stdout)?.[1];
  if (!text) return null;
  const { requests, us, p50, p99, p999, max, connect, read, write, status, timeout } = JSON.parse(text);
  return { requests, seconds: us / 1e6, errors: { connect, read, write, status, timeout },
    p50: p50 / 1000, p99: p99 / 1000, p999: p999 / 1000, max: max / 1000 };
}

// The row of a load. cpuNs: the CPU time of each group, for `served` requests.
export function rowOf(result, cpuNs, served) {
  const us = Object.entries(cpuNs).map(([name, ns]) => [`${name} µs`, ns / 1000 / served]);
  return { '/s': result.requests / result.seconds, 'p50 ms': result.p50, 'p99 ms': result.p99, 'p99.9 ms': result.p999,
    ...Object.fromEntries(us), 'server µs': us.reduce((sum, [, value]) => sum + value, 0) };
}

// Runs load() and measures the CPU time of the processes. groups: { nginx: [pid…], app: [pid…], redis: [pid…] }.
// served(result): waits until the servers are idle and returns the number of requests that they have worked on, including
// those on their way at the end.
export async function measured(groups, load, served = ({ requests }) => requests) {
  const sample = () => Object.fromEntries(Object.entries(groups).map(([name, pids]) => [name, cpuOf(pids)]));
  const before = sample();
  const result = await load();
  const count = await served(result);
  const after = sample();
  const cpuNs = Object.fromEntries(Object.keys(groups).map((name) => [name, cpuBetween(before[name], after[name])]));
  return { result, row: { ...rowOf(result, cpuNs, count), 'app MiB': memoryOf(groups.app) } };
}

// Throws unless every request was answered as expected. status: the expected number of error statuses.
export function mustBeClean(name, { errors }, { status = 0 } = {}) {
  const bad = Object.entries(errors).filter(([kind, count]) => count !== (kind === 'status' ? status : 0));
  if (bad.length > 0) throw new Error(`${name}: ${bad.map(([kind, count]) => `${count} × ${kind}`).join(', ')}`);
}
