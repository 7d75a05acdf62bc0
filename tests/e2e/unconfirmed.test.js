// After a failover, a grab that no replica has is lost. With redis_replicas, neither the answer nor the packet's page
// shows such a grab as a share. Here no replica ever confirms, as Redis has none.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fileBrowser } from './support/browser.js';
import { opened, sentPath, settled } from './support/packets.js';
import { audit, newUser, poll, site } from './support/site.js';
import { clientPage } from './support/visits.js';

const browser = fileBrowser();
after(() => site.startAnew(['hot']));

test('a share that no replica has is not shown as one, until it is settled: JSON, and pages with and without scripts', async () => {
  const [receiver, stranger] = [await newUser(), await newUser()];
  const path = await sentPath(await newUser({ yuan: '10' }), { kind: 'even', amount: '1.00', count: '3' });
  await poll('the packet is open', async () => (await receiver.client.get(path)).json.state === 'open');
  const mine = async () => (await receiver.client.get(path)).json.mine;
  const visits = await Promise.all([true, false].map(async (javaScriptEnabled) => {
    const { client } = await newUser();
    return { client, javaScriptEnabled, page: await clientPage(browser, client, { javaScriptEnabled }) };
  }));
  let grabbed;
  await site.unsettled(async () => {
    grabbed = await opened(receiver, path);
    assert.deepEqual([grabbed.result, (await mine()).settled], ['grabbed', false]); // one server: nothing has to be confirmed
    await site.startAnew(['hot'], { HB_REDIS_REPLICAS: '1' });
    assert.equal((await stranger.client.get(path)).status, 200);
    for (const answer of [await receiver.client.post(`${path}/open`), await receiver.client.get(path)]) {
      assert.equal(answer.status, 503, answer.text);
      assert.ok(Number(answer.headers.get('retry-after')) >= 1);
      assert.ok(!('mine' in answer.json), answer.text);
    }
    for (const { page, javaScriptEnabled } of visits) {
      await page.goto(site.url + path);
      await page.click('form[data-open] button');
      await page.locator('a[data-look]').waitFor();
      assert.equal(await page.locator('[data-looks]').isVisible(), javaScriptEnabled, 'with scripts it looks by itself');
    }
  });
  await settled(receiver, path);
  assert.equal((await mine()).amount_fen, grabbed.amount_fen);
  for (const { client, page, javaScriptEnabled } of visits) {
    await settled({ client }, path);
    if (!javaScriptEnabled) await page.click('a[data-look]');
    await page.locator('.result .money').waitFor();
    assert.equal(page.url(), site.url + path);
  }
  await audit();
});
