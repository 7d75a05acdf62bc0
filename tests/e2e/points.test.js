// A site of points without decimals, and one of Hong Kong dollars, outside the pages: commands, the API, receipts, links
// to the page of a channel, metrics.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { env, poll } from './support/instance.js';
import { realSite } from './support/real_site.js';
import { run, temporaryFolder } from './support/run.js';
import { unique } from './support/site.js';

const FOLDER = temporaryFolder('points');
const ended = [];
after(async () => { for (const site of ended) await site.down(); });

const written = (name, text) => {
  writeFileSync(join(FOLDER, name), text);
  return join(FOLDER, name);
};

// A site of this unit: { url, hongbao(...args), get(path, who), post(path, fields, who), people, refused(...args) }. It has
// the channel `bank`, and two people with amount each, or without money.
async function siteOf(name, settings, amount) {
  const site = await realSite(name, settings);
  ended.push(site);
  const hongbao = async (...args) => (await site.dev('hongbao', ...args)).stdout;
  const refused = (...args) => site.dev('hongbao', ...args).then(() => assert.fail(args.join(' ')), ({ stderr }) => stderr);
  const headers = ({ cookie, token } = {}) => ({ accept: 'application/json', ...(cookie && { cookie }), ...(token && { authorization: `Bearer ${token}` }) });
  const asked = async (path, options) => {
    const answer = await fetch(site.url + path, options);
    const text = await answer.text();
    return { status: answer.status, text, json: text.startsWith('{') ? JSON.parse(text) : undefined };
  };
  const get = (path, who) => asked(path, { headers: headers(who) });
  const post = (path, fields, who) => asked(path, { method: 'POST', body: new URLSearchParams(fields), headers: headers(who) });
  const { stdout } = await run(env.HB_TEST_BINARY, ['demo', '--users', '2', '--amount', '0', '--out', '-'],
    { env: { ...process.env, HB_DEMO: 'on', HB_CONFIG: join(site.folder, 'hongbao.conf') } });
  const people = stdout.trim().split('\n').map((line) => line.split('\t')).map(([id, username, cookie]) => ({ id: Number(id), username, cookie }));
  await hongbao('money', 'channel', 'bank', '--note', 'Bank');
  for (const { username } of people) await hongbao('money', 'credit', username, amount, '--channel', 'bank', '--reference', unique('r'));
  return { ...site, hongbao, refused, get, post, people };
}

let points;

// The settings under a heading of docs/how-to/unit.md.
const PAGE = readFileSync(new URL('../../docs/how-to/unit.md', import.meta.url), 'utf8');
const settingsOf = (heading) => new RegExp(`^## ${heading}\n[^#]*?^\`\`\`\n([^]*?)^\`\`\`$`, 'm').exec(PAGE)[1];

test('a site of points says so in JSON, in its description and in its metrics', async () => {
  points = await siteOf('points', settingsOf('Points'), '5000');
  const { unit, unit_decimals: decimals, unit_symbol: symbol } = (await points.get('/')).json;
  assert.deepEqual([unit, decimals, symbol], ['POINT', 0, '']);
  const home = (await points.get('/', points.people[0])).json;
  assert.deepEqual([home.unit, home.unit_decimals, home.balance_fen], ['POINT', 0, 5000]);
  const doc = (await points.get('/openapi.json')).json;
  assert.deepEqual([doc.info['x-unit'], doc.info['x-unit-decimals']], ['POINT', 0]);
  assert.match(doc.info.description, /Amounts are in POINT: forms have them without decimals \(12\)/);
  const { schema, example } = doc.paths['/money/credits'].post.requestBody.content['application/x-www-form-urlencoded'];
  assert.deepEqual([new RegExp(schema.properties.amount.pattern).test('12.5'), example.amount], [false, '88']);
  assert.match((await points.get('/metrics')).text, /^hongbao_unit_info\{unit="POINT",decimals="0"\} 1$/m);
});

