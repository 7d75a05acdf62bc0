// A drill of a cluster (./dev chaos --cluster --times kill:20,cut:5,reshard:5): each fault so many times, one after
// another, each repaired before the next one. It measures how long each fault kept the probes from succeeding.
import { pause, poll, signalPids } from '../support/deployment.js';
import { Rng } from '../support/rng.js';

const DOWN_MS = 3000;
const REPLACED_MS = 8000; // so that another machine has to take over
const CUT_MS = 10_000;
const AFTER_MS = 1500; // a gap that begins so soon after the repair belongs to this fault, too
const STEADY_S = 60;

const KINDS = { kill: ['primary', 'replica', 'sentinel', 'db', 'app', 'worker'], cut: ['primary', 'primary+app', 'db', 'db+app'], reshard: ['redis'] };

// Reads kill:20,cut:5 into a list of faults: { fault, target }, so many for each target of a fault.
export function drillPlan(text, profile) {
  const times = text.split(',').map((one) => /^(kill|cut|reshard):([1-9]\d{0,3})$/.exec(one));
  if (times.includes(null)) throw new Error(`--times ${text}: it needs FAULT:COUNT,… of ${Object.keys(KINDS).join(' ')}`);
  const left = new Map(times.map(([, fault, count]) => [fault, Number(count)]));
  const isThere = ({ fault, target }) => (profile === 'cluster' ? target !== 'sentinel' : fault !== 'reshard');
  const all = Object.keys(KINDS).flatMap((fault) => KINDS[fault].map((target) => ({ fault, target }))).filter(isThere);
  const plan = [];
  for (let round = 0; round < Math.max(...left.values()); round++) plan.push(...all.filter(({ fault }) => round < (left.get(fault) ?? 0)));
  return plan;
}

// The present machines of a target: after a failover the primary is another machine.
async function machinesOf(instance, rng, target) {
  const [what, app] = target.split('+');
  const roles = await instance.roles();
  const ofRole = (role) => Object.keys(roles).filter((name) => roles[name].startsWith(role));
  const names = { primary: () => ofRole('primary of').concat(ofRole('primary,')), replica: () => ofRole('replica'), worker: () => instance.names('app') }[what]?.() ?? instance.names(what);
  const chosen = rng.pick(names);
  // In a Redis Cluster the role names the partitions; without a cluster one server has all.
  const served = [...(roles[chosen] ?? '').matchAll(/\bp(\d\d)\b/g)].map((match) => Number(match[1]));
  const concerned = what !== 'primary' ? [] : served.length > 0 ? served : 'all';
  return { machines: app ? [chosen, rng.pick(instance.names('app'))] : [chosen], concerned };
}

const FAULTS = {
  async kill(instance, { machines: [machine], target }) {
    if (target === 'worker') {
      signalPids(instance.workers(machine), 'SIGKILL'); // its supervisor starts another one
      await pause(DOWN_MS);
      return;
    }
    await instance.do('kill', machine);
    await pause(target === 'primary' || target === 'db' ? REPLACED_MS : DOWN_MS);
    await instance.ensure(machine);
  },
  async cut(instance, { machines }) {
    await instance.do('cut', ...machines);
    await pause(CUT_MS);
    await instance.do('heal');
  },
  reshard: (instance) => instance.do('reshard'),
};

const kindOf = (machine) => machine.replace(/\d+$/, '');

async function strike(instance, probes, history, fault) {
  const from = Date.now();
  history.note('fault begins', fault);
  const blame = (error) => history.broken(`${fault.fault} ${fault.machines}: ${error.message}`);
  await FAULTS[fault.fault](instance, fault).catch(blame);
  for (const kind of new Set(fault.machines.map(kindOf))) await instance.wellAgain(kind).catch(blame);
  await pause(AFTER_MS);
  history.note('fault is repaired', fault);
  const { grabs, deposits } = probes.gaps(from, Date.now());
  const isConcerned = (partition) => fault.concerned === 'all' || fault.concerned.includes(partition);
  const longest = (wanted) => Math.max(0, ...grabs.filter((_, partition) => isConcerned(partition) === wanted));
  return { ...fault, concerned_ms: longest(true), others_ms: longest(false), deposits_ms: deposits };
}

// Carries out a plan: { done, skipped, rows }; rows: what each fault did.
export async function drill(instance, plan, { probes, history, seed, tell }) {
  const rng = new Rng(seed, 'drill');
  const done = {};
  const rows = [];
  probes.start();
  await poll(STEADY_S, () => probes.work);
  for (const { fault, target } of plan) {
    const row = await strike(instance, probes, history, { fault, target, ...await machinesOf(instance, rng, target) });
    rows.push(row);
    tell(`${rows.length}/${plan.length} ${fault} ${target} (${row.machines.join(' ')}): ${[row.concerned_ms, row.others_ms, row.deposits_ms].join(' ')} ms`);
    done[`${fault} ${target}`] = (done[`${fault} ${target}`] ?? 0) + 1;
  }
  await probes.stop();
  return { done, skipped: {}, rows };
}

const seconds = (ms) => (ms / 1000).toFixed(1);

function spread(list) {
  const sorted = [...list].sort((a, b) => a - b);
  return `${seconds(sorted[0])} ${seconds(sorted[Math.floor(sorted.length / 2)])} ${seconds(sorted.at(-1))}`;
}

// The table of docs/RELIABILITY.md: the longest time without a success, min median max of the faults.
export function drillTable(rows) {
  const lines = ['| fault | times | grabs in the partitions concerned | other partitions | deposits |', '|---|---|---|---|---|'];
  for (const name of new Set(rows.map(({ fault, target }) => `${fault} ${target}`))) {
    const mine = rows.filter(({ fault, target }) => `${fault} ${target}` === name);
    const column = (key, of = mine) => (of.length === 0 ? '' : spread(of.map((row) => row[key])));
    const withConcerned = mine.filter(({ concerned_ms: ms }) => ms > 0);
    lines.push(`| ${name} | ${mine.length} | ${column('concerned_ms', withConcerned)} | ${column('others_ms')} | ${column('deposits_ms')} |`);
  }
  return lines.join('\n');
}
