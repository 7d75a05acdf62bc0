// The example programs of docs/how-to/topup, which take payments for a channel. The test plays the provider: it signs with the
// provider's own SDK, and checks with it what the program has signed.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHmac, createSign, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { AlipaySdk } from 'alipay-sdk';
import Stripe from 'stripe';
import { freePort } from '../support/port.js';
import { blocksOf } from './support/how_to_blocks.js';
import { env } from './support/instance.js';
import { sql } from './support/mysql.js';
import { run, temporaryFolder } from './support/run.js';
import { audit, newUser, site, unique } from './support/site.js';

const EXAMPLES = join(dirname(fileURLToPath(import.meta.url)), '../../docs/how-to/topup');
const FOLDER = temporaryFolder('topup_programs');
const ended = [];
after(async () => {
  for (const end of ended) await end();
  await audit();
});

const HONGBAO = { HB_CONFIG: env.HB_TEST_CONFIG, PATH: `${FOLDER}:${process.env.PATH}` };
symlinkSync(env.HB_TEST_BINARY, join(FOLDER, 'hongbao'));

// Makes a channel with this page by the commands of the document: { channel, key, token }.
async function makeChannel(page) {
  const channel = unique('p').slice(0, 20);
  const commands = blocksOf('topup-providers.md', import.meta.url)['Make the channel'].join('\n')
    .replaceAll(/\bstripe\b/g, channel).replace('https://pay.example.com/pay', page);
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', commands], { env: { ...process.env, ...HONGBAO } });
  const wordOf = (pattern) => pattern.exec(stdout)?.[0] ?? assert.fail(`no ${pattern} in ${stdout}`);
  return { channel, key: wordOf(/\b[0-9a-f]{64}\b/), token: wordOf(/hbs_[\w-]{43}/) };
}

// A channel whose page is the program: { url, channel, key, said }. said: the lines that the program has printed.
async function startProgram(name, settings) {
  const port = await freePort();
  const { channel, key, token } = await makeChannel(`http://127.0.0.1:${port}/pay`);
  const child = spawn(process.execPath, [join(EXAMPLES, `${name}.mjs`)], { stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...settings, PORT: String(port), HONGBAO_URL: site.url, HONGBAO_TOPUP_KEY: key, HONGBAO_SERVICE_TOKEN: token } });
  ended.push(async () => {
    const over = once(child, 'exit');
    child.kill();
    await over;
  });
  const said = [];
  for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on('line', (line) => said.push(line));
  await once(child.stdout, 'data');
  return { url: `http://127.0.0.1:${port}`, channel, key, said };
}

// An order of a new person: { person, order, look() }, with the link to pay on.
async function orderOf({ channel }, amount, person) {
  const made = await person.client.post('/wallet/topup', { amount, channel, request_key: unique('k') });
  assert.equal(made.status, 201, made.text);
  return { ...made.json, look: async () => (await person.client.get(`/wallet/topup/${made.json.id}`)).json };
}

const visit = async (url) => {
  const answer = await fetch(url, { redirect: 'manual' });
  return { status: answer.status, location: answer.headers.get('location'), text: await answer.text() };
};
const balance = async ({ id }) => Number(await sql(`SELECT balance_fen FROM account WHERE id = ${id}`));
const paymentsOf = ({ payments }) => payments.map(({ reference, amount_fen: fen }) => [reference, fen]);

// What both programs do: a link that was changed is refused.
async function refusesChangedLinks({ url }, payUrl) {
  assert.ok(payUrl.startsWith(`${url}/pay?`), payUrl);
  for (const [name, value] of [['order', '987654321'], ['amount', '0.01'], ['currency', 'HKD'], ['return', 'https://example.com/'], ['expires', '9999999999'],
    ['signature', '0'.repeat(64)], ['signature', 'é']]) {
    const changed = new URL(payUrl);
    changed.searchParams.set(name, value);
    assert.deepEqual((await visit(changed)).status, 403, name);
  }
}

// Sends the line of a request as it is; returns the status of the answer.
async function statusOf({ url }, line) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(`${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`));
  let text = '';
  for await (const part of socket) text += part;
  return text.split(' ')[1];
}

