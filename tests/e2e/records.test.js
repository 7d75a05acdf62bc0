// Records, verification and wallet in a real Chromium: the chart of the months, the draw recomputed by the browser, the
// statement.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { fileBrowser } from './support/browser.js';
import { opened, sentPath, settled } from './support/packets.js';
import { run } from './support/run.js';
import { fen, poll, pooled, site, unique } from './support/site.js';
import { words } from './support/texts.js';
import { clientPage, testVisitors } from './support/visits.js';

const GRABBERS = 5;
const SENT = 25; // more than a page of the wallet

const browser = fileBrowser();
let sender;
let grabbers;
before(async () => { [sender, ...grabbers] = await site.demoUsers(GRABBERS + 1); });

const pageOf = (client, options) =>
  clientPage(browser, client, { viewport: { width: 320, height: 700 }, locale: 'zh-CN', ...options });

// Sends a packet, has all shares grabbed, and waits until it is settled.
async function finished(fields) {
  const packet = await sentPath({ client: sender }, fields);
  for (const client of grabbers.slice(0, Number(fields.count ?? 1))) await opened({ client }, packet);
  const path = `${packet}/verify`;
  await poll('the seed is public', async () => (await sender.get(path)).json.seed);
  return path;
}

// The result of the browser's verification, as shown on the page.
const said = (page) => page.innerText('[role=status][data-seed]');
const text = (key) => words('zh-CN', key);

test('the browser recomputes the draw of every kind of packet', async () => {
  const me = await grabbers[0].get('/');
  const paths = await pooled([
    { kind: 'lucky', split: 'double-average', amount: '66.66', count: '5' },
    { kind: 'lucky', split: 'double-average', amount: '0.05', count: '5' },
    { kind: 'lucky', split: 'uniform', amount: '66.66', count: '5' },
    { kind: 'lucky', split: 'gaussian', amount: '66.66', count: '5' },
    { kind: 'even', amount: '1.23', count: '5' },
    { kind: 'exclusive', amount: '1', to: me.json.user.username },
  ], 1, finished);
  // Near the limit of a share, larger amounts are redistributed.
  for (const split of ['double-average', 'uniform', 'gaussian']) {
    const rich = await sender.post('/wallet/deposit', { amount: '1000', request_key: unique('k') });
    assert.equal(rich.status, 201, rich.text);
    paths.push(await finished({ kind: 'lucky', split, amount: '940', count: '5' }));
  }
  const page = await pageOf(sender);
  for (const path of paths) {
    await page.goto(site.url + path);
    await poll('the browser is done', () => said(page));
    assert.equal(await said(page), text('verify_right'), path);
  }
  await page.goto(site.url + paths[0]);
  await poll('the browser is done', () => said(page));
});

test('the browser itself detects a seed or an amount that does not match', async () => {
  const path = await finished({ kind: 'lucky', amount: '20', count: '5' });
  const page = await pageOf(sender);
  const changed = async (change) => {
    await page.route(site.url + path, async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ response: answer, body: change(await answer.text()) });
    });
    await page.goto(site.url + path);
    await poll('the browser is done', () => said(page));
    await page.unroute(site.url + path);
    return said(page);
  };
  assert.equal(await changed((html) => html.replace(/data-paid="(\d+)"/, (_, paid) => `data-paid="${Number(paid) + 1}"`)), text('verify_shares_wrong'));
  assert.equal(await page.locator('tr.wrong').count(), 1);
  assert.equal(await changed((html) => html.replace(/data-fen="(\d+)"/, (_, drawn) => `data-fen="${Number(drawn) + 1}"`)), text('verify_shares_wrong'));
  const flip = (html, name) => html.replace(new RegExp(`data-${name}="(.)`), (_, digit) => `data-${name}="${digit === '0' ? '1' : '0'}`);
  assert.equal(await changed((html) => flip(html, 'seed')), text('verify_seed_wrong'));
  assert.equal(await changed((html) => flip(html, 'commitment')), text('verify_seed_wrong'));
  assert.equal(await changed((html) => html), text('verify_right'));
});

test('where the browser can not verify, the page says so and shows commands that can', async () => {
  const path = await finished({ kind: 'lucky', amount: '20', count: '5' });
  const page = await pageOf(sender);
  await page.addInitScript(() => Object.defineProperty(Crypto.prototype, 'subtle', { value: undefined }));
  await page.goto(site.url + path);
  await poll('the browser is done', () => said(page));
  assert.equal(await said(page), text('verify_cannot'));

  const plain = await pageOf(sender, { javaScriptEnabled: false });
  await plain.goto(site.url + path);
  assert.equal(await said(plain), '');
  const { json } = await sender.get(path);
  const rows = await plain.locator('tbody tr').allInnerTexts();
  assert.equal(rows.length, 5);
  json.shares.forEach((share, i) => assert.ok(rows[i].includes(fen(share.amount_fen)), rows[i]));
  await plain.click('main details:last-of-type summary');
  const [fingerprint, draw] = await plain.locator('.command').allInnerTexts();
  assert.match((await run('sh', ['-c', fingerprint])).stdout, new RegExp(`^${json.commitment} `));
  const drawn = (await site.hongbao(...draw.split(' ').slice(1))).stdout.trim().split('\n');
  assert.deepEqual(drawn, [`commitment ${json.commitment}`, ...json.shares.map((share) => fen(share.amount_fen))]);
});

