// The test harness itself: the HTTP client, the instance, and the browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { launch } from './support/browser.js';
import { Client } from './support/client.js';
import { dev, env, processes, url } from './support/instance.js';

test('the client follows no redirect', async () => {
  const answer = await new Client().getHtml('/wallet');
  assert.equal(answer.status, 303);
  assert.match(answer.headers.get('location'), /^\/login/);
});

test('./dev up on a running instance reports that it is up', async () => {
  const { stdout, stderr } = await dev(['up'], { HB_BINARY: env.HB_TEST_BINARY }); // or it would build another program
  assert.match(stderr, /already running/);
  assert.equal(stdout.trim(), url);
});

test('every pool has its number of processes', () => {
  for (const name of ['hot', 'page', 'auth', 'card', 'settle']) assert.ok(processes(name).length >= 1, name);
});

test('Chromium shows the front page', async () => {
  const browser = await launch();
  try {
    const page = await browser.newPage();
    const answer = await page.goto(url);
    assert.equal(answer.status(), 200);
    assert.notEqual(await page.title(), '');
  } finally {
    await browser.close();
  }
});
