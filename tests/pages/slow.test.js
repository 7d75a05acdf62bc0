// A link opened on a slow network: the envelope is readable after the page itself and its style sheet, which fit into
// what a server sends at once. The time on a 2G network is told, not judged.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, site } from '../e2e/support/site.js';
import { buildWorld, states, urlOf } from './support/states.js';

const FIRST_BYTES = 14 * 1024; // ten segments of TCP, which need no answer of the browser
const NEEDED = ['document', 'stylesheet'];
const GPRS = { offline: false, latency: 500, downloadThroughput: 50_000 / 8, uploadThroughput: 20_000 / 8 };
const EDGE = { offline: false, latency: 300, downloadThroughput: 250_000 / 8, uploadThroughput: 50_000 / 8 };

let browser;
let world;
before(async () => {
  browser = await launch();
  world = await buildWorld();
});
after(async () => {
  await world?.end();
  await browser?.close();
});

async function visitor(state) {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, locale: 'zh-CN' });
  if (state.as) await context.addCookies([{ name: 'sid', value: world[state.as].cookie('sid'), url: site.url }]);
  const page = await context.newPage();
  const network = await context.newCDPSession(page);
  await network.send('Network.enable');
  return { context, page, network };
}

for (const name of ['envelope', 'envelope with a cover', 'envelope with a phrase', 'envelope waiting']) {
  const state = states.find((one) => one.name === name);

  test(`${name}: the page and its style sheet are enough, and small`, async () => {
    const { context, page, network } = await visitor(state);
    let bytes = 0;
    network.on('Network.loadingFinished', ({ encodedDataLength }) => { bytes += encodedDataLength; });
    const needed = (request) => NEEDED.includes(request.resourceType());
    await page.route('**', (route) => (needed(route.request()) ? route.continue() : route.abort()));
    await page.goto(urlOf(state, world));
    assert.ok(await page.isVisible('.envelope h1'));
    const red = await page.$eval('.envelope .face', (face) => getComputedStyle(face).backgroundColor);
    assert.notEqual(red, 'rgba(0, 0, 0, 0)', 'the style sheet is there');
    assert.ok(bytes > 4096 && bytes <= FIRST_BYTES, `${bytes} bytes`);
    await context.close();
  });
}

test('the time until the envelope is readable, on slow networks', async (t) => {
  const state = states.find(({ name }) => name === 'envelope');
  for (const [name, conditions] of Object.entries({ GPRS, EDGE })) {
    const { context, page, network } = await visitor(state);
    await network.send('Network.emulateNetworkConditions', conditions);
    await page.goto(urlOf(state, world), { waitUntil: 'commit' });
    await page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint').length > 0);
    const ms = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0].startTime);
    t.diagnostic(`${name}: ${Math.round(ms)} ms`);
    assert.ok(await page.isVisible('.envelope h1'));
    await context.close();
  }
});
