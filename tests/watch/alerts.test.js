// deploy/watch/alerts.yml: Prometheus reads it, each alert fires when it should (alerts.yml beside this file) and is
// explained in docs/how-to/watch.md.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const path = (name) => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const read = (name) => readFileSync(path(name), 'utf8');

const rules = read('deploy/watch/alerts.yml');
const alerts = [...rules.matchAll(/^ {6}- alert: (\w+)$/gm)].map(([, name]) => name);

test('promtool accepts the rules', async () => {
  const { stdout } = await run('promtool', ['check', 'rules', path('deploy/watch/alerts.yml')]);
  assert.match(stdout, new RegExp(`SUCCESS: ${alerts.length} rules found`));
  assert.equal(new Set(alerts).size, alerts.length);
});

test('each alert fires for what it means, and for nothing near it', async () => {
  const files = ['tests/watch/alerts.yml', 'tests/watch/alerts_days.yml'];
  await run('promtool', ['test', 'rules', ...files.map(path)]).catch((error) => assert.fail(error.stdout + error.stderr));
  const tests = files.map(read).join('');
  for (const alert of alerts) {
    for (const what of ['fires', 'stays quiet']) assert.ok(tests.includes(`  - name: ${alert} ${what}\n`), `${alert} ${what}`);
  }
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
