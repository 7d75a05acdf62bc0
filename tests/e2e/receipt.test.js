// Receipts: their signature checked by another implementation (node's) and by `hongbao verify-receipt`, the keys, the page.
import assert from 'node:assert/strict';
import { createHash, createPublicKey, verify } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileBrowser } from './support/browser.js';
import { tried } from './support/instance.js';
import { opened, settled } from './support/packets.js';
import { temporaryFolder } from './support/run.js';
import { Client, newUser, sendPacket, site } from './support/site.js';
import { words } from './support/texts.js';
import { pageAt, testVisitors } from './support/visits.js';

const KEYS = '/.well-known/hongbao-receipt-keys';
const NAMES = ['packet', 'share_no', 'amount_fen', 'user_id', 'username', 'nickname', 'grabbed_at', 'sender_id', 'sender',
  'commitment', 'issued_by'];

const browser = fileBrowser();
const folder = temporaryFolder('receipts');
let sender, grabber, path, packet;

before(async () => {
  sender = await newUser({ nickname: '小明 = 明', yuan: '100' });
  grabber = await newUser({ nickname: '阿刚 <b>&amp;</b> "\\"' });
  packet = (await sendPacket(sender, { kind: 'lucky', amount: '10', count: '3' })).json;
  path = `/p/${packet.id}`;
  await opened(grabber, path);
  await settled(grabber, path);
});

const keysNow = async () => (await new Client().get(KEYS)).json.keys;

// Verifies the signature as docs/reference/receipt.md describes it.
function isSigned({ receipt, signature, key_id }, keys) {
  const { public_key } = keys.find((key) => key.key_id === key_id);
  assert.equal(key_id, createHash('sha256').update(Buffer.from(public_key, 'base64url')).digest('hex').slice(0, 16));
  assert.deepEqual(Object.keys(receipt), ['version', ...NAMES]);
  const text = `hongbao receipt v${receipt.version}\n${NAMES.map((name) => `${name}=${receipt[name]}\n`).join('')}`;
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: public_key }, format: 'jwk' });
  return verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64url'));
}

const written = (name, text) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

// Runs `hongbao verify-receipt` on this value: { code, stdout, stderr }.
const checked = (value, more = [], settings = {}) => tried(['verify-receipt',
  written('receipt.json', typeof value === 'string' ? value : JSON.stringify(value)), ...more], settings);

test('a receipt says what the own share was, and another implementation finds the signature good', async () => {
  const mine = (await grabber.client.get(path)).json.mine;
  const answer = await grabber.client.get(`${path}/receipt`);
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  assert.match(answer.headers.get('x-robots-tag'), /noindex/);
  assert.deepEqual(Object.keys(answer.json), ['receipt', 'signature', 'key_id']);
  assert.deepEqual(answer.json.receipt, {
    version: 1, packet: packet.id, share_no: mine.share_no, amount_fen: mine.amount_fen, user_id: grabber.id,
    username: grabber.username, nickname: '阿刚 <b>&amp;</b> "\\"', grabbed_at: mine.grabbed_at, sender_id: sender.id,
    sender: '小明 = 明', commitment: packet.commitment, issued_by: site.url,
  });
  assert.ok(isSigned(answer.json, await keysNow()));
  assert.deepEqual((await grabber.client.get(`${path}/receipt`)).json, answer.json, 'the same again');
});

test('the file to save is the same JSON, and the program finds it good with and without the configuration', async () => {
  const saved = await grabber.client.getHtml(`${path}/receipt.json`);
  assert.equal(saved.headers.get('content-disposition'), `attachment; filename="hongbao-receipt-${packet.id}.json"`);
  assert.equal(saved.headers.get('content-type'), 'application/json');
  assert.deepEqual(saved.json, (await grabber.client.get(`${path}/receipt`)).json);
  const good = await checked(saved.text);
  assert.equal(good.code, 0, good.stderr);
  assert.match(good.stdout, new RegExp(`^good: .*${packet.id}`, 's'));
  assert.equal((await checked(saved.text, ['--keys', written('keys.json', (await new Client().get(KEYS)).text)])).code, 0);
  const unknown = await checked(saved.text, ['--keys', written('keys.json', '{"keys":[]}')]);
  assert.equal(unknown.code, 1);
  assert.match(unknown.stdout, /^forged/);
  const none = await checked({ ...saved.json, note: 'more' }); // tests/unit/test_receipt.c has more, and forged ones
  assert.deepEqual([none.code, /not a receipt/.test(none.stderr)], [2, true]);
  for (const words of [[], [join(folder, 'missing')]]) assert.equal((await tried(['verify-receipt', ...words])).code, 2);
  assert.equal((await checked(saved.text, ['--keys', join(folder, 'missing')])).code, 2);
});