test('nothing that is sent ends a program, and none starts without its secrets', async () => {
  const settings = { STRIPE_KEY: 'k', STRIPE_WEBHOOK_SECRET: 's' };
  const program = await startProgram('stripe', settings);
  for (const [line, status] of [['GET //', '502'], ['GET http://x:99999/pay', '502'], ['POST /', '404'], ['GET /pay?signature=%E0%A4%A', '403'],
    ['POST /webhook', '400'], ['GET /pay', '403']]) assert.equal(await statusOf(program, line), status, line);
  for (const missing of ['STRIPE_WEBHOOK_SECRET', 'HONGBAO_TOPUP_KEY']) {
    const env = { ...settings, HONGBAO_URL: site.url, HONGBAO_TOPUP_KEY: 'k', HONGBAO_SERVICE_TOKEN: 't', PORT: '0', [missing]: '' };
    await assert.rejects(run(process.execPath, [join(EXAMPLES, 'stripe.mjs')], { env: { ...process.env, ...env } }), new RegExp(`set ${missing}`));
  }
});

// ---- Stripe ----

const SITE = new URL(site.url).host;
const metadataOf = (order) => ({ hongbao_site: SITE, hongbao_order: String(order) });
const WEBHOOK_SECRET = 'whsec_of_the_test';
const stripe = new Stripe('sk_test_of_the_test');

// Stripe's server, as far as the program asks it: { url, sessions }, the forms of sessions by their key.
async function startStripe() {
  const sessions = new Map();
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    assert.equal(`${request.method} ${request.url}`, 'POST /v1/checkout/sessions');
    assert.equal(request.headers.authorization, 'Bearer sk_test_of_the_test');
    const key = request.headers['idempotency-key'];
    if (!sessions.has(key)) sessions.set(key, Object.fromEntries(new URLSearchParams(body)));
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ id: `cs_${key}`, url: `https://checkout.stripe.com/c/${key}` }));
  });
  await once(server.listen(await freePort(), '127.0.0.1'), 'listening');
  ended.push(() => new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); }));
  return { url: `http://127.0.0.1:${server.address().port}`, sessions };
}

// Sends an event as Stripe does, signed by its SDK; returns the status.
async function stripeTells(program, { type = 'checkout.session.completed', session, secret = WEBHOOK_SECRET, ageS = 0, change = (text) => text }) {
  const payload = JSON.stringify({ id: unique('evt_'), object: 'event', type, data: { object: { object: 'checkout.session', currency: 'cny', payment_status: 'paid', ...session } } });
  const header = stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp: Math.floor(Date.now() / 1000) - ageS });
  if (secret === WEBHOOK_SECRET && ageS === 0) stripe.webhooks.constructEvent(payload, header, secret);
  return (await fetch(`${program.url}/webhook`, { method: 'POST', headers: { 'Stripe-Signature': header }, body: change(payload) })).status;
}

