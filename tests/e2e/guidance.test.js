// What pages tell a person to do next.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { hits } from './support/browser.js';
import { Client, clientPage, launch, newUser, poll, sendPacket, site, unique } from './support/site.js';
import { LANGUAGES, words } from './support/texts.js';

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
  const page = await clientPage(browser, sender.client, { locale: 'zh-CN', reducedMotion: 'reduce', permissions: ['clipboard-read', 'clipboard-write'] });
  await page.goto(site.url + path);
  assert.equal(await page.innerText('.ready'), words('zh-CN', 'sent_ready'));
  const [ready, share, list, own] = [await top(page, '.ready'), await top(page, '.share'), await top(page, '#grabs'), await top(page, 'button.coin')];
  assert.ok(ready < share && share < list && list < own, `${ready} ${share} ${list} ${own}`);
  await page.click('[data-copy]');
  await page.waitForFunction(() => document.querySelector('[data-copied]').textContent !== '');
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), `艾丽给你发了一个红包：恭喜发财 ${site.url}${path}`);
  await page.click('button.coin');
  await page.waitForSelector('.result');
  await page.waitForSelector('.seal', { state: 'detached' });
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
      assert.ok(answer.text.includes(`<a class="button" href="${path}">${words('zh-CN', 'problem_packet')}`), answer.text);
    } finally {
      await site.dev('start', store);
    }
  }
  await poll('it opens', async () => (await client.post(`${path}/open`)).status === 200);
});

test('an exclusive packet is paid for after its sender has confirmed the person, and then only', async () => {
  const sender = await newUser({ yuan: '100' });
  const receiver = await newUser({ nickname: '卡萝' });
  const fields = { kind: 'exclusive', amount: '52', to: receiver.username.toUpperCase(), greeting: '生日快乐', request_key: unique('k') };
  const asked = await sender.client.postHtml('/send', { ...fields, confirmed: '' });
  assert.equal(asked.status, 200);
  for (const part of ['卡萝', receiver.username, '52.00', '生日快乐']) assert.ok(asked.text.includes(part), part);
  for (const confirmed of ['1', 'somebody-else']) {
    assert.equal((await sender.client.postHtml('/send', { ...fields, confirmed })).status, 200, confirmed);
  }
  assert.equal((await sender.client.get('/wallet')).json.balance_fen, 10000);
  const programs = await sender.client.postHtml('/send', { kind: 'exclusive', amount: '1', to: receiver.username, request_key: unique('k') });
  assert.equal(programs.status, 303, 'a form without the field is a program\'s');

  for (const javaScriptEnabled of [true, false]) {
    const page = await clientPage(browser, sender.client, { javaScriptEnabled });
    await page.goto(`${site.url}/send?kind=exclusive&amount=10&to=${receiver.username}&greeting=hello`);
    await page.click('main button.wide');
    await page.waitForSelector('.confirm');
    await page.click('.confirm .more a');
    await page.waitForSelector('[name=greeting]');
    assert.deepEqual([await page.inputValue('[name=to]'), await page.inputValue('[name=amount]')], [receiver.username, '10']);
    await page.click('main button.wide');
    await page.click('.confirm button[type=submit]');
    await page.waitForURL(/\/p\/\w{26}$/);
    await page.context().close();
  }
  assert.equal((await sender.client.get('/wallet')).json.balance_fen, 7900);
});

test('of an exclusive packet, only its sender and its receiver learn the amount and what became of it', async () => {
  const sender = await newUser({ yuan: '10' });
  const [receiver, stranger] = [await newUser(), await newUser()];
  const path = await send(sender, { kind: 'exclusive', amount: '9.99', to: receiver.username });
  assert.equal((await receiver.client.post(`${path}/open`)).status, 200);
  await poll('it is settled', async () => (await receiver.client.get(path)).json.mine.settled);
  for (const client of [stranger.client, new Client()]) {
    for (const page of [path, `${path}/verify`]) {
      const { text } = await client.getHtml(page);
      assert.doesNotMatch(text, /9\.99|秒/, page);
      const { json } = await client.get(page);
      assert.deepEqual([json.amount_fen ?? null, json.grabs ?? json.shares, json.mine ?? null], [null, [], null], page);
    }
  }
  assert.match((await sender.client.getHtml(path)).text, /对方已领取/);
  assert.match((await receiver.client.getHtml(path)).text, /你已领取/);
  for (const { client } of [sender, receiver]) assert.match((await client.getHtml(`${path}/verify`)).text, /9\.99/);
});

