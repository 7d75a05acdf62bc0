// What people type and paste is read as they mean it: by forms, filters and the page's live total.
// tests/unit/typed.json has the cases of each reader; here each reader is used once.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileBrowser } from './support/browser.js';
import { Client, newUser, sendPacket, unique } from './support/site.js';
import { words } from './support/texts.js';
import { pageAt } from './support/visits.js';

const browser = fileBrowser();

const cases = JSON.parse(readFileSync(new URL('../unit/typed.json', import.meta.url)));
const order = (more) => ({ kind: 'even', amount: '1', count: '1', request_key: unique('k'), ...more });

test('the live total of the page is what the server would take', async () => {
  const { client } = await newUser();
  const page = await pageAt(browser, client, '/send');
  await page.check('[name=kind][value=even]', { force: true });
  const total = () => page.innerText('[data-total] output');
  await page.fill('[name=count]', '1');
  for (const [typed, fen] of cases.amounts[0].cases) {
    if (/[\r\n]/.test(typed)) continue; // a one-line input can't hold line breaks
    await page.fill('[name=amount]', typed);
    const wanted = typeof fen === 'number' ? (fen / 100).toFixed(2) : '0.00';
    assert.equal((await total()).replaceAll(',', ''), wanted, JSON.stringify(typed));
  }
  await page.fill('[name=amount]', '1');
  for (const [typed, count] of [['3个', 3], ['０３', 3], ['1e1', 0], ['2.', 0], ['\u200b', 0]]) {
    await page.fill('[name=count]', typed);
    assert.equal(await total(), `${count}.00`, JSON.stringify(typed));
  }
});

test('a name is the same with an @, blanks of any kind and invisible characters around it', async () => {
  const [sender, one, two] = [await newUser({ yuan: '10' }), await newUser(), await newUser()];
  for (const username of [`\ufeff${one.username}\u202c`, `＠ ${one.username}\u2005`]) {
    assert.equal((await new Client().post('/login', { username, password: one.password })).status, 200, JSON.stringify(username));
    assert.equal((await sendPacket(sender, order({ kind: 'exclusive', amount: '0.01', to: username }))).status, 201, JSON.stringify(username));
    const found = await sender.client.get(`/records/sent?person=${encodeURIComponent(username)}`);
    assert.deepEqual([found.status, found.json.items.length > 0], [200, true], JSON.stringify(username));
  }
  assert.equal((await sendPacket(sender, order({ amount: '0.01', count: '2', to: `${one.username}、${two.username}` }))).status, 201);
});

test('a time is read as people write it, and what is none is told with an example', async () => {
  const sender = await newUser({ yuan: '100' });
  const day = new Date(Date.now() + 5 * 86_400_000).toISOString().slice(0, 10);
  const [year, month, date] = day.split('-');
  for (const typed of [`${year}/${+month}/${+date} 20:00`, `${day} 20:00 (UTC+8)`, `${year}年${+month}月${+date}日20点`]) {
    const sent = await sendPacket(sender, order({ opens_at: typed }));
    assert.equal((await sender.client.get(`/p/${sent.json?.id}`)).json.opens_at, `${day}T12:00:00.000Z`, typed); // 20:00 in Asia/Shanghai
  }
  const refused = await sendPacket(sender, order({ opens_at: `${day} 20:00 21:00` }));
  assert.deepEqual(refused.json.errors, [{ field: 'opens_at', message: words('zh-CN', 'opens_invalid') }]);
  assert.match(words('en', 'opens_invalid'), /\d{4}-\d\d-\d\d \d\d:\d\d/);
  const { text } = await sender.client.postHtml('/send', order({ amount: '', opens_at: `${year}/${month}/${date} 20:00` }));
  assert.match(text, new RegExp(`type="datetime-local"[^>]* value="${day}T20:00"`), 'what was typed is not lost');
  assert.equal((await sender.client.get(`/records/sent?from=${year}/1/1&to=${year}年12月31日`)).status, 200);
});
