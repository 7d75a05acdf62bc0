// What a page that takes payments for hongbao needs of it: the signed link is read, and a payment is told.
// docs/how-to/topup.md explains both. Settings come from the environment:
//   HONGBAO_URL            the site, such as https://hongbao.example.com
//   HONGBAO_SITE           its name among the sites that share an account of the provider: the host of HONGBAO_URL by
//                          default. Never change it while payments are under way: theirs would be another site's
//   HONGBAO_SERVICE_TOKEN  hongbao service add stripe --scopes topup --channel stripe
//   HONGBAO_TOPUP_KEY      hongbao money channel stripe --topup-key
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

// The settings of these names, all needed: anybody could sign with an empty secret.
export function settingsOf(...names) {
  const missing = names.filter((name) => !process.env[name]);
  if (missing.length > 0) throw new Error(`set ${missing.join(', ')}`);
  return process.env;
}

const { HONGBAO_URL, HONGBAO_SERVICE_TOKEN, HONGBAO_TOPUP_KEY } = settingsOf('HONGBAO_URL', 'HONGBAO_SERVICE_TOKEN', 'HONGBAO_TOPUP_KEY');
export const SITE = process.env.HONGBAO_SITE || new URL(HONGBAO_URL).host;
const TIMEOUT_MS = 10_000;

function same(a, b) {
  const [one, other] = [Buffer.from(a), Buffer.from(b)];
  return one.length === other.length && timingSafeEqual(one, other);
}

// The order of a link that hongbao has signed: { order, amount, currency, returnUrl }; currency is the unit of the site.
// Null: it is forged, changed, or too old.
export function orderOf(query, nowMs = Date.now()) {
  const [order, amount, currency, returnUrl, expires, signature] = ['order', 'amount', 'currency', 'return', 'expires', 'signature']
    .map((name) => query.get(name) ?? '');
  const message = ['hongbao-topup-v1', order, amount, currency, returnUrl, expires].join('\n');
  if (!same(createHmac('sha256', HONGBAO_TOPUP_KEY).update(message).digest('hex'), signature)) return null;
  return Number(expires) * 1000 > nowMs ? { order, amount, currency, returnUrl } : null;
}

// An amount, such as '88.50', in the minor units of a currency with so many decimals: 8850. NaN: it has more decimals.
export function minorOf(amount, decimals) {
  const [whole, fraction = ''] = amount.split('.');
  return fraction.length > decimals ? NaN : Number(whole + fraction.padEnd(decimals, '0'));
}

// The other way round, without zeros at the end, which a site whose unit has no decimals refuses: '88.5', '88'.
export function amountOf(minor, decimals) {
  const digits = String(minor).padStart(decimals + 1, '0'), point = digits.length - decimals;
  const fraction = digits.slice(point).replace(/0+$/, '');
  return digits.slice(0, point) + (fraction && `.${fraction}`);
}

// Tells hongbao that an order was paid. reference: the provider's number of the payment; amount: what was paid, such as
// '88.00'. It may be told again: one reference is credited once. Throws unless hongbao has it.
export async function tellPaid(order, reference, amount) {
  const answer = await fetch(`${HONGBAO_URL}/money/topups/${encodeURIComponent(order)}/paid`, {
    method: 'POST', headers: { Authorization: `Bearer ${HONGBAO_SERVICE_TOKEN}` },
    body: new URLSearchParams({ reference, amount }), signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`order ${order}, payment ${reference} of ${amount}: hongbao answered ${answer.status} ${text}`);
  console.log(`order ${order}, payment ${reference} of ${amount}: credited`);
}

// The body of a request, as bytes; at most 1 MiB.
export async function bodyOf(request) {
  const parts = [];
  let length = 0;
  for await (const part of request) {
    parts.push(part);
    length += part.length;
    if (length > 1 << 20) throw new Error('the body is too long');
  }
  return Buffer.concat(parts);
}

export function answer(response, status, text, headers = {}) {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store', ...headers }).end(text);
}

// Answers requests on 127.0.0.1. routes: { 'GET /pay': (url, request, response) => … }; sorry: what an error says to the
// other side. Whatever is sent, the program goes on: an address such as // is no URL, and an error.
export function serve(port, routes, sorry) {
  const route = async (request, response) => {
    const url = new URL(request.url, 'http://localhost');
    const handler = routes[`${request.method} ${url.pathname}`];
    await (handler ? handler(url, request, response) : answer(response, 404, 'there is no such page'));
  };
  createServer((request, response) => {
    route(request, response).catch((error) => {
      console.error(error.message);
      if (!response.headersSent) answer(response, 502, sorry);
    });
  }).listen(port, '127.0.0.1', () => console.log(`listening on 127.0.0.1:${port}`));
}
