// Orders of top-ups in every state that a page can show, of a person with a long name; two channels take payments.
import assert from 'node:assert/strict';
import { sql } from '../../e2e/support/mysql.js';
import { site, unique } from '../../e2e/support/site.js';

const CHANNELS = ['pages-cards', 'pages-wallets'];

// Only the first `count` of them take payments.
export const topupPages = (count) => sql(`UPDATE channel SET topup_url = IF(name IN (${CHANNELS.slice(0, count).map((name) => `'${name}'`).join() || 'NULL'}),
  'https://pay.example/topup?shop=1', '')`);

// Returns the numbers of the orders.
export async function topupOrders(client, note) {
  for (const name of CHANNELS) await site.hongbao('money', 'channel', name, '--note', note);
  await topupPages(2);
  const made = {};
  for (const name of ['waiting', 'paid', 'differing', 'expired', 'closed']) {
    const channel = CHANNELS[name === 'closed' ? 1 : 0];
    const answer = await client.post('/wallet/topup', { amount: '1000000', channel, request_key: unique('k') });
    assert.equal(answer.status, 201, answer.text);
    made[name] = answer.json.id;
  }
  const paid = (name, ...more) => site.hongbao('money', 'paid', String(made[name]), '--reference', unique('W'.repeat(40)), '--json', ...more);
  made.transfer = JSON.parse((await paid('paid')).stdout).id;
  await paid('differing', '--amount', '99999.99');
  const { id: transfer } = JSON.parse((await paid('differing', '--amount', '0.01')).stdout);
  await site.hongbao('money', 'reverse', String(transfer), '--reference', unique('r'));
  await sql(`UPDATE topup SET expires_ms = created_ms WHERE id = ${made.expired}`);
  await topupPages(1);
  return made;
}