for (const locale of LANGUAGES) {
  for (const javaScriptEnabled of [true, false]) {
    test(`a second tap on the coin hits nothing, ${locale}, JavaScript ${javaScriptEnabled ? 'on' : 'off'}`, async () => {
      const sender = await newUser({ nickname: '艾丽', yuan: '10' });
      const opener = await newUser();
      for (const more of [{}, { phrase: 'sesame', greeting: '恭'.repeat(25) }, { cover: 'birthday', to: opener.username }]) {
        const path = await send(sender, { kind: 'lucky', amount: '1', count: '1', ...more });
        const page = await clientPage(browser, opener.client, { locale, javaScriptEnabled, reducedMotion: 'reduce' });
        await page.goto(site.url + path);
        const coin = page.locator('button.coin');
        assert.equal((await page.innerText('.opener')).replace(/\s+/g, ' '), locale === 'en' ? '開 Open' : '開', 'a word for who can’t read it');
        const place = await coin.boundingBox();
        if (more.phrase) await page.fill('#phrase', more.phrase);
        await coin.click();
        await page.waitForSelector('.result');
        assert.deepEqual(await hits(page, place), []);
        await poll('it is settled', async () => (await opener.client.get(path)).json.mine.settled);
        await page.goto(site.url + path);
        assert.deepEqual(await hits(page, place), []);
        assert.equal(await page.getAttribute('[data-live=settled-links] a >> nth=0', 'href'), '/wallet');
        await page.context().close();
      }
    });
  }
}

test('the wallet names the people and the greetings', async () => {
  const sender = await newUser({ nickname: '艾丽', yuan: '10' });
  const receiver = await newUser({ nickname: '卡萝' });
  const path = await send(sender, { kind: 'exclusive', amount: '1', to: receiver.username, greeting: '生日快乐' });
  await send(sender, { kind: 'even', amount: '1', count: '1', greeting: '早安' });
  assert.equal((await receiver.client.post(`${path}/open`)).status, 200);
  await poll('it is settled', async () => (await receiver.client.get(path)).json.mine.settled);
  const read = async ({ client }) => {
    const page = await clientPage(browser, client, { locale: 'zh-CN', javaScriptEnabled: false });
    await page.goto(`${site.url}/wallet`);
    const rows = await page.locator('.row .who').allInnerTexts();
    await page.context().close();
    return rows.map((row) => row.split(/\s*\n\s*/).slice(0, 2).join(' · '));
  };
  assert.deepEqual(await read(receiver), ['来自艾丽 · 生日快乐']);
  assert.deepEqual((await read(sender)).slice(0, 2), ['发红包 · 早安', '给卡萝的专属红包 · 生日快乐']);
});

test('the sender’s own row is marked, and a list without packets leads to the first one', async () => {
  const sender = await newUser({ nickname: '艾丽', yuan: '10' });
  const other = await newUser({ nickname: '艾丽' });
  assert.ok((await sender.client.getHtml('/')).text.includes(`href="/send">${words('zh-CN', 'sent_first')}</a>`));
  const path = await send(sender, { kind: 'even', amount: '1', count: '3' });
  for (const { client } of [sender, other]) assert.equal((await client.post(`${path}/open`)).status, 200);
  const marked = (await other.client.getHtml(path)).text.split('<li').filter((row) => row.includes(words('zh-CN', 'of_sender')));
  assert.equal(marked.length, 1);
});