test('a month is one condition, and nothing found is no file to save', async () => {
  const chipsOf = async (days) => [...(await sender.getHtml(`/records/sent?${days}&min=0.01`)).text.matchAll(/class="chip gone"[^>]*>([^<]*)/g)].map(([, chip]) => chip);
  const month = await chipsOf('from=2025-02-01&to=2025-02-28');
  assert.deepEqual([month[0], month.length], ['2025年2月', 2]);
  assert.equal((await chipsOf('from=2025-02-01&to=2025-02-27')).length, 3);
  assert.doesNotMatch((await sender.getHtml('/records/sent?from=2025-02-01&to=2025-02-28')).text, /sent\.csv/);
});

testVisitors('the filter form finds records, and chips leave a filter out', async (options) => {
  const { locale } = options;
  const [finder] = await site.demoUsers(1);
  for (const fields of [
    { kind: 'even', amount: '1', count: '1', greeting: 'Good Morning' },
    { kind: 'even', amount: '3', count: '1', greeting: 'good morning' },
    { kind: 'lucky', amount: '3', count: '2', greeting: 'Good Night' },
  ]) assert.equal((await finder.post('/send', fields)).status, 201);
  const page = await pageOf(finder, options);
  const found = () => page.locator('.rows li').count();
  await page.goto(`${site.url}/records/sent`);
  assert.equal(await found(), 3);
  await page.click('.filters summary');
  await page.fill('[name=q]', 'MORNING');
  await page.fill('[name=min]', '2');
  await page.click('.filters button');
  await page.waitForURL(/q=MORNING/);
  assert.equal(await found(), 1);
  assert.match(await page.innerText('.rows'), /3\.00/);
  assert.equal(await page.locator('.chip').count(), 2);
  await page.click('.chip:has-text("2")');
  await page.waitForURL((url) => !url.searchParams.get('min'));
  assert.equal(await found(), 2);
  await page.click('.filters summary');
  assert.equal(await page.inputValue('[name=q]'), 'MORNING');
  assert.match(await page.innerText('.found'), locale === 'en' ? /^2 red packets · ¥[\d.]+ in total$/ : /^共2个 · 合计[\d.]+\u2060元$/);
  assert.match(await page.getAttribute('.tabs a[href^="/records/received"]', 'href'), /q=MORNING/);
  await page.selectOption('[name=kind]', 'lucky');
  await page.click('.filters button');
  await page.waitForURL(/kind=lucky/);
  assert.ok((await page.innerText('.empty')).includes(words(locale, 'filter_none')));
  await page.click('.empty a');
  await page.waitForURL(`${site.url}/records/sent`);
  assert.equal(await found(), 3);
  await page.goto(`${site.url}/records/sent?min=x&to=2026-02-30`);
  assert.match(await page.innerText('[role=alert]'), locale === 'en' ? /date/ : /日期/);
  assert.deepEqual([await page.inputValue('[name=min]'), await page.inputValue('[name=to]')], ['x', '2026-02-30']);
});

test('who was meant by a word is offered as the person of a search, and the person alone', async () => {
  const [giver] = await site.demoUsers(1);
  const { user } = (await grabbers[0].get('/')).json;
  const [receiver] = grabbers.map((client) => ({ client }));
  const path = await sentPath({ client: giver }, { kind: 'lucky', amount: '10', count: '2' });
  const { amount_fen: got } = await opened(receiver, path);
  await settled(receiver, path);
  for (const locale of ['zh-CN', 'en']) {
    const page = await pageOf(giver, { locale, javaScriptEnabled: locale === 'en' });
    await page.goto(`${site.url}/records/sent?kind=even`);
    await page.click('.filters summary');
    // the filter has only the person, no field that was emptied since
    await page.click(`.filters .chip[href$="person=${user.username}"]`);
    await page.waitForURL(`${site.url}/records/sent?person=${user.username}`);
    assert.equal(await page.innerText('.found'), locale === 'en'
      ? `1 red packet · ${user.nickname} received ¥${fen(got)} in total` : `共1个 · ${user.nickname}一共领取${fen(got)}\u2060元`);
    await page.goto(`${site.url}/records/sent?kind=lucky&q=${encodeURIComponent(user.nickname)}`);
    const meant = page.locator('.empty a').first();
    assert.equal(await meant.innerText(), words(locale, 'filter_meant').replace('{{$who}}{{/who}}', user.nickname));
    await meant.click();
    await page.waitForURL(`${site.url}/records/sent?person=${user.username}`);
  }
});