test('Stripe: an order is paid on its page, and each payment is credited once, whatever is told how often', async () => {
  const server = await startStripe();
  const program = await startProgram('stripe', { STRIPE_KEY: 'sk_test_of_the_test', STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET, STRIPE_API: server.url });
  const person = await newUser();
  const order = await orderOf(program, '88.00', person);
  await refusesChangedLinks(program, order.pay_url);

  const page = await visit(order.pay_url);
  assert.equal(page.status, 303, page.text);
  assert.equal((await visit(order.pay_url)).location, page.location, 'a reload gets the same session');
  assert.equal(server.sessions.size, 1);
  const [form] = server.sessions.values();
  const back = new URL(order.pay_url).searchParams.get('return');
  assert.deepEqual([form['metadata[hongbao_site]'], form['metadata[hongbao_order]'], form['line_items[0][price_data][unit_amount]'], form['line_items[0][price_data][currency]'], form.success_url, form.cancel_url],
    [SITE, String(order.id), '8800', 'cny', back, back]);

  const metadata = metadataOf(order.id);
  const paid = { id: 'cs_1', metadata, payment_intent: unique('pi_'), amount_total: 8800 };
  for (const [what, wanted, event] of [
    ['signed with another secret', 400, { session: paid, secret: 'whsec_other' }],
    ['signed too long ago', 400, { session: paid, ageS: 600 }],
    ['changed on the way', 400, { session: paid, change: (text) => text.replace('8800', '9900') }],
    ['not paid yet', 200, { session: { ...paid, payment_status: 'unpaid' } }],
    ['of another kind', 200, { session: paid, type: 'checkout.session.expired' }],
    ['of something else that the account sells', 200, { session: { ...paid, metadata: {} } }],
    ['of another site on this account', 200, { session: { ...paid, metadata: { ...metadata, hongbao_site: 'other.example' } } }],
    ['of a site without a name', 200, { session: { ...paid, metadata: { ...metadata, hongbao_site: undefined } } }],
    ['in another currency', 502, { session: { ...paid, currency: 'hkd' } }],
    ['of no order', 502, { session: { ...paid, metadata: metadataOf('999999999') } }],
  ]) assert.equal(await stripeTells(program, event), wanted, what);
  assert.deepEqual([await balance(person), (await order.look()).state], [0, 'waiting']);

  // The notification comes before the person is back, twice, and again as the other event.
  for (const type of ['checkout.session.async_payment_succeeded', 'checkout.session.completed', 'checkout.session.completed']) {
    assert.equal(await stripeTells(program, { type, session: paid }), 200);
  }
  const seen = await order.look();
  assert.deepEqual([await balance(person), seen.state, paymentsOf(seen)], [8800, 'paid', [[paid.payment_intent, 8800]]]);
  assert.equal(await stripeTells(program, { session: { ...paid, amount_total: 1 } }), 502, 'one payment has one amount');
  assert.equal(await balance(person), 8800);
});

test('Stripe: two sites with the same orders on one account have sessions of their own', async () => {
  const server = await startStripe();
  const settings = { STRIPE_KEY: 'sk_test_of_the_test', STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET, STRIPE_API: server.url };
  const programs = [await startProgram('stripe', settings), await startProgram('stripe', { ...settings, HONGBAO_SITE: 'other' })];
  const pages = [];
  for (const program of programs) pages.push((await visit(linkOf(program, '88', 'CNY'))).location);
  assert.notEqual(pages[0], pages[1]);
  assert.deepEqual([...server.sessions.values()].map((form) => form['metadata[hongbao_site]']), [SITE, 'other']);
  const person = await newUser();
  const order = await orderOf(programs[0], '88', person);
  const session = { id: 'cs_4', metadata: metadataOf(order.id), payment_intent: unique('pi_'), amount_total: 8800 };
  assert.equal(await stripeTells(programs[1], { session }), 200, 'its endpoint gets the event, too');
  assert.equal(await balance(person), 0);
  assert.equal(await stripeTells(programs[0], { session }), 200);
  assert.equal(await balance(person), 8800);
});

test('Stripe: another amount is credited as paid, and a payment is not lost while the site is away', async () => {
  const program = await startProgram('stripe', { STRIPE_KEY: 'k', STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET, STRIPE_API: 'http://127.0.0.1:9' });
  const person = await newUser();
  const order = await orderOf(program, '88', person);
  assert.equal((await visit(order.pay_url)).status, 502, 'Stripe is away');
  const session = { id: 'cs_2', metadata: metadataOf(order.id), payment_intent: unique('pi_'), amount_total: 5000 };
  await site.without(['money'], async () => {
    assert.equal(await stripeTells(program, { session }), 502);
  });
  assert.equal(await stripeTells(program, { session }), 200, 'Stripe tells it again');
  const seen = await order.look();
  assert.deepEqual([await balance(person), seen.state, seen.amount_fen, paymentsOf(seen)], [5000, 'paid', 8800, [[session.payment_intent, 5000]]]);
  assert.match(program.said.join('\n'), /payment pi_\w+ of 50: credited/);
});

// A link as a site of this unit signs it.
function linkOf({ url, key }, amount, currency) {
  const values = { order: '7', amount, currency, return: 'https://hongbao.example/wallet/topup/7', expires: String(Math.floor(Date.now() / 1000) + 600) };
  const signature = createHmac('sha256', key).update(['hongbao-topup-v1', ...Object.values(values)].join('\n')).digest('hex');
  return `${url}/pay?${new URLSearchParams({ ...values, signature })}`;
}

