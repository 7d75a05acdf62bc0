// Records, verification and wallet in a real Chromium: the chart of the months, the draw recomputed by the browser, the
// statement. When HB_TEST_SHOTS is set, screenshots go to that folder.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { after, before, test } from 'node:test';
import { Client, clientPage, fen, launch, poll, pooled, site, unique } from './support/site.js';
import { words } from './support/texts.js';

const run = promisify(execFile);
const GRABBERS = 5;
const SENT = 25; // more than a page of the wallet

let browser;
let sender;
let grabbers;
before(async () => {
  browser = await launch();
  [sender, ...grabbers] = await site.demoUsers(GRABBERS + 1);
});
after(async () => { await browser?.close(); });

const pageOf = (client, options) =>
  clientPage(browser, client, { viewport: { width: 320, height: 700 }, locale: 'zh-CN', ...options });

async function shot(page, name) {
  if (!process.env.HB_TEST_SHOTS) return;
  for (const colorScheme of ['light', 'dark']) {
    for (const width of [320, 1280]) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 700 });
      await page.screenshot({ path: `${process.env.HB_TEST_SHOTS}/${name}-${width}-${colorScheme}.png`, fullPage: true });
    }
  }
  await page.setViewportSize({ width: 320, height: 700 });
}

async function assertNothingOverflows(page) {
  const { wide, width } = await page.evaluate(() => ({
    wide: [...document.querySelectorAll('main :not(.scroll *, .minis *)')].filter((e) => e.getBoundingClientRect().right > innerWidth + 0.5).map((e) => e.outerHTML),
    width: document.documentElement.scrollWidth,
  }));
  assert.deepEqual(wide, []);
  assert.ok(width <= 320, `${width} pixels wide`);
}

// Sends a packet, has all shares grabbed, and waits until it is settled.
async function finished(fields) {
  const sent = await sender.post('/send', fields);
  assert.equal(sent.status, 201, sent.text);
  const count = Number(fields.count ?? 1);
  for (const grabber of grabbers.slice(0, count)) {
    assert.equal((await grabber.post(`/p/${sent.json.id}/open`)).status, 200);
  }
  const path = `/p/${sent.json.id}/verify`;
  await poll('the seed is public', async () => (await sender.get(path)).json.seed);
  return path;
}

// The result of the browser's verification, as shown on the page.
const said = (page) => page.innerText('[role=status][data-seed]');
const text = (key) => words('zh-CN', key);
// An amount as pages show it.
const shown = (amount) => fen(amount).replace(/\B(?=(?:\d{3})+\.)/g, ',');

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
    await assertNothingOverflows(page);
  }
  await page.goto(site.url + paths[0]);
  await poll('the browser is done', () => said(page));
  await shot(page, 'verify');
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
  await shot(page, 'verify-wrong');
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

test('an open packet shows its commitment and when the seed becomes public', async () => {
  const sent = await sender.post('/send', { kind: 'lucky', amount: '1', count: '2' });
  const path = `/p/${sent.json.id}/verify`;
  const { json } = await sender.get(path);
  assert.equal(json.seed, null);
  const page = await pageOf(sender);
  await page.goto(site.url + path);
  const shown = await page.innerText('main');
  assert.ok(shown.includes(json.commitment));
  assert.match(shown, /红包领完，或到\d{4}年\d+月\d+日.*\d\d:\d\d:\d\d过期后/);
  assert.equal(await page.locator('main time').getAttribute('datetime'), json.expires_at);
  await assertNothingOverflows(page);
  await shot(page, 'verify-open');
});

