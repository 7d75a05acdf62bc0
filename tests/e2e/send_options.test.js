// What a sender can choose for a packet, besides its kind, amount and count: by JSON, by the form with and without
// JavaScript, in both languages.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { audit, clientPage, fen, launch, newUser, poll, sendPacket, site } from './support/site.js';
import { LANGUAGES, words } from './support/texts.js';

const HOUR_MS = 3_600_000;

let browser;
let sender;
before(async () => {
  browser = await launch();
  sender = await newUser({ yuan: '1000' });
});
after(async () => { await browser?.close(); });

// Runs work(page) with the send form of the sender, in every language, with and without JavaScript.
async function everyForm(work) {
  for (const language of LANGUAGES) {
    for (const javaScriptEnabled of [true, false]) {
      const page = await clientPage(browser, sender.client, { locale: language, javaScriptEnabled });
      await page.goto(`${site.url}/send`);
      await work(page, { language, javaScriptEnabled });
      await page.context().close();
    }
  }
}

// Submits the form and returns the packet as JSON, as its sender sees it.
async function submit(page) {
  await page.click('form[action="/send"] button[type=submit]');
  await page.waitForURL(/\/p\/[0-9a-z]{26}$/);
  return (await sender.client.get(new URL(page.url()).pathname)).json;
}

const choose = (page, kind) => page.check(`[name=kind][value=${kind}]`, { force: true });

// Hours from now to the packet's expiry, rounded.
const hoursLeft = (packet) => Math.round((Date.parse(packet.expires_at) - Date.now()) / HOUR_MS);

test('an even packet by its total gives each share the same, and the first ones a fen more', async () => {
  const fields = { kind: 'even', amount: '10.00', count: '3', amount_of: 'total' };
  const sent = await sendPacket(sender, fields);
  assert.equal(sent.status, 201, sent.text);
  const path = `/p/${sent.json.id}`;
  const amounts = [];
  for (let i = 0; i < 3; i++) amounts.push((await (await newUser()).client.post(`${path}/open`)).json.amount_fen);
  assert.deepEqual(amounts, [334, 333, 333]);
  await poll('it is settled', async () => (await sender.client.get(`${path}/verify`)).json.shares_ok);
  const refused = await sendPacket(sender, { ...fields, amount_of: 'all' });
  const page = (await sender.client.postHtml('/send', { ...fields, amount_of: 'all' })).text;
  assert.match(page, /<details class="card options" open>\n<summary>更多选项/);
  assert.deepEqual([refused.status, refused.json.errors], [422, [{ field: 'amount_of', message: words('zh-CN', 'amount_of_unknown') }]]);
  await everyForm(async (page, { language, javaScriptEnabled }) => {
    const label = async () => (await page.innerText('label[for=amount]')).trim();
    await choose(page, 'even');
    assert.equal(await label(), words(language, 'amount_each'));
    await page.fill('[name=amount]', '10');
    await page.fill('[name=count]', '3');
    await page.click('details:has([name=amount_of]) summary');
    if (javaScriptEnabled) assert.equal(await page.innerText('[data-total] output'), '30.00');
    await page.selectOption('[name=amount_of]', 'total');
    assert.equal(await label(), words(language, 'amount_total'));
    if (javaScriptEnabled) assert.equal(await page.innerText('[data-total] output'), '10.00');
    const packet = await submit(page);
    assert.deepEqual([packet.kind, packet.amount_fen, packet.count], ['even', 1000, 3]);
  });
});

