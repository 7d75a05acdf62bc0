// The main flows with another unit of money than yuan (support/units.js): points without decimals, Hong Kong dollars. Pages,
// commands and programs read, split, move, show, sign and export amounts in the unit, and no page has a sign of another
// one. All other tests have yuan.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileBrowser } from './support/browser.js';
import { fetched } from './support/client.js';
import { unfold } from './support/forms.js';
import { env, tried } from './support/instance.js';
import { sql } from './support/mysql.js';
import { opened, sentPath, settled } from './support/packets.js';
import { run, temporaryFolder } from './support/run.js';
import { Client, audit, newUser, poll, registerUser, sendPacket, site, unique } from './support/site.js';
import { LANGUAGES, words } from './support/texts.js';
import { large, plain, shown, smallest, text, unit } from './support/units.js';
import { pageAt } from './support/visits.js';
import { closeChannels, money, openChannel } from './support/withdrawals.js';

const CHANNEL = unique('c').slice(0, 20);
const FOLDER = temporaryFolder('units');
const PNG = Buffer.from('89504e470d0a1a0a', 'hex');
const [OTHER_CODE] = ['POINT', 'HKD'].filter((code) => code !== unit.code);
const TOO_FINE = unit.decimals ? '12.555' : '12.5';
const browser = fileBrowser();

// A sender with 500 units from a channel and 500 of demo money, and two who open.
let sender, first, second;
before(async () => {
  [sender, first, second] = [await registerUser({ nickname: '小满' }), await registerUser({ nickname: '阿禾' }), await newUser({ nickname: 'Bob' })];
  await closeChannels();
  await openChannel(CHANNEL, '--withdraw-min', '10');
  await money('credit', sender.username, '500', '--channel', CHANNEL, '--reference', unique('r'));
  assert.equal((await deposit(sender, '500')).status, 201);
});

after(async () => {
  await closeChannels();
  await money('channel', CHANNEL, '--topup-url', '');
});

const balance = async ({ client }) => (await client.get('/wallet')).json.balance_fen;
const deposit = ({ client }, amount) => client.post('/wallet/deposit', { amount, request_key: unique('k') });
const credit = (token, { username }, amount) => new Client().post('/money/credits', { username, amount, reference: unique('r') },
  { authorization: `Bearer ${token}` });
const grouped = (number) => number.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
const inLanguage = (language) => ({ 'accept-language': language });
const html = async (client, path, language) => {
  const answer = await client.getHtml(path, inLanguage(language));
  assert.equal(answer.status, 200, path);
  return answer.text;
};
const has = (page, ...parts) => {
  for (const part of parts) assert.ok(page.includes(part), `${part} is not in: ${page}`);
};

// Sends a packet that all of these people open, and waits until their money is there. { path, shares: smallest units }
async function finished(fields, people) {
  const path = await sentPath(sender, fields);
  const shares = [];
  for (const person of people) shares.push((await opened(person, path)).amount_fen);
  for (const person of people) await settled(person, path);
  await poll('the seed is public', async () => (await sender.client.get(`${path}/verify`)).json.seed);
  return { path, shares };
}

test('the site says its unit to programs', async () => {
  const is = ({ unit: code, unit_decimals: decimals }) => assert.deepEqual([code, decimals], [unit.code, unit.decimals]);
  const guest = new Client();
  const { json } = await guest.get('/');
  is(json);
  assert.equal(json.unit_symbol, unit.symbol);
  is((await sender.client.get('/')).json);
  const { text: api, json: { info, paths } } = await guest.get('/openapi.json');
  is({ unit: info['x-unit'], unit_decimals: info['x-unit-decimals'] });
  has(info.description, `Amounts are in ${unit.code}: forms have them `);
  const { schema, example } = paths['/money/credits'].post.requestBody.content['application/x-www-form-urlencoded'];
  const { pattern } = schema.properties.amount;
  assert.deepEqual([TOO_FINE, example.amount].map((amount) => new RegExp(pattern).test(amount)), [false, true]);
  if (!unit.decimals) assert.doesNotMatch(schema.properties.amount.description, /decimal|\.\d/);
  assert.doesNotMatch(api, /yuan|[¥元]/, 'the description of the interface has no other unit');
  has((await guest.get('/metrics')).text, `\nhongbao_unit_info{unit="${unit.code}",decimals="${unit.decimals}"} 1\n`);
  assert.equal((await site.hongbao('setting', 'unit_decimals')).stdout.trim(), String(unit.decimals));
});