test('Stripe: the unit of the site is charged by its own minor unit, and no other', async () => {
  const server = await startStripe();
  const settings = { STRIPE_KEY: 'sk_test_of_the_test', STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET, STRIPE_API: server.url };
  for (const [currency, taken, refused] of [
    ['HKD', [['88.50', '8850'], ['88', '8800'], ['0.01', '1']], [['88.50', 'CNY'], ['88', 'POINT'], ['88', 'hkd']]],
    ['JPY', [['88', '88'], ['1234567', '1234567']], [['88.50', 'JPY'], ['88', 'HKD']]],
  ]) {
    const program = await startProgram('stripe', { ...settings, CURRENCY: currency });
    for (const [amount, minor] of taken) {
      server.sessions.clear();
      assert.equal((await visit(linkOf(program, amount, currency))).status, 303, amount);
      const [form] = server.sessions.values();
      assert.deepEqual([form['line_items[0][price_data][unit_amount]'], form['line_items[0][price_data][currency]']], [minor, currency.toLowerCase()]);
    }
    for (const [amount, other] of refused) assert.equal((await visit(linkOf(program, amount, other))).status, 422, `${amount} ${other}`);
    const person = await newUser();
    const order = await orderOf(program, '88', person);
    const session = { id: 'cs_3', metadata: metadataOf(order.id), payment_intent: unique('pi_'), amount_total: 8850 };
    assert.equal(await stripeTells(program, { session }), 502, 'paid in yuan');
    assert.equal(await stripeTells(program, { session: { ...session, currency: currency.toLowerCase() } }), 200);
    assert.equal(await balance(person), currency === 'HKD' ? 8850 : 885000, 'as an amount of the site');
  }
  const env = { ...process.env, ...settings, CURRENCY: 'POINT', HONGBAO_URL: site.url, HONGBAO_TOPUP_KEY: 'k', HONGBAO_SERVICE_TOKEN: 't', PORT: '0' };
  await assert.rejects(run(process.execPath, [join(EXAMPLES, 'stripe.mjs')], { env }), /does not know its minor unit/);
});

// ---- Alipay ----

const APP_ID = '2021000000000001';
const pair = () => generateKeyPairSync('rsa', { modulusLength: 2048, publicKeyEncoding: { type: 'spki', format: 'pem' }, privateKeyEncoding: { type: 'pkcs8', format: 'pem' } });
const app = pair();
const alipay = pair();
const sdkWith = (publicKey) => new AlipaySdk({ appId: APP_ID, keyType: 'PKCS8', privateKey: app.privateKey.trim(), alipayPublicKey: publicKey.trim() });
const alipaySdk = sdkWith(alipay.publicKey); // as the program, it checks what Alipay signs
const ofProgram = sdkWith(app.publicKey);    // checks what the program signs

