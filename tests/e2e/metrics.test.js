// /metrics: every name is in docs/reference/metrics.md, requests count in the pool that answered them, and the worker's
// counts reach the page pool.
import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { test } from 'node:test';
import { env } from './support/instance.js';
import { Client, newUser, poll, sendPacket, site } from './support/site.js';

const DOCUMENT = new URL('../../docs/reference/metrics.md', import.meta.url);

const metrics = async () => {
  const { status, text } = await new Client().get('/metrics');
  assert.equal(status, 200);
  return new Map(text.split('\n').filter((line) => line && !line.startsWith('#'))
    .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]));
};

const families = (text) => [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name);

test('the reference names what /metrics has', async () => {
  const { text } = await new Client().get('/metrics');
  const documented = [...readFileSync(DOCUMENT, 'utf8').matchAll(/^\| `(hongbao_\w+)` \|/gm)].map(([, name]) => name);
  assert.deepEqual(documented.sort(), families(text).sort());
  assert.deepEqual(families(text), [...new Set(families(text))]);
  assert.ok(text.split('\n').length < 1000);
});

test('the version that answers is the one of the program', async () => {
  const version = (await site.hongbao('version')).stdout.trim().replace(/^hongbao /, '');
  assert.match(version, /^\d+\.\d+\.\d+(~\d{8}\.\d{6}\.\w[.\w]*)?$/);
  assert.equal((await metrics()).get(`hongbao_build_info{version="${version}"}`), 1);
});

test('requests count in their pool and class', async () => {
  const { client } = await newUser({ yuan: '10' });
  const before = await metrics();
  const { url } = (await sendPacket({ client }, { kind: 'even', amount: '1', count: 2, request_key: 'counted' })).json;
  const path = new URL(url).pathname;
  assert.equal((await client.post(`${path}/open`, {})).status, 200);
  assert.equal((await client.get(path)).status, 200);
  assert.equal((await client.get(`${path}/card.png`)).status, 200);
  assert.equal((await client.get('/nothing')).status, 404);
  assert.equal((await new Client().get('/login')).status, 200);
  assert.equal((await new Client().get('/money/report')).status, 401);
  let after;
  const grew = (name) => after.get(name) - before.get(name);
  // The time of a batch is counted after its answers are sent.
  await poll('each pool was busy', async () => {
    after = await metrics();
    return ['hot', 'page', 'auth', 'card', 'money'].every((pool) => grew(`hongbao_busy_seconds_total{pool="${pool}"}`) > 0);
  });
  for (const labels of ['pool="hot",class="write"', 'pool="hot",class="read"', 'pool="page",class="write"', 'pool="page",class="other"',
    'pool="auth",class="read"', 'pool="card",class="read"', 'pool="money",class="read"']) {
    assert.ok(grew(`hongbao_request_seconds_count{${labels}}`) >= 1, labels);
    assert.equal(after.get(`hongbao_request_seconds_bucket{${labels},le="+Inf"}`), after.get(`hongbao_request_seconds_count{${labels}}`));
  }
  for (const pool of ['hot', 'page', 'auth', 'card', 'money']) {
    assert.ok(grew(`hongbao_requests_total{pool="${pool}"}`) >= 1, pool);
    assert.ok(after.get(`hongbao_processes{pool="${pool}"}`) >= 1, pool);
    if (pool !== 'hot') assert.ok(grew(`hongbao_queue_seconds_count{pool="${pool}"}`) >= 1, pool);
  }
  assert.equal(after.get('hongbao_processes{pool="sso"}'), undefined, 'nobody misses a pool that this site has not');
  assert.ok(grew('hongbao_errors_total{pool="page",status="4xx"}') >= 1);
  assert.ok(grew('hongbao_crowd_grabs_count') >= 1);
  assert.ok(grew('hongbao_batch_requests_count') >= 2);
});

test('the settle worker counts in the same file, which its group may write', async () => {
  await poll('the worker has settled', async () => (await metrics()).get('hongbao_settle_batch_events_count') > 0);
  await poll('nothing waits', async () => (await metrics()).get('hongbao_settlement_lag_seconds') === 0);
  // A worker that another test killed still counts for some seconds.
  await poll('one worker is alive', async () => (await metrics()).get('hongbao_processes{pool="settle"}') === 1);
  assert.equal(statSync(`${env.HB_TEST_VAR}/run/metrics`).mode & 0o777, 0o660);
});