test('the demo users have 1,000 units each', async () => {
  const rows = await sql("SELECT balance_fen FROM account JOIN user USING (id) WHERE username IN ('alice', 'bob', 'carol', 'dave')");
  assert.deepEqual(rows.trim().split('\n').map(Number), Array(4).fill(smallest(1000)));
});

test('amounts are read with the signs and decimals of the unit, by forms and by commands', async () => {
  const person = await newUser();
  const { stdout } = await site.hongbao('service', 'add', unique('s').slice(0, 20), '--scopes', 'credit', '--channel', CHANNEL, '--day-max', '1000000');
  const token = stdout.trim();
  let sum = 0;
  for (const [typed, fen] of unit.reads) {
    const answer = await deposit(person, typed);
    assert.equal(answer.status, 201, `${typed}: ${answer.text}`);
    assert.equal(await balance(person), sum += fen, typed);
    const credited = await credit(token, person, typed);
    assert.deepEqual([credited.status, credited.json.amount_fen], [201, fen], `${typed}: ${credited.text}`);
    assert.equal(await balance(person), sum += fen, typed);
  }
  for (const typed of unit.refuses) {
    const answer = await deposit(person, typed);
    for (const { status, json, text: said } of [answer, await credit(token, person, typed)]) {
      assert.deepEqual([status, json.errors?.map(({ field }) => field)], [422, ['amount']], `${typed}: ${said}`);
      assert.doesNotMatch(said.replaceAll(typed, ''), unit.foreign);
    }
    has((await sendPacket(person, { amount: typed, count: '1', request_key: unique('k') })).text, unit.decimals ? '最多两位小数，例如88.88' : '不带小数，例如88');
    for (const path of ['/send', '/wallet/deposit', '/wallet/withdraw']) {
      const { status, text: page } = await person.client.postHtml(path, { amount: typed, count: '1', request_key: unique('k') }, inLanguage('en'));
      assert.equal(status, 422, `${path} ${typed}`);
      has(page, 'id="amount_error"', typed.replaceAll('&', '&amp;'));
    }
  }
  const rows = [...unit.reads.map(([typed]) => typed), ...unit.refuses].map((typed) => `${person.username},"${typed}",${unique('r')}\n`);
  const [good, bad] = [join(FOLDER, 'good.csv'), join(FOLDER, 'bad.csv')];
  const header = 'username,amount,reference\n';
  writeFileSync(good, header + rows.slice(0, unit.reads.length).join(''));
  writeFileSync(bad, header + rows.join(''));
  const { code, stderr: wrong } = await tried(['money', 'import', bad, '--channel', CHANNEL]);
  assert.equal(code, 1, wrong);
  assert.doesNotMatch(unit.refuses.reduce((said, typed) => said.replaceAll(typed, ''), wrong), unit.foreign);
  assert.equal(await balance(person), sum);
  const all = unit.reads.reduce((total, [, fen]) => total + fen, 0);
  has(await money('import', good, '--channel', CHANNEL), `${unit.reads.length} made, ${text(all)}`);
  assert.equal(await balance(person), sum + all);
});

