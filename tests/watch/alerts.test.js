// deploy/watch/alerts.yml: Prometheus reads it, each alert fires when it should, and docs/how-to/watch.md explains it.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const path = (name) => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const read = (name) => readFileSync(path(name), 'utf8');

const rules = read('deploy/watch/alerts.yml');
const alerts = [...rules.matchAll(/^ {6}- alert: (\w+)$/gm)].map(([, name]) => name);

// The cases of each alert. For each series: the values, in the form of promtool, with which the alert fires at the time
// `at`, and values close to them with which it stays quiet (null: there is no such series). A single text is for both.
// also: further alerts that fire with it. quietAt: instead of `at`.
const SOON = [
  { alert: 'HongbaoDown', at: '60s', series: { 'up{job="hongbao"}': ['1 0x20', '1x20'] } },
  { alert: 'HongbaoNotReady', at: '60s', series: { 'probe_success{job="hongbao-readyz"}': ['1 0x20', '1x20'] } },
  { alert: 'HongbaoRedisDown', at: '60s', series: { 'hongbao_store_up{store="redis"}': ['1 0x20', '1x20'] } },
  { alert: 'HongbaoMysqlDown', at: '60s', series: { 'hongbao_store_up{store="mysql"}': ['1 0x20', '1x20'] } },
  { alert: 'HongbaoPartitionsShut', at: '60s', series: { 'hongbao_partitions_shut': ['0 5x20', '5x4 0x20'] } },
  { alert: 'HongbaoPoolStopped', at: '60s', series: { 'hongbao_processes{pool="hot"}': ['2 0x20', '1x20'] } },
  { alert: 'HongbaoSettleStopped', at: '60s', series: { 'hongbao_processes{pool="settle"}': ['1 0x20', '1x20'] } },
  { alert: 'HongbaoRestarts', at: '400s', series: {
    'hongbao_process_starts_total{pool="page"}': ['0+1x100', '2x40 4x60'],
    'hongbao_processes{pool="page"}': '2x100',
  } },
  { alert: 'HongbaoRefusedCalls', at: '120s', series: { 'hongbao_refused_calls_total': ['0x10 1x20', '7x30'] } },
  { alert: 'HongbaoSettlementLag', at: '60s',
    series: { 'hongbao_settlement_lag_seconds': ['0 25+5x20', '0 5 29 12 0 31 3 0x20'] } },
  { alert: 'HongbaoPartitionStopped', at: '120s', series: { 'hongbao_settle_stopped_total': ['0x10 1x20', '3x30'] } },
  { alert: 'HongbaoDeadLetters', at: '120s', series: { 'hongbao_dead_letters': ['0x10 1x20', '0x30'] } },
  { alert: 'HongbaoAuditViolations', at: '120s', series: { 'hongbao_audit_violated': ['0x10 1x20', '0x30'] } },
  { alert: 'HongbaoAuditStopped', at: '4000s',
    series: { 'hongbao_audit_walks_total': ['5x900', '0+0.1x900'], 'hongbao_processes{pool="settle"}': '1x900' } },
  { alert: 'HongbaoWithdrawalWaits', at: '60s',
    series: { 'hongbao_pending_withdrawal_age_seconds': ['259190+15x20', '259000+5x20'] } },
  { alert: 'HongbaoRecovery', at: '120s', series: {
    'hongbao_recoveries_total{kind="stream"}': ['0x10 1x20', null],
    'hongbao_recoveries_total{kind="loaded"}': [null, '0x10 1x20'],
  } },
  { alert: 'HongbaoRecoveryFaults', at: '120s', series: { 'hongbao_recovery_faults_total': ['0x10 1x20', '1x30'] } },
  { alert: 'HongbaoAofOff', at: '60s', series: { 'hongbao_redis_aof_enabled': ['1 0x20', '1x20'] } },
  { alert: 'HongbaoAofWriteFails', at: '60s',
    series: { 'hongbao_redis_aof_write_ok': ['1 0x20', '1x20'], 'hongbao_redis_aof_rewrite_ok': '1x20' } },
  { alert: 'HongbaoRedisEvicts', at: '60s', series: { 'hongbao_redis_evicts': ['1x20', '0x20'] } },
  { alert: 'HongbaoRedisMemory', at: '60s',
    series: { 'hongbao_redis_memory_used_bytes': ['80x20', '74x20'], 'hongbao_redis_memory_max_bytes': '100x20' } },
  { alert: 'HongbaoRedisNoLimit', at: '400s',
    series: { 'hongbao_redis_memory_used_bytes': '74x100', 'hongbao_redis_memory_max_bytes': ['0x100', '1000x100'] } },
  { alert: 'HongbaoConnectionsLost', at: '400s', series: {
    'hongbao_redis_connections_lost_total': ['0+10x100', '0+1x100'],
    'hongbao_mysql_connections_lost_total': ['0x100', '0x50 4x50'],
  } },
  { alert: 'HongbaoDiskFilling', at: '60s', series: {
    'node_filesystem_avail_bytes{mountpoint="/",fstype="ext4"}': ['9x20', '11x20'],
    'node_filesystem_size_bytes{mountpoint="/",fstype="ext4"}': '100x20',
  } },
  { alert: 'HongbaoErrors', at: '180s', series: {
    'hongbao_errors_total{pool="hot",status="5xx"}': ['0+2x40', '0+1x40'],
    'hongbao_errors_total{pool="hot",status="4xx"}': ['0+9x40', '0+90x40'],
    'hongbao_requests_total{pool="hot"}': ['0+100x40', '0+200x40'],
  } },
  { alert: 'HongbaoGrabsSlow', at: '180s', series: {
    'hongbao_request_seconds_bucket{pool="hot",class="write",le="0.250000"}': ['0+90x40', '0+100x40'],
    'hongbao_request_seconds_bucket{pool="hot",class="write",le="0.500000"}': '0+100x40',
    'hongbao_request_seconds_bucket{pool="hot",class="write",le="+Inf"}': '0+100x40',
  } },
  { alert: 'HongbaoPagesSlow', at: '400s', series: {
    'hongbao_request_seconds_bucket{pool="page",class="read",le="2.500000"}': ['0+90x100', null],
    'hongbao_request_seconds_bucket{pool="page",class="read",le="5.000000"}': ['0+100x100', null],
    'hongbao_request_seconds_bucket{pool="page",class="read",le="+Inf"}': ['0+100x100', null],
    'hongbao_request_seconds_bucket{pool="page",class="file",le="2.500000"}': [null, '0+90x100'],
    'hongbao_request_seconds_bucket{pool="page",class="file",le="+Inf"}': [null, '0+100x100'],
  } },
  { alert: 'HongbaoQueue', at: '180s', series: {
    'hongbao_queue_seconds_bucket{pool="page",le="0.500000"}': ['0+50x40', '0+95x40'],
    'hongbao_queue_seconds_bucket{pool="page",le="1.000000"}': '0+100x40',
    'hongbao_queue_seconds_bucket{pool="page",le="+Inf"}': '0+100x40',
  } },
  { alert: 'HongbaoPoolBusy', at: '380s', series: {
    'hongbao_busy_seconds_total{pool="page"}': ['0+9.5x80', '0+8x80'],
    'hongbao_processes{pool="page"}': '2x80',
  } },
  { alert: 'HongbaoHashes', at: '700s', series: { 'hongbao_password_hashes_total': ['0+50x150', '0+30x150'] } },
  { alert: 'HongbaoLimits', at: '700s',
    series: { 'hongbao_limited_total{limit="hash_site"}': ['0+30x150', '0+20x150'] } },
  { alert: 'HongbaoCertificate', at: '60s',
    series: { 'probe_ssl_earliest_cert_expiry{job="hongbao-certificate"}': ['864000x20', '1728000x20'] } },
  { alert: 'HongbaoCertificateEnds', at: '60s', also: ['HongbaoCertificate'], series: {
    'probe_ssl_earliest_cert_expiry{job="hongbao-certificate"}': ['0x20', null],
    'probe_ssl_earliest_cert_expiry{job="elsewhere"}': [null, '864000x20'],
  } },
];

