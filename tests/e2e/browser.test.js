// The main flow in a real Chromium. When HB_TEST_SHOTS is set, screenshots go to that folder.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launchBrowser } from './support/browser.js';
import { expireNow } from './support/moments.js';
import { audit, poll, site, unique } from './support/site.js';

let browser;
before(async () => { browser = await launchBrowser(); });
after(async () => { await browser?.close(); });

async function person(nickname, options = {}) {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, locale: 'zh-CN', ...options });
  const page = await context.newPage();
  const problems = [];
  page.on('console', (message) => { if (message.type() === 'error') problems.push(message.text()); });
  page.on('pageerror', (error) => problems.push(String(error)));
  const username = unique('web');
  await page.goto(`${site.url}/register`);
  await page.fill('[name=username]', username);
  await page.fill('[name=nickname]', nickname);
  await page.fill('[name=password]', 'a good password');
  await page.click('main form button[type=submit]');
  await page.waitForURL(`${site.url}/`);
  return { page, username, nickname, problems };
}

test('no script of a page can turn text into HTML or code', async () => {
  const page = await (await browser.newContext()).newPage();
  await page.goto(site.url);
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
  await page.context().close();
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

const shot = async ({ page }, name) => {
  if (process.env.HB_TEST_SHOTS) await page.screenshot({ path: `${process.env.HB_TEST_SHOTS}/${name}.png`, fullPage: true });
};

for (const javaScriptEnabled of [true, false]) {
  test(`send, grab, look, JavaScript ${javaScriptEnabled ? 'on' : 'off'}`, async () => {
    const mode = { javaScriptEnabled };
    const tag = javaScriptEnabled ? 'js' : 'nojs';
    const sender = await person('阿红', mode);
    await shot(sender, `home-empty-${tag}`);
    await deposit(sender, '100');
    await shot(sender, `wallet-${tag}`);
    const path = await send(sender, { kind: 'lucky', amount: '10', count: '3', greeting: '新年快乐' });
    await shot(sender, `packet-sender-${tag}`);
    const amounts = [];
    for (const name of ['小明', '小刚', '小丽']) {
      const grabber = await person(name, mode);
      await grabber.page.goto(site.url + path);
      await shot(grabber, `envelope-${tag}`);
      amounts.push(await open(grabber, path));
      await shot(grabber, `result-${tag}`);
      assert.deepEqual(grabber.problems, []);
    }
    assert.equal(Math.round(amounts.reduce((a, b) => a + b) * 100), 1000);

    const late = await person('小慢', mode);
    await late.page.goto(site.url + path);
    assert.match(await late.page.innerText('main'), /手慢了，红包派完了/);
    assert.match(await late.page.innerText('main'), /手气最佳/);
    await shot(late, `soldout-${tag}`);

    await sender.page.goto(site.url + path);
    assert.match(await sender.page.innerText('main'), /3个红包共10\.00元，\d+(秒|分钟)被抢光/);
    await sender.page.goto(`${site.url}/records/sent`);
    assert.match(await sender.page.innerText('main'), /10\.00/);
    await shot(sender, `records-sent-${tag}`);
    await sender.page.goto(`${site.url}/wallet`);
    assert.match(await sender.page.innerText('main'), /90\.00/);
    await sender.page.goto(`${site.url}${path}/verify`);
    await shot(sender, `verify-${tag}`);
    assert.deepEqual(sender.problems, []);
  });
}

test('even and exclusive packets, and a visitor who must log in first', async () => {
  const sender = await person('阿红');
  await deposit(sender, '20');
  const receiver = await person('小丽');
  const even = await send(sender, { kind: 'even', amount: '2.50', count: '2' });
  assert.equal(await open(receiver, even), 2.5);
  const exclusive = await send(sender, { kind: 'exclusive', amount: '3', to: receiver.username });
  await shot(sender, 'exclusive-sender');
  const other = await person('路人');
  await other.page.goto(site.url + exclusive);
  assert.match(await other.page.innerText('main'), /该红包仅限指定好友领取/);
  await shot(other, 'exclusive-other');
  assert.equal(await open(receiver, exclusive), 3);

  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, locale: 'zh-CN' });
  const page = await context.newPage();
  await page.goto(site.url + even);
  await shot({ page }, 'envelope-logged-out');
  await page.click(`a[href="/login?next=${even}"] >> nth=-1`);
  await page.fill('[name=username]', other.username);
  await page.fill('[name=password]', 'a good password');
  await page.click('main form button[type=submit]:visible');
  await page.waitForURL(site.url + even);
  assert.equal(await open({ page }, even), 2.5);
  await audit();
});

test('a refused form has a message beside the field', async () => {
  const sender = await person('阿红');
  await sender.page.goto(`${site.url}/send`);
  await sender.page.check('[name=kind][value=lucky]', { force: true });
  await sender.page.fill('[name=amount]', '500');
  await sender.page.fill('[name=count]', '1');
  await sender.page.click('form[action="/send"] button[type=submit]');
  await sender.page.waitForSelector('[role=alert]');
  assert.match(await sender.page.title(), /^错误：/);
  assert.match(await sender.page.innerText('main'), /单个红包金额不可超过200元/);
  assert.equal(await sender.page.inputValue('[name=amount]'), '500');
  await shot(sender, 'send-error');
});

test('the rest of an expired packet is refunded to the sender', async () => {
  const sender = await person('阿红');
  const grabber = await person('小明');
  await deposit(sender, '10');
  const path = await send(sender, { kind: 'lucky', amount: '5', count: '2' });
  const amount = await open(grabber, path);
  await expireNow(path);
  await poll('refunded', async () => {
    await sender.page.goto(site.url + path);
    return (await sender.page.innerText('main')).includes('已退款');
  });
  await shot(sender, 'expired-sender');
  assert.match(await sender.page.innerText('main'), new RegExp(`已退款${(5 - amount).toFixed(2)}元`));
  await sender.page.goto(`${site.url}/wallet`);
  assert.match(await sender.page.innerText('main'), new RegExp((10 - amount).toFixed(2).replace('.', '\\.')));
  await grabber.page.goto(site.url + path);
  assert.match(await grabber.page.innerText('main'), /已存入零钱/);
  const late = await person('小慢');
  await late.page.goto(site.url + path);
  assert.match(await late.page.innerText('main'), /该红包已超过\d+(秒|分钟)/);
  await shot(late, 'expired-late');
  await audit();
});