test('commands refuse more decimals, and name the unit in what programs read and an import compares', async () => {
  const refused = async (...args) => {
    const { code, stderr } = await tried(args);
    assert.notEqual(code, 0, args.join(' '));
    return stderr;
  };
  const by = ['--channel', CHANNEL, '--reference', unique('r')];
  for (const kind of ['credit', 'debit']) has(await refused('money', kind, first.username, TOO_FINE, ...by), `${unit.says}: ${TOO_FINE}`);
  has(await refused('money', 'balances', '--min', TOO_FINE), unit.says);
  has(await refused('money', 'channel', CHANNEL, '--withdraw-min', TOO_FINE), `--withdraw-min is no amount above 0 of ${unit.says}`);
  has(await refused('service', 'add', 'x', '--scopes', 'read', '--channel', CHANNEL, '--day-max', TOO_FINE),
    `--day-max is no amount from ${text(1)} to ${text(999999999)} of ${unit.says}`);
  for (const [list, ...words] of [['report'], ['balances'], ['channels'], ['withdrawals'], ['topups'], ['transfers', '--channel', CHANNEL]]) {
    const json = JSON.parse(await money(list, ...words, '--json'));
    assert.deepEqual([json.unit, json.unit_decimals], [unit.code, unit.decimals], list);
    assert.match(await money(list, ...words, '--csv'), new RegExp(`^\ufeff[^\r]*,unit\r\n(?:[^\r]*,${unit.code}\r\n)*$`), list);
  }
  has(await money('report'), `, in ${unit.code}\n`);
  // What the command prints is what it reads, on a site of this unit.
  const csv = await money('balances', '--csv', '--reference-prefix', unique('p'));
  const [own, other] = [join(FOLDER, 'balances.csv'), join(FOLDER, 'other.csv')];
  writeFileSync(own, csv);
  writeFileSync(other, csv.replaceAll(`,${unit.code}\r`, `,${OTHER_CODE}\r`));
  assert.match(await money('import', own, '--channel', CHANNEL, '--debit', '--check'), /^\d+ rows, /);
  assert.match(await refused('money', 'import', other, '--channel', CHANNEL, '--debit'), new RegExp(`^line 2: the column unit does not say ${unit.code}`, 'm'));
  const list = await money('transfers', '--channel', CHANNEL, '--csv');
  const compared = ['money', 'report', '--since', '2026-01-01', '--channel', CHANNEL, '--against', other];
  writeFileSync(other, list);
  assert.equal((await tried(compared)).code, 0);
  writeFileSync(other, list.replaceAll(`,${unit.code}\r`, `,${OTHER_CODE}\r`));
  const { code, stdout, stderr } = await tried(compared);
  assert.deepEqual([code, stdout], [2, '']);
  assert.match(stderr, new RegExp(`^line 2: the column unit does not say ${unit.code}, the unit of this site$[^]*rows are wrong; nothing is changed\n$`, 'm'));
});

test('a service has its limit of a day, and its report, in the unit', async () => {
  const { stdout } = await site.hongbao('service', 'add', unique('s').slice(0, 20), '--scopes', 'credit read', '--channel', CHANNEL, '--day-max', '500');
  const token = stdout.trim();
  assert.equal((await credit(token, first, '12')).json.amount_fen, smallest(12));
  assert.equal((await credit(token, first, '489')).json.type, 'urn:hongbao:problem:service-day-limit');
  const { json } = await new Client().get('/money/report', { authorization: `Bearer ${token}` });
  assert.deepEqual([json.unit, json.unit_decimals], [unit.code, unit.decimals]);
});

test('home, send form and wallet propose and limit amounts in the unit', async () => {
  const newcomer = await newUser();
  for (const language of LANGUAGES) {
    const pages = { home: await html(newcomer.client, '/', language), wallet: await html(sender.client, '/wallet', language) };
    for (const [name, page] of Object.entries(pages)) {
      const chips = [...page.matchAll(/<a[^>]* href="\/(?:send|wallet)\?amount=([^"&]*)[^>]*>(.*?)<\/a>/g)];
      assert.ok(chips.length >= 3, `${name} has chips`);
      for (const [, amount, label] of chips) {
        assert.match(amount, unit.decimals ? /^\d+(\.\d\d)?$/ : /^[1-9]\d*$/);
        assert.equal(plain(label).trim(), large(language, smallest(amount)).replace(text(smallest(amount)), grouped(amount)), name);
      }
      has(plain(page), large(language, name === 'home' ? 0 : smallest(1000)).replace('1000', '1,000'));
    }
    const form = await html(sender.client, '/send', language);
    has(form, `placeholder="${text(0)}"`, `placeholder="${text(1)}"`);
    const shortfall = await sender.client.postHtml('/send', { kind: 'even', amount: '150', count: '7', request_key: unique('k') }, inLanguage(language));
    assert.equal(shortfall.status, 422);
    has(plain(shortfall.text), shown(language, smallest(50)));
  }
});