test('the headings of the months agree with the JSON; a single month has no chart', async () => {
  await finished({ kind: 'even', amount: '2', count: '5' });
  for (const [client, path] of [[sender, '/records/sent'], [grabbers[0], '/records/received']]) {
    const { json } = await client.get(path);
    assert.deepEqual(json.months.map(({ month }) => month), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    assert.equal(json.months.reduce((sum, month) => sum + month.total_fen, 0), json.total_fen);
    assert.equal(json.months.reduce((sum, { count }) => sum + count, 0), json.count);
    const page = await pageOf(client);
    await page.goto(site.url + path);
    const used = json.months.filter(({ total_fen: total }) => total > 0);
    assert.equal(await page.locator('.bars').count(), used.length >= 3 ? 1 : 0);
    const [heading] = await page.locator('.month').allInnerTexts();
    const { month, total_fen: total } = used.at(-1);
    assert.deepEqual(heading.trim().split(/\s+/), [`${month}月`, `共${shown(total)}元`]);
    await assertNothingOverflows(page);
    await shot(page, path.slice(1).replace('/', '-'));
    await page.goto(`${site.url}${path}?year=2020`);
    assert.equal(await page.locator('.month').count(), 0);
    assert.match(await page.innerText('main'), /这一年还没有红包/);
    await shot(page, `${path.slice(1).replace('/', '-')}-empty`);
  }
});

test('a month is one condition, and nothing found is no file to save', async () => {
  const chipsOf = (text) => [...text.matchAll(/class="chip gone"[^>]*>([^<]*)/g)].map(([, chip]) => chip);
  const month = (await sender.getHtml('/records/sent?from=2025-02-01&to=2025-02-28&min=0.01')).text;
  assert.equal(chipsOf(month)[0], '2025年2月');
  assert.equal(chipsOf(month).length, 2);
  assert.match(month, /href="\/records\/sent\?min=0.01" aria-label="去掉 2025年2月"/);
  assert.doesNotMatch(month, /sent\.csv/);
  assert.equal(chipsOf((await sender.getHtml('/records/sent?from=2025-02-01&to=2025-02-27')).text).length, 2);
});

test('the filter form finds records in both languages, with and without JavaScript, and chips leave a filter out', async () => {
  const [finder] = await site.demoUsers(1);
  for (const fields of [
    { kind: 'even', amount: '1', count: '1', greeting: 'Good Morning' },
    { kind: 'even', amount: '3', count: '1', greeting: 'good morning' },
    { kind: 'lucky', amount: '3', count: '2', greeting: 'Good Night' },
  ]) assert.equal((await finder.post('/send', fields)).status, 201);
  for (const locale of ['zh-CN', 'en']) {
    for (const javaScriptEnabled of [true, false]) {
      const page = await pageOf(finder, { locale, javaScriptEnabled });
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
      await assertNothingOverflows(page);
      await page.click('.chip:has-text("2")');
      await page.waitForURL((url) => !url.searchParams.get('min'));
      assert.equal(await found(), 2);
      await page.click('.filters summary');
      assert.equal(await page.inputValue('[name=q]'), 'MORNING');
      assert.match(await page.innerText('.found'), locale === 'en' ? /^2 red packets · ¥[\d.]+ in total$/ : /^共2个 · 合计[\d.]+元$/);
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
      assert.equal(await page.inputValue('[name=min]'), 'x');
      assert.equal(await page.inputValue('[name=to]'), '2026-02-30');
      await assertNothingOverflows(page);
    }
  }
});

test('what one person got of shared packets has a sum, and what one got from a person', async () => {
  const [giver] = await site.demoUsers(1);
  const [dear, other] = grabbers;
  const { user } = (await dear.get('/')).json;
  let got = 0;
  for (let i = 0; i < 2; i += 1) {
    const sent = await giver.post('/send', { kind: 'lucky', amount: '10', count: '2' });
    assert.equal(sent.status, 201, sent.text);
    for (const one of [dear, other]) assert.equal((await one.post(`/p/${sent.json.id}/open`)).status, 200);
    got += await poll('the share is settled', async () => {
      const { mine } = (await dear.get(`/p/${sent.json.id}`)).json;
      return mine.settled && mine.amount_fen;
    });
  }
  const name = (await giver.get('/')).json.user.username;
  for (const locale of ['zh-CN', 'en']) {
    const page = await pageOf(giver, { locale, javaScriptEnabled: locale === 'en' });
    await page.goto(`${site.url}/records/sent?person=${user.username}`);
    assert.equal(await page.innerText('.found'), locale === 'en'
      ? `2 red packets · ${user.nickname} received ¥${shown(got)} in total` : `共2个 · ${user.nickname}一共领取${shown(got)}元`);
    await page.goto(`${site.url}/records/sent?kind=even`);
    await page.click('.filters summary');
    await page.click(`.filters .chip[href$="person=${user.username}"]`); // the person alone: no field that was emptied since
    await page.waitForURL(`${site.url}/records/sent?person=${user.username}`);
    await page.goto(`${site.url}/records/sent?kind=lucky&q=${encodeURIComponent(user.nickname)}`);
    const meant = page.locator('.empty a').first();
    assert.equal(await meant.innerText(), words(locale, 'filter_meant').replace('{{$who}}{{/who}}', user.nickname));
    await meant.click();
    await page.waitForURL(`${site.url}/records/sent?person=${user.username}`);
    assert.ok((await page.innerText('#list_title')).includes(words(locale, 'all_years')));
    await assertNothingOverflows(page);
    const theirs = await pageOf(dear, { locale, javaScriptEnabled: locale === 'en' });
    await theirs.goto(`${site.url}/records/received?person=${name}`);
    assert.equal(await theirs.innerText('.found'), locale === 'en'
      ? `2 red packets · ¥${shown(got)} in total` : `共2个 · 合计${shown(got)}元`);
    await assertNothingOverflows(theirs);
  }
});

test('a stranger is told that the draw of a packet for others is shown to them, and no amount or name', async () => {
  const { user } = (await grabbers[0].get('/')).json;
  const path = await finished({ kind: 'exclusive', amount: '17.77', to: user.username });
  for (const locale of ['zh-CN', 'en']) {
    const page = await pageOf(grabbers[1], { locale, javaScriptEnabled: locale === 'en' });
    await page.goto(site.url + path);
    const said = await page.innerText('main');
    assert.equal(await page.innerText('#result_title'), words(locale, 'verify_withheld'));
    assert.ok(!said.includes(words(locale, 'verify_sealed')) && !said.includes('17.77') && !said.includes(user.nickname), said);
    await assertNothingOverflows(page);
  }
});

test('records come as a CSV file, by address and by Accept, with all rows and the filters of the page', async () => {
  const [saver] = await site.demoUsers(1);
  for (let i = 0; i < SENT; i += 1) {
    const fields = { kind: 'even', amount: '0.01', count: '1', greeting: i ? 'plain' : '=HYPERLINK("x"),1' };
    assert.equal((await saver.post('/send', fields)).status, 201);
  }
  for (const [path, accept] of [['/records/sent.csv', 'text/html,*/*'], ['/records/sent', 'text/csv']]) {
    const answer = await saver.get(path, { accept, 'accept-language': 'en' });
    assert.equal(answer.status, 200, answer.text);
    assert.match(answer.headers.get('content-type'), /^text\/csv; charset=utf-8/);
    assert.match(answer.headers.get('content-disposition'), /^attachment; filename="hongbao-sent\.csv"$/);
    assert.match(answer.headers.get('cache-control'), /no-store/);
    assert.ok(answer.text.startsWith('\ufeffTime,'));
    const rows = answer.text.split('\r\n');
    assert.equal(rows.length, SENT + 2); // the columns, and nothing behind the last line end
    assert.ok(answer.text.includes(',"\'=HYPERLINK(""x""),1",'));
  }
  const zoned = await saver.get('/records/sent.csv');
  assert.match(zoned.text.split('\r\n')[0], /,时区,收红包的人$/);
  assert.match(zoned.text.split('\r\n')[1], /,UTC\+08:00,$/);
  const found = await saver.get('/records/sent.csv?q=PLAIN&min=0.01');
  assert.equal(found.text.split('\r\n').length, SENT - 1 + 2);
  assert.ok(found.text.startsWith('\ufeff时间,'));
  assert.equal((await saver.get('/records/received.csv')).text.split('\r\n').length, 2);
  assert.equal((await saver.get('/records/sent.csv?min=x')).status, 422);
  const head = await saver.request('/records/sent.csv', { method: 'HEAD' });
  assert.equal(head.status, 200);
  assert.equal(head.text, '');
  const guest = await new Client().getHtml('/records/sent.csv?year=2026');
  assert.equal(guest.status, 303);
  assert.equal(guest.headers.get('location'), '/login?next=/records/sent.csv%3Fyear%3D2026');
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
  assert.equal(await page.locator('.chip').count(), 1);
  await assertNothingOverflows(page);
  await page.click('a[rel=first]');
  await page.waitForURL(`${site.url}/records/sent?min=0.01`);
  await page.goto(`${site.url}/records/sent?q=plain`);
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('a[download]')]);
  assert.equal(download.suggestedFilename(), 'hongbao-sent.csv');
  const dear = (await grabbers[0].get('/')).json.user;
  assert.equal((await saver.post('/send', { kind: 'exclusive', amount: '0.02', to: dear.username })).status, 201);
  const year = new Date().getFullYear();
  const named = await saver.get(`/records/sent.csv?year=${year}&kind=exclusive`);
  assert.ok(named.text.split('\r\n')[1].endsWith(`,UTC+08:00,${dear.nickname}`), named.text);
  assert.match(named.headers.get('content-disposition'), new RegExp(`filename="hongbao-sent-${year}\\.csv"`));
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
      await assertNothingOverflows(page);
    }
    await page.goto(`${site.url}/send`);
    await page.check('[value=exclusive]', { force: true });
    await page.fill('[name=amount]', '2');
    await page.click('.pick');
    if (!javaScriptEnabled) await page.waitForURL(/\/send\?to=/);
    assert.equal(await page.inputValue('[name=to]'), friend.username);
    assert.ok(await page.isChecked('[value=exclusive]'));
    assert.equal(await page.inputValue('[name=amount]'), javaScriptEnabled ? '2' : '');
    await assertNothingOverflows(page);
  }
});

