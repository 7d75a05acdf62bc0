// A real Prometheus watches the site: each query of the dashboard has an answer, and when a part of the site stops, the
// right alert fires and /readyz names the part.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { dev, poll, url } from '../e2e/support/instance.js';
import { Client } from '../e2e/support/client.js';
import { redis } from '../e2e/support/redis.js';
import { newUser, sendPacket, unique } from '../e2e/support/site.js';
import { Prometheus } from './support/prometheus.js';

const DEPLOY = fileURLToPath(new URL('../../deploy/watch', import.meta.url));

let prometheus;

const fires = async (alert) => (await prometheus.firing()).some(({ alertname }) => alertname === alert);
const readyz = () => new Client().get('/readyz', { accept: 'text/plain' });
const wellAgain = () => poll('the site is ready', async () => (await readyz()).status === 200);

before(async () => {
  prometheus = await new Prometheus().start(`
global: { scrape_interval: 3s, evaluation_interval: 1s } # an answer has an interval of time, too
rule_files: ['${DEPLOY}/alerts.yml']
scrape_configs:
  - { job_name: hongbao, static_configs: [{ targets: ['${new URL(url).host}'] }] }
`);
  await poll('Prometheus has looked twice', async () => {
    const { data } = await prometheus.query('count_over_time(up{job="hongbao"}[1m]) > 1');
    return data?.result.length === 1;
  });
});

after(() => prometheus.end());

test('promtool finds nothing wrong with /metrics', async () => {
  const { text } = await new Client().get('/metrics');
  const { stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
  assert.equal(stdout + stderr, '');
});

test('each query of the dashboard has an answer', async () => {
  const { client } = await newUser({ yuan: '10' });
  const { panels } = JSON.parse(readFileSync(join(DEPLOY, 'dashboard.json'), 'utf8'));
  const queries = panels.flatMap(({ targets }) => targets ?? []).map(({ expr }) => expr.replaceAll('$__rate_interval', '1m'));
  assert.ok(queries.length > 20);
  for (const expr of queries) {
    await poll(`an answer to ${expr}`, async () => {
      const sent = await sendPacket({ client }, { kind: 'even', amount: '0.01', count: 1, request_key: unique('q') });
      await client.post(`${new URL(sent.json.url).pathname}/open`, {});
      const { status, error, data } = await prometheus.query(expr);
      assert.equal(status, 'success', `${expr}: ${error}`);
      return data.result.length > 0;
    });
  }
});

for (const { what, alert, part, stop, start } of [
  { what: 'the settle worker stops', alert: 'HongbaoSettleStopped', part: 'settle' },
  { what: 'the hot pool stops', alert: 'HongbaoPoolStopped', part: 'hot' },
  { what: 'MariaDB stops', alert: 'HongbaoMysqlDown', part: 'mysql', stop: () => dev(['stop', 'mariadb']), start: () => dev(['start', 'mariadb']) },
  { what: 'Redis stops', alert: 'HongbaoRedisDown', part: 'redis' },
  { what: 'the append-only file is switched off', alert: 'HongbaoAofOff', part: 'durability',
    stop: () => redis('CONFIG', 'SET', 'appendonly', 'no'), start: () => redis('CONFIG', 'SET', 'appendonly', 'yes') },
]) {
  test(`when ${what}, ${alert} fires and /readyz names ${part}`, async () => {
    await wellAgain();
    await poll('no alert of before', async () => !(await fires(alert)));
    await (stop ?? (() => dev(['stop', part])))();
    try {
      await poll('/readyz tells', async () => {
        const { status, text } = await readyz();
        return status === 503 && text.includes(`\n${part}: failed`);
      });
      await poll(`${alert} fires`, () => fires(alert));
    } finally {
      await (start ?? (() => dev(['start', part])))();
    }
    await wellAgain();
  });
}