test('lucky, even and exclusive packets are split to the smallest unit, and the draw is computed again', async () => {
  const people = [sender, first, second];
  const lucky = await finished({ kind: 'lucky', amount: '10', count: '3', share_min: '2' }, people);
  assert.equal(lucky.shares.reduce((sum, share) => sum + share), smallest(10));
  assert.ok(lucky.shares.every((share) => Number.isInteger(share) && share >= smallest(2)), lucky.shares.join());
  const even = await finished({ kind: 'even', amount: '10', amount_of: 'total', count: '3' }, people);
  const third = Math.floor(smallest(10) / 3);
  assert.deepEqual(even.shares, [third + 1, third, third]);
  const exclusive = await finished({ kind: 'exclusive', amount: '5', to: first.username }, [first]);
  assert.deepEqual(exclusive.shares, [smallest(5)]);
  const small = await sendPacket(sender, { kind: 'lucky', amount: text(2), count: '3', request_key: unique('k') });
  assert.equal(small.status, 422, 'each share needs a smallest unit');
  const told = await sender.client.postHtml('/send', { kind: 'lucky', amount: text(2), count: '3', request_key: unique('k') }, inLanguage('en'));
  has(told.text, `>A share must be at least ${text(1)}<`); // right with each name of a unit: there is no "1 points"
  const least = await finished({ kind: 'lucky', amount: text(3), count: '3' }, people);
  assert.deepEqual(least.shares, [1, 1, 1]);
  for (const { path, shares } of [lucky, even, exclusive, least]) {
    const page = await html(sender.client, `${path}/verify`, 'en');
    const [, command] = /class="command"><code translate="no">(hongbao verify [^<]*)</.exec(page);
    const { stdout } = await run(env.HB_TEST_BINARY, command.split(' ').slice(1), { env: { PATH: process.env.PATH } }); // without the site's settings
    assert.deepEqual(stdout.trim().split('\n').slice(1), shares.map(text), command);
    const packet = (await sender.client.get(path)).json;
    assert.equal(packet.grabbed_fen, shares.reduce((sum, share) => sum + share));
    for (const language of LANGUAGES) has(plain(await html(first.client, path, language)), shown(language, shares[people.indexOf(first)] ?? shares[0]));
  }
});

test('a receipt has the unit, and what it says is signed', async () => {
  const { path, shares: [share] } = await finished({ kind: 'even', amount: '8', count: '1' }, [first]);
  const saved = await first.client.getHtml(`${path}/receipt.json`);
  assert.equal(saved.json.receipt.amount_fen, share);
  const file = join(FOLDER, 'receipt.json');
  writeFileSync(file, saved.text);
  const { stdout } = await site.hongbao('verify-receipt', file);
  has(stdout, `good: ${text(share)} ${unit.code} for 阿禾`);
  const { unit: code, unit_decimals: decimals, ...without } = saved.json.receipt;
  assert.deepEqual([without.version, code, decimals], [2, unit.code, unit.decimals]);
  for (const [receipt, wanted] of [
    [{ ...without, version: 1 }, 'forged'], [{ ...saved.json.receipt, unit: OTHER_CODE }, 'forged'],
    [{ ...saved.json.receipt, unit_decimals: 2 - decimals }, 'forged'], [{ ...saved.json.receipt, version: 1 }, 'not a receipt'],
    [without, 'not a receipt']]) {
    writeFileSync(file, JSON.stringify({ ...saved.json, receipt }));
    const said = await tried(['verify-receipt', file]);
    assert.equal(said.code, wanted === 'forged' ? 1 : 2);
    has(said.stdout + said.stderr, wanted);
  }
  for (const language of LANGUAGES) {
    const page = await html(first.client, `${path}/receipt`, language);
    has(plain(page), shown(language, share));
    assert.doesNotMatch(page, /class="capitals"|[壹贰叁肆伍陆柒捌玖]/, 'capitals are for yuan');
  }
});