test('the receiver of an exclusive packet is named to its sender, and each year has its total', async () => {
  const [giver, dear] = await site.demoUsers(2);
  const { user } = (await dear.get('/')).json;
  assert.equal((await giver.post('/send', { kind: 'exclusive', amount: '5.20', to: user.username })).status, 201);
  await giver.post('/send', { kind: 'even', amount: '0.80', count: '1' });
  const { year } = (await giver.get('/records/sent')).json;
  for (const locale of ['zh-CN', 'en']) {
    const page = await pageOf(giver, { locale, javaScriptEnabled: locale === 'en' });
    for (const path of ['/', '/records/sent']) {
      await page.goto(site.url + path);
      const said = words(locale, 'packet_for').replace(/\{\{\$who\}\}.*\{\{\/who\}\}/, user.nickname);
      assert.equal(await page.locator('a.row .who b', { hasText: said }).count(), 1, path);
    }
    assert.ok((await page.innerText('.summary h2')).includes(String(year)));
    await page.goto(`${site.url}/records/sent?year=${year - 1}`);
    assert.deepEqual(await page.locator('.years a').allInnerTexts(), [year, year - 1].map((one) => (locale === 'en' ? `${one}` : `${one}年`)));
    assert.match(await page.innerText('.summary .money'), /^¥?0\.00元?$/);
    await page.click('.years a >> nth=0');
    await page.waitForURL(`**/records/sent?year=${year}`);
    assert.match(await page.innerText('.summary .money'), /^¥?6\.00元?$/);
    await assertNothingOverflows(page);
  }
});

