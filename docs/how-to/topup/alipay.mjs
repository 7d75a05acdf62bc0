// A page that takes payments for hongbao by Alipay's page pay, 电脑网站支付 (docs/how-to/topup-providers.md). Node.js 18,
// without packages:
//   ALIPAY_APP_ID=… ALIPAY_PRIVATE_KEY=app.pem ALIPAY_PUBLIC_KEY=alipay.pem PUBLIC_URL=https://pay.example.com HONGBAO_…=… node alipay.mjs
// GET /pay is the channel's --topup-url; Alipay sends its notifications to PUBLIC_URL/notify.
import { createHash, createSign, createVerify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { SITE, amountOf, answer, bodyOf, minorOf, orderOf, serve, settingsOf, tellPaid } from './hongbao.mjs';

const { ALIPAY_APP_ID, ALIPAY_PRIVATE_KEY, ALIPAY_PUBLIC_KEY, PUBLIC_URL, PORT = '8701',
  ALIPAY_GATEWAY = 'https://openapi.alipay.com/gateway.do' } = settingsOf('ALIPAY_APP_ID', 'ALIPAY_PRIVATE_KEY', 'ALIPAY_PUBLIC_KEY', 'PUBLIC_URL');
const [privateKey, alipayKey] = [ALIPAY_PRIVATE_KEY, ALIPAY_PUBLIC_KEY].map((file) => readFileSync(file, 'utf8'));
const PAID_STATES = ['TRADE_SUCCESS', 'TRADE_FINISHED'];
const CHINA_MS = 8 * 3600 * 1000;
// An order's number at Alipay, of letters, digits and _, begins with this: no two orders of an app may have one number.
const PREFIX = `hongbao_${createHash('sha256').update(SITE).digest('hex').slice(0, 12)}_`;
const DECIMALS = 2; // of the yuan, the only currency that it charges

// What is signed: the parameters in the order of their names, as name=value, with & between.
const signedText = (parameters) => Object.keys(parameters).sort().map((name) => `${name}=${parameters[name]}`).join('&');

// The time in China, as Alipay wants it: 2026-01-31 20:00:00.
const timestamp = (nowMs) => new Date(nowMs + CHINA_MS).toISOString().slice(0, 19).replace('T', ' ');

// The page of Alipay where this order is paid.
function cashierUrl({ order, amount, returnUrl }, nowMs) {
  const parameters = {
    app_id: ALIPAY_APP_ID, method: 'alipay.trade.page.pay', charset: 'utf-8', sign_type: 'RSA2', version: '1.0',
    timestamp: timestamp(nowMs), notify_url: `${PUBLIC_URL}/notify`, return_url: returnUrl,
    biz_content: JSON.stringify({ out_trade_no: PREFIX + order, total_amount: (minorOf(amount, DECIMALS) / 100).toFixed(DECIMALS), subject: `红包充值 ${order}`,
      product_code: 'FAST_INSTANT_TRADE_PAY' }),
  };
  const sign = createSign('RSA-SHA256').update(signedText(parameters)).sign(privateKey, 'base64');
  return `${ALIPAY_GATEWAY}?${new URLSearchParams({ ...parameters, sign })}`;
}

function pay(url, request, response) {
  const order = orderOf(url.searchParams);
  if (order === null) return answer(response, 403, '这个链接无效或已过期，请返回后重新充值。');
  if (order.currency !== 'CNY') return answer(response, 422, `本页不能收取${order.currency}。`);
  return answer(response, 303, '', { Location: cashierUrl(order, Date.now()) });
}

// Whether Alipay has sent these parameters: sign is the signature of the others, without sign_type.
function isOfAlipay({ sign = '', sign_type: type, ...parameters }) {
  return type === 'RSA2' && createVerify('RSA-SHA256').update(signedText(parameters)).verify(alipayKey, sign, 'base64');
}

// Alipay repeats a notification, for up to a day, until the answer is the word success. So each payment is told to hongbao
// by its number, as often as Alipay tells it, and only what hongbao has is a success.
async function notified(url, request, response) {
  const told = Object.fromEntries(new URLSearchParams((await bodyOf(request)).toString('utf8')));
  if (!isOfAlipay(told)) return answer(response, 400, 'failure');
  const order = told.out_trade_no?.startsWith(PREFIX) ? told.out_trade_no.slice(PREFIX.length) : '';
  if (told.app_id !== ALIPAY_APP_ID || !/^\d+$/.test(order)) throw new Error(`trade ${told.trade_no} is not of this page`);
  // A notification of a refund has these states, too: it comes with the amount that was given back.
  if (PAID_STATES.includes(told.trade_status) && !told.refund_fee) await tellPaid(order, told.trade_no, amountOf(minorOf(told.total_amount, DECIMALS), DECIMALS));
  return answer(response, 200, 'success');
}

serve(Number(PORT), { 'GET /pay': pay, 'POST /notify': notified }, 'failure');