test('records are found by amounts of the unit, and files have its name and decimals', async () => {
  const receiver = await newUser();
  for (const amount of ['3', '20', '30']) await finished({ kind: 'even', amount, count: '1' }, [receiver]);
  const found = async (query) => (await receiver.client.get(`/records/received?${new URLSearchParams(query)}`)).json.items.map(({ amount_fen: fen }) => fen);
  assert.deepEqual(await found({ min: `4${unit.zh}`, max: `${unit.symbol} 25` }), [smallest(20)]);
  assert.equal((await receiver.client.get(`/records/received?min=${encodeURIComponent(unit.refuses[0])}`)).status, 422);
  for (const language of LANGUAGES) {
    const headers = inLanguage(language);
    has(plain(await html(receiver.client, '/records/received?min=4', language)), shown(language, smallest(50)));
    has(plain(await html(receiver.client, '/records/received', language)), shown(language, smallest(53)));
    const csv = (await receiver.client.getHtml('/records/received.csv', headers)).text;
    const [header, ...rows] = csv.trim().split(/\r?\n/);
    has(header, language === 'zh-CN' || !unit.symbol ? unit[language === 'zh-CN' ? 'zh' : 'en'] : unit.symbol);
    assert.doesNotMatch(csv, unit.foreign);
    assert.deepEqual(rows.map((row) => row.split(',').find((cell) => cell === text(smallest(20)))).filter(Boolean).length, 1, csv);
  }
});

test('the story has the unit, and its picture is drawn', async () => {
  for (const language of LANGUAGES) {
    const year = (await sender.client.get('/records/story')).json;
    has(plain(await html(sender.client, '/records/story', language)), shown(language, year.sent_fen), shown(language, year.received_fen));
    const picture = await fetched(`/story.png?year=${year.year}&amounts=1`, { headers: { cookie: `sid=${sender.client.cookie('sid')}`, ...inLanguage(language) } });
    assert.ok(picture.status === 200 && picture.bytes.subarray(0, 8).equals(PNG));
  }
});

test('a withdrawal has the channel’s smallest amount in the unit, and is paid', async () => {
  const ask = (amount, headers) => sender.client.post('/wallet/withdraw',
    { amount, account: '6222', password: sender.password, request_key: unique('k') }, headers);
  for (const language of LANGUAGES) {
    const refused = await ask(text(smallest(10) - 1), inLanguage(language));
    assert.deepEqual([refused.status, refused.json.errors[0].field], [422, 'amount']);
    has(plain(refused.json.errors[0].message), shown(language, smallest(10)));
    has(plain(await html(sender.client, '/wallet/withdraw', language)), shown(language, smallest(10)));
  }
  const { status, json: { id }, text: said } = await ask(`12${unit.zh}`);
  assert.equal(status, 201, said);
  const [withdrawal] = JSON.parse(await money('withdrawals', '--json')).withdrawals.filter(({ username }) => username === sender.username);
  assert.equal(withdrawal.amount_fen, smallest(12));
  assert.match(await money('withdrawals'), new RegExp(`(^| )${text(smallest(12)).replace('.', '\\.')}( |$)`, 'm'));
  await money('post', String(withdrawal.id), '--reference', unique('p'));
  for (const language of LANGUAGES) has(plain(await html(sender.client, `/wallet/transfers/${id}`, language)), shown(language, smallest(12)));
});

test('the link of a top-up has the unit’s code and decimals, and what was paid is shown in it', async () => {
  const [key] = /[0-9a-f]{64}/.exec(await money('channel', CHANNEL, '--topup-url', 'https://pay.example/', '--topup-key'));
  const order = (await sender.client.post('/wallet/topup', { amount: `88${unit.zh}`, channel: CHANNEL, request_key: unique('k') })).json;
  const query = new URL(order.pay_url).searchParams;
  assert.deepEqual([query.get('amount'), query.get('currency')], [text(smallest(88)), unit.code]);
  const message = ['hongbao-topup-v1', ...['order', 'amount', 'currency', 'return', 'expires'].map((name) => query.get(name))].join('\n');
  assert.equal(createHmac('sha256', key).update(message).digest('hex'), query.get('signature'));
  const { code, stderr } = await tried(['money', 'paid', String(order.id), '--reference', unique('p'), '--amount', TOO_FINE]);
  assert.notEqual(code, 0);
  has(stderr, unit.says);
  const paid = await money('paid', String(order.id), '--reference', unique('p'), '--amount', '40');
  has(paid, text(smallest(40)), text(smallest(88)));
  for (const language of LANGUAGES) {
    has(plain(await html(sender.client, `/wallet/topup/${order.id}`, language)), shown(language, smallest(88)), shown(language, smallest(40)));
  }
});

