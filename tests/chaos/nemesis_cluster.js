// The faults of a cluster. One kind of machines has one fault at a time, and is well again before the next one: what is
// promised holds while one machine of each kind is away.
import { pause, poll } from './deployment.js';

const REST_MS = 15_000; // until a replica has taken over, or a node has what it has missed
const WELL_S = 120;

const kindOf = (target) => target.replace(/[0-9+].*/, '');
const occupies = kindOf;

// kind: redis, db, app, sentinel.
async function wellAgain(instance, kind) {
  if (!await instance.isWell(kind)) throw new Error(`not all machines of kind ${kind} are well again`);
}

function faultOf(targets, for_ms, act) {
  return {
    targets, for_ms, occupies, rest_ms: REST_MS,
    async act(instance, fault) {
      await act(instance, fault);
      await wellAgain(instance, kindOf(fault.target));
    },
  };
}

async function cut(instance, machines, for_ms) {
  await instance.do('cut', ...machines);
  await pause(for_ms);
  await instance.do('heal');
}

// The faults for a profile of ./dev cluster.
export function clusterFaults(profile) {
  const redis = profile === 'cluster' ? [1, 2, 3, 4, 5, 6, 7] : [1, 2, 3];
  const stores = [...redis.map((n) => `redis${n}`), 'db1', 'db2', 'db3'];
  const machines = [...stores, 'app1', 'app2'];
  const faults = {
    // kill -9 of everything on the machine, as when its power fails; it is started after for_ms.
    kill: faultOf(machines, [0, 10_000], async (instance, { target, for_ms }) => {
      await instance.do('kill', target);
      await pause(for_ms);
      if (!await instance.ensure(target)) throw new Error(`${target} does not start`);
    }),
    stop: faultOf(machines, [500, 12_000], async (instance, { target, for_ms }) => {
      instance.signalAll(target, 'SIGSTOP');
      await pause(for_ms);
      instance.signalAll(target, 'SIGCONT');
    }),
    // The machine sees nobody.
    cut: faultOf(machines, [500, 15_000], (instance, { target, for_ms }) => cut(instance, [target], for_ms)),
    // A store and a machine of the site, with its settle worker, see only each other.
    'cut-pair': faultOf(stores.map((store, i) => `${store}+app${(i % 2) + 1}`), [2000, 15_000],
      (instance, { target, for_ms }) => cut(instance, target.split('+'), for_ms)),
    // All machines of a kind, one after the other.
    rolling: faultOf(['redis', 'db', 'app'], [0, 500], async (instance, { target, for_ms }) => {
      for (const name of instance.names(target)) {
        await instance.do('stop', name);
        await pause(for_ms);
        if (!await instance.ensure(name)) throw new Error(`${name} does not start`);
        await wellAgain(instance, target);
      }
    }),
  };
  if (profile === 'cluster') faults.reshard = faultOf(['redis'], [0, 0], (instance) => instance.do('reshard'));
  return faults;
}

// After the last fault: nothing is cut off, and all machines run.
export async function repairAll(instance) {
  await instance.do('heal');
  await poll(WELL_S, async () => {
    for (const name of instance.servers) if (!instance.isRunning(name)) await instance.ensure(name);
    return instance.servers.every((name) => instance.isRunning(name));
  });
}
