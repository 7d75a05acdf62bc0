// A session ends when it was not used for a week, and after thirty days; visits renew it, in each pool.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sentPath } from './support/packets.js';
import { newUser, site } from './support/site.js';

const DAY_MS = 86_400_000;

test('a visit in either pool, or a grab, renews the session; it ends after a week without one, or after thirty days', async () => {
  const [sender, viewer, grabber, holder] = await Promise.all(Array.from({ length: 4 }, () => newUser({ yuan: '10' })));
  const packet = () => sentPath(sender, { kind: 'even', amount: '0.01', count: '2' });
  const visits = {
    'in the hot pool': async () => viewer.client.get(await packet()),
    'a grab': async () => grabber.client.post(`${await packet()}/open`),
    'in the page pool': () => holder.client.get('/wallet'),
  };
  for (let day = 4; day <= 28; day += 4) {
    site.passTime(4 * DAY_MS);
    for (const [which, visit] of Object.entries(visits)) assert.equal((await visit()).status, 200, `day ${day}, ${which}`);
  }
  const idle = await newUser();
  site.passTime(4 * DAY_MS);
  for (const [who, { client }] of Object.entries({ sender, viewer, grabber, holder })) {
    assert.equal((await client.get('/wallet')).status, 401, `${who}: thirty days are over`);
  }
  site.passTime(2.9 * DAY_MS);
  assert.equal((await idle.client.get('/wallet')).status, 200);
  site.passTime(7.1 * DAY_MS);
  assert.equal((await idle.client.get('/wallet')).status, 401, 'a week without a visit');
});
