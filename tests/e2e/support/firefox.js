// Debian's Firefox ESR, driven by puppeteer-core over WebDriver BiDi. Without JavaScript the driver's own clicks wait
// for ever, since they need callbacks of the page; the mouse does not.
import puppeteer from 'puppeteer-core';

const PROGRAM = '/usr/bin/firefox-esr';

// Starts it: { goto, url, has, text, fill, click, color, problems, close }, as in support/webkit.js.
export async function firefox({ javaScript = true, dark = false } = {}) {
  const browser = await puppeteer.launch({
    browser: 'firefox', protocol: 'webDriverBiDi', executablePath: PROGRAM, headless: true,
    extraPrefsFirefox: { 'javascript.enabled': javaScript, 'layout.css.prefers-color-scheme.content-override': dark ? 0 : 1 },
  });
  const page = await browser.newPage();
  const problems = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => { if (message.type() === 'error') problems.push(message.text()); });
  return {
    problems,
    goto: (url) => page.goto(url),
    url: () => page.url(),
    has: async (selector) => await page.$(selector) !== null,
    text: () => page.$eval('main', (main) => main.innerText),
    async fill(selector, text) {
      await page.focus(selector);
      await page.keyboard.type(text);
    },
    async click(selector) {
      const place = await page.$eval(selector, (element) => {
        element.scrollIntoView({ block: 'center', behavior: 'instant' });
        const { left, top, width, height } = element.getBoundingClientRect();
        return { x: left + width / 2, y: top + height / 2 };
      });
      await page.mouse.click(place.x, place.y);
    },
    color: () => page.$eval('body', (body) => getComputedStyle(body).backgroundColor),
    close: () => browser.close(),
  };
}
