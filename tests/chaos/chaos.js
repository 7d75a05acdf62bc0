// node chaos.js --binary FILE --clock-shift FILE [--seconds N] [--seed S] [--visitors N] [--patience S]
//     [--only FAULT:TARGET,…] [--cluster [--profile NAME] [--times FAULT:COUNT,…]]
// Fault injection on real servers under load: docs/RELIABILITY.md. Exit 0 when there is no violation.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { PATIENCE } from '../support/poll.js';
import { checkPages, judge, measureLag, publicIdsOf, readFacts } from './checker.js';
import { Load } from '../support/client.js';
import { History } from '../support/history.js';
import { Site } from '../support/http.js';
import { ClusterInstance } from './cluster_instance.js';
import { pause, poll, whenInterrupted } from '../support/deployment.js';
import { drill, drillPlan } from './drill.js';
import { Instance } from './instance.js';
import { FAULTS, plan, torment } from './nemesis.js';
import { clusterFaults, repairAll } from './nemesis_cluster.js';
import { Payouts } from './payouts.js';
import { Probes } from './probes.js';
import { print } from './report.js';
import { CHANNEL, Treasury } from './treasury.js';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');
const USERS = 40;
const AUDIT_EVERY_MS = 4000;
const LAG_MS_MAX = 5000 * PATIENCE;
const PATIENCE_S = 10 * PATIENCE;
const DRAIN_S = 60;
const COMPARISONS_MAX = 4;
const SAMPLE = 300;                    // packets whose pages are read at the end
const EXPIRE_ALL_MS = 6 * 3_600_000;   // longer than any packet's lifetime
const DRILL_LIFETIME_MS = 45_000;      // of packets in a drill: a probe's packet must outlast a store that is away
const OWN_FAULTS = /Assertion|AddressSanitizer|LeakSanitizer|runtime error: |stack smashing|segfault/;
const ALARMS = /^ts=\S+ level=error (?!.*msg="redis memory is full")/; // a full Redis is one of the faults

const { values: given } = parseArgs({ options: {
  binary: { type: 'string' }, 'clock-shift': { type: 'string' }, seconds: { type: 'string', default: '60' },
  seed: { type: 'string', default: String(Date.now() % 1_000_000) }, visitors: { type: 'string', default: '8' },
  patience: { type: 'string' }, only: { type: 'string', default: '' }, cluster: { type: 'boolean', default: false },
  profile: { type: 'string', default: 'cluster' }, times: { type: 'string' },
} });
const seconds = Number(given.seconds);
const table = given.cluster ? clusterFaults(given.profile) : FAULTS;
const faults = given.times ? drillPlan(given.times, given.profile) : plan(table, given.seed, seconds, given.only.split(',').filter(Boolean));
const patience = Number(given.patience ?? (given.cluster ? 60 : PATIENCE_S));

// Audits the site during the faults. Redis may be behind (I8); any other violation fails the run.
async function auditAlong(instance, history, audits, isOver) {
  while (!isOver()) {
    const found = await instance.audit();
    const violated = found?.checks.filter(({ violations }) => violations > 0) ?? [];
    if (!found) audits.incomplete++;
    else if (violated.some(({ id }) => id === 'I8')) audits.rebuilding++;
    else if (violated.length === 0) audits.clean++;
    for (const check of violated.filter(({ id }) => id !== 'I8')) {
      history.broken(`audit during the run, ${check.id}: ${JSON.stringify(check.rows)}`);
    }
    await pause(AUDIT_EVERY_MS);
  }
}

// After the last fault: every server runs, every kind of request succeeds within `patience`, and events are settled soon.
async function recoverAll(instance, load, run) {
  const repaired = Date.now();
  for (const name of instance.servers) {
    if (!instance.isRunning(name)) run.history.broken(`${name} does not run, although every fault is repaired`);
  }
  const works = await poll(patience, () => load.roundTrip(LAG_MS_MAX / 1000));
  run.backMs = Date.now() - repaired;
  if (!works) run.history.broken(`${patience} s after the last fault not everything works`);
  run.lagMs = await measureLag(instance, patience > PATIENCE_S ? patience * 1000 : LAG_MS_MAX).catch(() => null); // a store is unreachable
  if (run.lagMs === null) run.history.broken('the events that waited after the last fault are not settled in time');
}

async function drain(instance, history, what) {
  let last;
  const clean = await poll(DRAIN_S, async () => {
    last = await instance.audit();
    return last?.ok && last.unsettled === 0;
  });
  if (clean) return;
  const rows = last?.checks.filter(({ violations }) => violations > 0) ?? [];
  history.broken(`${what} the audit is not clean: ${last ? `${last.unsettled} unsettled, ${JSON.stringify(rows)}` : 'it could not run'}`);
}