// Alerts that wait for days are evaluated less often.
const DAYS = [
  { alert: 'HongbaoBackupOld', at: '49h', quietAt: '71h',
    series: { 'hongbao_backup_time_seconds': ['1x800', '1x287 86400x287 172800x287'] } },
  { alert: 'HongbaoBackupNone', at: '49h', series: { 'hongbao_backup_time_seconds': ['0x800', '0x540 162000x260'] } },
];

// The alert predicts that a disk fills up, but not from its first minutes.
const DISK_FILLS = [
  ruleTest('HongbaoDiskFilling fires for a disk that fills up', '60s', {
    'node_filesystem_avail_bytes{mountpoint="/",fstype="ext4"}': '90-0.3x60',
    'node_filesystem_size_bytes{mountpoint="/",fstype="ext4"}': '100x60',
  }, { '40m': ['HongbaoDiskFilling'] }),
  ruleTest('HongbaoDiskFilling knows nothing from the first minutes, as those of an installation', '60s', {
    'node_filesystem_avail_bytes{mountpoint="/",fstype="ext4"}': '90-0.5x5 87.5x60',
    'node_filesystem_size_bytes{mountpoint="/",fstype="ext4"}': '100x60',
  }, { '6m': [], '40m': [] }),
];

// A test of promtool. firing: the alerts that fire at each time.
function ruleTest(name, interval, series, firing) {
  return {
    name, interval,
    input_series: Object.entries(series).filter(([, values]) => values).map(([of, values]) => ({ series: of, values })),
    promql_expr_test: Object.entries(firing).map(([time, alertnames]) => ({
      expr: 'count by (alertname) (ALERTS{alertstate="firing"})', eval_time: time,
      exp_samples: alertnames.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 })),
    })),
  };
}

