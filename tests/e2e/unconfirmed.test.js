// A failover may take back a grab that no replica has. With redis_replicas, neither the answer nor the packet's page shows
// such a grab as a share. Here no replica ever confirms, as Redis has none.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fileBrowser } from './support/browser.js';
import { sentPath } from './support/packets.js';
import { audit, clientPage, newUser, poll, site } from './support/site.js';

const browser = fileBrowser();
after(async () => { await site.allUp(); });

test('a share that no replica has is not shown as one, until it is settled', async () => {
  const [sender, receiver, stranger] = [await newUser({ yuan: '10' }), await newUser(), await newUser()];
  const path = await sentPath(sender, { kind: 'even', amount: '1.00', count: '2' });
  await poll('the packet is open', async () => (await receiver.client.get(path)).json.state === 'open');
  await site.dev('stop', 'settle');
  const grabbed = await receiver.client.post(`${path}/open`);
  assert.equal(grabbed.json.result, 'grabbed');
  const mine = async () => (await receiver.client.get(path)).json.mine;
  assert.equal((await mine()).settled, false); // one server: nothing has to be confirmed

  await site.withSetting(['hot'], { HB_REDIS_REPLICAS: '1' }, async () => {
    assert.equal((await stranger.client.get(path)).status, 200);
    for (const answer of [await receiver.client.post(`${path}/open`), await receiver.client.get(path)]) {
      assert.equal(answer.status, 503, answer.text);
      assert.ok(Number(answer.headers.get('retry-after')) >= 1);
      assert.ok(!('mine' in answer.json), answer.text);
    }
    await site.dev('start', 'settle');
    await poll('the share is settled', async () => (await mine())?.settled);
  });
  assert.equal((await mine()).amount_fen, grabbed.json.amount_fen);
  await audit();
});

for (const javaScriptEnabled of [true, false]) {
  const how = javaScriptEnabled ? 'looks by itself, and' : 'has a link, which';
  test(`the page of an unknown grab ${how} shows the share`, async () => {
    const [sender, receiver] = [await newUser({ yuan: '10' }), await newUser()];
    const path = await sentPath(sender, { kind: 'even', amount: '1.00', count: '1' });
    await poll('the packet is open', async () => (await receiver.client.get(path)).json.state === 'open');
    const page = await clientPage(browser, receiver.client, { javaScriptEnabled });
    await site.dev('stop', 'settle');
    await site.withSetting(['hot'], { HB_REDIS_REPLICAS: '1' }, async () => {
      await page.goto(site.url + path);
      await page.click('form[data-open] button');
      await page.locator('a[data-look]').waitFor();
      assert.equal(await page.locator('[data-looks]').isVisible(), javaScriptEnabled);
      await site.dev('start', 'settle');
      await poll('the share is settled', async () => (await receiver.client.get(path)).json.mine?.settled);
      if (!javaScriptEnabled) await page.click('a[data-look]');
      await page.locator('.result .money').waitFor();
    });
    assert.equal(page.url(), site.url + path);
    await page.context().close();
  });
}
