// docs/how-to/programs.md: its commands, run one after the other, give the answers that it shows.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { walk } from './support/how_to.js';
import { newUser } from './support/site.js';

test('the walk of the page for programs', async () => {
  const files = await walk('programs.md', import.meta.url, await newUser({ yuan: '1000' }));
  assert.ok(files['receipt.json'].includes('"signature"'));
});