// Every packet expires, and its rest is refunded to the sender.
async function expireAll(instance, history) {
  instance.passTime(EXPIRE_ALL_MS);
  const closed = await poll(DRAIN_S, async () => (await instance.sql("SELECT COUNT(*) FROM packet WHERE state <> 'closed'"))[0][0] === '0');
  if (closed) return;
  const rows = await instance.sql("SELECT id, state, expires_ms, grabbed_count, count FROM packet WHERE state <> 'closed' LIMIT 10");
  history.broken(`expired packets are not closed: ${JSON.stringify(rows)}`);
}

// Compares the tables with the history, and the pages with the tables; repeats it when they differ, because a refund may
// come between the two reads.
async function compare(instance, run, site, users) {
  const { operations } = run.history;
  const ids = new Set(users.map(({ id }) => id));
  const publicIds = publicIdsOf(operations);
  const balanceNow = async (id) => Number((await instance.sql(`SELECT balance_fen FROM account WHERE id = ${id}`))[0][0]);
  let shown;
  for (let i = 0; i < COMPARISONS_MAX && shown?.blames.length !== 0; i++) {
    run.facts = await readFacts(instance);
    const sample = run.facts.packets.filter(({ id, sender_id }) => publicIds.has(id) && ids.has(sender_id)).slice(-SAMPLE);
    shown = await checkPages({ site, users, facts: run.facts, sample, publicIds, balanceNow });
  }
  const verdict = judge(operations, run.facts, ids);
  run.pages += shown.pages;
  run.recovered = verdict.recovered;
  run.violations = [...run.history.blames, ...verdict.violations, ...shown.blames];
}

// Deletions are completed once all packets of their users are closed.
async function deletionsEnd(instance) {
  await poll(DRAIN_S, async () => (await instance.sql('SELECT COUNT(*) FROM user WHERE deleting_ms IS NOT NULL AND deleted_ms IS NULL'))[0][0] === '0');
}

async function examine(instance, run, site, users) {
  const { history } = run;
  await deletionsEnd(instance); // the comparison reports a deletion that does not end
  await drain(instance, history, 'after the drain');
  await compare(instance, run, site, users);
  if (run.violations.length === 0 && instance.canExpire) {
    await expireAll(instance, history);
    await drain(instance, history, 'after every packet is over');
    await compare(instance, run, site, users);
  }
  run.keys = new Map(history.operations.filter(({ key, packet }) => key && packet).map(({ key, packet }) => [key, packet]));
  for (const { log, line } of [...instance.logLines(OWN_FAULTS), ...instance.logLines(ALARMS)].slice(0, 20)) {
    run.violations.push({ kind: 'broken', text: `${log}: ${line}` });
  }
}

async function chaos(instance, run) {
  await instance.up();
  const users = await instance.demoUsers(USERS);
  const history = new History(join(instance.dir, 'history.jsonl'));
  const note = history.note.bind(history);
  history.note = (what, fields) => { note(what, fields); run.notes.push({ at: history.now(), note: what, ...fields }); };
  const site = new Site(instance.url);
  const load = new Load({ site, users, history, seed: given.seed });
  const treasury = new Treasury({ instance, site, users, history, seed: given.seed });
  const payouts = new Payouts({ instance, site, users, history, channel: CHANNEL, seed: given.seed });
  run.history = history;
  let over = false;
  const audits = auditAlong(instance, history, run.audits, () => over);
  await treasury.start();
  await payouts.start();
  load.start(Number(given.visitors));
  run.faults = given.times
    ? await drill(instance, faults, { probes: new Probes({ load, users }), history, seed: given.seed, tell: console.log })
    : await torment(instance, table, faults, history);
  if (given.cluster) await repairAll(instance);
  await recoverAll(instance, load, run);
  over = true;
  await Promise.all([load.stop(), treasury.stop(), payouts.stop(), audits]);
  await examine(instance, run, site, users);
  site.close();
  await history.close();
}

if (given.times && !given.cluster) throw new Error('--times is of --cluster');
const instance = given.cluster ? new ClusterInstance({ binary: given.binary, profile: given.profile, lifetimeMs: given.times && DRILL_LIFETIME_MS })
  : new Instance({ root: ROOT, binary: given.binary, clockShift: given['clock-shift'] });
const run = { seed: given.seed, seconds, times: given.times, only: given.only, profile: given.cluster ? given.profile : null, dir: instance.dir, notes: [], violations: [], audits: { clean: 0, incomplete: 0, rebuilding: 0 }, recovered: {}, pages: 0 };
let ending;
const end = (keep) => (ending ??= instance.down(keep));
whenInterrupted(() => end(false));
for (const name of ['uncaughtException', 'unhandledRejection']) {
  process.on(name, (error) => { console.log(error); end(true).then(() => process.exit(1)); });
}

console.log(`chaos: seed ${given.seed}, ${given.times ? `${faults.length} faults, one at a time` : `${seconds} s of faults`}`);
try {
  await chaos(instance, run);
  print(run);
} catch (error) {
  console.log(`The run failed with an error (seed ${given.seed}): ${error.stack}\nLogs and data: ${instance.dir}`);
  run.violations.push({ kind: 'broken', text: error.message });
}
const failed = run.violations.length > 0;
await end(failed);
process.exit(failed ? 1 : 0);
