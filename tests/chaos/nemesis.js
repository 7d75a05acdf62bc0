// The faults: their list, the plan that a seed gives, and how each is injected and repaired.
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { pause, poll } from '../support/deployment.js';
import { POOLS, SECOND, SERVERS } from './instance.js';
import { Rng } from '../support/rng.js';

const FIRST_AT_MS = 1000;
const GAP_MS = [300, 1800];          // between the beginnings of two faults; they may overlap on different servers
const REST_MS = 1000;
const LONG_RUN_S = 300;              // a run of this length also has stalls longer than every timeout
const LONG_STALL_MS = { redis: 10_000, mariadb: 30_000 };
// Forward by less than ten minutes: the audit reports rows of a clock that is further ahead.
const SHIFTS_MS = [-3_600_000, -61_000, -1500, 1500, 61_000, 540_000];
const DISK_CHUNK = 1 << 20;

const WORKERS = [...POOLS, SECOND]; // a supervisor restarts their processes

// A fault occupies its target from its beginning until it is repaired. for_ms: the range of its duration.
// draw(rng): further parameters. rest_ms: how long the target is left alone afterwards. onlyNamed: only a run that names
// it has it. act(instance, fault): injects it, waits, and repairs it.
export const FAULTS = {
  // kill -9 for the workers of a pool, which the supervisor restarts, or for a store, which is started after for_ms.
  kill: {
    targets: [...SERVERS, SECOND], for_ms: [0, 2500], draw: (rng) => ({ times: rng.oneIn(3) ? rng.int(5, 20) : 1 }),
    async act(instance, { target, for_ms, times }) {
      if (!WORKERS.includes(target)) return killAll(instance, target, for_ms);
      for (let i = 0; i < times; i++) {
        instance.signalWorkers(target, 'SIGKILL');
        await pause(250);
      }
    },
  },
  // kill -9 for a pool with its supervisor.
  'kill-pool': { targets: POOLS, for_ms: [0, 2000], act: (instance, { target, for_ms }) => killAll(instance, target, for_ms) },
  restart: {
    targets: SERVERS, for_ms: [0, 500],
    async act(instance, { target, for_ms }) {
      await instance.dev('stop', target);
      await pause(for_ms);
      await instance.ensure(target);
    },
  },
  // SIGSTOP, and SIGCONT later.
  stop: {
    targets: [...SERVERS, SECOND], for_ms: [200, 5000],
    async act(instance, { target, for_ms }) {
      const what = WORKERS.includes(target) ? 'signalWorkers' : 'signalAll';
      instance[what](target, 'SIGSTOP');
      await pause(for_ms);
      instance.signalAll(target, 'SIGCONT');
    },
  },
  stall: {
    targets: ['redis', 'mariadb'], for_ms: [200, 6000],
    async act(instance, { target, for_ms }) {
      instance.wires[target].stall();
      await pause(for_ms);
      instance.wires[target].heal();
    },
  },
  // Every n-th reply is lost after at most `keep` bytes; the request itself is carried out.
  cut: {
    targets: ['redis', 'mariadb'], for_ms: [500, 4000],
    draw: (rng) => ({ every: rng.int(2, 40), keep: rng.oneIn(2) ? 0 : rng.int(1, 30) }),
    async act(instance, { target, for_ms, every, keep }) {
      instance.wires[target].cutReplies(every, keep);
      await pause(for_ms);
      instance.wires[target].heal();
    },
  },
  // Redis's file system is full: Redis exits, because it can't write its log.
  disk: {
    targets: ['redis'], for_ms: [300, 3000], needs: 'canFillDisk',
    async act(instance, { for_ms }) {
      await fillDisk(instance.ballast());
      await pause(for_ms);
      rmSync(instance.ballast(), { force: true });
      await redisBack(instance);
    },
  },
  memory: {
    targets: ['redis'], for_ms: [300, 3000],
    async act(instance, { for_ms }) {
      await instance.redis(['CONFIG', 'SET', 'maxmemory', '100kb']);
      await pause(for_ms);
      await poll(30, () => instance.redis(['CONFIG', 'SET', 'maxmemory', '2gb']).then(() => true, () => false));
    },
  },
  functions: {
    targets: ['redis'], for_ms: [500, 2000],
    async act(instance, { for_ms }) {
      for (let left = for_ms; left > 0; left -= 100) {
        await instance.redis(['FUNCTION', 'FLUSH', left % 200 < 100 ? 'SYNC' : 'ASYNC']);
        await pause(100);
      }
    },
  },
  // Redis is killed while it rewrites the append-only file.
  rewrite: {
    targets: ['redis'], for_ms: [0, 150],
    async act(instance, { target, for_ms }) {
      await instance.redis(['BGREWRITEAOF']);
      await pause(for_ms);
      await killAll(instance, target, 0);
    },
  },
  clock: {
    targets: ['redis', ...WORKERS], for_ms: [1500, 6000], needs: 'canMoveClocks', occupies: (target) => `clock of ${target}`,
    draw: (rng) => ({ shift_ms: rng.pick(SHIFTS_MS) }),
    async act(instance, { target, for_ms, shift_ms }) {
      instance.moveClock(target, shift_ms);
      await pause(for_ms);
      instance.moveClock(target, 0);
    },
  },
};

