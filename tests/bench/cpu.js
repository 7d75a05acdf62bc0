// CPU time (nanoseconds) and memory of processes, from /proc, and the CPUs on which they run.
import { readFileSync, readdirSync } from 'node:fs';
import { cpus } from 'node:os';

const read = (path) => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ESRCH') return null;
    throw error;
  }
};

const tasks = (pid, proc) => {
  try {
    return readdirSync(`${proc}/${pid}/task`);
  } catch {
    return [];
  }
};

// In the order of their start.
const childrenOf = (pid, tid, proc) => (read(`${proc}/${pid}/task/${tid}/children`) ?? '').split(' ').filter(Boolean).map(Number);

// A process and all its descendants; none for 0.
export function processTree(pid, proc = '/proc') {
  if (!pid) return [];
  return [pid, ...tasks(pid, proc).flatMap((tid) => childrenOf(pid, tid, proc)).flatMap((child) => processTree(child, proc))];
}

// nginx's first process and its workers, one for each CPU: the first children, as /proc has them in the order of their
// start. Later children may end by themselves: the cache loader, for example, which first has the name of the first
// process.
export function nginxTree(pid, proc = '/proc', workers = cpus().length) {
  return pid ? [pid, ...childrenOf(pid, pid, proc).slice(0, workers)] : [];
}

const TICK_NS = 1e7;
const NOTHING = { ticksNs: 0, threads: new Map() };

// User and system time of a process in ns, including its threads that have ended; each is rounded down to ticks of 10
// ms.
function ticksOf(pid, proc) {
  const fields = (read(`${proc}/${pid}/stat`) ?? '').replace(/^.*\) /, '').split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_NS;
}

// CPU time of processes until now: Map of pid to { command, ticksNs, threads: Map of the living threads to ns }.
export function cpuOf(pids, proc = '/proc') {
  const found = new Map();
  for (const pid of pids) {
    const threads = new Map();
    for (const tid of tasks(pid, proc)) {
      const text = read(`${proc}/${pid}/task/${tid}/schedstat`);
      if (text) threads.set(tid, Number(text.split(' ')[0]));
    }
    const command = (read(`${proc}/${pid}/cmdline`) ?? '').replaceAll('\0', ' ').trim();
    if (threads.size > 0) found.set(pid, { command, ticksNs: ticksOf(pid, proc), threads });
  }
  return found;
}

// The CPU time of a process between two samples. It is exact, by the threads, unless a thread has ended (MariaDB's may
// at any time) or the whole process has used more than its threads and the rounding explain: then it is the ticks.
function usedBetween(before, after) {
  let exact = 0;
  for (const [tid, ns] of after.threads) exact += ns - (before.threads.get(tid) ?? 0);
  const rounded = after.ticksNs - before.ticksNs;
  const ended = [...before.threads.keys()].some((tid) => !after.threads.has(tid)) || rounded - exact > 2 * TICK_NS;
  return ended ? Math.max(rounded, exact) : exact;
}

// The CPU time between two samples, in ns. Throws when a process has ended: its time is lost.
export function cpuBetween(before, after) {
  for (const [pid, { command }] of before) if (!after.has(pid)) throw new Error(`process ${pid} (${command}) ended while it was measured`);
  return [...after].reduce((sum, [pid, now]) => sum + usedBetween(before.get(pid) ?? NOTHING, now), 0);
}

// Memory of the processes in MiB (Pss): shared pages count once.
export function memoryOf(pids, proc = '/proc') {
  let kib = 0;
  for (const pid of pids) kib += Number(/^Pss:\s+(\d+) kB/m.exec(read(`${proc}/${pid}/smaps_rollup`) ?? '')?.[1] ?? 0);
  return kib / 1024;
}

// The CPUs on which a process may run: '0-1,4' is [0, 1, 4].
export function cpusOf(pid, proc = '/proc') {
  const list = /^Cpus_allowed_list:\s+(\S+)$/m.exec(read(`${proc}/${pid}/status`) ?? '')?.[1] ?? '';
  return list.split(',').filter(Boolean).flatMap((part) => {
    const [first, last = first] = part.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}

// Throws unless every thread of these processes runs on this CPU only. Threads that have ended meanwhile are ignored.
export function mustBePinned(pids, cpu) {
  for (const pid of pids) {
    for (const tid of tasks(pid, '/proc')) {
      const cpus = cpusOf(tid, `/proc/${pid}/task`).join();
      if (cpus !== '' && cpus !== String(cpu)) throw new Error(`thread ${tid} of process ${pid} is on CPU ${cpus}, not on ${cpu} alone`);
    }
  }
}
