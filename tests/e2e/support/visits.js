// Pages of visitors, which are closed when their test has ended; and tests for several kinds of visitors.
import { afterEach, beforeEach, test } from 'node:test';
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
