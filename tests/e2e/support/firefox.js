// Debian's Firefox ESR, driven by puppeteer-core over WebDriver BiDi. Without JavaScript the driver's own clicks wait
// for ever, since they need callbacks of the page; the mouse does not.
import puppeteer from 'puppeteer-core';
import { PATIENCE, poll } from '../../support/poll.js';

const PROGRAM = '/usr/bin/firefox-esr';

// Starts it: { goto, url, has, text, fill, click, color, problems, close }, as in support/webkit.js.
export async function firefox({ javaScript = true, dark = false } = {}) {
  const browser = await puppeteer.launch({
    browser: 'firefox', protocol: 'webDriverBiDi', executablePath: PROGRAM, headless: true,
    extraPrefsFirefox: { 'javascript.enabled': javaScript, 'layout.css.prefers-color-scheme.content-override': dark ? 0 : 1 },
  });
  const page = await browser.newPage();
  page.setDefaultTimeout(120_000 * PATIENCE);
  const problems = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => { if (message.type() === 'error') problems.push(message.text()); });
  // Runs work with the element in the page, again if the page changes meanwhile.
  const withElement = (selector, work) => poll(`${selector} is there`, () => page.evaluate(work, selector).then((value) => ({ value }), () => null));
  return {
    problems,
    goto: (url) => page.goto(url),
    url: () => page.url(),
    has: async (selector) => (await withElement(selector, (name) => document.querySelector(name) !== null)).value,
    text: async () => (await withElement('main', (name) => document.querySelector(name).innerText)).value,
    async fill(selector, text) {
      await page.focus(selector);
      await page.keyboard.type(text);
    },
    async click(selector) {
      const { value: place } = await withElement(selector, (name) => {
        if (document.readyState !== 'complete') throw new Error('the page is loading'); // parts of the page still move
        const element = document.querySelector(name);
        element.scrollIntoView({ block: 'center', behavior: 'instant' });
        const { left, top, width, height } = element.getBoundingClientRect();
        return { x: left + width / 2, y: top + height / 2 };
      });
      await page.mouse.click(place.x, place.y);
    },
    color: async () => (await withElement('body', (name) => getComputedStyle(document.querySelector(name)).backgroundColor)).value,
    close: () => browser.close(),
  };
}