test('no share of a lucky packet is below the smallest one, and everybody can recompute it', async () => {
  for (const split of ['double-average', 'uniform', 'gaussian']) {
    const sent = await sendPacket(sender, { kind: 'lucky', split, amount: '6', count: '5', share_min: '1.00' });
    assert.equal(sent.status, 201, sent.text);
    const path = `/p/${sent.json.id}`;
    const amounts = [];
    for (const person of await site.demoUsers(5)) amounts.push((await person.post(`${path}/open`)).json.amount_fen);
    assert.equal(amounts.reduce((a, b) => a + b), 600);
    assert.ok(Math.min(...amounts) >= 100, amounts.join());
    await poll('it is settled', async () => (await sender.client.get(`${path}/verify`)).json.seed);
    const { seed, shares_ok: right, shares, share_min_fen: min } = (await sender.client.get(`${path}/verify`)).json;
    assert.deepEqual([right, min, shares.map(({ amount_fen: drawn }) => drawn)], [true, 100, amounts]);
    const printed = (await site.hongbao('verify', seed, 'lucky', '6.00', '5', split, '200', '1.00')).stdout;
    assert.deepEqual(printed.trim().split('\n').slice(1), amounts.map(fen));
    for (const language of LANGUAGES) {
      const page = await clientPage(browser, sender.client, { locale: language });
      await page.goto(`${site.url}${path}/verify`);
      await page.waitForFunction(() => document.querySelector('[data-seed]').textContent);
      assert.equal(await page.innerText('[data-seed]'), words(language, 'verify_right'));
      await page.click('main details.card > summary');
      assert.ok((await page.textContent('main')).includes(`hongbao verify ${seed} lucky 6.00 5 ${split} 200.00 1.00`));
      await page.context().close();
    }
  }
  const refused = await sendPacket(sender, { kind: 'lucky', amount: '6', count: '5', share_min: '1.21' });
  assert.deepEqual([refused.status, refused.json.errors], [422, [{ field: 'share_min', message: words('zh-CN', 'share_min_max', '1.20') }]]);
  await everyForm(async (page) => {
    await page.fill('[name=amount]', '6');
    await page.fill('[name=count]', '5');
    await page.click('details:has([name=share_min]) summary');
    await page.fill('[name=share_min]', '1.20');
    const packet = await submit(page);
    const person = (await site.demoUsers(1))[0];
    assert.equal((await person.post(`/p/${packet.id}/open`)).json.amount_fen, 120);
  });
  await audit();
});

test('a packet stays open for the lifetime that its sender chooses', async () => {
  const { lifetimes } = (await sender.client.get('/send')).json;
  assert.deepEqual(lifetimes.map(({ lifetime, lifetime_ms: ms }) => [lifetime, ms / HOUR_MS]), [['1h', 1], ['24h', 24], ['3d', 72], ['7d', 168]]);
  for (const [lifetime, hours] of [['1h', 1], ['7d', 168], ['', 24]]) {
    const sent = await sendPacket(sender, { kind: 'even', amount: '0.01', count: '1', lifetime });
    assert.equal(sent.status, 201, sent.text);
    assert.equal(hoursLeft((await sender.client.get(`/p/${sent.json.id}`)).json), hours);
  }
  const refused = await sendPacket(sender, { kind: 'even', amount: '0.01', count: '1', lifetime: '2h' });
  assert.deepEqual([refused.status, refused.json.errors], [422, [{ field: 'lifetime', message: words('zh-CN', 'lifetime_unknown', '1h, 24h, 3d, 7d') }]]);
  await everyForm(async (page) => {
    await page.fill('[name=amount]', '1');
    await page.fill('[name=count]', '2');
    await page.click('details:has([name=lifetime]) summary');
    assert.equal(await page.inputValue('[name=lifetime]'), '24h');
    await page.selectOption('[name=lifetime]', '3d');
    assert.equal(hoursLeft(await submit(page)), 72);
  });
});

test('a late visitor reads for how long the packet was open', async () => {
  let path;
  await site.withSetting(['page'], { HB_PACKET_LIFETIMES: '1s 24h' }, async () => {
    const sent = await sendPacket(sender, { kind: 'lucky', amount: '1', count: '2', lifetime: '1s' });
    assert.equal(sent.status, 201, sent.text);
    path = `/p/${sent.json.id}`;
  });
  await poll('it is over', async () => (await sender.client.get(path)).json.state === 'expired');
  const late = await newUser();
  for (const [language, said] of [['zh-CN', /该红包已超过1秒。/], ['en', /This red packet expired after 1 second\. /]]) {
    assert.match((await late.client.getHtml(path, { 'accept-language': language })).text, said);
    const refused = await late.client.post(`${path}/open`, undefined, { 'accept-language': language });
    assert.equal(refused.status, 410);
    assert.match(refused.json.title, language === 'en' ? /^This red packet has expired\. / : /^该红包已过期。/);
  }
  await audit();
});
