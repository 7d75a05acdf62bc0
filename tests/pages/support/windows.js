// Browser windows that are reused: a new window costs a second of CPU time, the next page in it a quarter of that. A
// visitor finds nothing of the last visitor, except files in the cache: no cookie, no storage, no listener, no route.
import { after } from 'node:test';
import { launch, LIGHT } from '../../e2e/support/browser.js';
import { site } from '../../e2e/support/site.js';

const QUIET = `${site.url}/static/favicon.svg`; // A page without script and session. It is of the site, because a page of another origin gets a new process.
const MEDIA = { media: null, colorScheme: 'light', reducedMotion: 'no-preference', forcedColors: 'none' };

export class Window {
  #devtools;

  async open(browser) {
    this.page = await browser.newPage();
    this.#devtools = await this.page.context().newCDPSession(this.page);
    await this.leave();
    return this;
  }

  // Ends a visit: nothing of its page goes on.
  async leave() {
    const { page } = this;
    for (const event of ['console', 'pageerror']) page.removeAllListeners(event);
    await page.unrouteAll();
    await page.goto(QUIET);
    await page.context().clearCookies(); // now, because an answer to the last page may have brought one
    await page.evaluate(() => { sessionStorage.clear(); localStorage.clear(); });
  }

  // The page of a visitor with the client's session, if there is one. look: viewport, locale, javaScriptEnabled and
  // what emulateMedia takes, as in the options of a context.
  async enter(client, { viewport = { width: 390, height: 844 }, locale = 'zh-CN', javaScriptEnabled = true, ...media } = {}) {
    const { page } = this;
    const sid = client?.cookie('sid');
    await page.setViewportSize(viewport);
    await page.emulateMedia({ ...MEDIA, ...media });
    await this.#devtools.send('Emulation.setScriptExecutionDisabled', { value: !javaScriptEnabled });
    await this.#devtools.send('Emulation.setLocaleOverride', { locale });
    await this.#devtools.send('Emulation.setUserAgentOverride', { userAgent: '', acceptLanguage: locale });
    if (sid) await page.context().addCookies([{ name: 'sid', value: sid, url: site.url }]);
  }

  // The page at a path of the site, for a new visitor.
  async visit(client, path, look) {
    await this.leave();
    await this.enter(client, look);
    await this.page.goto(site.url + path);
    return this.page;
  }
}

// The window of a test file; its browser is closed after the tests.
export async function fileWindow(env) {
  const browser = await launch(env, LIGHT);
  after(() => browser.close());
  return new Window().open(browser);
}