const ruleTests = (rows, interval) => rows.flatMap(({ alert, at, quietAt = at, also = [], series }) => {
  const valuesOf = (i) => Object.fromEntries(Object.entries(series).map(([of, both]) => [of, [both].flat().at(i)]));
  return [ruleTest(`${alert} fires`, interval, valuesOf(0), { [at]: [alert, ...also] }),
    ruleTest(`${alert} stays quiet`, interval, valuesOf(-1), { [quietAt]: [] })];
});

test('promtool accepts the rules', async () => {
  const { stdout } = await run('promtool', ['check', 'rules', path('deploy/watch/alerts.yml')]);
  assert.match(stdout, new RegExp(`SUCCESS: ${alerts.length} rules found`));
  assert.equal(new Set(alerts).size, alerts.length);
});

test('each alert fires for what it means, and for nothing near it', async (t) => {
  assert.deepEqual([...SOON, ...DAYS].map(({ alert }) => alert).sort(), [...alerts].sort());
  const folder = mkdtempSync(join(tmpdir(), 'hongbao-alerts-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const tests = { '5s': [...ruleTests(SOON, '5s'), ...DISK_FILLS], '5m': ruleTests(DAYS, '5m') };
  const files = Object.keys(tests).map((interval) => {
    const text = { rule_files: [path('deploy/watch/alerts.yml')], evaluation_interval: interval, tests: tests[interval] };
    writeFileSync(join(folder, interval), JSON.stringify(text)); // which is YAML
    return join(folder, interval);
  });
  await run('promtool', ['test', 'rules', ...files]).catch((error) => assert.fail(error.stdout + error.stderr));
});

test('each alert has its section: what it means, how to see it, what to do', () => {
  const sections = read('docs/how-to/watch.md').split(/^### /m).slice(1);
  assert.deepEqual(sections.map((section) => section.split('\n')[0]), alerts);
  for (const section of sections) assert.match(section, /^\w+\n\n[^]+\n\nSee: [^]+\n\nDo: /);
  for (const [severity, line] of [['page', /^- `page`, now: ([^]*?)\n-/m], ['ticket', /^- `ticket`, within days: ([^]*?)\n\n/m]]) {
    const listed = [...line.exec(read('docs/how-to/watch.md'))[1].matchAll(/\[(\w+)\]\(#\w+\)/g)].map(([, name]) => name);
    const wanted = [...rules.matchAll(/- alert: (\w+)\n[^]*?severity: (\w+)/g)].filter((rule) => rule[2] === severity).map(([, name]) => name);
    assert.deepEqual(listed, wanted);
  }
  const linked = [...rules.matchAll(/^ {10}runbook: docs\/how-to\/watch\.md#(\w+)$/gm)].map(([, anchor]) => anchor);
  assert.deepEqual(linked, alerts.map((alert) => alert.toLowerCase()));
});
