// browser.js HOST: Chromium with the site of the machine in whose network it runs (machine.js): two users register, one
// sends a packet, the other opens it. Fails when a page is not the expected one, or shows an error of its script.
import assert from 'node:assert/strict';
import { launch } from '../e2e/support/browser.js';

const site = `https://${process.argv[2]}`;
const errors = [];
const browser = await launch({}, ['--host-resolver-rules=MAP * 127.0.0.1', '--ignore-certificate-errors']);

// A page of a new user, logged in.
async function register(username) {
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  const page = await context.newPage();
  page.on('pageerror', (error) => errors.push(String(error)));
  await page.goto(`${site}/register`);
  for (const [name, value] of [['username', username], ['nickname', username], ['password', 'a good password']]) {
    await page.fill(`[name=${name}]`, value);
  }
  await page.click('main form button[type=submit]');
  await page.waitForURL(`${site}/`);
  return page;
}

try {
  const sender = await register('browser-ming');
  await sender.goto(`${site}/wallet`);
  await sender.fill('[name=amount]', '100');
  await sender.click('form[action="/wallet/deposit"] button');
  await sender.waitForURL(`${site}/wallet?deposited=1`);
  await sender.goto(`${site}/send`);
  await sender.fill('[name=amount]', '10');
  await sender.fill('[name=count]', '2');
  await sender.click('form[action="/send"] button[type=submit]');
  await sender.waitForURL(/\/p\/[0-9a-z]{26}$/);
  const packet = sender.url();
  const receiver = await register('browser-hong');
  await receiver.goto(packet);
  await receiver.click('form[data-open] button');
  await receiver.waitForSelector('form[data-open]', { state: 'detached' });
  assert.match(await receiver.textContent('main'), /\d\.\d\d/);
  const [{ name, secure }] = (await receiver.context().cookies(site)).filter((cookie) => cookie.name.endsWith('sid'));
  assert.deepEqual([name, secure], ['__Host-sid', true]);
  assert.deepEqual(errors, []);
} finally {
  await browser.close();
}
