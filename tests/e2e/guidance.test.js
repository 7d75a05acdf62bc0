// What pages tell a person to do next.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client, clientPage, launch, newUser, poll, sendPacket, site, unique } from './support/site.js';
import { words } from './support/texts.js';

let browser;
before(async () => { browser = await launch(); });
after(() => browser?.close());

const send = async (sender, fields) => {
  const sent = await sendPacket(sender, { request_key: unique('k'), ...fields });
  assert.equal(sent.status, 201, sent.text);
  return `/p/${sent.json.id}`;
};
const top = async (page, selector) => (await page.locator(selector).first().boundingBox()).y;

test('after sending, sharing comes first and one’s own coin last; a copy says who sent what', async () => {
  const sender = await newUser({ nickname: '艾丽', yuan: '10' });
  const path = await send(sender, { kind: 'lucky', amount: '2', count: '2', greeting: '恭喜发财' });
  const page = await clientPage(browser, sender.client, { locale: 'zh-CN', permissions: ['clipboard-read', 'clipboard-write'] });
  await page.goto(site.url + path);
  assert.equal(await page.innerText('.ready'), words('zh-CN', 'sent_ready'));
  const [ready, share, list, own] = [await top(page, '.ready'), await top(page, '.share'), await top(page, '#grabs'), await top(page, 'button.coin')];
  assert.ok(ready < share && share < list && list < own, `${ready} ${share} ${list} ${own}`);
  await page.click('[data-copy]');
  await page.waitForFunction(() => document.querySelector('[data-copied]').textContent !== '');
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), `艾丽给你发了一个红包：恭喜发财 ${site.url}${path}`);
  await page.click('button.coin');
  await page.waitForSelector('.result');
  assert.equal(await page.locator('.ready').count(), 0);
  await page.context().close();
});

test('an error has words first, keeps the navigation, and names a broken link of a packet', async () => {
  const { client } = await newUser();
  for (const [path, status, title] of [['/nothing', 404, 'problem_not_found'], ['/p/00000000000000000000000000', 404, 'link_unknown'],
    ['/p/short', 404, 'link_unknown'], ['/records/sent?before=x', 400, 'problem_bad_request']]) {
    const { text, ...answer } = await client.getHtml(path);
    assert.equal(answer.status, status, path);
    assert.ok(text.includes(`<h1>${words('zh-CN', title)}</h1>`), text);
    assert.match(text, /<a href="\/wallet"/, `${path} has no navigation`);
    assert.ok(text.indexOf('<h1>') < text.indexOf(`错误${status}`), 'the code comes last');
    const guest = await new Client().getHtml(path);
    if (guest.status === status) assert.doesNotMatch(guest.text, /<a href="\/wallet"/, path);
  }
});

test('every failure of an opening leads to the packet', async () => {
  const sender = await newUser({ yuan: '10' });
  const { client } = await newUser();
  const path = await send(sender, { kind: 'lucky', amount: '2', count: '2' });
  for (const [store, heading] of [['redis', 'problem_busy'], ['hot', 'problem_busy']]) {
    await site.dev('stop', store);
    try {
      const answer = await client.postHtml(`${path}/open`, {});
      assert.equal(answer.status, 503, store);
      assert.ok(answer.text.includes(`<h1>${words('zh-CN', heading)}</h1>`), answer.text);
      assert.ok(answer.text.includes(`<a class="button" href="${path}">${words('zh-CN', 'problem_packet')}</a>`), answer.text);
    } finally {
      await site.dev('start', store);
    }
  }
  await poll('it opens', async () => (await client.post(`${path}/open`)).status === 200);
});
