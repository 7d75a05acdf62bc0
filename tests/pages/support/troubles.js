// What has to be broken before some pages can be seen. `await inTrouble(name, world, work)` breaks it, works, mends it
// and waits until everything is as before. No name: work alone.
import assert from 'node:assert/strict';
import { poll, site } from '../../e2e/support/site.js';
import { grab, sql } from './world.js';

const isServed = async (client, path) => (await client.get(path)).status === 200;

async function allServed({ sender, open }) {
  await site.allUp();
  for (const path of ['/wallet', open]) await poll(`${path} is served`, () => isServed(sender, path));
}

const without = (server) => async (world, work) => {
  await site.dev('stop', server);
  await work();
};

// The settle worker is away, so nothing is settled, a packet that was paid for waits to be loaded, and the fence
// before a Redis that was started anew stays shut.
async function unsettled(world, work) {
  await site.dev('stop', 'settle');
  await grab(world.grabber, world.settling);
  await site.withSetting(['page'], { HB_CRASH: 'send-after-commit' }, async () => {
    const lost = await world.sender.post('/send', { kind: 'even', amount: '1', count: '2' });
    assert.equal(lost.status, 503);
  });
  const { json } = await world.sender.get('/records/sent');
  world.unloaded = `/p/${json.items[0].id}`;
  await site.dev('stop', 'redis');
  await site.dev('start', 'redis');
  await poll('packets are shown', () => isServed(world.sender, world.open));
  await work();
}

// No share of this packet could have been drawn.
async function corrupt({ damaged }, work) {
  const set = (max) => sql(`UPDATE packet SET share_max_fen = ${max} WHERE request_key = '${damaged.key}'`);
  await set(1);
  await work();
  await set(20000);
}

const TROUBLES = {
  'page pool away': without('page'),
  'mariadb away': without('mariadb'),
  'redis away': without('redis'),
  unsettled,
  corrupt,
  'answers lost': (world, work) => site.withSetting(['page'], { HB_CRASH: 'send-after-commit' }, work),
  'logins limited': (world, work) => site.withSetting(['nginx'], { HB_LOGIN_LIMIT: 'on' }, work),
};

export async function inTrouble(name, world, work) {
  if (!name) return work();
  try {
    return await TROUBLES[name](world, work);
  } finally {
    await allServed(world);
  }
}