test('commands take and print points, name them once, and refuse decimals', async () => {
  const [alice, bob] = points.people;
  const by = () => ['--channel', 'bank', '--reference', unique('r')];
  const says = /the amount is no amount of POINT without decimals, such as 88: 12\.5/;
  for (const words of [['credit', alice.username, '12.5', ...by()], ['debit', alice.username, '12.5', ...by()]]) {
    assert.match(await points.refused('money', ...words), says);
  }
  assert.match(await points.refused('money', 'balances', '--min', '1.5'), /1\.5 is no amount of POINT without decimals, such as 88/);
  assert.match(await points.refused('money', 'channel', 'bank', '--withdraw-min', '0.5'), /--withdraw-min is no amount above 0 of POINT without decimals/);
  assert.match(await points.refused('service', 'add', 'x', '--scopes', 'read', '--channel', 'bank', '--day-max', '0.5'),
    /--day-max is no amount from 1 to 999999999 of POINT without decimals/);
  assert.match(await points.hongbao('money', 'credit', alice.username, '1,000', ...by()), / 1000 {2}reference/);
  assert.match(await points.hongbao('money', 'report'), /, in POINT$[^]*^ +credits +11000$/m);
  for (const [list, ...words] of [['report'], ['balances'], ['channels'], ['withdrawals'], ['topups'], ['transfers', '--channel', 'bank']]) {
    const json = JSON.parse(await points.hongbao('money', list, ...words, '--json'));
    assert.deepEqual([json.unit, json.unit_decimals], ['POINT', 0], list);
    assert.match(await points.hongbao('money', list, ...words, '--csv'), /^\ufeff[^\r]*,unit\r\n(?:[^\r]*,POINT\r\n)*$/, list);
  }
  // What the command prints is what it reads, on a site of this unit.
  const csv = await points.hongbao('money', 'balances', '--csv', '--reference-prefix', unique('p'));
  assert.ok(csv.includes(`${bob.username},5000,`), csv);
  assert.match(await points.hongbao('money', 'import', written('balances.csv', csv), '--channel', 'bank', '--debit', '--check'), /^2 rows, 11000;/);
  const other = written('other.csv', csv.replaceAll(',POINT\r', ',CNY\r'));
  assert.match(await points.refused('money', 'import', other, '--channel', 'bank', '--debit'), /^line 2: the column unit does not say POINT/m);
});

test('a program is told in which unit it moves money, and its decimals are refused', async () => {
  const token = (await points.hongbao('service', 'add', unique('s'), '--scopes', 'credit read', '--channel', 'bank', '--day-max', '500')).match(/hbs_[\w-]+/)[0];
  const fields = (amount) => ({ username: points.people[0].username, amount, reference: unique('r') });
  const refused = await points.post('/money/credits', fields('12.5'), { token });
  assert.deepEqual([refused.status, refused.json.errors.map(({ field }) => field)], [422, ['amount']]);
  assert.equal((await points.post('/money/credits', fields('12'), { token })).json.amount_fen, 12);
  assert.equal((await points.post('/money/credits', fields('489'), { token })).json.type, 'urn:hongbao:problem:service-day-limit');
  const { unit, unit_decimals: decimals } = (await points.get('/money/report', { token })).json;
  assert.deepEqual([unit, decimals], ['POINT', 0]);
});

const settled = (site, who, path) => poll('the share is settled', async () => (await site.get(path, who)).json?.mine?.settled);

