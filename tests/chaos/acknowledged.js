// node acknowledged.js --binary FILE: ./dev chaos --cluster --acknowledged.
// How many acknowledged grabs a Redis Cluster loses with a primary when no replica confirms them, and when one does
// (redis_replicas): docs/RELIABILITY.md. Exit 0 when none is lost that a replica has confirmed.
import { parseArgs } from 'node:util';
import { packetNumber, partitionOf } from '../e2e/support/packet_id.js';
import { ClusterInstance } from './cluster_instance.js';
import { pause, poll, whenInterrupted } from './deployment.js';
import { Site } from './http.js';

const USERS = 100;
const PACKETS = 80;           // each has a share for every user
const SENDS_MAX = 20 * PACKETS;
const VISITORS = 16;
const THINK_MS = 20;
const BEFORE_MS = 2000;
const AWAY_MS = 8000;         // longer than a replica needs to take over
const SETTLED_S = 120;
const LIFETIME_MS = '600000'; // of packets: no grab fails because its packet is over

const { values: given } = parseArgs({ options: {
  binary: { type: 'string' }, 'clock-shift': { type: 'string' },
  cluster: { type: 'boolean', default: false }, acknowledged: { type: 'boolean', default: false },
} });

const FAULTS = {
  'the primary is killed': (instance, primary) => instance.do('kill', primary),
  'the primary is cut off': (instance, primary) => instance.do('cut', primary),
  'the primary is cut off with a site machine and the balancer':
    (instance, primary) => instance.do('cut', primary, 'app1', 'lb'),
};

// The partitions that a machine serves, by its role in ./dev cluster status.
const partitionsOf = (role) => {
  const [, listed] = /^primary of.*\((.*)\)/.exec(role) ?? [];
  return [...(listed ?? '').matchAll(/p(\d\d)/g)].map(([, digits]) => Number(digits));
};

// The primary with the most partitions, and these.
async function busiest(instance) {
  const roles = await instance.roles();
  const all = Object.keys(roles).map((machine) => ({ machine, partitions: partitionsOf(roles[machine]) }));
  return all.sort((a, b) => b.partitions.length - a.partitions.length)[0];
}

// Grabs that can be asked for, each once, in packets of these partitions: [{ packet, user }].
async function stock(site, users, partitions, name) {
  const packets = [];
  const fields = { kind: 'even', amount: '0.01', count: users.length };
  for (let i = 0; packets.length < PACKETS && i < SENDS_MAX; i++) {
    const { cookie } = users[i % users.length];
    const { json } = await site.post('/send', cookie, { ...fields, request_key: `${name}-${i}` });
    if (json?.id && partitions.includes(partitionOf(json.id))) packets.push(json.id);
  }
  if (packets.length < PACKETS) throw new Error('the packets can\'t be sent');
  return packets.flatMap((packet) => users.map((user) => ({ packet, user })));
}

// Grabs until isOver() or nothing is left. Returns the acknowledged ones, as `PACKET USER`.
async function grabAll(site, wanted, isOver) {
  const acknowledged = [];
  await Promise.all(Array.from({ length: VISITORS }, async () => {
    for (let one; !isOver() && (one = wanted.pop()); await pause(THINK_MS)) {
      const { json } = await site.post(`/p/${one.packet}/open`, one.user.cookie);
      if (json?.result === 'grabbed') acknowledged.push(`${packetNumber(one.packet)} ${one.user.id}`);
    }
  }));
  return acknowledged;
}

// One fault under load, healed, settled and compared with the tables: { acknowledged, lost }, both counts.
async function lostBy(instance, site, users, strike, name) {
  const { machine, partitions } = await busiest(instance);
  let over = false;
  const grabs = grabAll(site, await stock(site, users, partitions, name), () => over);
  await pause(BEFORE_MS);
  await strike(instance, machine);
  await pause(AWAY_MS);
  over = true;
  await instance.do('heal');
  const acknowledged = await grabs;
  if (!instance.isRunning(machine)) await instance.ensure(machine);
  for (const kind of ['redis', 'app', 'lb']) await instance.wellAgain(kind);
  if (!await poll(SETTLED_S, async () => (await instance.audit())?.unsettled === 0)) {
    throw new Error('not all grabs are settled');
  }
  const there = new Set((await instance.sql('SELECT packet_id, user_id FROM `grab`')).map((cells) => cells.join(' ')));
  return { acknowledged: acknowledged.length, lost: acknowledged.filter((grab) => !there.has(grab)).length };
}

async function measure(instance, replicas) {
  await instance.up();
  const users = await instance.demoUsers(USERS);
  const site = new Site(instance.url);
  const rows = [];
  for (const [i, [fault, strike]] of Object.entries(FAULTS).entries()) {
    const row = { fault, replicas, ...await lostBy(instance, site, users, strike, `k${i}`) };
    console.log(`redis_replicas ${replicas}, ${fault}: ${row.acknowledged} acknowledged, ${row.lost} of these lost`);
    rows.push(row);
  }
  site.close();
  return rows;
}

let instance;
let ending;
const end = (keep) => (ending ??= instance.down(keep));
whenInterrupted(() => end(false));

const rows = [];
for (const replicas of [0, 1]) {
  instance = new ClusterInstance({ binary: given.binary,
    settings: { HB_PACKET_LIFETIME_MS: LIFETIME_MS, HB_REDIS_REPLICAS: String(replicas) } });
  try {
    rows.push(...await measure(instance, replicas));
    await end(false);
    ending = undefined;
  } catch (error) {
    console.log(`redis_replicas ${replicas}: ${error.stack}\nLogs and data: ${instance.dir}`);
    await end(true);
    process.exit(1);
  }
}
console.log('| redis_replicas | fault | acknowledged | of these lost |\n|---|---|---|---|');
for (const { replicas, fault, acknowledged, lost } of rows) {
  console.log(`| ${replicas} | ${fault} | ${acknowledged} | ${lost} |`);
}
process.exit(rows.some(({ replicas, lost }) => replicas > 0 && lost > 0) ? 1 : 0);