test('an amount with a sign or with commas is what it says, on the page, too', async () => {
  const sender = await newUser({ yuan: '10' });
  const page = await clientPage(browser, sender.client);
  await page.goto(`${site.url}/send`);
  for (const [typed, total] of [['¥1,234.5', '1,234.50'], ['￥１２', '12.00'], ['8.8元', '8.80'], ['1,23', '0.00']]) {
    await page.fill('[name=amount]', typed);
    assert.equal(await page.innerText('[data-total] output'), total, typed);
  }
  await page.context().close();
  const sent = await sendPacket(sender, { kind: 'lucky', amount: '￥1.50元', count: '1' });
  assert.equal((await sender.client.get(`/p/${sent.json.id}`)).json.amount_fen, 150);
});

test('who may open a packet comes after its amount, its number and its greeting', async () => {
  const { client } = await newUser({ yuan: '10' });
  const page = await clientPage(browser, client);
  await page.goto(`${site.url}/send`);
  const names = await page.locator('form#kept :is(input, textarea)[name]:not([type=radio])').evaluateAll((all) => all.map(({ name }) => name));
  assert.deepEqual(names.slice(0, 4), ['amount', 'count', 'greeting', 'to']);
  await page.context().close();
});

test('what the server would refuse is told while it is typed, and how long the greeting is', async () => {
  const { client } = await newUser({ yuan: '10' });
  const page = await clientPage(browser, client, { locale: 'en' });
  await page.goto(`${site.url}/send`);
  const told = () => page.evaluate(() => document.querySelector('[data-over]').firstChild?.data ?? '');
  await page.fill('[name=amount]', '1205.5');
  assert.equal(await told(), words('en', 'over_balance').replace('~', '1,195.50'));
  await page.fill('[name=count]', '6');
  assert.match(await told(), /^At most ¥200 per share$/);
  await page.fill('[name=amount]', '10');
  assert.equal(await told(), '');
  const limit = page.locator('#count_hint');
  assert.equal(await limit.textContent(), 'At most 100 at once');
  for (const [count, kind] of [['100', 'hint'], ['101', 'wrong'], ['100', 'hint']]) {
    await page.fill('[name=count]', count);
    assert.equal(await limit.getAttribute('class'), kind, count);
  }
  await page.fill('[name=amount]', '0.99');
  assert.equal(await told(), 'At least ¥0.01 per share');
  await page.fill('[name=amount]', '20000.01');
  assert.equal(await told(), 'At most ¥20,000 in total');
  await page.fill('[name=amount]', '10');
  assert.equal(await told(), '');
  const counter = page.locator('[data-count]');
  assert.equal(await counter.textContent(), '');
  await page.fill('[name=greeting]', `好👨‍👩‍👧‍👦${'x'.repeat(23)}`);
  assert.deepEqual([await counter.textContent(), await counter.getAttribute('class')], ['25/25', '']);
  await page.fill('[name=greeting]', 'x'.repeat(26));
  assert.deepEqual([await counter.textContent(), await counter.getAttribute('class')], ['26/25', 'wrong']);
  await page.context().close();
});

for (const javaScriptEnabled of [true, false]) {
  test(`a refused form has the focus on its summary, or on the first wrong field, JavaScript ${javaScriptEnabled ? 'on' : 'off'}`, async () => {
    const page = await (await browser.newContext({ javaScriptEnabled })).newPage();
    await page.goto(`${site.url}/login`);
    await Promise.all([page.waitForNavigation(), page.click('main button[type=submit]:visible')]);
    assert.equal(await page.locator('.errors:focus').count(), 1);
    await page.keyboard.press('Tab');
    assert.equal(await page.locator('.errors a:focus').count(), 1);
    // Registration says it at the fields alone.
    await page.goto(`${site.url}/register`);
    await Promise.all([page.waitForNavigation(), page.click('main button[type=submit]')]);
    assert.equal(await page.locator('#nickname:focus').count(), 1);
    assert.equal(await page.locator('.errors').count(), 0);
    await page.context().close();
  });
}
