// Pages of visitors, which are closed when their test has ended; and tests for several kinds of visitors.
import { afterEach, beforeEach, test } from 'node:test';
import { consoleErrors } from './browser.js';
import { clientPage as openPage, site } from './site.js';

const contexts = []; // of the test that runs

beforeEach(() => { contexts.length = 0; }); // the file's own stay
afterEach(() => Promise.all(contexts.splice(0).map((context) => context.close())));

// A page of the browser with the client's session, if there is a client; options are for the browser's context.
export async function clientPage(...args) {
  const page = await openPage(...args);
  contexts.push(page.context());
  return page;
}

// The same at this path of the site.
export async function pageAt(browser, client, path, options) {
  const page = await clientPage(browser, client, options);
  await page.goto(site.url + path);
  return page;
}

function testWith(all, name, work) {
  for (const options of all) {
    const words = Object.entries(options).map(([key, value]) => (key === 'javaScriptEnabled' ? `JavaScript ${value ? 'on' : 'off'}` : value));
    test(`${name} (${words.join(', ')})`, () => work(options));
  }
}

// A test with and without scripts; work gets the options of clientPage.
export const testScripts = (...args) => testWith([true, false].map((javaScriptEnabled) => ({ javaScriptEnabled })), ...args);

export const testLanguages = (...args) => testWith([{ locale: 'zh-CN' }, { locale: 'en' }], ...args);

// A test for two visitors. Together they have both languages, and pages with and without scripts.
export const testVisitors = (...args) => testWith([{ locale: 'zh-CN', javaScriptEnabled: true }, { locale: 'en', javaScriptEnabled: false }], ...args);

// A page in this language at origin, with the session of client (if any) and an authenticator that keeps passkeys.
// problems: the errors of its console.
export async function passkeyDevice(browser, locale, origin, client) {
  const page = await clientPage(browser, null, { locale });
  const context = page.context();
  const sid = client?.cookie('sid');
  if (sid) await context.addCookies([{ name: 'sid', value: sid, url: origin }]);
  const problems = consoleErrors(page);
  page.on('pageerror', (error) => problems.push(String(error)));
  const cdp = await context.newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return { context, page, problems, cdp, authenticatorId };
}
