// Receivers thank the sender: over HTTP and in a real Chromium, with and without JavaScript, in both languages.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { fileBrowser, hits } from './support/browser.js';
import { opened, sentPath, settled } from './support/packets.js';
import { Client, newUser, site } from './support/site.js';
import { words } from './support/texts.js';
import { clientPage, pageAt, testScripts, testVisitors } from './support/visits.js';

const browser = fileBrowser();
let sender;

before(async () => { sender = await newUser({ nickname: '小明', yuan: '100' }); });

// Sends a packet, has each of these open it, and waits until the shares are settled. Returns its path.
async function packetOf(count, ...openers) {
  const path = await sentPath(sender, { kind: 'even', amount: '1', count: String(count) });
  for (const user of openers) {
    await opened(user, path);
    await settled(user, path);
  }
  return path;
}

const thanksIn = async ({ client }, path) => (await client.get(path)).json.grabs.map((grab) => grab.thanks);

test('thanks are one line, in the list for everybody with a share, escaped, and stay as they are', async () => {
  const [first, second] = [await newUser(), await newUser()];
  const path = await packetOf(3, first, second);
  const html = '<b>&"\'</b>{{text}}';
  const answer = await first.client.post(`${path}/thanks`, { text: ` ${html}\u202e🙏\n` });
  assert.deepEqual([answer.status, answer.json], [200, { text: `${html}🙏` }]);
  for (const user of [sender, second]) assert.deepEqual(await thanksIn(user, path), [null, `${html}🙏`]);
  const page = (await sender.client.getHtml(path)).text;
  assert.ok(page.includes('&lt;b&gt;&amp;') && !page.includes('<b>&"'), 'escaped');
  const other = await first.client.post(`${path}/thanks`, { text: 'another' });
  assert.deepEqual([other.status, other.json.type], [409, 'urn:hongbao:problem:thanks-already']);
  assert.equal((await first.client.postHtml(`${path}/thanks`, { text: 'another' })).headers.get('location'), path);
});

test('who has no share or no text is told so', async () => {
  const receiver = await newUser();
  const path = await packetOf(2, receiver);
  assert.equal((await new Client().post(`${path}/thanks`, { text: 'x' })).status, 401);
  const refused = await sender.client.post(`${path}/thanks`, { text: 'x' });
  assert.deepEqual([refused.status, refused.json.type], [403, 'urn:hongbao:problem:no-share']);
  for (const [text, message] of [[' \u3000 ', 'thanks_missing'], ['谢'.repeat(26), 'thanks_long']]) {
    const { status, json } = await receiver.client.post(`${path}/thanks`, { text });
    assert.deepEqual([status, json.errors], [422, [{ field: 'text', message: words('zh-CN', message, '25') }]]);
  }
  assert.equal((await receiver.client.post(`${path}/thanks`, { text: '👨‍👩‍👧‍👦'.repeat(25) })).status, 200, '25 characters');
});

testScripts('thanks that come before the share is settled are not lost: with scripts they are sent again, without the text stays', async ({ javaScriptEnabled }) => {
  const user = await newUser();
  const path = await packetOf(2);
  const page = await clientPage(browser, user.client, { locale: 'zh-CN', javaScriptEnabled });
  await site.unsettled(async () => {
    await opened(user, path);
    await page.goto(site.url + path);
    // it keeps its place, but can't be touched
    const press = page.locator('.thank .chip').first().evaluate((chip) => { chip.click(); });
    const [answer] = await Promise.all([page.waitForResponse((one) => one.url().endsWith('/thanks')), press]);
    assert.deepEqual([answer.status(), answer.headers()['retry-after']], [503, '1']);
    await page.waitForSelector('#text_error');
    assert.equal(await page.innerText('#text_error'), words('zh-CN', 'thanks_unsettled'));
    assert.equal(await page.inputValue('#text'), words('zh-CN', 'thanks_plain'));
  });
  if (!javaScriptEnabled) {
    await settled(user, path);
    await page.click('.line button');
  }
  await page.waitForSelector('.rows .thanks');
  assert.deepEqual(await thanksIn(sender, path), [words('zh-CN', 'thanks_plain')]);
});

test('who was given a share can send one to its sender: the form has the name', async () => {
  const [receiver, stranger] = [await newUser(), await newUser()];
  const path = await packetOf(2, receiver);
  const [, form] = /href="(\/send\?back=[0-9a-z]{26})"/.exec((await receiver.client.getHtml(path)).text);
  const named = async ({ client }, address) => (await client.getHtml(address)).text.includes(`>${sender.username}</textarea>`);
  assert.equal(await named(receiver, form), true);
  for (const user of [stranger, sender]) assert.equal(await named(user, form), false);
  assert.equal((await receiver.client.getHtml('/send?back=nothing')).status, 200);
});

testVisitors('the result page has buttons and a line for thanks', async ({ locale, javaScriptEnabled }) => {
  const [one, two] = [await newUser(), await newUser()];
  const path = await packetOf(3, one, two);
  const open = async ({ client }) => {
    const page = await pageAt(browser, client, path, { viewport: { width: 320, height: 700 }, locale, javaScriptEnabled });
    return page;
  };
  const page = await open(one);
  const button = `button[value="${words(locale, 'thanks_got')}"]`;
  const below = () => page.locator('.settled-links').evaluate((part) => part.getBoundingClientRect().top + scrollY);
  const before = await below();
  const chips = await page.locator('.thank .chip').all();
  const places = await Promise.all(chips.map((chip) => chip.boundingBox()));
  await page.click(button);
  await page.waitForSelector('.rows .thanks');
  assert.equal(await page.innerText('.rows .thanks'), words(locale, 'thanks_got'));
  assert.equal(await page.innerText('.said h2'), words(locale, 'thanks_said'));
  assert.equal(await page.innerText('.said .thanks'), words(locale, 'thanks_got'));
  assert.equal(await page.locator('[data-live=thanks] :is(form, button, input)').count(), 0, 'only once');
  assert.ok(await below() < before, 'the form leaves no hole');
  for (const place of places) assert.deepEqual(await hits(page, place), [], 'a second tap hits nothing');

  const other = await open(two);
  await other.click('.thank summary');
  await other.fill('#text', '谢'.repeat(26));
  if (javaScriptEnabled) assert.equal(await other.innerText('.thank [data-count]'), '26/25');
  await other.click('.line button');
  assert.equal(await other.innerText('#text_error'), words(locale, 'thanks_long', '25'));
  assert.equal(await other.inputValue('#text'), '谢'.repeat(26));
  assert.ok((await other.title()).startsWith(words(locale, 'error_before').replace(/\{\{!.*?\}\}/, '').trim()));
  await other.fill('#text', '谢谢小明');
  await other.click('.line button');
  await other.waitForSelector('.rows .thanks >> text=谢谢小明');
  const width = await other.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(width <= 320, `${width} pixels wide`);
  assert.deepEqual(await thanksIn(sender, path), ['谢谢小明', words(locale, 'thanks_got')]);
});
