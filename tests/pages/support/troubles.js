// Faults that some pages need. `await inTrouble(name, world, work)` makes the fault, runs work, repairs it and waits
// until everything is served again. Without a name it only runs work.
import assert from 'node:assert/strict';
import { sql } from '../../e2e/support/mysql.js';
import { poll, site } from '../../e2e/support/site.js';
import { grab } from './world.js';

const isServed = async (client, path) => (await client.get(path)).status === 200;

async function allServed({ sender, open }) {
  await site.allUp();
  for (const path of ['/wallet', open]) await poll(`${path} is served`, () => isServed(sender, path));
}

const without = (server) => async (world, work) => {
  await site.dev('stop', server);
  await work();
};

// Stops the settle worker. Nothing is settled, a packet that was paid for is not loaded, and the fence of a restarted
// Redis stays shut.
async function unsettled(world, work) {
  await site.dev('stop', 'settle');
  await grab(world.grabber, world.settling);
  await site.withSetting(['page'], { HB_CRASH: 'send-after-commit' }, async () => {
    const answer = await world.sender.post('/send', { kind: 'even', amount: '1', count: '2' });
    assert.equal(answer.status, 503);
  });
  const { json } = await world.sender.get('/records/sent');
  world.unloaded = `/p/${json.items[0].id}`;
  await site.dev('stop', 'redis');
  await site.dev('start', 'redis');
  await poll('packets are shown', () => isServed(world.sender, world.open));
  await work();
}

// Makes a packet's row invalid: no draw has shares of at most 1 fen.
async function corrupt({ damaged }, work) {
  const set = (max) => sql(`UPDATE packet SET share_max_fen = ${max} WHERE request_key = '${damaged.key}'`);
  await set(1);
  await work();
  await set(20000);
}

// No replica confirms a grab, and none is settled: so the page that looks for the outcome by itself stays.
async function grabsUnconfirmed(world, work) {
  await site.dev('stop', 'settle');
  await site.withSetting(['hot'], { HB_REDIS_REPLICAS: '1' }, work);
}

// Users may send once only.
async function sendsLimited(world, work) {
  await site.withSetting(['page'], { HB_LIMITS: 'on', HB_LIMIT_SEND: '1 1/d' }, async () => {
    await poll('a send is refused', async () => (await world.sender.post('/send', {})).status === 429);
    await work();
  });
}

const TROUBLES = {
  'page pool stopped': without('page'),
  'mariadb stopped': without('mariadb'),
  'redis stopped': without('redis'),
  unsettled,
  corrupt,
  'answers lost': (world, work) => site.withSetting(['page'], { HB_CRASH: 'send-after-commit' }, work),
  'grabs unconfirmed': grabsUnconfirmed,
  'sends limited': sendsLimited,
  'logins limited': (world, work) => site.withSetting(['nginx'], { HB_LIMITS: 'on' }, work),
};

export async function inTrouble(name, world, work) {
  if (!name) return work();
  try {
    return await TROUBLES[name](world, work);
  } finally {
    await allServed(world);
  }
}
