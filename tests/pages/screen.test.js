// The big screen of an event fills a projector's picture, and nothing of it is below the edge: before the opening, while
// it is open, at the end, and ended early, with the longest names and a greeting of two lines.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, newUser, site } from '../e2e/support/site.js';
import { LANGUAGES, words } from '../e2e/support/texts.js';
import { LONGEST, grab, send } from './support/world.js';

const SIZES = [[1920, 1080], [1280, 720]];
const GREETING = '恭喜发财大吉大利万事如意身体健康阖家幸福财源广进啊';
const GRABS = 8; // more than the rows of the screen
const PHRASE = '芝麻开门';

let browser;
const screens = {};
before(async () => {
  browser = await launch();
  const sender = (await newUser({ nickname: LONGEST.wide, yuan: '1000' })).client;
  const guests = await site.demoUsers(GRABS - 1);
  guests.push((await newUser({ nickname: LONGEST.latin })).client);
  const opens = new Date(Date.now() + 3_600_000).toISOString();
  const lucky = (fields) => send(sender, { kind: 'lucky', amount: '200', count: '9', greeting: GREETING, cover: 'baby', ...fields });
  const packets = {
    waiting: await lucky({ opens_at: opens, phrase: PHRASE }),
    untouched: await lucky({ phrase: PHRASE }),
    open: await lucky(),
    finished: await lucky({ count: String(GRABS) }),
    ended: await lucky(),
  };
  for (const name of ['open', 'finished', 'ended']) for (const guest of guests) await grab(guest, packets[name]);
  assert.equal((await sender.post(`${packets.ended}/end`)).status, 200);
  for (const [name, path] of Object.entries(packets)) screens[name] = (await sender.get(path)).json.screen_url;
  screens['without names'] = `${packets.open}/screen`;
});
after(async () => { await browser?.close(); });

// Texts and the QR code that are not wholly inside the window, or are cut off by their own box.
const outside = () => {
  const found = [];
  for (const element of document.querySelectorAll('main *')) {
    const box = element.getBoundingClientRect();
    const own = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    if (!box.height || !(own || element.matches('.qr'))) continue;
    if (box.top < 0 || box.left < 0 || box.right > innerWidth || box.bottom > innerHeight) found.push(element.outerHTML.slice(0, 80));
  }
  const { scrollHeight, scrollWidth } = document.scrollingElement;
  if (scrollHeight > innerHeight || scrollWidth > innerWidth) found.push(`the page is ${scrollWidth}x${scrollHeight}`);
  return found;
};

for (const language of LANGUAGES) {
  for (const [width, height] of SIZES) {
    test(`nothing is below the edge at ${width}×${height} (${language})`, async () => {
      for (const javaScriptEnabled of [true, false]) {
        const context = await browser.newContext({ viewport: { width, height }, locale: language, javaScriptEnabled });
        const page = await context.newPage();
        for (const [name, path] of Object.entries(screens)) {
          await page.goto(site.url + path);
          assert.deepEqual(await page.evaluate(outside), [], `${name} ${javaScriptEnabled ? 'with' : 'without'} JavaScript`);
          const code = await page.locator('.qr').boundingBox();
          assert.ok(code.height >= 0.4 * height, `${name}: the code is ${code.height} px high`);
        }
        await context.close();
      }
    });
  }

  test(`the screen says what it takes to open, and at the end nothing of opening (${language})`, async () => {
    const page = await (await browser.newContext({ viewport: { width: 1280, height: 720 }, locale: language })).newPage();
    const saying = async (name) => (await page.goto(site.url + screens[name]), page.innerText('main'));
    for (const name of ['waiting', 'untouched']) assert.ok((await saying(name)).includes(words(language, 'phrase_needed')));
    for (const name of ['open', 'finished', 'ended']) assert.ok(!(await saying(name)).includes(words(language, 'phrase_needed')));
    for (const name of ['finished', 'ended']) {
      const text = await saying(name);
      assert.ok(!text.includes(words(language, 'screen_scan')) && text.includes(words(language, 'screen_look')), name);
    }
    await saying('waiting');
    const clock = await page.locator('.clock').boundingBox();
    assert.ok(clock.x > 1280 * 0.4, 'the countdown is beside the code');
    await page.context().close();
  });
}