function pemFile(name, text) {
  const path = join(FOLDER, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

const signedText = (parameters) => Object.keys(parameters).sort().map((name) => `${name}=${parameters[name]}`).join('&');

// Sends a notification as Alipay does; returns { status, text }.
async function alipayTells(program, parameters, { key = alipay.privateKey, change = (form) => form } = {}) {
  const all = { app_id: APP_ID, charset: 'utf-8', notify_type: 'trade_status_sync', subject: '红包充值 & more', trade_status: 'TRADE_SUCCESS', version: '1.0', ...parameters };
  const form = { ...all, sign_type: 'RSA2', sign: createSign('RSA-SHA256').update(signedText(all)).sign(key, 'base64') };
  assert.equal(alipaySdk.checkNotifySign(form), key === alipay.privateKey);
  const answer = await fetch(`${program.url}/notify`, { method: 'POST', body: new URLSearchParams(change(form)) });
  return { status: answer.status, text: await answer.text() };
}

test('Alipay: it charges yuan with two decimals, and no other unit', async () => {
  const program = await startProgram('alipay', { ALIPAY_APP_ID: APP_ID, PUBLIC_URL: 'https://pay.example.com',
    ALIPAY_PRIVATE_KEY: pemFile('app.pem', app.privateKey), ALIPAY_PUBLIC_KEY: pemFile('alipay.pem', alipay.publicKey) });
  for (const [amount, total] of [['88', '88.00'], ['88.5', '88.50'], ['0.01', '0.01']]) {
    const { status, location } = await visit(linkOf(program, amount, 'CNY'));
    assert.deepEqual([status, JSON.parse(new URL(location).searchParams.get('biz_content')).total_amount], [303, total]);
  }
  for (const unit of ['HKD', 'POINT', 'cny']) assert.equal((await visit(linkOf(program, '88', unit))).status, 422, unit);
});

test('Alipay: an order is paid on its page, and each payment is credited once, whatever is told how often', async () => {
  const program = await startProgram('alipay', { ALIPAY_APP_ID: APP_ID, PUBLIC_URL: 'https://pay.example.com',
    ALIPAY_PRIVATE_KEY: pemFile('app.pem', app.privateKey), ALIPAY_PUBLIC_KEY: pemFile('alipay.pem', alipay.publicKey) });
  const person = await newUser();
  const order = await orderOf(program, '88', person);
  await refusesChangedLinks(program, order.pay_url);

  const page = await visit(order.pay_url);
  assert.equal(page.status, 303, page.text);
  const asked = Object.fromEntries(new URL(page.location).searchParams);
  assert.equal(ofProgram.checkNotifySign(asked), true, 'Alipay can check the signature');
  assert.deepEqual([asked.method, asked.app_id, asked.notify_url, asked.return_url, JSON.parse(asked.biz_content).total_amount],
    ['alipay.trade.page.pay', APP_ID, 'https://pay.example.com/notify', new URL(order.pay_url).searchParams.get('return'), '88.00']);
  const { out_trade_no: number } = JSON.parse(asked.biz_content);
  assert.match(number, new RegExp(`^\\w{1,40}_${order.id}$`));

  const paid = { out_trade_no: number, trade_no: unique('2026').slice(0, 28), total_amount: '88.00' };
  for (const [what, wanted, parameters, how] of [
    ['signed with another key', 400, paid, { key: app.privateKey }],
    ['changed on the way', 400, paid, { change: (form) => ({ ...form, total_amount: '99.00' }) }],
    ['without a signature', 400, paid, { change: ({ sign, ...form }) => form }],
    ['with an older kind of signature', 400, paid, { change: (form) => ({ ...form, sign_type: 'RSA' }) }],
    ['of another app', 502, { ...paid, app_id: '2021000000000002' }],
    ['of another shop of the app', 502, { ...paid, out_trade_no: `shop-${order.id}` }],
    ['of another site of the app', 502, { ...paid, out_trade_no: number.replace(/_[0-9a-f]{12}_/, '_0123456789ab_') }],
    ['of no order', 502, { ...paid, out_trade_no: number.replace(/\d+$/, '999999999') }],
    ['not paid yet', 200, { ...paid, trade_status: 'WAIT_BUYER_PAY' }],
    ['closed', 200, { ...paid, trade_status: 'TRADE_CLOSED' }],
    ['a refund', 200, { ...paid, refund_fee: '88.00' }],
  ]) {
    const { status, text } = await alipayTells(program, parameters, how);
    assert.deepEqual([status, text === 'success'], [wanted, wanted === 200], what);
  }
  assert.deepEqual([await balance(person), (await order.look()).state], [0, 'waiting']);

  for (const state of ['TRADE_FINISHED', 'TRADE_SUCCESS', 'TRADE_SUCCESS']) {
    assert.deepEqual(await alipayTells(program, { ...paid, trade_status: state }), { status: 200, text: 'success' });
  }
  const more = { ...paid, trade_no: unique('2027').slice(0, 28), total_amount: '12.34' };
  assert.equal((await alipayTells(program, more)).text, 'success', 'a second payment of the order is money, too');
  const seen = await order.look();
  assert.deepEqual([await balance(person), seen.state, paymentsOf(seen)], [10034, 'paid', [[paid.trade_no, 8800], [more.trade_no, 1234]]]);
});