test('the receiver of an exclusive packet is named to its sender, at home and in the records', async () => {
  const [giver, dear] = await site.demoUsers(2);
  const { user } = (await dear.get('/')).json;
  assert.equal((await giver.post('/send', { kind: 'exclusive', amount: '5.20', to: user.username })).status, 201);
  const named = words('zh-CN', 'packet_for').replace(/\{\{\$who\}\}.*\{\{\/who\}\}/, `<bdi translate="no">${user.nickname}</bdi>`);
  for (const path of ['/', '/records/sent']) assert.ok((await giver.getHtml(path)).text.includes(named), path);
});

test('records come as a CSV file, by address, by Accept and by a link, with all rows', async () => {
  const [saver] = await site.demoUsers(1);
  for (let i = 0; i < SENT; i += 1) {
    const fields = { kind: 'even', amount: '0.01', count: '1', greeting: 'plain' };
    assert.equal((await saver.post('/send', fields)).status, 201);
  }
  for (const [path, accept] of [['/records/sent.csv', 'text/html,*/*'], ['/records/sent', 'text/csv']]) {
    const answer = await saver.get(path, { accept, 'accept-language': 'en' });
    assert.equal(answer.status, 200, answer.text);
    assert.match(answer.headers.get('content-disposition'), /^attachment; filename="hongbao-sent\.csv"$/);
    assert.match(answer.headers.get('cache-control'), /no-store/);
    assert.ok(answer.text.startsWith('\ufeffTime,'));
    assert.equal(answer.text.split('\r\n').length, SENT + 2, 'the columns, and nothing behind the last line end');
  }
  const head = await saver.request('/records/sent.csv', { method: 'HEAD' });
  assert.deepEqual([head.status, head.text], [200, '']);
  const page = await pageOf(saver, { acceptDownloads: true });
  await page.goto(`${site.url}/records/sent?min=0.01`);
  await page.click('a[rel=next]');
  await page.waitForSelector('a[rel=first]');
  const part = page.getByText('全部记录在CSV文件中');
  assert.equal(await part.isVisible(), false);
  await page.emulateMedia({ media: 'print' });
  assert.equal(await part.isVisible(), true, 'paper says that it has one page only');
  await page.emulateMedia({ media: null });
  assert.equal(await page.locator('.rows li').count(), SENT - 20);
  assert.equal(await page.locator('.summary, .filters').count(), 0);
  await page.click('a[rel=first]');
  await page.waitForURL(`${site.url}/records/sent?min=0.01`);
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('a[download]')]);
  assert.equal(download.suggestedFilename(), 'hongbao-sent.csv');
});

test('a packet is sent again from its page and from the records, and people one knows are faces', async () => {
  const [again] = await site.demoUsers(1);
  const friend = (await grabbers[0].get('/')).json.user;
  const sent = await again.post('/send', { kind: 'even', amount: '1.20', count: '3', greeting: 'Once more' });
  assert.equal((await grabbers[0].post(`/p/${sent.json.id}/open`)).status, 200);
  await poll('the grab is settled', async () => (await again.get('/send')).json.people.length === 1);
  assert.equal((await again.get('/send')).json.people[0].username, friend.username);
  assert.equal((await grabbers[1].get(`/send?again=${sent.json.id}`)).status, 404);
  for (const javaScriptEnabled of [true, false]) {
    const page = await pageOf(again, { javaScriptEnabled });
    for (const from of [`/p/${sent.json.id}`, '/records/sent']) {
      await page.goto(site.url + from);
      if (from === '/records/sent') { // each row leads to the page of its packet, which has it
        assert.equal(await page.getByText(text('send_again')).count(), 0);
        await page.click('a.row:has-text("Once more")');
        await page.waitForURL(`${site.url}/p/${sent.json.id}`);
      }
      await page.getByText(text('send_again')).first().click();
      await page.waitForURL(/\/send\?again=/);
      assert.ok(await page.isChecked('[value=even]'));
      assert.equal(await page.inputValue('[name=amount]'), '1.20');
      assert.equal(await page.inputValue('[name=count]'), '3');
      assert.equal(await page.inputValue('[name=greeting]'), 'Once more');
    }
    await page.goto(`${site.url}/send`);
    await page.check('[value=exclusive]', { force: true });
    await page.fill('[name=amount]', '2');
    await page.click('.pick');
    if (!javaScriptEnabled) await page.waitForURL(/\/send\?to=/);
    assert.equal(await page.inputValue('[name=to]'), friend.username);
    assert.ok(await page.isChecked('[value=exclusive]'));
    assert.equal(await page.inputValue('[name=amount]'), javaScriptEnabled ? '2' : '');
  }
});
