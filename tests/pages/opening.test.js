// The moment of opening: the coin's turn, the digits, the rest of the page, in this order. All animations are paused,
// and a test sets their time, so nothing depends on the machine's speed. HB_TEST_UPDATE_PICTURES=1 makes the film strips
// of docs/PAGES.md.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { newUser, poll, site } from '../e2e/support/site.js';
import { decode, encode } from './support/png.js';
import { fileWindow } from './support/windows.js';
import { grab, send } from './support/world.js';

const TURN_MS = 700;
const ANSWER_MS = 150; // the answer comes so long after the press, by the page's clock
const REST_MS = 1700; // from the landing of the digits until the last row is there
const SAME_PX = 1;
const COUNT = 6;

const pages = await fileWindow({ FONTCONFIG_FILE: fileURLToPath(new URL('support/fonts.conf', import.meta.url)) });
let sender;
let others;
before(async () => {
  await pages.page.addInitScript(holdStill, ANSWER_MS);
  sender = await newUser({ nickname: '阿红', yuan: '2000' });
  others = [];
  for (const nickname of ['李雷', '韩梅梅', '王小虎', '小明']) others.push(await newUser({ nickname }));
});

// Runs in the page: animations stand still, timers are recorded and do not run, and the clock of the answering page is
// ANSWER_MS ahead of the pressed one's.
function holdStill(answerMs) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('*, *::before, *::after { animation-play-state: paused !important; }');
  document.adoptedStyleSheets = [sheet];
  const now = 1e12 + (sessionStorage.getItem('press') ? answerMs : 0);
  Date.now = () => now;
  window.timers = [];
  window.setTimeout = (work, ms) => window.timers.push({ work, ms });
  window.buzzed = [];
  navigator.vibrate = (pattern) => { window.buzzed.push(pattern); return true; };
  window.sounds = 0;
  const { AudioContext } = window;
  window.AudioContext = class extends AudioContext { constructor() { super(); window.sounds += 1; } };
  addEventListener('submit', () => sessionStorage.setItem('buzzed', JSON.stringify(window.buzzed)));
}

async function press(page) {
  await page.click('button.coin');
  await page.waitForSelector('.result');
  await page.waitForLoadState();
}

// A packet with some grabs, opened by the last person of the scene.
async function opened({ kind = 'lucky', count = COUNT, amount = '66.66', grabs = 3, ...options } = {}) {
  const path = await send(sender.client, { kind, count: String(count), amount });
  for (const { client } of others.slice(0, grabs)) await grab(client, path);
  const page = await pages.visit(others.at(-1).client, path, options);
  await press(page);
  return page;
}

const times = (page) => page.evaluate(() => {
  const read = (name) => parseFloat(document.querySelector('main').style.getPropertyValue(name));
  return { past: -read('--past'), turn: read('--turn'), land: read('--land') };
});

// Sets the time of all animations. Returns how visible the parts are: the product of the opacities from the root down.
const at = (page, ms) => page.evaluate((time) => {
  document.getAnimations().forEach((animation) => { animation.currentTime = time; });
  const visible = (element) => {
    let opacity = element ? 1 : 0;
    for (let e = element; e; e = e.parentElement) opacity *= getComputedStyle(e).opacity;
    return opacity;
  };
  const digits = [...document.querySelectorAll('.reels b')];
  return {
    front: visible(document.querySelector('.seal .face')),
    amount: Math.max(...digits.map(visible)),
    landed: digits.every((digit) => visible(digit) === 1 && ['none', 'matrix(1, 0, 0, 1, 0, 0)'].includes(getComputedStyle(digit).transform)),
    burst: Math.max(0, ...[...document.querySelectorAll('.burst')].map(visible)),
    settled: visible(document.querySelector('.settled')),
    list: visible(document.querySelector('#grabs')),
    rows: [...document.querySelectorAll('[data-live=rows] > li')].map(visible),
  };
}, ms);