test('an ended packet gives back to the smallest unit; report, metrics and audit agree', async () => {
  const refunded = async () => Number(/^hongbao_refunded_fen_total (\d+)$/m.exec((await new Client().get('/metrics')).text)[1]);
  const [had, counted] = [await balance(sender), await refunded()];
  const path = await sentPath(sender, { kind: 'even', amount: '7', count: '3' });
  const { amount_fen: share } = await opened(second, path);
  assert.equal((await sender.client.post(`${path}/end`)).status, 200);
  await poll('the rest is back', async () => await balance(sender) === had - share);
  await poll('the rest is counted', async () => await refunded() - counted >= smallest(14));
  await audit();
  const report = JSON.parse(await money('report', '--json'));
  const [own] = report.channels.filter(({ name }) => name === CHANNEL);
  const lines = await money('report');
  has(lines, text(own.closing_fen));
  assert.doesNotMatch(lines, unit.foreign);
  const balances = await money('balances');
  has(balances, text(await balance(sender)));
  assert.doesNotMatch(balances, unit.foreign);
});

for (const language of LANGUAGES) {
  test(`in a browser: chips, the live total and its refusals, sending, opening, the draw (${language})`, async () => {
    const newcomer = await newUser({ yuan: '1000' });
    const page = await pageAt(browser, sender.client, '/send', { locale: language });
    const total = async () => plain(await page.innerText('[data-total]'));
    const typedTotal = async (typed, count) => {
      await page.fill('[name=count]', count);
      await page.fill('[name=amount]', typed);
      return (await total()).replaceAll(',', '').replace(/\s+/g, ' ');
    };
    for (const [typed, fen] of unit.reads) assert.equal(await typedTotal(typed, '1'), large(language, fen), typed);
    for (const typed of unit.refuses) {
      assert.equal(await typedTotal(typed, '1'), large(language, 0), typed);
      assert.equal(await page.innerText('[data-over]'), await page.getAttribute('[data-over]', 'data-malformed'), typed);
    }
    const path = await sentInPage(page, language);
    const other = await pageAt(browser, newcomer.client, path, { locale: language, reducedMotion: 'reduce' });
    await other.click('button.coin');
    await other.waitForSelector('.result');
    const { amount_fen: share } = (await newcomer.client.get(path)).json.mine;
    has(plain(await other.innerText('.result .money')), shown(language, share));
    await opened(first, path);
    await poll('the seed is public', async () => (await sender.client.get(`${path}/verify`)).json.seed);
    await page.goto(`${site.url}${path}/verify`);
    await page.waitForFunction(() => document.querySelector('[role=status][data-seed]').textContent !== '');
    assert.equal(await page.innerText('[role=status][data-seed]'), words(language, 'verify_right'));
  });
}

test('an opened amount has its number on one line, and usual amounts are as high as each other, on a small phone', async () => {
  const path = await sentPath(sender, { kind: 'even', amount: unit.decimals ? '142.81' : '142', count: '1' });
  await opened(first, path);
  for (const locale of LANGUAGES) {
    const page = await pageAt(browser, first.client, path, { locale, viewport: { width: 320, height: 640 } });
    const [inside, lines] = await page.$eval('.slip .money', (money) => {
      const [number] = [...money.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE);
      const range = document.createRange();
      range.selectNode(number);
      return [money.scrollWidth <= money.parentNode.clientWidth, range.getClientRects().length];
    });
    assert.deepEqual([inside, lines], [true, 1], locale);
    const home = await pageAt(browser, (await newUser()).client, '/', { locale, viewport: { width: 320, height: 640 } });
    const heights = await home.$$eval('.quick b', (amounts) => {
      const top = (element) => element.getBoundingClientRect().top;
      return [...new Set(amounts.map((amount) => Math.round(top(amount) - top(amount.closest('li')))))];
    });
    assert.equal(heights.length, 1, `${locale}: ${heights}`);
  }
});

