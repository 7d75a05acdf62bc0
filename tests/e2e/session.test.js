// Visits renew a session, in each pool.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { newUser, poll, sendPacket, site } from './support/site.js';

const IDLE_S = 2; // at first
const IDLE_S_MAX = 64;
const IDLE_TIMES = 3;
const VISIT_PAUSE_MS = 50;

const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

after(() => site.allUp());

// Visits pages for several idle times, and opens the packet. False when the session ended after the machine stalled between
// two visits for the idle time, less a tenth: a visit renews a session that was not renewed just before. since: before the
// session was made.
async function served(client, path, { since, idleMs }) {
  const end = Date.now() + IDLE_TIMES * idleMs;
  const ask = async (request) => {
    const asked = Date.now();
    const answer = await request();
    if (answer.status === 401 && Date.now() - since > idleMs * 0.9) return undefined;
    assert.equal(answer.status, 200, answer.text);
    since = asked;
    return answer;
  };
  while (Date.now() < end) {
    if (!await ask(() => client.get(Math.random() < 0.5 ? path : '/wallet'))) return false;
    await pause(VISIT_PAUSE_MS);
  }
  const opened = await ask(() => client.post(`${path}/open`, {}));
  if (opened) assert.equal(opened.json.result, 'grabbed');
  return opened !== undefined;
}

test('every visit within the idle time renews the session, in the hot pool and in the page pool', async () => {
  const sender = await newUser({ yuan: '10' });
  const sent = await sendPacket(sender, { kind: 'lucky', amount: '5', count: '2' });
  for (let idleS = IDLE_S, done = false; !done; idleS *= 2) {
    assert.ok(idleS <= IDLE_S_MAX, 'the machine stalls for a minute each time');
    await site.withSetting(['hot', 'page'], { HB_SESSION_IDLE_S: String(idleS) }, async () => {
      const since = Date.now();
      const { client } = await newUser();
      done = await served(client, `/p/${sent.json.id}`, { since, idleMs: idleS * 1000 });
      if (!done) return;
      await poll('without visits it ends', async () => {
        await pause(idleS * 1000);
        return (await client.get('/wallet')).status === 401;
      });
    });
  }
});
