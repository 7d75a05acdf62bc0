// CPU time (nanoseconds) and memory of processes, from /proc, and the CPUs on which they run.
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';

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

// A process and all its descendants.
export function processTree(pid, proc = '/proc') {
  const found = [];
  for (const waiting = [pid]; waiting.length > 0;) {
    const one = waiting.pop();
    if (!one) continue;
    found.push(one);
    for (const tid of tasks(one, proc)) {
      waiting.push(...(read(`${proc}/${one}/task/${tid}/children`) ?? '').split(' ').filter(Boolean).map(Number));
    }
  }
  return found;
}

// False: the process is nginx's cache loader, which ends a minute after the start.
export const isLasting = (pid) => !readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('cache loader');

// CPU time of every thread of the processes, in ns: Map of "pid/tid".
export function cpuOf(pids, proc = '/proc') {
  const found = new Map();
  for (const pid of pids) {
    for (const tid of tasks(pid, proc)) {
      const text = read(`${proc}/${pid}/task/${tid}/schedstat`);
      if (text) found.set(`${pid}/${tid}`, Number(text.split(' ')[0]));
    }
  }
  return found;
}

// The CPU time between two samples. Throws when a thread has ended: its time is lost.
export function cpuBetween(before, after) {
  for (const thread of before.keys()) if (!after.has(thread)) throw new Error(`thread ${thread} ended while it was measured`);
  let sum = 0;
  for (const [thread, ns] of after) sum += ns - (before.get(thread) ?? 0);
  return sum;
}

const TICK_NS = 1e7;

// CPU time of a process and its children, in ns, with a resolution of 10 ms. Unlike cpuOf it includes threads that have
// ended: MariaDB's threads end at any time.
export function cpuNs(pid) {
  return processTree(pid).reduce((sum, one) => {
    const fields = readFileSync(`/proc/${one}/stat`, 'utf8').replace(/^.*\) /, '').split(' ');
    return sum + (Number(fields[11]) + Number(fields[12])) * TICK_NS;
  }, 0);
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

const PIN_TRIES = 5; // taskset stops at a thread that ends meanwhile

// From now on these processes run on this CPU only.
export function pin(pids, cpu) {
  for (const pid of pids) {
    for (let i = 0; i < PIN_TRIES && spawnSync('taskset', ['-a', '-c', '-p', String(cpu), String(pid)]).status !== 0; i++);
  }
  mustBePinned(pids, cpu);
}
