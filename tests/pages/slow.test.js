// A link opened on a slow network: the envelope is readable after the page and its style sheet have arrived. They fit
// into the first packets that a server sends without waiting, and little else is loaded at the same time. The time on a
// 2G network is printed, and has no limit.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileBrowser } from '../e2e/support/browser.js';
import { Client, clientPage } from '../e2e/support/site.js';
import { buildWorld, states, urlOf } from './support/states.js';

const FIRST_BYTES = 14 * 1024; // ten TCP segments, which a server sends without an answer of the browser
const SHARED_BYTES = 15 * 1024; // everything that is requested before the style sheets have arrived
const NEEDED = ['document', 'stylesheet'];
const STATES = ['envelope', 'envelope with a cover', 'envelope with a phrase', 'envelope waiting', 'envelope logged out',
  'envelope waiting logged out'];
const GPRS = { offline: false, latency: 500, downloadThroughput: 50_000 / 8, uploadThroughput: 20_000 / 8 };
const EDGE = { offline: false, latency: 300, downloadThroughput: 250_000 / 8, uploadThroughput: 50_000 / 8 };

const browser = fileBrowser({}, []);
let world;
before(async () => { world = await buildWorld(['open']); });
after(async () => { await world?.end(); });

async function visitor(state) {
  const page = await clientPage(browser, world[state.as] ?? new Client(), { locale: 'zh-CN' });
  const network = await page.context().newCDPSession(page);
  await network.send('Network.enable');
  return { page, network };
}

for (const name of STATES) {
  const state = states.find((one) => one.name === name);

  test(`${name}: the page and its style sheet are enough, and small`, async () => {
    const { page, network } = await visitor(state);
    let bytes = 0;
    network.on('Network.loadingFinished', ({ encodedDataLength }) => { bytes += encodedDataLength; });
    const needed = (request) => NEEDED.includes(request.resourceType());
    await page.route('**', (route) => (needed(route.request()) ? route.continue() : route.abort()));
    await page.goto(urlOf(state, world));
    assert.ok(await page.isVisible('.envelope h1'));
    const red = await page.$eval('.envelope .face', (face) => getComputedStyle(face).backgroundColor);
    assert.notEqual(red, 'rgba(0, 0, 0, 0)', 'the style sheet is there');
    assert.ok(bytes > 4096 && bytes <= FIRST_BYTES, `${bytes} bytes`);
    await page.context().close();
  });

  test(`${name}: nothing but its flap and one small script shares a slow line with them`, async (t) => {
    for (const [line, conditions] of Object.entries({ GPRS, EDGE })) {
      const { page, network } = await visitor(state);
      const asked = new Map();
      network.on('Network.requestWillBeSent', ({ requestId, request, type, timestamp }) => {
        asked.set(requestId, { file: request.url.split('/').pop(), type, from: timestamp });
      });
      network.on('Network.loadingFinished', ({ requestId, encodedDataLength, timestamp }) => {
        Object.assign(asked.get(requestId), { bytes: encodedDataLength, to: timestamp });
      });
      await network.send('Network.emulateNetworkConditions', conditions);
      await page.goto(urlOf(state, world));
      const all = [...asked.values()];
      const styled = Math.max(...all.filter(({ type }) => type === 'Stylesheet').map(({ to }) => to));
      const early = all.filter(({ from }) => from < styled);
      const [, cover] = /cover-([a-z-]+)/.exec(await page.getAttribute('.envelope', 'class'));
      const files = early.filter(({ type }) => type !== 'Document').map(({ file }) => file.replace(/\.[0-9a-f]+\./, '.')).sort();
      assert.deepEqual(files, ['app.css', `flap-${cover}.svg`, 'gift.css', 'late.js']);
      const bytes = early.reduce((sum, one) => sum + one.bytes, 0);
      assert.ok(bytes <= SHARED_BYTES, `${bytes} bytes`);
      const late = all.filter(({ type }) => type === 'Script').map(({ file }) => file.split('.')[0]);
      assert.ok(late.includes('app') && late.includes('opening') === Boolean(state.as), `${late} came before the page had loaded`);
      const ms = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0].startTime);
      t.diagnostic(`${line}: ${bytes} bytes, readable after ${Math.round(ms)} ms`);
      await page.context().close();
    }
  });
}

test('late.js asks for our own files alone', async () => {
  const { page } = await visitor(states.find(({ name }) => name === 'envelope'));
  const url = urlOf(states.find(({ name }) => name === 'envelope'), world);
  for (const other of ['https://elsewhere.example/static/x.0123456789.js', '//elsewhere.example/x.js', '/p/x.js', '/static/../x.js']) {
    await page.route(url, async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replace(/data-scripts="[^"]*"/, `data-scripts="${other}"`);
      await route.fulfill({ response, body });
    });
    const thrown = page.waitForEvent('pageerror');
    await page.goto(url);
    assert.equal((await thrown).message, other);
    await page.unroute(url);
  }
  await page.context().close();
});
