// The fence: Redis restarts, complete or with an older append-only file, while users grab. No user is promised a share that
// is settled for another user, and when no data was lost, grabs continue.
import assert from 'node:assert/strict';
import { cpSync, rmSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { dev, env, poll } from '../e2e/support/instance.js';
import { demoUsers, drained, killRedis, open, ready, servers, startAll, stopAll } from './site.js';

const AOF = `${env.HB_TEST_VAR}/data/redis/appendonlydir`;
const COPY = `${env.HB_TEST_VAR}/data/appendonlydir.old`;
const ROUNDS = 2;
const PAUSE_MS = 50; // pause of a user after trying all packets

const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

let sender;
let users;

before(async () => {
  await startAll();
  [sender, ...users] = await demoUsers(41);
  await ready(sender);
});
after(async () => {
  await stopAll();
  rmSync(COPY, { recursive: true, force: true });
});

async function send(count) {
  const sent = await sender.client.post('/send', { kind: 'lucky', amount: String(count), count: String(count) });
  assert.equal(sent.status, 201, sent.text);
  return sent.json.id;
}

async function openAll(people, packet) {
  for (const user of people) {
    const answer = await open(user, packet);
    assert.equal(answer.status, 200, answer.text);
    await poll('settled', async () => (await user.client.get(`/p/${packet}`)).json?.mine?.settled);
  }
}

// All users open all packets until stop() is true. Returns the acknowledged grabs: "packet,share" → user.
async function crowd(people, packets, stop) {
  const promises = new Map();
  await Promise.all(people.map(async (user) => {
    for (; !stop(); await pause(PAUSE_MS)) {
      for (const packet of packets) {
        const answer = await open(user, packet).catch(() => undefined);
        if (answer && answer.status !== 200) assert.ok([410, 502, 503, 504].includes(answer.status), `${answer.status} ${answer.text}`);
        if (answer?.status !== 200) continue;
        const share = `${packet},${answer.json.share_no}`;
        assert.equal(promises.get(share) ?? user.id, user.id, `${share} is promised to two users`);
        promises.set(share, user.id);
      }
    }
  }));
  return promises;
}

// The settled grabs: "packet,share" → user.
async function userByShare(packets) {
  const rows = [];
  for (const packet of packets) {
    const { grabs } = (await sender.client.get(`/p/${packet}`)).json;
    rows.push(...grabs.map(({ share_no: share, user }) => [`${packet},${share}`, user.id]));
  }
  return new Map(rows);
}

test('an older append-only file gives out no share that is settled for another user', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const people = users.slice(0, 8);
    const packets = [await send(8), await send(8), await send(3)];
    for (const packet of packets) await openAll(people.slice(0, 2), packet);
    await drained();
    cpSync(AOF, COPY, { recursive: true });
    await openAll(people.slice(2, 4), packets[0]);
    await openAll(people.slice(2, 3), packets[2]); // closed in MySQL, open in the copy
    await drained();
    const settled = await userByShare(packets);
    await killRedis();
    rmSync(AOF, { recursive: true });
    cpSync(COPY, AOF, { recursive: true });
    rmSync(COPY, { recursive: true });
    // The settle worker starts late, and users grab meanwhile.
    await servers.settle.kill();
    let stop = false;
    const crowding = crowd(people.slice(4), packets, () => stop);
    await dev(['start', 'redis']);
    try {
      await poll('views are answered', async () => (await people[0].client.get(`/p/${packets[0]}`)).status === 200);
      const before = await open(people[5], packets[0]);
      assert.equal(before.status, 503, before.text);
      assert.match(before.json.type, /problem:busy$/);
      assert.ok(Number(before.headers.get('retry-after')) >= 1);
      await servers.settle.start();
      await poll('grabs succeed again', async () => (await open(people[5], packets[0])).status === 200);
      await poll('a closed packet stays closed', async () => (await open(people[5], packets[2])).status === 410);
    } finally {
      stop = true;
    }
    const promised = await crowding;
    for (const [share, user] of promised) {
      assert.ok(!settled.has(share) || settled.get(share) === user, `${share} was promised to ${user}, but is settled for ${settled.get(share)}`);
    }
    await drained();
    const now = await userByShare(packets);
    for (const [share, user] of [...settled, ...promised]) assert.equal(now.get(share), user, share);
  }
});

test('a Redis that lost nothing accepts grabs again as soon as a worker has compared it', async (t) => {
  const packet = await send(40);
  await openAll(users.slice(0, 1), packet);
  await killRedis();
  await dev(['start', 'redis']);
  const began = Date.now();
  await poll('grabs succeed again', async () => (await open(users[1], packet)).status === 200);
  t.diagnostic(`after ${Date.now() - began} ms`);
  await drained();
});

test('without a settle worker grabs are refused and views answered; with it grabs succeed again', async () => {
  const packet = await send(3);
  await openAll(users.slice(0, 1), packet);
  await servers.settle.stop();
  assert.equal((await open(users[1], packet)).status, 200); // the fence is still open for this Redis process
  await killRedis();
  await dev(['start', 'redis']);
  const refused = await poll('Redis answers again', async () => {
    const answer = await sender.client.get(`/p/${packet}`);
    return answer.status === 200 && open(users[2], packet);
  });
  assert.equal(refused.status, 503);
  assert.match(refused.json.type, /problem:busy$/);
  assert.equal((await sender.client.get('/readyz/page')).status, 503);
  assert.equal((await sender.client.get(`/p/${packet}`)).json.grabbed_count, 2);
  await servers.settle.start();
  await ready(sender);
  await poll('grabs succeed again', async () => (await open(users[2], packet)).status === 200);
  await drained();
});
