// What people type and paste is read as they mean it: by forms, filters and the page's live total. The readers have
// their cases in tests/unit/typed.json; here each is reached.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { Client, clientPage, launch, newUser, sendPacket, site, unique } from './support/site.js';
import { words } from './support/texts.js';

let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser?.close(); });

const cases = JSON.parse(readFileSync(new URL('../unit/typed.json', import.meta.url)));
const order = (more) => ({ kind: 'even', amount: '1', count: '1', request_key: unique('k'), ...more });

test('counts and amounts are read as people write them', async () => {
  const sender = await newUser({ yuan: '100' });
  for (const [typed, count] of [[' 3', 3], ['03', 3], ['３\u3000', 3], ['3个', 3], ['2 份', 2], ['\u202a2\u202c', 2]]) {
    const sent = await sendPacket(sender, order({ count: typed }));
    assert.equal((await sender.client.get(`/p/${sent.json.id}`)).json.count, count, JSON.stringify(typed));
  }
  for (const [typed, fen] of [['2.', 200], ['.5', 50], ['\u00a01.20\u200f', 120], ['1块', 100], ['０1。5元', 150]]) {
    const sent = await sendPacket(sender, order({ amount: typed }));
    assert.equal((await sender.client.get(`/p/${sent.json.id}`)).json.amount_fen, fen, JSON.stringify(typed));
  }
  for (const typed of ['+3', '1e1', '3.0', '0x3', '-3', '3元']) {
    const refused = await sendPacket(sender, order({ count: typed }));
    assert.deepEqual(refused.json.errors, [{ field: 'count', message: words('zh-CN', 'count_not_whole') }], typed);
  }
});

test('the live total of the page is what the server would take', async () => {
  const { client } = await newUser();
  const page = await clientPage(browser, client);
  await page.goto(`${site.url}/send`);
  await page.check('[name=kind][value=even]', { force: true });
  const total = () => page.innerText('[data-total] output');
  await page.fill('[name=count]', '1');
  for (const [typed, fen] of cases.yuan) {
    if (/[\r\n]/.test(typed)) continue; // an input of one line has none
    await page.fill('[name=amount]', typed);
    const wanted = typeof fen === 'number' ? (fen / 100).toFixed(2) : '0.00';
    assert.equal((await total()).replaceAll(',', ''), wanted, JSON.stringify(typed));
  }
  await page.fill('[name=amount]', '1');
  for (const [typed, count] of [['3个', 3], ['０３', 3], ['1e1', 0], ['2.', 0], ['\u200b', 0]]) {
    await page.fill('[name=count]', typed);
    assert.equal(await total(), `${count}.00`, JSON.stringify(typed));
  }
  await page.context().close();
});

test('a name is the same with an @, blanks of any kind and invisible characters around it', async () => {
  const [sender, one, two] = [await newUser({ yuan: '10' }), await newUser(), await newUser()];
  for (const around of ['\u00a0~', '~\u200b', '\ufeff~', '\u202a~\u202c', '@~', '＠ ~\u2005']) {
    const username = around.replace('~', one.username);
    assert.equal((await new Client().post('/login', { username, password: one.password })).status, 200, JSON.stringify(around));
    assert.equal((await sendPacket(sender, order({ kind: 'exclusive', amount: '0.01', to: username }))).status, 201, JSON.stringify(around));
    const found = await sender.client.get(`/records/sent?person=${encodeURIComponent(username)}`);
    assert.deepEqual([found.status, found.json.items.length > 0], [200, true], JSON.stringify(around));
  }
  for (const mark of ['\u00a0', '\u3000', '\u2028', '\t', '、', '\u2005@', '/']) {
    const sent = await sendPacket(sender, order({ amount: '0.01', count: '2', to: `${one.username}${mark}${two.username}` }));
    assert.equal(sent.status, 201, JSON.stringify(mark));
  }
});

test('a nickname that draws nothing is refused', async () => {
  const { client } = await newUser();
  for (const nickname of ['\u{1d159}', '\ufffc', '\u{13441}', '\ue000', '\u{f0000}', '\u0301', '\u3164', '\uffff']) {
    const refused = await client.post('/account/nickname', { nickname });
    assert.deepEqual([refused.status, refused.json.errors?.[0].field], [422, 'nickname'], nickname.codePointAt(0).toString(16));
  }
  const kept = await client.post('/account/nickname', { nickname: 'Bob\ufffc\u{1d159}' });
  assert.deepEqual([kept.status, kept.json.nickname], [200, 'Bob']);
});

test('a recovery code is read with the dashes and blanks that copying makes of its hyphens', async () => {
  const user = await newUser();
  const { codes } = (await user.client.post('/account/recovery', { password: user.password })).json;
  for (const [i, dash] of ['–', '\u00a0', '\u2011', '\u3000', '—'].entries()) {
    const code = `\u202a${codes[i].code.replaceAll('-', dash)}\ufeff`;
    assert.equal((await new Client().post('/login/recovery', { username: ` @${user.username}`, code })).status, 200, JSON.stringify(dash));
  }
});

test('a time is read as people write it, and what is none is told with an example', async () => {
  const sender = await newUser({ yuan: '100' });
  const day = new Date(Date.now() + 5 * 86_400_000).toISOString().slice(0, 10);
  const [year, month, date] = day.split('-');
  const noon = `${day}T12:00:00.000Z`; // 20:00 in Asia/Shanghai
  for (const typed of [`${day} 20:00`, `${day}\u300020:00`, `${day} 20：00`, `${year}/${+month}/${+date} 20:00`, `${day} 20:00 +08:00`,
    `${day} 12:00 Z`, `${day} 20:00 (UTC+8)`, `${year}年${+month}月${+date}日20点`]) {
    const sent = await sendPacket(sender, order({ opens_at: typed }));
    assert.equal(sent.status, 201, typed);
    assert.equal((await sender.client.get(`/p/${sent.json.id}`)).json.opens_at, noon, typed);
  }
  const refused = await sendPacket(sender, order({ opens_at: `${day} 20:00 21:00` }));
  assert.deepEqual(refused.json.errors, [{ field: 'opens_at', message: words('zh-CN', 'opens_invalid') }]);
  assert.match(words('en', 'opens_invalid'), /\d{4}-\d\d-\d\d \d\d:\d\d/);
  const { text } = await sender.client.postHtml('/send', order({ amount: '', opens_at: `${year}/${month}/${date} 20:00` }));
  assert.match(text, new RegExp(`type="datetime-local"[^>]* value="${day}T20:00"`), 'what was typed is not lost');
  const filtered = await sender.client.get(`/records/sent?from=${year}/1/1&to=${year}年12月31日`);
  assert.equal(filtered.status, 200);
});

test('the fairness check on the command line takes what was copied from a page', async () => {
  const seed = 'ab'.repeat(32);
  const verify = async (...args) => (await site.hongbao('verify', ...args).catch((error) => error));
  const { stdout } = await verify(seed, 'lucky', '10.00', '3', '--returned', '0,2');
  assert.equal(stdout.split('\n').length, 7, stdout);
  const copied = await verify(`\u00a0${seed}\u200b`, ' lucky', '¥10元', '３个', '--returned', '0，\u00a02');
  assert.equal(copied.stdout, stdout);
  for (const args of [['10.00', '3.0'], ['-10', '3'], ['99999999', '3'], ['10.00', '3', '\u20ac'], ['10.00', '3', '--returned', '0;2']]) {
    assert.equal((await verify(seed, 'lucky', ...args)).code, 2, args.join(' '));
  }
});