// The boxes of these parts of an envelope in the window.
const boxes = (page, root) => page.evaluate((selector) => ['.face', '.flap', '.opener', '.from', '.greeting'].map((part) => {
  const { left, top, width, height } = document.querySelector(`${selector} ${part}`).getBoundingClientRect();
  return { part, left, top, width, height };
}), root);

function same(found, wanted) {
  found.forEach(({ part, ...box }, i) => {
    for (const [side, px] of Object.entries(box)) {
      assert.ok(Math.abs(px - wanted[i][side]) <= SAME_PX, `${part}: ${side} ${px}, was ${wanted[i][side]}`);
    }
  });
}

test('the coin turns at least once, then the digits land, and only then the list comes, row by row', async () => {
  const page = await opened();
  const { past, turn, land } = await times(page);
  assert.equal(past, ANSWER_MS);
  assert.equal((past + turn) % TURN_MS, 0, 'the coin ends face up');
  assert.ok(past + turn >= TURN_MS && land > turn);
  for (let ms = 0; ms < land; ms += 50) {
    const { front, amount, burst, settled, list, rows } = await at(page, ms);
    assert.deepEqual({ settled, list, rows }, { settled: 0, list: 0, rows: rows.map(() => 0) }, `${ms} ms`);
    assert.equal(rows.length, 4);
    if (ms < turn) assert.deepEqual({ front, amount, burst }, { front: 1, amount: 0, burst: 0 }, `${ms} ms`);
  }
  assert.ok((await at(page, land)).landed);
  const came = [];
  for (let ms = land; ms <= land + REST_MS; ms += 25) {
    (await at(page, ms)).rows.forEach((opacity, i) => { if (opacity > 0) came[i] ??= ms; });
  }
  assert.deepEqual(came, [...came].sort((a, b) => a - b));
  assert.equal(new Set(came).size, 4, `the rows come at ${came}`);
  const last = await at(page, land + REST_MS);
  assert.deepEqual(last, { front: 0, amount: 1, landed: true, burst: 0, settled: 1, list: 1, rows: [1, 1, 1, 1] });
});

for (const [where, viewport, scroll] of [['a phone', { width: 390, height: 844 }, 0], ['a small phone, scrolled', { width: 320, height: 480 }, 90],
  ['a desktop', { width: 1280, height: 800 }, 0]]) {
  test(`the pressed envelope is there again with all its sizes and places, on ${where}`, async () => {
    const path = await send(sender.client, { kind: 'lucky', count: '2', amount: '8.88', cover: 'spring-festival', greeting: '新春快乐，万事如意' });
    const page = await pages.visit(others[0].client, path, { viewport });
    await page.evaluate((y) => scrollTo(0, y), scroll);
    const pressed = await boxes(page, '.envelope');
    await press(page);
    await at(page, 0);
    assert.equal(await page.locator('.seal').count(), 1);
    same(await boxes(page, '.seal'), pressed);
    const { land } = await times(page);
    await at(page, land);
    const [front] = pressed;
    const { x, y, width, height } = await page.locator('.result').boundingBox();
    const now = { left: x, top: y, width, height: Math.max(height, front.height) };
    same([{ part: 'the opened envelope', ...now }], [{ ...front, height: now.height }]);
    assert.equal(await page.evaluate(() => document.scrollingElement.scrollWidth), viewport.width);
  });
}

test('on a desktop the digits land where the envelope was, then they make room for the list', async () => {
  const page = await opened({ viewport: { width: 1280, height: 800 } });
  const { land } = await times(page);
  const places = (ms) => at(page, ms).then(() => page.evaluate(() => {
    const [result, list] = ['.result', '[aria-labelledby=grabs]'].map((part) => document.querySelector(part).getBoundingClientRect());
    return result.right < list.left;
  }));
  assert.equal(await places(land), false);
  for (let ms = land; ms <= land + REST_MS; ms += 50) {
    const apart = await places(ms);
    const { list, rows } = await at(page, ms);
    if (!apart) assert.deepEqual([list, ...rows], [0, ...rows.map(() => 0)], `${ms} ms`);
  }
  assert.equal(await places(land + REST_MS), true);
  assert.deepEqual((await at(page, land + REST_MS)).rows, [1, 1, 1, 1]);
});

