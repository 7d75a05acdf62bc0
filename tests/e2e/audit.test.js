// The commands of docs/how-to/audit.md, and the continuous audit of the settle worker.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { HowTo } from './support/how_to.js';
import { env } from './support/instance.js';
import { audit, newUser, poll, sendPacket } from './support/site.js';

const page = new HowTo('audit.md', import.meta.url);
after(() => page.end());

const IN_WORDS = 'Prove that the money is right';

test('the audit of all packets and of one packet reports in text and in JSON', async () => {
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

test('the settle worker audits packets continuously and finds nothing', async () => {
  const metric = async (client, name) => Number((await client.getHtml('/metrics')).text.match(new RegExp(`^${name} (\\d+)$`, 'm'))[1]);
  const { client } = await newUser();
  const before = await metric(client, 'hongbao_audit_sampled_packets_total');
  await poll('another packet was audited', async () => await metric(client, 'hongbao_audit_sampled_packets_total') > before);
  assert.equal(await metric(client, 'hongbao_audit_sampled_violations_total'), 0);
});

test('an audit configured with another number of partitions than the tables refuses to run', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hongbao-audit-'));
  try {
    const settings = await readFile(env.HB_TEST_CONFIG, 'utf8');
    await writeFile(join(folder, 'conf'), `${settings}partitions = 8\n`);
    const refused = await promisify(execFile)(env.HB_TEST_BINARY, ['audit'], { env: { ...process.env, HB_CONFIG: join(folder, 'conf') } })
      .then(() => assert.fail('the audit ran'), (error) => error);
    assert.equal(refused.code, 2);
    assert.equal(refused.stdout, '');
    assert.match(refused.stderr, /another number of partitions/);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('every command of the page was run', () => {
  assert.deepEqual(page.untested(), []);
});
