// The keys of a pool, which it has in place of the secret: `hongbao keys`, and the files of an instance.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { env, tried } from './support/instance.js';
import { Client, newUser, sendPacket, site } from './support/site.js';

const RIGHTS = join(env.HB_TEST_VAR, 'rights');
const POOLS = ['hot', 'page', 'auth', 'card'];
const KEY = /^[a-z_]+ = [0-9a-f]{64}$/;

const keys = (role, settings) => tried(['keys', role], settings);

const linesOf = (text) => text.trim().split('\n').filter((line) => !line.startsWith('#'));
const words = (text) => linesOf(text).map((line) => line.split(' ')[0]);

test('each role gets its keys, which depend on the secret, and not the secret', async () => {
  const secret = /^secret = (.*)$/m.exec(readFileSync(env.HB_TEST_CONFIG, 'utf8'))[1];
  for (const role of POOLS) {
    const { code, stdout } = await keys(role);
    assert.equal(code, 0);
    for (const line of linesOf(stdout)) assert.match(line, KEY);
    assert.ok(!stdout.includes(secret));
    const other = await keys(role, { HB_SECRET: 'x'.repeat(40) });
    assert.deepEqual(words(other.stdout), words(stdout));
    assert.ok(linesOf(other.stdout).every((line) => !stdout.includes(line)));
    for (const older of ['on', 'off']) // without older keys the file has no KEY_BEFORE
      assert.equal(words((await keys(role, { HB_OLDER_KEYS: older })).stdout).includes('before'), older === 'on' && role !== 'card', role);
  }
  assert.deepEqual(words((await keys('card')).stdout), ['ids']);
  for (const role of ['settle', 'money']) {
    const { code, stdout } = await keys(role);
    assert.deepEqual([code, words(stdout)], [0, []], role);
  }
  for (const role of ['audit', 'nobody', '']) assert.equal((await keys(role)).code, 2);
});

test('with other keys than the other pools have, a pool knows no address', async () => {
  const sender = await newUser({ yuan: '1' });
  const { id } = (await sendPacket(sender, { kind: 'even', amount: '0.01', count: '1' })).json;
  const picture = `/p/${id}/card.png`;
  const secret = { HB_SECRET: 'x'.repeat(40) };
  await site.withSetting(['card'], secret, async () => {
    assert.equal(readFileSync(join(RIGHTS, 'card.keys'), 'utf8'), (await keys('card', secret)).stdout, 'an instance makes the files of its secret');
    assert.equal((await new Client().get(picture)).status, 404);
  });
  assert.equal((await new Client().get(picture)).status, 200);
});
