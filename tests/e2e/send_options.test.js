// What a sender can choose for a packet, besides its kind, amount and count: by JSON, by the form with and without
// JavaScript, in both languages.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { fileBrowser } from './support/browser.js';
import { sentPath } from './support/packets.js';
import { audit, fen, newUser, poll, sendPacket, site } from './support/site.js';
import { LANGUAGES, words } from './support/texts.js';
import { pageAt } from './support/visits.js';

const HOUR_MS = 3_600_000;

const browser = fileBrowser();
let sender;
before(async () => { sender = await newUser({ yuan: '1000' }); });

// Runs work(page) with the send form of the sender, in both languages, with and without scripts.
async function everyForm(work) {
  for (const options of [{ locale: 'zh-CN', javaScriptEnabled: true }, { locale: 'en', javaScriptEnabled: false }]) {
    await work(await pageAt(browser, sender.client, '/send', options), options);
  }
}

// Submits the form and returns the packet as JSON, as its sender sees it.
async function submit(page) {
  await page.click('form[action="/send"] button[type=submit]');
  await page.waitForURL(/\/p\/[0-9a-z]{26}$/);
  return (await sender.client.get(new URL(page.url()).pathname)).json;
}

const choose = (page, kind) => page.check(`[name=kind][value=${kind}]`, { force: true });

test('an even packet by its total gives each share the same, and the first ones a fen more', async () => {
  const path = await sentPath(sender, { kind: 'even', amount: '10.00', count: '3', amount_of: 'total' });
  const amounts = [];
  for (const person of await site.demoUsers(3)) amounts.push((await person.post(`${path}/open`)).json.amount_fen);
  assert.deepEqual(amounts, [334, 333, 333]);
  const refused = (await sender.client.postHtml('/send', { kind: 'even', amount: '10', count: '3', amount_of: 'all' })).text;
  assert.match(refused, /<details class="card options" open>\n<summary>更多选项/);
  await everyForm(async (page, { locale: language, javaScriptEnabled }) => {
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
  const path = await sentPath(sender, { kind: 'lucky', split: 'gaussian', amount: '6', count: '5', share_min: '1.00' });
  const amounts = [];
  for (const person of await site.demoUsers(5)) amounts.push((await person.post(`${path}/open`)).json.amount_fen);
  assert.ok(Math.min(...amounts) >= 100, amounts.join());
  await poll('it is settled', async () => (await sender.client.get(`${path}/verify`)).json.seed);
  const { seed, shares_ok: right, share_min_fen: min } = (await sender.client.get(`${path}/verify`)).json;
  assert.deepEqual([right, min], [true, 100]);
  const printed = (await site.hongbao('verify', seed, 'lucky', '6.00', '5', 'gaussian', '200', '1.00')).stdout;
  assert.deepEqual(printed.trim().split('\n').slice(1), amounts.map(fen));
  for (const language of LANGUAGES) {
    const page = await pageAt(browser, sender.client, `${path}/verify`, { locale: language });
    await page.waitForFunction(() => document.querySelector('[data-seed]').textContent);
    assert.equal(await page.innerText('[data-seed]'), words(language, 'verify_right'));
    await page.click('main details.card > summary');
    assert.ok((await page.textContent('main')).includes(`hongbao verify ${seed} lucky 6.00 5 gaussian 200.00 1.00`));
  }
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
  await everyForm(async (page) => {
    await page.fill('[name=amount]', '1');
    await page.fill('[name=count]', '2');
    await page.click('details:has([name=lifetime]) summary');
    assert.equal(await page.inputValue('[name=lifetime]'), '24h');
    await page.selectOption('[name=lifetime]', '3d');
    const { expires_at: end } = await submit(page);
    assert.equal(Math.round((Date.parse(end) - Date.now()) / HOUR_MS), 72);
  });
});

test('a note to oneself is read only by its sender: on the page, in records, search, file and export', async () => {
  const author = await newUser({ yuan: '100' });
  const note = '报销 "May" <b>\\ 七月';
  const path = await sentPath(author, { kind: 'even', amount: '2', count: '2', note });
  const people = await site.demoUsers(2);
  // The JSON and the page for somebody who must not see it.
  const nothingOf = async (client) => {
    const { json, text } = await client.get(path);
    assert.ok(!('note' in json) && !text.includes('报销'));
    assert.ok(!(await client.getHtml(path)).text.includes('报销'));
  };
  const shown = async () => {
    assert.equal((await author.client.get(path)).json.note, note);
    assert.ok((await author.client.getHtml(path)).text.includes('报销 &quot;May&quot; &lt;b&gt;'));
  };
  await shown();
  for (const person of people) {
    await nothingOf(person);
    assert.equal((await person.post(`${path}/open`)).json.result, 'grabbed');
    await nothingOf(person);
  }
  await poll('it is settled', async () => (await author.client.get(`${path}/verify`)).json.seed);
  for (let i = 0; i < 3; i++) { // from Redis and from the memory of the pools
    await shown();
    for (const person of [...people, sender.client]) await nothingOf(person);
  }
  const found = async (client, side, q) => (await client.get(`/records/${side}?q=${encodeURIComponent(q)}`)).json.items.map((item) => item.note);
  assert.deepEqual(await found(author.client, 'sent', 'may'), [note]);
  assert.deepEqual(await found(author.client, 'sent', 'june'), []);
  assert.deepEqual(await found(people[0], 'received', 'may'), []);
  assert.ok((await author.client.getHtml('/records/sent')).text.includes('报销'));
  assert.ok((await author.client.get('/records/sent.csv')).text.includes(',"报销 ""May"" <b>\\ 七月"\r\n'));
  assert.equal(JSON.parse((await author.client.get('/account/export')).text).sent[0].note, note);
  for (const file of ['/records/received', '/records/received.csv', '/account/export', '/']) {
    assert.ok(!(await people[0].get(file)).text.includes('报销'), file);
  }
  const refused = await sendPacket(author, { kind: 'even', amount: '1', count: '1', note: 'n'.repeat(51) });
  assert.deepEqual([refused.status, refused.json.errors.map(({ field }) => field)], [422, ['note']]);
  await everyForm(async (page, { locale: language }) => {
    await page.fill('[name=amount]', '1');
    await page.fill('[name=count]', '1');
    await page.click('details:has([name=note]) summary');
    await page.fill('[name=note]', 'Team 聚餐');
    assert.equal((await submit(page)).note, 'Team 聚餐');
    assert.ok((await page.innerText('main')).includes(words(language, 'note_yours').replace(/\{\{.*/, '')));
    assert.ok((await page.innerText('main')).includes('Team 聚餐'));
  });
  await audit();
});
