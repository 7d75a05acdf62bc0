// The crash points of `hongbao money`: an operator's command dies there, and is repeated.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { env } from '../e2e/support/instance.js';
import { sql } from '../e2e/support/mysql.js';
import { run, temporaryFolder } from '../e2e/support/run.js';
import { assertCrashed, drained } from './site.js';

const CHANNEL = 'crashed';
const IMPORT_ROWS = 2500; // three batches

const money = (args, extra = {}) => run(env.HB_TEST_BINARY, ['money', ...args],
  { env: { ...process.env, HB_CONFIG: env.HB_TEST_CONFIG, ...extra } });

// A command for the user, and what it does to the wallet: a credit of each row of a file, a reversal, or the payment of a
// withdrawal.
async function moneyCommand(point, user, mark) {
  const outside = (reference) => ['--channel', CHANNEL, '--reference', reference];
  if (point.startsWith('money-reverse')) {
    const { id } = JSON.parse((await money(['credit', user.username, '1', ...outside(`${mark}-1`), '--json'])).stdout);
    return { args: ['reverse', String(id), '--reference', `${mark}-2`], fen: 0 };
  }
  if (point.startsWith('money-end')) {
    await sql(`CALL withdrawal_hold(${user.id}, (SELECT id FROM channel WHERE name = '${CHANNEL}'), 100, 'bank', '${mark}', 0)`);
    const id = (await sql(`SELECT id FROM withdrawal WHERE user_id = ${user.id}`)).trim();
    return { args: ['post', id, '--reference', mark], fen: -100 };
  }
  const file = join(temporaryFolder('crash'), 'import.csv');
  const rows = Array.from({ length: IMPORT_ROWS }, (_, i) => `${user.username},0.01,${mark}-${i}`);
  writeFileSync(file, ['username,amount,reference', ...rows].join('\n'));
  return { args: ['import', file, '--channel', CHANNEL], fen: IMPORT_ROWS };
}

// The command dies at the point, and the operator repeats it, twice. passes: of an import, the batch.
export async function visitMoney(point, passes, user) {
  await money(['channel', CHANNEL]);
  const { args, fen } = await moneyCommand(point, user, randomBytes(4).toString('hex'));
  const crash = `${point}:${args[0] === 'import' ? passes : 1}`;
  assertCrashed(await money(args, { HB_CRASH: crash }).catch((error) => error), point);
  for (let i = 0; i < 2; i++) await money(args);
  assert.equal((await user.client.get('/wallet')).json?.balance_fen, user.balanceFen + fen);
  await drained();
}
