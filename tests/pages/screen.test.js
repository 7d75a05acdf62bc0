// The big screen of an event fills a projector's picture, and nothing of it is below the edge: before the opening, while
// it is open, at the end, and ended early, with the longest names and a greeting of two lines. At the end there is free
// space.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { newUser, site } from '../e2e/support/site.js';
import { LANGUAGES, words } from '../e2e/support/texts.js';
import { landscape, upload } from '../e2e/support/upload.js';
import { fileWindow } from './support/windows.js';
import { LONGEST, grab, send } from './support/world.js';

const SIZES = [[1920, 1080], [1280, 720], [3840, 2160], [1024, 768]];
const GREETING = '恭喜发财大吉大利万事如意身体健康阖家幸福财源广进啊';
const GRABS = 12; // more than the rows of the screen, and the podium
const PHRASE = '芝麻开门';

const pages = await fileWindow();
const screens = {};
const see = (name, look) => pages.visit(undefined, screens[name], { viewport: { width: 1280, height: 720 }, ...look });
before(async () => {
  const sender = (await newUser({ nickname: LONGEST.wide, yuan: '2000' })).client;
  const guests = await site.demoUsers(GRABS - 1);
  guests.push((await newUser({ nickname: LONGEST.latin })).client);
  const opens = new Date(Date.now() + 3_600_000).toISOString();
  const lucky = (fields) => send(sender, { kind: 'lucky', amount: '200', count: String(GRABS + 1), greeting: GREETING, cover: 'baby', ...fields });
  const cover = (await upload(sender, '/covers', landscape(1))).json.name;
  const packets = {
    waiting: await lucky({ opens_at: opens, phrase: PHRASE }),
    untouched: await lucky({ phrase: PHRASE }),
    open: await lucky(),
    finished: await lucky({ count: String(GRABS) }),
    ended: await lucky(),
    secret: await lucky({ phrase: PHRASE }),
    'taken by nobody': await lucky(),
    'own cover': await lucky({ cover, opens_at: opens, phrase: PHRASE }),
  };
  for (const name of ['open', 'finished', 'ended']) for (const guest of guests) await grab(guest, packets[name]);
  for (const guest of guests) assert.equal((await guest.post(`${packets.secret}/open`, { phrase: PHRASE })).status, 200);
  for (const name of ['ended', 'taken by nobody']) assert.equal((await sender.post(`${packets[name]}/end`)).status, 200);
  for (const [name, path] of Object.entries(packets)) screens[name] = (await sender.get(path)).json.screen_url;
  screens['without names'] = `${packets.open}/screen`;
});

// Texts and the QR code that are not wholly inside the window, or are cut off by their own box; parts of the ticket that are
// not wholly on it; and texts of the board that reach into the header.
const outside = () => {
  const found = [];
  for (const element of document.querySelectorAll('main *')) {
    const box = element.getBoundingClientRect();
    const own = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    if (!box.height || !(own || element.matches('.qr'))) continue;
    if (box.top < 0 || box.left < 0 || box.right > innerWidth || box.bottom > innerHeight) found.push(element.outerHTML.slice(0, 80));
  }
  const ticket = document.querySelector('.ticket').getBoundingClientRect();
  for (const picture of document.querySelectorAll('.ticket :is(img, svg)')) {
    const { height, top, bottom } = picture.getBoundingClientRect();
    if (height && (top < ticket.top - 1 || bottom > ticket.bottom + 1)) found.push(`${picture.outerHTML.slice(0, 60)} is not on the ticket`);
  }
  const foot = document.querySelector('.giver').getBoundingClientRect().bottom;
  for (const part of document.querySelector('.board').children) {
    const { height, top } = part.getBoundingClientRect();
    if (height && top < foot - 1) found.push(`${part.outerHTML.slice(0, 60)} reaches into the header`);
  }
  const { scrollHeight, scrollWidth } = document.scrollingElement;
  if (scrollHeight > innerHeight || scrollWidth > innerWidth) found.push(`the page is ${scrollWidth}x${scrollHeight}`);
  return found;
};

