// The main flow in the whole Chromium, which other tests drive without its user interface.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { consoleErrors, launchBrowser } from './support/browser.js';
import { audit, PASSWORD, site, unique } from './support/site.js';
import { clientPage, pageAt, testScripts } from './support/visits.js';

let browser;
before(async () => { browser = await launchBrowser(); });
after(() => browser?.close());

// A person who has just registered: { page, username, problems }.
async function person(nickname, options = {}) {
  const page = await clientPage(browser, null, { locale: 'zh-CN', ...options });
  const problems = consoleErrors(page);
  page.on('pageerror', (error) => problems.push(String(error)));
  const username = unique('web');
  await page.goto(`${site.url}/register`);
  await page.fill('[name=username]', username);
  await page.fill('[name=nickname]', nickname);
  await page.fill('[name=password]', PASSWORD);
  await page.click('main form button[type=submit]');
  await page.waitForURL(`${site.url}/`);
  return { page, username, problems };
}

test('no script of a page can turn text into HTML or code', async () => {
  const page = await pageAt(browser, null, '/');
  const thrown = await page.evaluate(() => [
    () => { document.body.innerHTML = '<b>x</b>'; },
    () => new DOMParser().parseFromString('<b>x</b>', 'text/html'),
    () => document.body.insertAdjacentHTML('beforeend', '<b>x</b>'),
    () => { document.createElement('script').text = 'x'; },
    () => { document.createElement('script').src = '/static/app.js'; },
    () => trustedTypes.createPolicy('default', { createHTML: (text) => text }),
  ].map((attempt) => {
    try { attempt(); return 'done'; } catch (error) { return error.name; }
  }));
  assert.deepEqual(thrown, Array(6).fill('TypeError'));
});

async function deposit({ page }, yuan) {
  await page.goto(`${site.url}/wallet`);
  await page.fill('[name=amount]', yuan);
  await page.click('form[action="/wallet/deposit"] button');
  await page.waitForURL(`${site.url}/wallet?deposited=1`);
}

async function send({ page }, { kind, amount, count, to, greeting }) {
  await page.goto(`${site.url}/send`);
  await page.check(`[name=kind][value=${kind}]`, { force: true });
  await page.fill('[name=amount]', amount);
  if (count) await page.fill('[name=count]', count);
  if (to) await page.fill('#to', to);
  if (greeting) await page.fill('[name=greeting]', greeting);
  await page.click('form[action="/send"] button[type=submit]');
  if (kind === 'exclusive') await page.click('.confirm button[type=submit]');
  await page.waitForURL(/\/p\/[0-9a-z]{26}$/);
  return new URL(page.url()).pathname;
}

async function open({ page }, path) {
  await page.goto(site.url + path);
  await page.click(`form[action="${path}/open"] button`);
  await page.waitForURL(site.url + path);
  await page.waitForSelector('text=/存入零钱|入账中/');
  return Number(/(\d+\.\d\d)\s*元/.exec(await page.innerText('main'))[1]);
}

// The page at this path says all of it.
async function says({ page }, path, ...texts) {
  await page.goto(site.url + path);
  for (const text of texts) assert.match(await page.innerText('main'), text);
}

testScripts('send, grab, look', async (options) => {
  const sender = await person('阿红', options);
  await deposit(sender, '100');
  const path = await send(sender, { kind: 'lucky', amount: '10', count: '3', greeting: '新年快乐' });
  const amounts = [];
  for (const name of ['小明', '小刚', '小丽']) {
    const grabber = await person(name, options);
    amounts.push(await open(grabber, path));
    assert.deepEqual(grabber.problems, []);
  }
  assert.equal(Math.round(amounts.reduce((a, b) => a + b) * 100), 1000);
  await says(await person('小慢', options), path, /手慢了，红包派完了/, /手气最佳/);
  await says(sender, path, /3个红包共10\.00元，\d+(秒|分钟)被抢光/);
  await says(sender, '/records/sent', /10\.00/);
  await says(sender, '/wallet', /90\.00/);
  assert.deepEqual(sender.problems, []);
});

test('even and exclusive packets, and a visitor who must log in first', async () => {
  const [sender, receiver, other] = [await person('阿红'), await person('小丽'), await person('路人')];
  await deposit(sender, '20');
  const even = await send(sender, { kind: 'even', amount: '2.50', count: '2' });
  assert.equal(await open(receiver, even), 2.5);
  const exclusive = await send(sender, { kind: 'exclusive', amount: '3', to: receiver.username });
  await says(other, exclusive, /该红包仅限指定好友领取/);
  assert.equal(await open(receiver, exclusive), 3);

  const page = await pageAt(browser, null, even, { locale: 'zh-CN' });
  await page.click(`a[href="/login?next=${even}"] >> nth=-1`);
  await page.fill('[name=username]', other.username);
  await page.fill('[name=password]', PASSWORD);
  await page.click('main form button[type=submit]:visible');
  await page.waitForURL(site.url + even);
  assert.equal(await open({ page }, even), 2.5);
  await audit();
});
