// The commands of docs/how-to/audit.md, and the continuous audit of the settle worker.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HowTo } from './support/how_to.js';
import { tried } from './support/instance.js';
import { sql } from './support/mysql.js';
import { audit, newUser, poll, sendPacket } from './support/site.js';

const page = new HowTo('audit.md', import.meta.url);

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
  const { code, stdout, stderr } = await tried(['audit'], { HB_PARTITIONS: '8' });
  assert.deepEqual([code, stdout], [2, '']);
  assert.match(stderr, /another number of partitions/);
});

// The exit status of a command with these additional settings, and its output.
const hongbao = async (settings, ...args) => {
  const { code, stdout, stderr } = await tried(args, settings);
  return `${code} ${stdout}${stderr}`;
};
const BERLIN = { HB_TIMEZONE: 'Europe/Berlin', HB_SANDBOX: 'off' }; // the sandbox takes root's right to the sockets of others
const POINTS = { HB_UNIT: 'POINT', HB_UNIT_DECIMALS: '0', HB_UNIT_SYMBOL: '', HB_UNIT_NAME_ZH: '积分', HB_UNIT_NAME_EN: 'points', HB_SANDBOX: 'off' };

test('no process works with tables whose months are of another time zone, or whose amounts are of another unit', async () => {
  for (const [settings, why, refused] of [
    [BERLIN, 'another time zone than the setting timezone',
      /^1 [\s\S]*timezone is Europe\/Berlin, but the months of the tables were made with Asia\/Shanghai, and stay so: set timezone = Asia\/Shanghai\n/],
    [POINTS, 'another unit of money than the setting unit',
      /^1 [\s\S]*unit is POINT, but the amounts of the tables were made with CNY, and stay so: set unit = CNY\n[^]*decimals is 0, [^\n]*: set unit_decimals = 2\n/],
    [{ ...POINTS, HB_UNIT_DECIMALS: '2', HB_UNIT: 'CNY', HB_UNIT_NAME_EN: 'kuai' }, null, /^0 /],
  ]) {
    for (const command of [['audit'], ['settle', '--check'], ['serve', '--pool', 'page', '--check'], ['user', 'find', 'alice']]) {
      if (why) assert.match(await hongbao(settings, ...command), new RegExp(`^[12] [^]*its tables have ${why}`), command.join(' '));
    }
    assert.match(await hongbao(settings, 'migrate'), refused);
  }
  assert.match(await hongbao({}, 'migrate'), /^0 /);
  await audit();
});

test('zone and unit are those of the first months and amounts: before, other settings take their place', async () => {
  const there = { HB_MYSQL_DATABASE: 'hongbao_zone', HB_REDIS: 'unix:/nowhere' };
  const zone = () => sql('SELECT timezone FROM hongbao_zone.site').then((text) => text.trim());
  const unit = () => sql(`SELECT CONCAT(unit, ' ', unit_decimals, ' ', (SELECT additive FROM hongbao_zone.schema_migration WHERE name = 'unit'))
    FROM hongbao_zone.site`).then((text) => text.trim());
  await sql('DROP DATABASE IF EXISTS hongbao_zone; CREATE DATABASE hongbao_zone CHARACTER SET utf8mb4 COLLATE utf8mb4_bin');
  try {
    assert.match(await hongbao(there, 'migrate'), /^0 /);
    assert.equal(await zone(), 'Asia/Shanghai');
    assert.match(await hongbao({ ...there, ...BERLIN }, 'migrate', '--restoring'), /^0 /);
    assert.equal(await zone(), 'Asia/Shanghai', 'a restore brings its own');
    assert.match(await hongbao({ ...there, ...BERLIN }, 'migrate'), /^0 /);
    assert.equal(await zone(), 'Europe/Berlin');
    assert.equal(await unit(), 'CNY 2 1');
    assert.match(await hongbao({ ...there, ...BERLIN, ...POINTS }, 'migrate'), /^0 /);
    assert.equal(await unit(), 'POINT 0 0', 'no older program works with it');
    assert.match(await hongbao({ ...there, ...BERLIN }, 'migrate', '--restoring'), /^0 /);
    assert.equal(await unit(), 'POINT 0 0');
    assert.match(await hongbao({ ...there, ...BERLIN }, 'migrate'), /^0 /);
    assert.equal(await unit(), 'CNY 2 1');
    await sql('SET foreign_key_checks = 0; INSERT INTO hongbao_zone.user_month (user_id, year, month) VALUES (1, 2026, 1)');
    assert.match(await hongbao(there, 'migrate'), /^1 [\s\S]*set timezone = Europe\/Berlin\n/);
    await sql("UPDATE hongbao_zone.site SET timezone = ''"); // as the migration leaves the tables of an earlier version
    assert.match(await hongbao(there, 'migrate', '--restoring'), /^0 /);
    assert.equal(await zone(), 'Asia/Shanghai', 'the setting of the upgrade');
  } finally {
    await sql('DROP DATABASE hongbao_zone');
  }
});

test('every command of the page was run', () => {
  assert.deepEqual(page.untested(), []);
});
