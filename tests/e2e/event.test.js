// docs/how-to/event.md: its commands, run one after the other, give the answers that it shows.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { walk } from './support/how_to.js';
import { newUser } from './support/site.js';

test('the walk of the page for events', async () => {
  const files = await walk('event.md', import.meta.url, await newUser());
  assert.ok(files['sent.json'].includes('"commitment"'));
});
