// Debian's Chromium, driven by playwright-core: its headless shell, which has the whole engine but no user interface and
// needs a fraction of the CPU time; or the browser itself.
import { existsSync } from 'node:fs';
import { after, before } from 'node:test';
import { chromium as playwright } from 'playwright-core';
import { PATIENCE } from '../../support/poll.js';

const BROWSERS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const SHELLS = ['/usr/lib/chromium/chromium-headless-shell', ...BROWSERS];
const STEP_MS_MAX = 60_000 * PATIENCE; // limit of a start, of a click, and of loading a page

// The path of Chromium; the variable CHROMIUM replaces it.
export function program(paths = SHELLS) {
  const path = [process.env.CHROMIUM, ...paths].find((name) => name && existsSync(name));
  if (!path) throw new Error('there is no Chromium; ./dev install test');
  return path;
}

// Without a GPU process and without the compilers for long-running scripts: a quarter less CPU time.
export const LIGHT = ['--js-flags=--no-opt --no-maglev', '--in-process-gpu'];

// Starts a browser that connects to the site only. The tests may run as root, in a container, without a display. extra:
// environment, e.g. { FONTCONFIG_FILE: '…' }. more: arguments of Chromium. A context has no service worker, so that its
// routes see every request, unless its options have serviceWorkers: 'allow'. Its pages wait STEP_MS_MAX for each step.
export async function launch(extra = {}, more = [], executablePath = program()) {
  const browser = await playwright.launch({
    executablePath,
    timeout: STEP_MS_MAX,
    env: { ...process.env, ...extra },
    args: ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-quic', '--no-first-run',
      '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-default-apps',
      '--disable-features=OptimizationHints,MediaRouter,Translate', '--no-proxy-server', '--lang=zh-CN', ...more],
  });
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (options) => {
    const context = await newContext({ serviceWorkers: 'block', ...options });
    context.setDefaultTimeout(STEP_MS_MAX);
    return context;
  };
  return browser;
}

// The browser of a test file, which starts before its tests and is closed after them. The arguments are as for launch;
// without LIGHT it is as visitors have it.
export function fileBrowser(extra = {}, more = LIGHT) {
  let browser;
  before(async () => { browser = await launch(extra, more); });
  after(() => browser?.close());
  return {
    newContext: (options) => browser.newContext(options),
    newPage: (options) => browser.newPage(options),
    startTracing: (...options) => browser.startTracing(...options),
    stopTracing: () => browser.stopTracing(),
  };
}

// The errors that a page's console shows from now on.
export function consoleErrors(page) {
  const found = [];
  page.on('console', (message) => { if (message.type() === 'error') found.push(message.text()); });
  return found;
}

// Starts the browser itself with one page: { goto, url, has, text, fill, click, color, problems, close }, as in
// support/webkit.js.
export async function chromium({ javaScript = true, dark = false } = {}) {
  const browser = await launch({}, [], program(BROWSERS));
  const context = await browser.newContext({ javaScriptEnabled: javaScript, colorScheme: dark ? 'dark' : 'light' });
  const page = await context.newPage();
  const problems = consoleErrors(page);
  page.on('pageerror', (error) => problems.push(String(error)));
  return {
    problems,
    goto: (url) => page.goto(url),
    url: () => page.url(),
    has: async (selector) => await page.locator(selector).count() > 0,
    text: () => page.innerText('main'),
    fill: (selector, text) => page.fill(selector, text),
    click: (selector) => page.click(selector),
    color: () => page.locator('body').evaluate((body) => getComputedStyle(body).backgroundColor),
    close: () => browser.close(),
  };
}

// The links, buttons and fields under nine points of this box in the window: what taps there would hit, as HTML.
export const hits = (page, { x, y, width, height }) => page.evaluate((points) => points.map(([left, top]) => (
  document.elementFromPoint(left, top)?.closest('a, button, input, select, summary')?.outerHTML)).filter(Boolean),
[0.1, 0.5, 0.9].flatMap((i) => [0.1, 0.5, 0.9].map((j) => [x + i * width, y + j * height])));