// Sends 6 units as a lucky packet of two by the form of the page; its path.
async function sentInPage(page, language) {
  await page.fill('[name=count]', '2');
  await page.fill('[name=amount]', unit.symbol ? `${unit.symbol}6` : `6 ${unit.en}`);
  await unfold(page, 'share_min');
  await page.fill('[name=share_min]', `2${unit.zh}`);
  assert.equal(plain(await page.innerText('[data-total]')), large(language, smallest(6)));
  if (language === 'en') has(plain(await page.innerText('[data-pay]')), shown(language, smallest(6)));
  await page.click('[data-pay]');
  await page.waitForURL(/\/p\/[0-9a-z]{26}$/);
  return new URL(page.url()).pathname;
}

// Addresses of the same page: ids, keys and queries aside.
const kindOf = (path) => path.replace(/\/p\/[0-9a-z]{26}/, '/p/ID').replace(/\d+/g, 'N').replace(/=[^&]*/g, '=X');

const START = ['/', '/send', '/wallet', '/wallet/topup', '/wallet/withdraw', '/records/sent', '/records/received?min=1', '/records/story', '/account',
  '/account/delete', '/developers', '/login', '/register', '/static/offline.html', '/nothing'];
const REACHED = ['/p/ID', '/p/ID/verify', '/p/ID/receipt', '/p/ID/poster', '/p/ID/screen?key=X', '/wallet/topup/N', '/wallet/transfers/N',
  '/records/sent.csv?year=X', '/records/received.csv?year=X'];
const FORMS = ['/send', '/wallet/deposit', '/wallet/withdraw', '/wallet/topup'];

// These packets, all kinds of pages that links lead to, and what forms answer to wrong amounts: [[kind, text]]. The
// description of the interface has examples with decimals: the first test reads it.
async function* answersFor(client, language, packets) {
  const headers = inLanguage(language);
  const paths = [...START, ...packets];
  const seen = new Set(paths.map(kindOf));
  for (const path of paths) { // grows meanwhile
    const { headers: about, text: page } = await client.getHtml(path, headers);
    if (!/^(text|application\/json)/.test(about.get('content-type')) || path === '/openapi.json') continue;
    yield [kindOf(path), page];
    for (const [, link] of page.matchAll(/href="(\/(?!static\/)[^"#]*)/g)) {
      const next = link.replaceAll('&amp;', '&');
      if (seen.has(kindOf(next))) continue;
      seen.add(kindOf(next));
      paths.push(next);
    }
  }
  for (const path of FORMS) {
    for (const amount of ['x', '0', '9999999']) {
      yield [`POST ${path} ${amount}`, (await client.postHtml(path, { kind: 'lucky', amount, count: '2', share_min: amount, request_key: unique('k') }, headers)).text];
    }
  }
}

test('no page has a sign of another unit', async () => {
  const sign = new RegExp(`[^<>\\n]{0,40}(?:${unit.foreign.source})[^<>\\n]{0,20}`, 'i');
  const visitors = { sender: sender.client, first: first.client, newcomer: (await newUser()).client, guest: new Client() };
  const [found, reached] = [[], new Set()];
  for (const fields of [{ kind: 'lucky', count: '2' }, { kind: 'exclusive', to: first.username }]) await sentPath(sender, { amount: '4', ...fields });
  const { items } = (await sender.client.get('/records/sent')).json;
  const packets = new Map(items.map(({ id, kind, state }) => [`${kind} ${state}`, `/p/${id}`]));
  for (const [who, client] of Object.entries(visitors)) {
    for (const language of LANGUAGES) {
      for await (const [kind, page] of answersFor(client, language, [...packets.values()])) {
        reached.add(kind);
        const [part] = sign.exec(page) ?? [];
        if (part) found.push(`${who} ${language} ${kind}: ${part}`);
      }
    }
  }
  assert.deepEqual(REACHED.filter((kind) => !reached.has(kind)), [], [...reached].join('\n'));
  assert.equal(found.length, 0, found.join('\n'));
});