test('home shows what waits for a person, every page says how much is new, and opening it clears it', async () => {
  const [giver, dear] = await site.demoUsers(2);
  const { username } = (await dear.get('/')).json.user;
  const sent = await giver.post('/send', { kind: 'exclusive', amount: '5.20', to: username, greeting: 'For you alone' });
  assert.equal(sent.status, 201, sent.text);
  const [item] = (await dear.get('/')).json.inbox;
  assert.equal(item.kind, 'waiting');
  assert.equal(item.packet, sent.json.id);
  for (const [locale, javaScriptEnabled] of [['zh-CN', true], ['en', false]]) {
    const page = await pageOf(dear, { locale, javaScriptEnabled });
    if (locale === 'zh-CN') {
      await page.goto(`${site.url}/wallet`);
      assert.match(await page.innerText('.nav a >> nth=0'), /1/);
      await assertNothingOverflows(page);
    }
    await page.goto(site.url);
    assert.equal(await page.innerText('#waiting_title'), locale === 'en' ? '1 red packet waiting for you' : '1个红包等你打开');
    assert.ok((await page.innerText('.mini')).includes('For you alone'));
    await assertNothingOverflows(page);
    await page.goto(`${site.url}/wallet`);
    assert.equal(await page.locator('.news').count(), 0); // looked at
  }
  const page = await pageOf(dear);
  await page.goto(site.url);
  await page.getByText('For you alone').click();
  await page.waitForURL(`${site.url}/p/${sent.json.id}`);
  assert.equal((await dear.post(`/p/${sent.json.id}/open`)).status, 200);
  await poll('the inbox is empty', async () => (await dear.get('/')).json.inbox.length === 0);
});

