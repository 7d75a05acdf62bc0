// The faults of a cluster. Each kind of machines has one fault at a time, and has recovered before the next one: the
// promise is for one failed machine of each kind.
import { pause, poll, signalPids } from '../support/deployment.js';

const REST_MS = 15_000; // time until a replica has taken over, or a node has caught up
const WELL_S = 120;
const SLOW_STOPPED_MS = 90;
const SLOW_RUNNING_MS = 10;

// The kind of the machines that a fault concerns; for settle1 the kind app, because the worker runs on app1.
const kindOf = (target) => target.replace(/[0-9+].*/, '').replace('settle', 'app');
const occupies = kindOf;

function faultOf(targets, for_ms, act) {
  return {
    targets, for_ms, occupies, rest_ms: REST_MS,
    async act(instance, fault) {
      await act(instance, fault);
      await instance.wellAgain(kindOf(fault.target));
    },
  };
}

async function cut(instance, machines, for_ms) {
  await instance.do('cut', ...machines);
  await pause(for_ms);
  await instance.do('heal');
}

// All processes of the machine get a tenth of the time.
async function slow(instance, machine, for_ms) {
  for (const end = Date.now() + for_ms; Date.now() < end;) {
    instance.signalAll(machine, 'SIGSTOP');
    await pause(SLOW_STOPPED_MS);
    instance.signalAll(machine, 'SIGCONT');
    await pause(SLOW_RUNNING_MS);
  }
}

// One settle worker does all the work, and is killed several times. The workers of the other machines are stopped
// meanwhile, and later go on as if nothing had happened.
async function onlyWorker(instance, { target, for_ms, times }) {
  const mine = target.replace('settle', 'app');
  const others = instance.names('app').filter((name) => name !== mine).flatMap((name) => instance.workers(name));
  signalPids(others, 'SIGSTOP');
  for (let i = 0; i < times; i++) {
    signalPids(instance.workers(mine), 'SIGKILL');
    await pause(for_ms / times);
  }
  signalPids(others, 'SIGCONT');
}

// Power fails for all machines of a kind at once.
async function killKind(instance, { target, for_ms }) {
  const names = instance.names(target);
  for (const name of names) instance.signalAll(name, 'SIGKILL');
  await instance.do('kill', ...names);
  await pause(for_ms);
  await instance.ensure(...names);
}

// The faults for a profile of ./dev cluster.
export function clusterFaults(profile) {
  const redis = Array.from({ length: profile === 'cluster' ? 9 : 3 }, (_, i) => i + 1);
  const stores = [...redis.map((n) => `redis${n}`), 'db1', 'db2', 'db3'];
  const machines = [...stores, 'app1', 'app2'];
  const faults = {
    // kill -9 of everything on the machine, as when its power fails; it is started after for_ms.
    kill: faultOf(machines, [0, 10_000], async (instance, { target, for_ms }) => {
      await instance.do('kill', target);
      await pause(for_ms);
      await instance.ensure(target);
    }),
    stop: faultOf(machines, [500, 12_000], async (instance, { target, for_ms }) => {
      instance.signalAll(target, 'SIGSTOP');
      await pause(for_ms);
      instance.signalAll(target, 'SIGCONT');
    }),
    slow: faultOf(machines, [2000, 12_000], (instance, { target, for_ms }) => slow(instance, target, for_ms)),
    // An operator makes a replica the primary while both are well.
    failover: faultOf(['redis'], [0, 0], (instance) => instance.failover()),
    // The machine is cut off from all others.
    cut: faultOf(machines, [500, 15_000], (instance, { target, for_ms }) => cut(instance, [target], for_ms)),
    // A store and a machine of the site, with its settle worker, can only reach each other.
    'cut-pair': faultOf(stores.map((store, i) => `${store}+app${(i % 2) + 1}`), [2000, 15_000],
      (instance, { target, for_ms }) => cut(instance, target.split('+'), for_ms)),
    'kill-all': faultOf(['db'], [0, 5000], killKind),
    'only-worker': { ...faultOf(['settle1', 'settle2'], [2000, 15_000], onlyWorker), draw: (rng) => ({ times: rng.int(1, 8) }) },
    // All machines of a kind, one after the other.
    rolling: faultOf(['redis', 'db', 'app'], [0, 500], async (instance, { target, for_ms }) => {
      for (const name of instance.names(target)) {
        await instance.do('stop', name);
        await pause(for_ms);
        await instance.ensure(name);
        await instance.wellAgain(target);
      }
    }),
  };
  if (profile === 'cluster') {
    faults.reshard = faultOf(['redis'], [0, 0], (instance) => instance.do('reshard'));
    // A slot with keys of a partition stays half moved for a while. Only when it is named: docs/RELIABILITY.md.
    const half = faultOf(['redis'], [500, 10_000], async (instance, { for_ms }) => {
      await instance.do('reshard', 'half');
      await pause(for_ms);
      await instance.do('fix');
    });
    faults['reshard-half'] = { ...half, onlyNamed: true };
  }
  return faults;
}

// After the last fault: nothing is cut off, and all machines run.
export async function repairAll(instance) {
  await instance.do('heal');
  await poll(WELL_S, async () => {
    for (const kind of ['redis', 'sentinel', 'db', 'app', 'lb']) {
      const down = instance.names(kind).filter((name) => !instance.isRunning(name));
      if (down.length > 0) await instance.try('start', ...down);
    }
    return instance.servers.every((name) => instance.isRunning(name));
  });
}
