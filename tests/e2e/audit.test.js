// The commands of docs/how-to/audit.md, and the check that never stops.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { HowTo } from './support/how_to.js';
import { audit, newUser, poll, sendPacket } from './support/site.js';

const page = new HowTo('audit.md');
after(() => page.end());

const IN_WORDS = 'Prove that the money is right';

test('the audit of everything and of one packet say so in words and in JSON', async () => {
  const sender = await newUser({ yuan: '10' });
  const sent = await sendPacket(sender, { kind: 'lucky', amount: '5', count: '2' });
  await sender.client.post(`/p/${sent.json.id}/open`, {});
  await audit();
  assert.match((await page.step(IN_WORDS, 0)).stdout, /^I1 +ok[\s\S]*^I8 +ok[\s\S]*: clean\n$/m);
  const all = JSON.parse((await page.step(IN_WORDS, 1)).stdout);
  assert.equal(all.ok, true);
  assert.ok(all.packets >= 1);
  assert.deepEqual([...new Set(all.checks.map((check) => check.violations))], [0]);
  const one = JSON.parse((await page.step(IN_WORDS, 2, { PACKET: sent.json.id })).stdout);
  assert.equal(one.ok, true);
  assert.equal(one.packets, 1);
});

test('the settle worker looks at packets all the time and finds nothing', async () => {
  const metric = async (client, name) => Number((await client.getHtml('/metrics')).text.match(new RegExp(`^${name} (\\d+)$`, 'm'))[1]);
  const { client } = await newUser();
  const before = await metric(client, 'hongbao_audit_sampled_packets_total');
  await poll('another packet was looked at', async () => await metric(client, 'hongbao_audit_sampled_packets_total') > before);
  assert.equal(await metric(client, 'hongbao_audit_sampled_violations_total'), 0);
});

test('every command of the page was run', () => {
  assert.deepEqual(page.untested(), []);
});
