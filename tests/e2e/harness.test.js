// What the other tests stand on: the client keeps its word, and the browser comes up.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { launch } from './support/browser.js';
import { Client } from './support/client.js';
import { dev, processes, url } from './support/instance.js';

test('the client follows no redirect', async () => {
  const answer = await new Client().getHtml('/wallet');
  assert.equal(answer.status, 303);
  assert.match(answer.headers.get('location'), /^\/login/);
});

test('an instance that is up says so when it is brought up again', async () => {
  const { stdout, stderr } = await dev(['up']);
  assert.match(stderr, /already running/);
  assert.equal(stdout.trim(), url);
});

test('every pool has the processes its name promises', () => {
  for (const name of ['hot', 'page', 'auth', 'settle']) assert.ok(processes(name).length >= 1, name);
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
