// Channels that pay withdrawals, as an operator opens and closes them.
import assert from 'node:assert/strict';
import { tried } from './instance.js';
import { sql } from './mysql.js';

// Runs `hongbao money ARGS`, which must succeed; what it prints.
export async function money(...args) {
  const { code, stdout, stderr } = await tried(['money', ...args]);
  assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
  return stdout;
}

// Opens the channel, and makes it when it is not there. more: further options of the command.
export const openChannel = (name, ...more) => money('channel', name, '--withdrawals', 'on', ...more);

// No channel pays withdrawals, also none of another test.
export async function closeChannels() {
  const names = (await sql('SELECT name FROM channel WHERE withdraws')).split('\n').filter(Boolean);
  for (const name of names) await money('channel', name, '--withdrawals', 'off');
}
