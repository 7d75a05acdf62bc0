// Windows of a browser that are used again: a new one costs a second of CPU time, the next page in it a fourth of that.
// A window has nothing of the visit before: no cookie, no storage, no cache, no listener, no route.
import { site } from '../../e2e/support/site.js';

const QUIET = `${site.url}/static/favicon.svg`; // no script, no session; another origin would be another process

export class Windows {
  #browser;

  #free = new Map(); // options as JSON → pages

  #kind = new WeakMap(); // page → its options as JSON

  constructor(browser) {
    this.#browser = browser;
  }

  // A page whose context has these options (locale, javaScriptEnabled).
  async take(options) {
    const kind = JSON.stringify(options);
    const free = this.#free.get(kind)?.pop();
    if (free) return free;
    const context = await this.#browser.newContext(options);
    const page = await context.newPage();
    const network = await context.newCDPSession(page);
    await network.send('Network.enable');
    await network.send('Network.setCacheDisabled', { cacheDisabled: true });
    this.#kind.set(page, kind);
    return page;
  }

  // For the next visit.
  async give(page) {
    page.removeAllListeners('console');
    page.removeAllListeners('pageerror');
    await page.unrouteAll();
    await page.context().clearCookies();
    await page.goto(QUIET);
    await page.evaluate(() => { sessionStorage.clear(); localStorage.clear(); });
    const kind = this.#kind.get(page);
    this.#free.set(kind, [...this.#free.get(kind) ?? [], page]);
  }
}
