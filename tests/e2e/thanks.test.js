// Receivers thank the sender: over HTTP and in a real Chromium, with and without JavaScript, in both languages.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { hits } from './support/browser.js';
import { Client, audit, clientPage, launch, newUser, poll, sendPacket, site } from './support/site.js';
import { LANGUAGES, words } from './support/texts.js';

let browser, sender;

before(async () => {
  browser = await launch();
  sender = await newUser({ nickname: '小明', yuan: '100' });
});
after(async () => { await browser?.close(); });

// Sends a packet, has each of these open it, and waits until the shares are settled. Returns its path.
async function packetOf(count, ...openers) {
  const sent = await sendPacket(sender, { kind: 'even', amount: '1', count: String(count) });
  assert.equal(sent.status, 201, sent.text);
  const path = `/p/${sent.json.id}`;
  for (const { client } of openers) {
    assert.equal((await client.post(`${path}/open`, {})).status, 200);
    await poll('settled', async () => (await client.get(path)).json.mine.settled);
  }
  return path;
}

const thanksIn = async ({ client }, path) => (await client.get(path)).json.grabs.map((grab) => grab.thanks);

test('thanks are in the list for the sender and everybody with a share, and stay as they are', async () => {
  const [first, second] = [await newUser(), await newUser()];
  const path = await packetOf(3, first, second);
  const answer = await first.client.post(`${path}/thanks`, { text: '  谢谢\u202e老板 🙏\n' });
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(answer.json, { text: '谢谢老板 🙏' }); // one line, without control characters
  assert.deepEqual(await thanksIn(sender, path), [null, '谢谢老板 🙏']);
  assert.equal((await first.client.get(path)).json.mine.thanks, '谢谢老板 🙏');
  assert.equal((await second.client.get(path)).json.mine.thanks, null);

  assert.equal((await first.client.post(`${path}/thanks`, { text: '谢谢老板 🙏' })).status, 200, 'a repeat');
  const other = await first.client.post(`${path}/thanks`, { text: 'another' });
  assert.equal(other.status, 409);
  assert.equal(other.json.type, 'urn:hongbao:problem:thanks-already');
  assert.equal((await first.client.postHtml(`${path}/thanks`, { text: 'another' })).headers.get('location'), path);

  const html = '<b>&"\'</b>{{text}}';
  const posted = await second.client.postHtml(`${path}/thanks`, { text: html });
  assert.equal(posted.status, 303);
  assert.equal(posted.headers.get('location'), path);
  assert.deepEqual(await thanksIn(first, path), [html, '谢谢老板 🙏']);
  const page = (await sender.client.getHtml(path)).text;
  assert.ok(page.includes('&lt;b&gt;&amp;') && !page.includes('<b>&"'), 'escaped');
  await audit();
});

test('who has no share, a settled one or a text is told so', async () => {
  const receiver = await newUser();
  const path = await packetOf(2, receiver);
  assert.equal((await new Client().post(`${path}/thanks`, { text: 'x' })).status, 401);
  for (const visitor of [sender, await newUser()]) {
    const refused = await visitor.client.post(`${path}/thanks`, { text: 'x' });
    assert.equal(refused.status, 403);
    assert.equal(refused.json.type, 'urn:hongbao:problem:no-share');
  }
  for (const [text, message] of [['', 'thanks_missing'], [' \u3000 ', 'thanks_missing'], ['谢'.repeat(26), 'thanks_long']]) {
    const refused = await receiver.client.post(`${path}/thanks`, { text });
    assert.equal(refused.status, 422);
    assert.deepEqual(refused.json.errors, [{ field: 'text', message: words('zh-CN', message, '25') }]);
  }
  const page = await receiver.client.postHtml(`${path}/thanks`, { text: '<谢>'.repeat(13) });
  assert.equal(page.status, 422);
  assert.ok(page.text.includes('&lt;谢&gt;'.repeat(13)), 'what was typed is kept');
  assert.equal((await receiver.client.get(path)).json.mine.thanks, null);
  assert.equal((await receiver.client.post(`${path}/thanks`, { text: '👨‍👩‍👧‍👦'.repeat(25) })).status, 200, '25 characters');

  const late = await newUser();
  await site.dev('stop', 'settle');
  try {
    assert.equal((await late.client.post(`${path}/open`, {})).status, 200);
    const soon = await late.client.post(`${path}/thanks`, { text: 'x' });
    assert.equal(soon.status, 503);
    assert.equal(soon.headers.get('retry-after'), '1');
  } finally {
    await site.dev('start', 'settle');
  }
  await poll('thanked', async () => (await late.client.post(`${path}/thanks`, { text: 'x' })).status === 200);
});

for (const javaScriptEnabled of [true, false]) {
  test(`thanks that come before the share is settled are not lost: ${javaScriptEnabled ? 'they are sent again' : 'the text stays'}`, async () => {
    const user = await newUser();
    const path = await packetOf(2);
    const page = await clientPage(browser, user.client, { locale: 'zh-CN', javaScriptEnabled });
    const press = (button) => button.evaluate((chip) => { chip.click(); }); // its place is kept, and cannot be touched
    await site.dev('stop', 'settle');
    try {
      assert.equal((await user.client.post(`${path}/open`, {})).status, 200);
      await page.goto(site.url + path);
      const [answer] = await Promise.all([page.waitForResponse((one) => one.url().endsWith('/thanks')), press(page.locator('.thank .chip').first())]);
      assert.equal(answer.status(), 503);
      assert.equal(answer.headers()['retry-after'], '1');
      await page.waitForSelector('#text_error');
      assert.equal(await page.innerText('#text_error'), words('zh-CN', 'thanks_unsettled'));
      assert.equal(await page.inputValue('#text'), words('zh-CN', 'thanks_plain'));
    } finally {
      await site.dev('start', 'settle');
    }
    if (!javaScriptEnabled) {
      await poll('settled', async () => (await user.client.get(path)).json.mine.settled);
      await page.click('.line button');
    }
    await page.waitForSelector('.rows .thanks');
    assert.deepEqual(await thanksIn(sender, path), [words('zh-CN', 'thanks_plain')]);
    await page.context().close();
  });
}

test('a finished packet that the processes keep in memory shows new thanks soon, and a page from the tables as well', async () => {
  const receivers = [await newUser(), await newUser()];
  const stranger = await newUser();
  const path = await packetOf(2, ...receivers);
  for (let i = 0; i < 40; i++) assert.deepEqual(await thanksIn(stranger, path), [null, null]);
  assert.equal((await receivers[0].client.post(`${path}/thanks`, { text: 'one' })).status, 200);
  await poll('every process shows it', async () => {
    for (let i = 0; i < 20; i++) if ((await thanksIn(stranger, path))[1] !== 'one') return false;
    return true;
  });
  assert.equal((await receivers[1].client.post(`${path}/thanks`, { text: 'two' })).status, 200);
  await poll('and the next one', async () => (await thanksIn(stranger, path))[0] === 'two');
  assert.ok((await stranger.client.getHtml(path)).text.includes('two'));
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

for (const locale of LANGUAGES) {
  for (const javaScriptEnabled of [true, false]) {
    test(`the result page has buttons and a line for thanks: ${locale}, ${javaScriptEnabled ? 'with' : 'without'} JavaScript`, async () => {
      const [one, two] = [await newUser(), await newUser()];
      const path = await packetOf(3, one, two);
      const open = async ({ client }) => {
        const page = await clientPage(browser, client, { viewport: { width: 320, height: 700 }, locale, javaScriptEnabled });
        await page.goto(site.url + path);
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
      await page.context().close();
      await other.context().close();
    });
  }
}
