// Redis loses all data while a thousand packets are half grabbed: each settled grab keeps its share and amount, no share is
// given out twice, and grabs succeed again. Prints how long that took.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { dev, env, poll } from '../e2e/support/instance.js';
import { keys, redis } from '../e2e/support/redis.js';
import { pooled } from '../e2e/support/site.js';
import { demoUsers, drained, killRedis, open, ready, startAll, stopAll } from './site.js';

const PACKETS = Number(process.env.EMPTIED_PACKETS ?? 1000);
const SHARES = 4;
const SENDERS = 10;
const AT_ONCE = 16;
const WITHIN_S = 300; // long enough for a loaded machine with sanitizers

let users;
let senders;

before(async () => {
  await startAll();
  users = await demoUsers(SENDERS + SHARES);
  senders = users.splice(SHARES);
  await ready(users[0]);
});
after(stopAll);

async function grab(user, packet) {
  const answer = await open(user, packet.id);
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

async function packetsMake() {
  const packets = Array.from({ length: PACKETS }, (_, i) => ({ sender: senders[i % SENDERS], grabs: [] }));
  await pooled(packets, AT_ONCE, async (packet) => {
    const sent = await packet.sender.client.post('/send', { kind: 'lucky', amount: '1', count: String(SHARES) });
    assert.equal(sent.status, 201, sent.text);
    packet.id = sent.json.id;
    for (const user of users.slice(0, 2)) packet.grabs.push(await grab(user, packet));
  });
  await drained();
  return packets;
}

// Keeps the sessions and their lists over work(), which empties Redis: they are not tested here, and the same users go
// on.
async function keepingSessions(work) {
  const sessions = await Promise.all((await keys('hb:session:*')).map(async (key) => [key, await redis('GET', key), await redis('PTTL', key)]));
  const lists = await Promise.all((await keys('hb:sessions:*')).map(async (key) => [key, await redis('--json', 'HGETALL', key)]));
  await work();
  for (const [key, list] of lists) await redis('HSET', key, ...Object.entries(JSON.parse(list)).flat());
  for (const [key, value, ttl] of sessions) await redis('SET', key, value, 'PX', ttl);
}

async function redisRestartEmpty() {
  await killRedis();
  rmSync(`${env.HB_TEST_VAR}/data/redis/appendonlydir`, { recursive: true });
  await dev(['start', 'redis']);
}

async function check(t, packets) {
  const began = Date.now();
  let waiting = packets;
  await poll('every packet accepts a grab', async () => {
    const refused = [];
    await pooled(waiting, AT_ONCE, async (packet) => {
      const answer = await open(users[2], packet.id);
      if (answer.status === 200) packet.third = answer.json;
      else if ([502, 503, 504].includes(answer.status)) refused.push(packet);
      else assert.fail(`${answer.status} ${answer.text}`);
    });
    waiting = refused;
    return waiting.length === 0;
  }, WITHIN_S);
  t.diagnostic(`${PACKETS} packets accepted grabs again within ${((Date.now() - began) / 1000).toFixed(1)} s`);
  await pooled(packets, AT_ONCE, async (packet) => {
    for (const [i, before] of packet.grabs.entries()) {
      assert.deepEqual(await grab(users[i], packet), { ...before, result: 'already', left_count: 1, returned: false });
    }
    const fourth = await grab(users[3], packet);
    const all = [...packet.grabs, packet.third, fourth];
    assert.deepEqual(all.map(({ share_no: share }) => share).sort(), [0, 1, 2, 3]);
    assert.equal(all.reduce((sum, { amount_fen: fen }) => sum + fen, 0), 100);
  });
  await drained();
}

test('when a running Redis is emptied, every settled grab stays and grabs succeed again', async (t) => {
  const packets = await packetsMake();
  await keepingSessions(() => redis('FLUSHALL'));
  await check(t, packets);
});

test('when Redis restarts empty, every settled grab stays and grabs succeed again', async (t) => {
  const packets = await packetsMake();
  await keepingSessions(redisRestartEmpty);
  await check(t, packets);
});