test('the keys are for everybody and may be cached; a new one signs from its day on, the earlier ones stay', async () => {
  const answer = await new Client().getHtml(KEYS);
  assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'application/json']);
  assert.equal(answer.headers.get('cache-control'), 'public, max-age=3600');
  assert.equal(answer.headers.get('set-cookie'), null);
  const [first] = answer.json.keys;
  assert.deepEqual(answer.json.keys, [{ ...first, from: '2026-01-01T00:00:00.000Z', until: null }]);
  const earlier = (await grabber.client.get(`${path}/receipt`)).json;
  const days = { HB_RECEIPT_KEY_DAYS: '2026-01-01 2026-02-01 9999-12-31' };
  await site.withSetting(['page'], days, async () => {
    const keys = await keysNow();
    assert.deepEqual(keys.map(({ from, until }) => [from.slice(0, 10), until?.slice(0, 10)]),
      [['2026-01-01', '2026-02-01'], ['2026-02-01', '9999-12-31'], ['9999-12-31', undefined]]);
    assert.equal(keys[0].key_id, first.key_id);
    const now = (await grabber.client.get(`${path}/receipt`)).json;
    assert.equal(now.key_id, keys[1].key_id);
    assert.deepEqual(now.receipt, earlier.receipt);
    assert.ok(isSigned(now, keys));
    assert.ok(isSigned(earlier, keys));
  });
  // A file makes the keys of another secret known; without it the receipt's key is unknown.
  const other = (settings) => checked(earlier, [], { HB_SECRET: 'x'.repeat(40), ...settings });
  assert.equal((await other({})).code, 1);
  assert.equal((await other({ HB_RECEIPT_KEYS_FILE: written('earlier.json', answer.text) })).code, 0);
  assert.equal((await other({ HB_RECEIPT_KEYS_FILE: join(folder, 'missing') })).code, 2);
});

testVisitors('the page of the result leads to the receipt', async ({ locale, javaScriptEnabled }) => {
  const page = await pageAt(browser, grabber.client, path, { viewport: { width: 320, height: 700 }, locale, javaScriptEnabled });
  await page.click(`a[href="${path}/receipt"]`);
  assert.ok((await page.title()).startsWith(words(locale, 'receipt')));
  const { receipt, signature } = (await grabber.client.get(`${path}/receipt`)).json;
  const shown = await page.textContent('main'); // what a program checks is folded
  const first = await page.innerText('article');
  assert.equal(/[壹贰叁肆伍陆柒捌玖][元角分]/.test(first), locale === 'zh-CN', 'the amount in capitals, where they are used');
  assert.ok(first.includes(receipt.nickname) && first.includes(receipt.sender), 'people come first');
  assert.ok(!first.includes(receipt.commitment) && !first.includes(signature), 'then what a program checks');
  for (const text of [(receipt.amount_fen / 100).toFixed(2), receipt.nickname, receipt.username, receipt.commitment, signature]) {
    assert.ok(shown.includes(text), text);
  }
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(width <= 320, `${width} pixels wide`);
  await page.emulateMedia({ media: 'print' });
  assert.deepEqual([await page.isVisible('.actions'), await page.isVisible('dl')], [false, true]);
  assert.match(await page.innerText('.receipt dd:has(time)'), /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(（北京时间）|, China Standard Time)/, 'in the zone of the site, which is printed');
  assert.equal(await page.isVisible('details'), false);
  await page.emulateMedia({ media: 'screen' });
  await page.click('summary');
  const [download] = await Promise.all([page.waitForEvent('download'), page.click(`a[href="${path}/receipt.json"]`)]);
  assert.equal(download.suggestedFilename(), `hongbao-receipt-${packet.id}.json`);
  assert.equal((await site.hongbao('verify-receipt', await download.path())).stdout.slice(0, 5), 'good:');
});