test('only transform and opacity move', async () => {
  const page = await opened();
  const moved = await page.evaluate(() => [...new Set(document.getAnimations()
    .flatMap((animation) => animation.effect.getKeyframes()).flatMap((frame) => Object.keys(frame)))].sort());
  assert.deepEqual(moved, ['composite', 'computedOffset', 'easing', 'offset', 'opacity', 'transform']);
});

test('the grab waits for no timer and no animation', async () => {
  const page = await opened({ grabs: 0 }); // timers and animations stand still
  assert.equal(await page.locator('.rows > li').count(), 1);
});

test('a phone vibrates when the coin is pressed, and when the digits land', async () => {
  const page = await opened();
  assert.deepEqual(JSON.parse(await page.evaluate(() => sessionStorage.getItem('buzzed'))).length, 1);
});

test('with reduced motion everything is there at once', async () => {
  const page = await opened({ reducedMotion: 'reduce' });
  const found = await page.evaluate(() => ({
    moving: document.getAnimations().length,
    parts: document.querySelectorAll('.seal, .burst, .fresh, .reels').length,
    buzzed: sessionStorage.getItem('buzzed'),
  }));
  assert.deepEqual(found, { moving: 0, parts: 0, buzzed: '[]' });
  const { settled, list, rows } = await at(page, 0);
  assert.deepEqual({ settled, list, rows }, { settled: 1, list: 1, rows: [1, 1, 1, 1] });
});

test('the flourish of the luckiest draw is bigger', async () => {
  const bursts = async (options) => {
    const page = await opened(options);
    const found = await page.locator('.burst').count();
    return found;
  };
  const plain = await bursts({ kind: 'even', count: 1, amount: '5.20', grabs: 0 });
  const luckiest = await bursts({ kind: 'lucky', count: 1, amount: '5.20', grabs: 0 });
  assert.ok(plain > 0 && luckiest >= 2 * plain, `${plain} and ${luckiest} bursts`);
});

test('a key or a touch ends it', async () => {
  for (const act of [(page) => page.keyboard.press('Tab'), (page) => page.mouse.click(5, 400)]) {
    const page = await opened({ grabs: 1 });
    assert.equal(await page.locator('.seal').count(), 1);
    const amount = await page.textContent('.money');
    await act(page);
    assert.equal(await page.locator('.seal, .burst, .fresh, .reels').count(), 0);
    assert.equal(await page.textContent('.money'), amount);
    assert.deepEqual((await at(page, 0)).rows, [1, 1]);
  }
});

test('the burst is behind the words of the slip', async () => {
  const page = await opened({ grabs: 0 });
  const over = await page.evaluate(() => ['.greeting', '.settled', '.from h1'].filter((part) => {
    const box = document.querySelector(`.slip ${part}`).getBoundingClientRect(), [burst] = document.querySelectorAll('.burst');
    for (const one of [burst, document.querySelector('.seal')]) one.style.pointerEvents = one === burst ? 'auto' : 'none';
    const there = document.elementsFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    const [words, light] = [there.findIndex((one) => one.closest(part)), there.indexOf(burst)];
    return words < 0 || (light >= 0 && light < words);
  }));
  assert.deepEqual(over, []);
});

test('it is seen once: a reload shows the result at once', async () => {
  const page = await opened({ grabs: 0 });
  await page.reload();
  assert.equal(await page.locator('.result').count(), 1);
  assert.equal(await page.locator('.seal, .fresh').count(), 0);
});

