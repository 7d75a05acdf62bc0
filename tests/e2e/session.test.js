// Visits renew a session, in each pool.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { newUser, poll, sendPacket, site } from './support/site.js';

const IDLE_S = 8;

after(() => site.allUp());

test('every visit within the idle time renews the session, in the hot pool and in the page pool', async () => {
  const sender = await newUser({ yuan: '10' });
  const sent = await sendPacket(sender, { kind: 'lucky', amount: '5', count: '2' });
  await site.withSetting(['hot', 'page'], { HB_SESSION_IDLE_S: String(IDLE_S) }, async () => {
    const { client } = await newUser();
    const end = Date.now() + 2 * IDLE_S * 1000;
    await poll('two idle times have passed', async () => {
      const path = Math.random() < 0.5 ? `/p/${sent.json.id}` : '/wallet';
      const answer = await client.get(path);
      assert.equal(answer.status, 200, `${path}: ${answer.text}`);
      return Date.now() > end;
    });
    assert.equal((await client.post(`/p/${sent.json.id}/open`, {})).json.result, 'grabbed');
    await poll('without visits it ends', async () => {
      await new Promise((resolve) => { setTimeout(resolve, IDLE_S * 1000); });
      return (await client.get('/wallet')).status === 401;
    });
  });
});