for (const locale of LANGUAGES) {
  for (const javaScriptEnabled of [true, false]) {
    test(`nothing is below the edge (${locale}, ${javaScriptEnabled ? 'with' : 'without'} JavaScript)`, async () => {
      for (const name of Object.keys(screens)) {
        const page = await see(name, { locale, javaScriptEnabled });
        for (const [width, height] of SIZES) {
          await page.setViewportSize({ width, height });
          assert.deepEqual(await page.evaluate(outside), [], `${name}, ${width}×${height}`);
          const code = await page.locator('.qr').boundingBox();
          assert.ok(code.height >= 0.4 * Math.min(height, width * 9 / 16), `${name}, ${width}×${height}: the code is ${code.height} px high`);
        }
      }
    });
  }

  test(`the screen says what it takes to open, and at the end nothing of opening (${locale})`, async () => {
    let page;
    const saying = async (name) => (page = await see(name, { locale }), page.innerText('main'));
    for (const name of ['waiting', 'untouched']) assert.ok((await saying(name)).includes(words(locale, 'phrase_needed')));
    for (const name of ['open', 'finished', 'ended']) assert.ok(!(await saying(name)).includes(words(locale, 'phrase_needed')));
    for (const name of ['waiting', 'untouched', 'secret']) {
      await saying(name);
      const phrase = page.locator('.phrase');
      assert.equal((await phrase.innerText()).trim(), words(locale, 'phrase_needed'));
      const [tag, board, size] = [await phrase.boundingBox(), await page.locator('.board').boundingBox(), await phrase.evaluate((line) => parseFloat(getComputedStyle(line).fontSize))];
      assert.ok(tag.width === board.width && size >= 720 / 28, `${name}: the passphrase is ${tag.width} px wide, ${size} px large`);
    }
    assert.equal(await (await saying('taken by nobody'), page.innerText('#grabs')), words(locale, 'screen_none'));
    for (const name of ['finished', 'ended']) {
      const text = await saying(name);
      assert.ok(!text.includes(words(locale, 'screen_scan')) && text.includes(words(locale, 'screen_look')), name);
    }
    await saying('waiting');
    const [clock, code] = await Promise.all(['.clock', '.qr'].map((selector) => page.locator(selector).boundingBox()));
    assert.ok(clock.x > code.x + code.width, 'the countdown is beside the code');
    assert.equal(await page.innerText('.waiting .word'), await page.innerText('.waiting time'), 'the verb is above the digits only');
    const one = await page.locator('.board > .say').first().evaluate((hint) => hint.getBoundingClientRect().height / parseFloat(getComputedStyle(hint).lineHeight));
    assert.ok(one < 1.5, 'the hint is one line');
    for (const [name, selector] of [['waiting', '.clock'], ['untouched', '.start']]) {
      await saying(name);
      const middle = await page.evaluate((wanted) => {
        const range = document.createRange();
        const board = document.querySelector('.board').getBoundingClientRect();
        range.selectNodeContents(document.querySelector(wanted));
        const { left, right } = range.getBoundingClientRect();
        return Math.abs(left + right - board.left - board.right) / 2;
      }, selector);
      assert.ok(middle < 1280 / 40, `${name}: ${middle} px beside the middle`);
    }
  });
}

test('nobody is on the screen twice, and the podium has its own three', async () => {
  for (const [name, rows] of [['open', 8], ['finished', GRABS - 3], ['ended', 8]]) {
    const page = await see(name);
    const people = await page.locator('.podium bdi, .crowd bdi').allTextContents();
    assert.equal(people.length, 3 + Math.min(rows, 8), name);
    assert.equal(new Set(people).size, people.length, `${name}: ${people}`);
  }
});

test('at the end there is air between header and foot, in both languages', async () => {
  for (const locale of LANGUAGES) {
    for (const name of ['finished', 'ended']) {
      const page = await see(name, { locale, viewport: { width: 1920, height: 1080 }, reducedMotion: 'reduce' });
      const air = await page.evaluate(() => {
        const board = document.querySelector('.board');
        const parts = [...board.children].map((part) => part.getBoundingClientRect()).filter(({ height }) => height);
        return board.getBoundingClientRect().height - parts.at(-1).bottom + parts[0].top;
      });
      assert.ok(air >= 1080 / 20, `${locale}, ${name}: ${air} px`);
    }
  }
});
