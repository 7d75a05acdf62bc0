// tutorial.js HOST: the steps of docs/tutorial.md that need a computer and a phone, in Chromium in the network of the
// machine (machine.js). Fails when a page lacks something that the tutorial mentions, or when its script reports an
// error.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { launch } from '../e2e/support/browser.js';
import { temporaryFolder } from '../e2e/support/run.js';

const site = `https://${process.argv[2]}`;
const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
const folder = temporaryFolder('tutorial');
const errors = [];
const browser = await launch({}, ['--ignore-certificate-errors']);

async function visitor(options) {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, locale: 'zh-CN', ...options });
  const page = await context.newPage();
  page.on('pageerror', (error) => errors.push(String(error)));
  return page;
}

async function fill(page, fields) {
  for (const [name, value] of Object.entries(fields)) await page.fill(`main [name=${name}]`, value);
  await page.click('main form button[type=submit]');
}

// What a phone reads from the QR code of a page.
async function scan(page) {
  const file = join(folder, 'qr.png');
  await page.screenshot({ path: file, fullPage: true });
  return execFileSync('zbarimg', ['-q', '--raw', file], { encoding: 'utf8' }).trim();
}

try {
  const computer = await visitor({ deviceScaleFactor: 2 });
  await computer.goto(`${site}/`);
  await computer.click('main a:has-text("注册")');
  await fill(computer, { username: 'ming', nickname: '小明', password: 'a good password' });
  await computer.waitForURL(`${site}/`);
  const cookie = (await computer.context().cookies(site)).find(({ name }) => name.endsWith('sid'));
  assert.deepEqual([cookie.name, cookie.secure], ['__Host-sid', true]);
  await computer.click('nav a:has-text("零钱")');
  await computer.fill('[name=amount]', '100');
  await computer.click('button:has-text("充值")');
  await computer.waitForSelector(':text("100.00")');
  await computer.click('nav a:has-text("发红包")');
  await fill(computer, { count: '3', amount: '10' });
  await computer.waitForURL(/\/p\/[0-9a-z]{26}$/);

  const phone = await visitor(PHONE);
  await phone.goto(await scan(computer));
  assert.equal(phone.url().split('?')[0], computer.url());
  await phone.click('text=注册并领取');
  await fill(phone, { username: 'hong', nickname: '小红', password: 'a good password' });
  await phone.waitForURL(computer.url());
  await phone.click('button:has-text("開")');
  await phone.waitForSelector('form[data-open]', { state: 'detached' });
  assert.match(await phone.textContent('main'), /\d\.\d\d/);
  await computer.waitForSelector('main :text("小红")');
  assert.deepEqual(errors, []);
} finally {
  await browser.close();
}