test('a receipt of points is signed as points, and the command of the verify page draws the same shares', async () => {
  const [alice, bob] = points.people;
  const sent = await points.post('/send', { kind: 'lucky', amount: '1234', count: '2', share_min: '7', request_key: unique('k') }, alice);
  assert.equal(sent.status, 201, sent.text);
  const path = `/p/${sent.json.id}`;
  for (const who of [alice, bob]) {
    assert.equal((await points.post(`${path}/open`, {}, who)).status, 200);
    await settled(points, who, path);
  }
  const receipt = (await points.get(`${path}/receipt`, bob)).json;
  const { version, unit, unit_decimals: decimals, amount_fen: amount } = receipt.receipt;
  assert.deepEqual([version, unit, decimals], [2, 'POINT', 0]);
  const keys = written('keys.json', (await points.get('/.well-known/hongbao-receipt-keys')).text);
  const checked = (value) => run(env.HB_TEST_BINARY, ['verify-receipt', written('receipt.json', JSON.stringify(value)), '--keys', keys])
    .then(({ stdout }) => stdout, ({ code, stdout, stderr }) => `${code} ${stdout}${stderr}`);
  assert.match(await checked(receipt), new RegExp(`^good: ${amount} POINT for `));
  const { unit: _u, unit_decimals: _d, ...members } = receipt.receipt;
  for (const [forged, wanted] of [
    [{ ...members, version: 1 }, /^1 forged/], [{ ...receipt.receipt, unit: 'HKD' }, /^1 forged/],
    [{ ...receipt.receipt, unit_decimals: 2 }, /^1 forged/], [{ ...receipt.receipt, version: 1 }, /^2 .*not a receipt/],
    [members, /^2 .*not a receipt/]]) assert.match(await checked({ ...receipt, receipt: forged }), wanted, JSON.stringify(forged));

  const page = await fetch(`${points.url}${path}/verify`, { headers: { cookie: alice.cookie, accept: 'text/html' } }).then((answer) => answer.text());
  const command = /hongbao verify [0-9a-f]{64} [^<\n]*/.exec(page)?.[0] ?? assert.fail(page);
  assert.match(command, / lucky 1234 2 double-average 5000 7 --decimals 0$/);
  const { shares } = (await points.get(`${path}/verify`, alice)).json;
  const { HB_CONFIG: _c, ...noSettings } = process.env;
  const { stdout } = await run(env.HB_TEST_BINARY, command.trim().split(' ').slice(1), { env: noSettings });
  assert.deepEqual(stdout.trim().split('\n').slice(1), shares.map(({ paid_fen: fen }) => String(fen)));
});

// The parameters of the link of an order; their signature is right.
async function orderOf(site, amount) {
  const made = await site.hongbao('money', 'channel', 'cards', '--note', 'Cards', '--topup-url', 'https://pay.example/', '--topup-key');
  const [key] = /\b[0-9a-f]{64}\b/.exec(made);
  const order = await site.post('/wallet/topup', { amount, channel: 'cards', request_key: unique('k') }, site.people[0]);
  assert.equal(order.status, 201, order.text);
  const link = new URL(order.json.pay_url).searchParams;
  const message = ['hongbao-topup-v1', ...['order', 'amount', 'currency', 'return', 'expires'].map((name) => link.get(name))].join('\n');
  assert.equal(createHmac('sha256', key).update(message).digest('hex'), link.get('signature'));
  return { id: order.json.id, amount: link.get('amount'), currency: link.get('currency') };
}

test('the link to the page of a channel has the unit and its decimals, and a payment is told in them', async () => {
  const order = await orderOf(points, '88');
  assert.deepEqual([order.amount, order.currency], ['88', 'POINT']);
  assert.match(await points.refused('money', 'paid', String(order.id), '--reference', 'p-1', '--amount', '88.00'), /no amount of POINT without decimals/);
  const token = (await points.hongbao('service', 'add', unique('s'), '--scopes', 'topup', '--channel', 'cards')).match(/hbs_[\w-]+/)[0];
  const paid = (amount) => points.post(`/money/topups/${order.id}/paid`, { reference: 'p-1', amount }, { token });
  assert.equal((await paid('88.00')).status, 422);
  assert.equal((await paid('88')).json.amount_fen, 88);
});

test('Hong Kong dollars have two decimals, and are no yuan in receipts and links', async () => {
  const dollars = await siteOf('dollars', settingsOf('Hong Kong dollars'), '88.50');
  const [alice] = dollars.people;
  const { unit, unit_decimals: decimals, unit_symbol: symbol, balance_fen: fen } = (await dollars.get('/', alice)).json;
  assert.deepEqual([unit, decimals, symbol, fen], ['HKD', 2, 'HK$', 8850]);
  assert.deepEqual(await orderOf(dollars, '12.3').then(({ amount, currency }) => [amount, currency]), ['12.30', 'HKD']);
  const sent = await dollars.post('/send', { kind: 'even', amount: '1.5', count: '1', request_key: unique('k') }, alice);
  const path = `/p/${sent.json.id}`;
  await dollars.post(`${path}/open`, {}, alice);
  await settled(dollars, alice, path);
  const { receipt } = (await dollars.get(`${path}/receipt`, alice)).json;
  assert.deepEqual([receipt.version, receipt.unit, receipt.unit_decimals, receipt.amount_fen], [2, 'HKD', 2, 150]);
});