// Waits until the killed process has disappeared: until then it counts as running and is not started again.
async function killAll(instance, target, for_ms) {
  instance.signalAll(target, 'SIGKILL');
  await pause(for_ms);
  await poll(60, () => !instance.isRunning(target));
  await instance.ensure(target);
}

async function fillDisk(path) {
  const fd = openSync(path, 'w');
  const chunk = Buffer.alloc(DISK_CHUNK);
  try {
    for (let i = 0; ; i++) {
      if (writeSync(fd, chunk) < chunk.length) break;
      if (i % 32 === 31) await pause(0); // the load goes on
    }
  } catch (error) {
    if (error.code !== 'ENOSPC') throw error;
  } finally {
    closeSync(fd);
  }
}

// Waits until Redis answers, and starts it when it has ended.
function redisBack(instance) {
  return poll(60, async () => {
    if (!instance.isRunning('redis')) await instance.ensure('redis');
    return instance.redis(['PING']).then(([pong]) => pong === 'PONG', () => false);
  });
}

const shuffled = (rng, list) => {
  const out = [...list];
  for (let i = out.length - 1; i > 0; i--) {
    const j = rng.int(0, i);
    [out[i], out[j]] = [out[j], out[i]];
  }
  return out;
};

// Whether `only` selects the fault: a list of "fault", "fault:target" or ":target"; empty: all.
const isSelected = ({ fault, target }, only) => only.length === 0 || only.some((text) => {
  const [wantedFault, wantedTarget] = text.split(':');
  return (!wantedFault || wantedFault === fault) && (!wantedTarget || wantedTarget === target);
});

// The faults of a run: [{ at_ms, fault, target, for_ms, … }]. They depend on the arguments only. Every fault of every
// target comes once before any is repeated. table: FAULTS, or the table of a cluster.
export function plan(table, seed, seconds, only = []) {
  const rng = new Rng(seed, 'nemesis');
  const all = Object.entries(table).flatMap(([fault, { targets }]) => targets.map((target) => ({ fault, target })))
    .filter((pair) => isSelected(pair, only) && (only.length > 0 || !table[pair.fault].onlyNamed));
  if (all.length === 0) {
    const targets = new Set(Object.values(table).flatMap((fault) => fault.targets));
    throw new Error(`no fault ${only.join(', ')}; there are ${Object.keys(table).join(' ')} of ${[...targets].join(' ')}`);
  }
  const faults = [];
  const busyUntil = new Map();
  let bag = [];
  for (let at = FIRST_AT_MS; at < seconds * 1000; at += rng.int(...GAP_MS)) {
    if (bag.length === 0) bag = shuffled(rng, all);
    const free = bag.findIndex(({ fault, target }) => (busyUntil.get(place(table, { fault, target })) ?? 0) <= at);
    if (free < 0) continue;
    const [{ fault, target }] = bag.splice(free, 1);
    const what = table[fault];
    let for_ms = rng.int(...what.for_ms);
    if (fault === 'stall' && rng.oneIn(3) && seconds >= LONG_RUN_S) for_ms = LONG_STALL_MS[target];
    if (at + for_ms > seconds * 1000) continue;
    const planned = { at_ms: at, fault, target, for_ms, ...what.draw?.(rng) };
    busyUntil.set(place(table, planned), at + for_ms + (what.rest_ms ?? REST_MS));
    faults.push(planned);
  }
  return faults;
}

export function place(table, { fault, target }) {
  return table[fault].occupies?.(target) ?? target;
}

// Carries out a plan. Resolves when the last fault is repaired: { done, skipped }, counts by fault and target.
export async function torment(instance, table, faults, history) {
  const began = Date.now();
  const chains = new Map();
  const done = {};
  const skipped = {};
  for (const planned of faults) {
    await pause(Math.max(0, began + planned.at_ms - Date.now()));
    const { fault, target } = planned;
    const counts = table[fault].needs && !instance[table[fault].needs] ? skipped : done;
    counts[`${fault} ${target}`] = (counts[`${fault} ${target}`] ?? 0) + 1;
    if (counts === skipped) continue;
    const strike = async () => {
      history.note('fault begins', planned);
      try {
        await table[fault].act(instance, planned);
      } catch (error) {
        history.note('fault failed', { ...planned, error: error.message }); // e.g. Redis was just ending
      }
      history.note('fault is repaired', planned);
    };
    const where = place(table, planned);
    chains.set(where, (chains.get(where) ?? Promise.resolve()).then(strike));
  }
  await Promise.all(chains.values());
  return { done, skipped };
}