test('the wallet lists every transfer with its sign, on several pages', async () => {
  const [spender] = await site.demoUsers(1);
  for (let i = 0; i < SENT; i += 1) {
    const sent = await spender.post('/send', { kind: 'even', amount: '0.07', count: '1' });
    assert.equal(sent.status, 201, sent.text);
  }
  const page = await pageOf(spender);
  const kinds = [];
  let sum = 0;
  await page.goto(`${site.url}/wallet`);
  await shot(page, 'wallet');
  const balance = await page.innerText('.balance .money');
  for (let left = SENT; left > 0; left -= 1) { // at most this many pages, as each has an entry
    await assertNothingOverflows(page);
    for (const row of await page.locator('.rows .row').allInnerTexts()) {
      const [, kind, sign, yuan] = /^(\S+)[\s\S]*?([+−])([\d,]+\.\d\d)$/.exec(row);
      kinds.push(sign + kind);
      sum += (sign === '+' ? 1 : -1) * Number(yuan.replace(/[.,]/g, ''));
    }
    const next = page.locator('a[rel=next]');
    if (!await next.count()) break;
    await next.click();
    await page.waitForURL(/before=/);
    await page.waitForLoadState();
  }
  assert.deepEqual(kinds, [...Array(SENT).fill(`−${text('transfer_send')}`), `+${text('transfer_deposit')}`]);
  assert.equal(balance, `¥${shown(sum)}`);
});

test('a refused deposit shows the typed text, and the message on top and beside the field', async () => {
  const page = await pageOf(grabbers[1]);
  for (const [typed, message] of [['', '请填写金额'], ['一百', '金额格式不正确'], ['０', '须大于0元'], ['９９９９９９９', '不可超过']]) {
    await page.goto(`${site.url}/wallet`);
    await page.fill('[name=amount]', typed);
    await page.click('form[action="/wallet/deposit"] button');
    await page.waitForSelector('[role=alert]');
    assert.match(await page.title(), /^错误：/);
    assert.equal(await page.inputValue('[name=amount]'), typed);
    assert.ok((await page.innerText('[role=alert]')).includes(message));
    assert.ok((await page.innerText('#amount_error')).includes(message));
    assert.equal(await page.getAttribute('#amount', 'aria-invalid'), 'true');
    assert.match(await page.getAttribute('#amount', 'aria-describedby'), /amount_error/);
    await page.click('[role=alert] a');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'amount');
    await assertNothingOverflows(page);
  }
  await shot(page, 'wallet-refused');
  await page.fill('[name=amount]', '１２。５');
  await page.click('form[action="/wallet/deposit"] button');
  await page.waitForURL(`${site.url}/wallet?deposited=1`);
  assert.match(await page.innerText('.rows'), /\+12\.50/);
});

test('home shows balance, the way to send, and the latest of both lists', async () => {
  for (let i = 0; i < 6; i += 1) await finished({ kind: 'even', amount: '0.01', count: '1' });
  const page = await pageOf(sender);
  await page.goto(site.url);
  assert.match(await page.innerText('main'), /零钱余额/);
  assert.equal(await page.locator('.balance a[href="/send"]').count(), 1);
  assert.equal(await page.locator('main section:last-of-type .rows li').count(), 5);
  await assertNothingOverflows(page);
  await shot(page, 'home');
  const [newcomer] = await site.demoUsers(1);
  const fresh = await pageOf(newcomer);
  await fresh.goto(site.url);
  assert.equal(await fresh.innerText('h1'), text('welcome'));
  assert.equal(await fresh.innerText('#yours b'), (await newcomer.get('/')).json.user.username);
  await assertNothingOverflows(fresh);
  await shot(fresh, 'home-empty');
  const empty = { '/': '.actions >> sent_first', '/records/received': '.empty >> received_first', '/records/sent': '.empty >> send_packet' };
  for (const [path, link] of Object.entries(empty)) {
    const [within, key] = link.split(' >> ');
    await fresh.goto(site.url + path);
    await fresh.click(`main ${within} a:has-text("${text(key)}")`);
    await fresh.waitForURL(`${site.url}/send`);
  }
  await fresh.goto(site.url);
  await fresh.click('.quick a:has-text("18.80")');
  await fresh.waitForURL(/\/send\?/);
  assert.equal(await fresh.inputValue('[name=amount]'), '18.80');
});
