// The main flow in whole browsers, Chromium, Firefox and WebKit, with and without JavaScript: somebody registers, deposits
// and sends; somebody else follows the link, registers, opens, and reads list, records and wallet.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chromium, fileBrowser } from './support/browser.js';
import { firefox } from './support/firefox.js';
import { PASSWORD, audit, poll, site, unique } from './support/site.js';
import { words } from './support/texts.js';
import { pageAt } from './support/visits.js';
import { webkit } from './support/webkit.js';

const ENGINES = { Chromium: chromium, Firefox: firefox, WebKit: webkit };
const SUBMIT = 'main form button[type=submit]';
const PRESSES_MAX = 2;
const PRESS_S = 20; // after this time without an effect, a press counts as lost

// Runs work with a browser of this engine, which must have reported no error.
async function withBrowser(engine, options, work) {
  const page = await engine(options);
  try {
    await work(page);
    assert.deepEqual(page.problems, []);
  } finally {
    await page.close();
  }
}

// Whether scripts run: a test without JavaScript would prove nothing if they did.
async function runsScripts(page) {
  await page.goto('data:text/html,<main id="m">off</main><script>m.textContent="on"</script>');
  return await page.text() === 'on';
}

// Switches to Chinese: the browser's language is the machine's.
async function inChinese(page) {
  await page.goto(`${site.url}/login`);
  if (await page.has('button[name=language][value=zh-CN]')) await page.click('button[name=language]');
  await poll('the page is in Chinese', () => page.has('html[lang=zh-CN]'));
}

const at = (page, path, seconds) => poll(`the page ${path}`, async () => new RegExp(`^${site.url}${path}$`).test(await page.url()), seconds);

// Presses a button that leads to this page, again if nothing happens: on a busy machine a driven browser sometimes
// loses a click. A form is sent only once, however often its button is pressed.
async function press(page, selector, path) {
  for (let tries = 1; tries < PRESSES_MAX; tries++) {
    await page.click(selector);
    if (await at(page, path, PRESS_S).catch(() => false)) return;
  }
  await page.click(selector).catch(() => {}); // the page may have come meanwhile
  await at(page, path);
}

async function says(page, text) {
  let last = '';
  await poll(`the page says ${text}`, async () => {
    last = await page.text().catch(() => '');
    return text.test(last);
  }).catch((error) => assert.fail(`${error.message}: ${last}`));
}

async function register(page, nickname, next = '/') {
  await page.goto(`${site.url}/register${next === '/' ? '' : `?next=${next}`}`);
  await page.fill('[name=username]', unique('e'));
  await page.fill('[name=nickname]', nickname);
  await page.fill('[name=password]', PASSWORD);
  await page.click(SUBMIT);
  await at(page, next);
}

async function logOut(page) {
  await page.click('form[action="/logout"] button');
  await at(page, '/');
  await page.goto(`${site.url}/wallet`);
  await at(page, '/login.*');
}

// Sends a packet of 2 shares of 2.50; returns its path.
async function send(page) {
  await page.goto(`${site.url}/wallet`);
  await page.fill('[name=amount]', '20');
  await page.click('form[action="/wallet/deposit"] button');
  await says(page, /20\.00/);
  await page.goto(`${site.url}/send`);
  await page.click('label:has([name=kind][value=even])');
  await page.fill('[name=amount]', '2.50');
  await page.fill('[name=count]', '2');
  await page.fill('[name=greeting]', '早安');
  await press(page, 'form[action="/send"] button[type=submit]', '/p/[0-9a-z]{26}');
  return new URL(await page.url()).pathname;
}

async function open(page, path) {
  await page.goto(site.url + path);
  await says(page, /早安/);
  await page.click(`form[action="${path}/open"] button`);
  await at(page, path);
  await says(page, /2\.50[\s\u2060]*元/);
  await says(page, /存入零钱|入账中/);
  await says(page, /小明/);
}

// Reads list, records and wallet. The share is there once it is settled.
async function reads(page) {
  for (const [path, text] of [['/records/received', /阿红[^]*2\.50/], ['/wallet', /2\.50/]]) {
    await poll(`${path} has the share`, async () => {
      await page.goto(site.url + path);
      return text.test(await page.text());
    });
  }
}

async function changesLanguage(page) {
  for (const language of ['en', 'zh-CN']) {
    await page.click('button[name=language]');
    await says(page, new RegExp(words(language, 'balance'), 'i'));
  }
}

for (const [name, engine] of Object.entries(ENGINES)) {
  for (const javaScript of [true, false]) {
    test(`${name}: register, send, open, list, records, wallet, language; JavaScript ${javaScript ? 'on' : 'off'}`, async () => {
      await withBrowser(engine, { javaScript }, async (page) => {
        assert.equal(await runsScripts(page), javaScript);
        await inChinese(page);
        await register(page, '阿红');
        const path = await send(page);
        await logOut(page);
        await register(page, '小明', path);
        await open(page, path);
        await reads(page);
        await changesLanguage(page);
      });
    });
  }

  test(`${name}: the page is dark for whom the system is`, async () => {
    const colors = [];
    for (const dark of [false, true]) {
      await withBrowser(engine, { dark }, async (page) => {
        await page.goto(`${site.url}/login`);
        colors.push(Math.max(.../\d+, \d+, \d+/.exec(await page.color())[0].split(', ').map(Number)));
      });
    }
    assert.ok(colors[0] > 200 && colors[1] < 60, `the brightest channel of the background: ${colors}`);
  });
}

const shell = fileBrowser();

test('no script of a page can turn text into HTML or code', async () => {
  const page = await pageAt(shell, null, '/');
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

test('all money is accounted for', () => audit());
