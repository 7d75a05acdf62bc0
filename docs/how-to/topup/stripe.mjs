// A page that takes payments for hongbao by Stripe Checkout (docs/how-to/topup-providers.md). Node.js 18, without packages:
//   STRIPE_KEY=sk_live_… STRIPE_WEBHOOK_SECRET=whsec_… HONGBAO_…=… PORT=8700 CURRENCY=CNY node stripe.mjs
// CURRENCY is the unit of the site, the only one that it charges.
// GET /pay is the channel's --topup-url; POST /webhook is the endpoint to name in Stripe, with the two events below.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { SITE, amountOf, answer, bodyOf, minorOf, orderOf, serve, settingsOf, tellPaid } from './hongbao.mjs';

const { STRIPE_KEY, STRIPE_WEBHOOK_SECRET, STRIPE_API = 'https://api.stripe.com', PORT = '8700', CURRENCY = 'CNY' } = settingsOf('STRIPE_KEY', 'STRIPE_WEBHOOK_SECRET');
// The decimals of a currency's minor unit, which Stripe counts: 1 yuan is 100, but 1 yen is 1.
const DECIMALS = { CNY: 2, EUR: 2, GBP: 2, HKD: 2, JPY: 0, KRW: 0, MYR: 2, SGD: 2, TWD: 2, USD: 2 }[CURRENCY];
if (DECIMALS === undefined) throw new Error(`CURRENCY = ${CURRENCY}: this program does not know its minor unit`);
const PAID_EVENTS = ['checkout.session.completed', 'checkout.session.async_payment_succeeded'];
const TOLERANCE_S = 300; // Stripe signs each attempt to deliver anew
const TIMEOUT_MS = 10_000;

// The page of Stripe where this order is paid. A reload gets the same page: Stripe knows the key of the request.
async function checkoutUrl({ order, amount, returnUrl }) {
  const reply = await fetch(`${STRIPE_API}/v1/checkout/sessions`, {
    method: 'POST', headers: { Authorization: `Bearer ${STRIPE_KEY}`, 'Idempotency-Key': `hongbao-${SITE}-${order}-${amount}` },
    body: new URLSearchParams({
      mode: 'payment', 'metadata[hongbao_site]': SITE, 'metadata[hongbao_order]': order, success_url: returnUrl, cancel_url: returnUrl,
      'line_items[0][quantity]': '1', 'line_items[0][price_data][currency]': CURRENCY.toLowerCase(),
      'line_items[0][price_data][unit_amount]': String(minorOf(amount, DECIMALS)),
      'line_items[0][price_data][product_data][name]': `Hongbao ${order}`,
    }), signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!reply.ok) throw new Error(`order ${order}: Stripe answered ${reply.status} ${await reply.text()}`);
  return (await reply.json()).url;
}

async function pay(url, request, response) {
  const order = orderOf(url.searchParams);
  if (order === null) return answer(response, 403, 'This link is not valid, or too old. Please go back and start again.');
  if (order.currency !== CURRENCY || Number.isNaN(minorOf(order.amount, DECIMALS))) {
    return answer(response, 422, `This page takes no payment of ${order.amount} ${order.currency}.`);
  }
  return answer(response, 303, '', { Location: await checkoutUrl(order) });
}

// Whether Stripe has sent this body: Stripe-Signature has a time and one or more HMACs, of the body behind the time.
function isOfStripe(header, body, nowMs) {
  const parts = String(header).split(',').map((part) => part.split('='));
  const [, time] = parts.find(([name]) => name === 't') ?? [];
  if (!/^\d+$/.test(time ?? '') || Math.abs(nowMs / 1000 - Number(time)) > TOLERANCE_S) return false;
  const wanted = createHmac('sha256', STRIPE_WEBHOOK_SECRET).update(`${time}.`).update(body).digest();
  return parts.some(([name, hex = '']) => {
    const given = Buffer.from(hex, 'hex');
    return name === 'v1' && given.length === wanted.length && timingSafeEqual(given, wanted);
  });
}

// Stripe repeats an event, for up to three days, until it is answered with 2xx; and it keeps no order of events. So each
// payment is told to hongbao by its number, as often as Stripe tells it, and an error there is an error here.
async function webhook(url, request, response) {
  const body = await bodyOf(request);
  if (!isOfStripe(request.headers['stripe-signature'], body, Date.now())) return answer(response, 400, 'the signature is wrong');
  const { type, data: { object: session } } = JSON.parse(body.toString('utf8'));
  // A session of a slow means of payment is completed before it is paid; then the second event tells of the payment.
  // What else the Stripe account sells has no such order, and the orders of another site are told to its own program.
  const { hongbao_order: order, hongbao_site: site } = session.metadata ?? {};
  if (!PAID_EVENTS.includes(type) || session.payment_status !== 'paid' || order === undefined || site !== SITE) return answer(response, 200, 'nothing to do');
  if (session.currency !== CURRENCY.toLowerCase()) throw new Error(`session ${session.id} was paid in ${session.currency}`);
  await tellPaid(order, session.payment_intent, amountOf(session.amount_total, DECIMALS));
  return answer(response, 200, 'credited');
}

serve(Number(PORT), { 'GET /pay': pay, 'POST /webhook': webhook }, 'This did not work. Please try again in a minute.');