test('it sounds only when the visitor has switched the sound on', async () => {
  const page = await pages.visit(others[0].client, await send(sender.client, { kind: 'even', count: '1', amount: '1' }));
  const button = page.locator('[data-sound]');
  assert.equal(await button.isVisible(), true, 'before the first opening');
  assert.equal(await button.getAttribute('aria-pressed'), 'false');
  await press(page);
  const land = async () => {
    const { land: ms } = await times(page);
    return page.evaluate((due) => {
      window.timers.filter((timer) => timer.ms === due).forEach(({ work }) => work());
      return window.sounds;
    }, ms);
  };
  assert.equal(await land(), 0);
  assert.equal(await button.getAttribute('aria-pressed'), 'false');
  await button.click();
  assert.equal(await button.getAttribute('aria-pressed'), 'true');
  await page.goto(site.url + await send(sender.client, { kind: 'even', count: '1', amount: '1' }));
  await press(page);
  assert.equal(await land(), 1);
  await page.locator('[data-sound]').click();
  await page.goto(site.url + await send(sender.client, { kind: 'even', count: '1', amount: '1' }));
  await press(page);
  assert.equal(await land(), 0);
});

test('the sender opens a share of the own packet in the same way', async () => {
  const path = await send(sender.client, { kind: 'lucky', count: '2', amount: '10' });
  const page = await pages.visit(sender.client, path);
  await press(page);
  const { turn, land } = await times(page);
  assert.equal((await at(page, turn - 1)).front, 1);
  assert.deepEqual((await at(page, land - 1)).rows, [0]);
  assert.deepEqual((await at(page, land + REST_MS)).rows, [1]);
});

// ---- the film strip ----

const FRAME_MS = 50;
const WIDTH = 390;
const HEIGHT = 640;
const STRIP = { width: 190, across: 7, gap: 4 };

async function film(colorScheme) {
  const path = await send(sender.client, { kind: 'lucky', count: '5', amount: '66.66', greeting: '新年快乐' });
  for (const { client } of others.slice(0, 3)) await grab(client, path);
  const page = await pages.visit(others.at(-1).client, path, { colorScheme, viewport: { width: WIDTH, height: HEIGHT } });
  const frames = [];
  const take = async (ms) => {
    frames.push({ ms, picture: (await page.screenshot({ caret: 'hide' })).toString('base64') });
  };
  await page.evaluate(() => document.querySelector('.coin').classList.add('turning'));
  for (let ms = 0; ms < ANSWER_MS; ms += FRAME_MS) {
    await at(page, ms);
    await take(ms);
  }
  await press(page);
  await page.mouse.move(0, 0);
  const { land } = await times(page);
  for (let ms = 0; ms <= land + 900; ms += FRAME_MS) {
    await at(page, ms);
    await take(ANSWER_MS + ms);
  }
  return frames;
}

async function strip(frames) {
  const { width, across, gap } = STRIP;
  const { page } = pages;
  await page.goto('about:blank'); // the site's policy allows no style of a page
  await page.setViewportSize({ width: across * (width + gap) + gap, height: 600 });
  await page.setContent(`<style>body{margin:${gap}px;display:grid;grid-template-columns:repeat(${across},${width}px);gap:${gap}px;
    font:11px sans-serif;background:#808080;color:#fff}figure{margin:0}img{width:100%;display:block}</style>${frames
    .map(({ ms, picture }) => `<figure><img src="data:image/png;base64,${picture}" alt="">${ms} ms</figure>`).join('')}`);
  await poll('the frames are there', () => page.evaluate(() => [...document.images].every(({ complete }) => complete)));
  return decode(await page.screenshot({ fullPage: true }));
}

const skip = process.env.HB_TEST_UPDATE_PICTURES !== '1' && 'HB_TEST_UPDATE_PICTURES is not set';
for (const scheme of ['light', 'dark']) {
  test(`the film strip, ${scheme}`, { skip }, async () => {
    const file = new URL(`../../docs/images/opening-${scheme}.png`, import.meta.url);
    writeFileSync(file, encode(await strip(await film(scheme))));
  });
}
