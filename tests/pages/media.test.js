// Preferences of a visitor's device: no motion, large letters, and paper, which shows the content without controls.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { LANGUAGES } from '../e2e/support/texts.js';
import { buildScene } from './support/scene.js';
import { fileWindow } from './support/windows.js';

const pages = await fileWindow();
let scene;
before(async () => { scene = await buildScene('zh-CN'); });

const visit = (path, as, look) => pages.visit(scene[as], typeof path === 'function' ? path(scene) : path, look);
const enlarge = (page, letters = '200%') => page.evaluate((size) => { document.documentElement.style.fontSize = size; }, letters); // as the browser's setting does

// Opens a packet. Returns the number of animations while the request is in flight, and on the page that answers it.
async function motions(as, reducedMotion) {
  const page = await visit(scene.open, as, { reducedMotion });
  await page.evaluate(() => {
    addEventListener('submit', () => sessionStorage.setItem('turning', document.getAnimations().length));
  });
  await page.click('button.coin');
  await page.waitForSelector('.result');
  const found = await page.evaluate(() => ({
    turning: Number(sessionStorage.getItem('turning')),
    fresh: document.getAnimations().length,
  }));
  return found;
}

test('the coin turns and the digits roll, but not for visitors who prefer reduced motion', async () => {
  const lively = await motions('sender', 'no-preference');
  assert.ok(lively.turning > 0 && lively.fresh > 0, JSON.stringify(lively));
  assert.deepEqual(await motions('viewer', 'reduce'), { turning: 0, fresh: 0 });
});

const LARGE = [['home', '/', 'viewer'], ['envelope', (s) => s.open, 'viewer'], ['result', (s) => s.opened, 'viewer'], ['send', '/send', 'sender'],
  ['records', '/records/received', 'viewer'], ['wallet', '/wallet', 'sender'], ['account', '/account', 'sender']];

for (const [name, path, as] of LARGE) {
  test(`letters of twice the size fit: ${name}`, async () => {
    const page = await visit(path, as);
    const size = () => page.evaluate(() => parseFloat(getComputedStyle(document.body).fontSize));
    const usual = await size();
    await enlarge(page);
    assert.equal(await size(), 2 * usual);
    const [width, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(width <= window, `the page is ${width} px wide`);
  });
}

for (const [name, path, as] of LARGE.filter(([one]) => ['home', 'records', 'wallet'].includes(one))) {
  test(`the amount grows with the letters, as far as there is room: ${name}`, async () => {
    const page = await visit(path, as, { viewport: { width: 640, height: 844 } });
    const measure = () => page.locator('.money').evaluate((amount) => ({
      size: parseFloat(getComputedStyle(amount).fontSize),
      fits: amount.getBoundingClientRect().right <= amount.closest('.card').getBoundingClientRect().right && amount.scrollWidth <= amount.clientWidth,
    }));
    const usual = await measure();
    for (const percent of [75, 200]) {
      await enlarge(page, `${percent}%`);
      const now = await measure();
      assert.ok(percent < 100 ? now.size < usual.size : now.size > usual.size, `${usual.size} px, then ${now.size} px`);
      assert.ok(now.fits);
    }
  });
}

for (const locale of LANGUAGES) {
  test(`with letters of twice the size the four places are one row, of a fifth of the height at most: ${locale}`, async () => {
    const page = await visit('/wallet', 'sender', { locale });
    await enlarge(page);
    for (const [width, height] of [[390, 844], [320, 640], [844, 390], [640, 320]]) {
      await page.setViewportSize({ width, height });
      const { bar, places, end } = await page.evaluate(() => {
        const boxOf = (element) => {
          const { top, bottom, height: high } = element.getBoundingClientRect();
          return { top, bottom, height: high, cut: element.scrollWidth > element.clientWidth };
        };
        scrollTo(0, document.documentElement.scrollHeight);
        const last = [...document.querySelectorAll('.bottom *')].map((element) => element.getBoundingClientRect().bottom);
        return { bar: boxOf(document.querySelector('.nav')), places: [...document.querySelectorAll('.nav a')].map(boxOf), end: Math.max(...last) };
      });
      const told = `${width}×${height}: the bar is ${bar.height} px high, the page ends at ${end}; ${JSON.stringify(places)}`;
      assert.ok(bar.height <= height / 5 && end <= bar.top, told);
      assert.ok(places.every((place) => place.top === places[0].top && place.height >= 44 && !place.cut), told);
    }
  });

  test(`with letters of twice the size the kinds of a packet are whole, each a target of its own: ${locale}`, async () => {
    const page = await visit('/send', 'sender', { locale });
    await enlarge(page);
    for (const width of [390, 320]) {
      await page.setViewportSize({ width, height: 844 });
      await page.locator('.tabs').scrollIntoViewIfNeeded();
      const kinds = await page.locator('.tabs span').evaluateAll((texts) => texts.map((text) => {
        const range = new Range();
        range.selectNodeContents(text);
        const [box, letters] = [text.getBoundingClientRect(), range.getBoundingClientRect()];
        const { top, right, bottom, left } = box;
        const within = letters.left >= left && letters.right <= right && letters.top >= top && letters.bottom <= bottom;
        const corners = [[left + 8, top + 8], [right - 8, top + 8], [left + 8, bottom - 8], [right - 8, bottom - 8]];
        const own = corners.every(([x, y]) => text.parentElement.contains(document.elementFromPoint(x, y)));
        return { top, right, bottom, left, own, whole: within && left >= 0 && right <= innerWidth, lines: range.getClientRects().length };
      }));
      const told = `${width} px: ${JSON.stringify(kinds)}`;
      assert.equal(kinds.length, 3, told);
      assert.ok(kinds.every(({ top, right, bottom, left }) => bottom - top >= 44 && right - left >= 44), told);
      assert.ok(kinds.every(({ own, whole, lines }) => own && whole && lines === 1), told);
      const apart = (one, next) => one.right <= next.left || one.bottom <= next.top;
      assert.ok(apart(kinds[0], kinds[1]) && apart(kinds[0], kinds[2]) && apart(kinds[1], kinds[2]), told);
      assert.ok(['top', 'left'].some((side) => kinds.every((kind) => kind[side] === kinds[0][side])), `a row, or a column: ${told}`);
    }
  });

  test(`with letters of twice the size what a result leads to is seen at once: ${locale}`, async () => {
    const { opened, viewer } = await buildScene(locale);
    const page = await pages.visit(viewer, opened, { locale });
    await enlarge(page);
    for (const [width, height] of [[390, 844], [412, 892]]) {
      await page.setViewportSize({ width, height });
      const [button, bar] = [await page.locator('.lip .button').boundingBox(), await page.locator('.nav').boundingBox()];
      assert.ok(button.y + button.height <= bar.y, `${width} px: the button ends at ${button.y + button.height}, the bar begins at ${bar.y}`);
    }
  });
}

test('with letters of twice the size an amount on a line of its own stands under the name', async () => {
  for (const [path, as] of [['/records/received', 'viewer'], ['/records/sent', 'sender'], ['/', 'viewer'], ['/wallet', 'sender'], [scene.finished, 'sender']]) {
    const page = await visit(path, as);
    await enlarge(page);
    const rows = await page.locator('.row:has(> .sum)').evaluateAll((all) => all.map((row) => {
      const [name, sum] = [row.querySelector('.who'), row.querySelector('.sum b')].map((part) => part.getBoundingClientRect());
      return { below: sum.top >= name.bottom, name: name.left, sum: sum.left };
    }));
    assert.ok(rows.length > 0 && rows.every(({ below, name, sum }) => below && Math.abs(name - sum) < 1), `${path}: ${JSON.stringify(rows)}`);
  }
});

test('the bar with the total is not over a low page', async () => {
  const page = await visit('/send', 'sender', { viewport: { width: 640, height: 320 } });
  assert.equal(await page.locator('.pay').evaluate((element) => getComputedStyle(element).position), 'static');
});

test('in a very low window the places are a part of the header, and hide nothing', async () => {
  const page = await visit('/wallet', 'sender', { viewport: { width: 640, height: 260 } });
  const bar = page.locator('.nav');
  assert.equal(await bar.evaluate((element) => getComputedStyle(element).position), 'static');
  const [{ y, height }, main] = [await bar.boundingBox(), await page.locator('main').boundingBox()];
  assert.ok(y + height <= main.y + 1, 'the places are above the page');
});

// Money of the viewer and the sender, on a small phone with large letters.
const MONEY = [['records', '/records/received', 'viewer'], ['sent', '/records/sent', 'sender'], ['story', '/records/story', 'viewer'],
  ['wallet', '/wallet', 'sender'], ['receipt', (s) => `${s.finished}/receipt`, 'viewer'], ['verify', (s) => `${s.finished}/verify`, 'sender']];

for (const [name, path, as] of MONEY) {
  test(`an amount is never wrapped or cut off at 320 px with letters of twice the size: ${name}`, async () => {
    const page = await visit(path, as, { viewport: { width: 320, height: 844 } });
    await enlarge(page);
    const { amounts, wrong, width } = await page.evaluate(() => {
      const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
      const found = { amounts: 0, wrong: [], width: document.documentElement.scrollWidth };
      for (let text; (text = texts.nextNode());) {
        if (!text.parentElement.checkVisibility()) continue;
        for (const { 0: amount, index } of text.data.matchAll(/\d[\d,]*\.\d\d/g)) {
          const range = new Range();
          range.setStart(text, index);
          range.setEnd(text, index + amount.length);
          const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size;
          const cut = !text.parentElement.closest('.tablebox') && range.getBoundingClientRect().right > innerWidth;
          found.amounts += 1;
          if (lines > 1 || cut) found.wrong.push(text.parentElement.outerHTML);
        }
      }
      return found;
    });
    assert.ok(amounts > 0);
    assert.deepEqual(wrong, []);
    assert.ok(width <= 320, `the page is ${width} px wide`);
  });
}

const PRINTED = [
  ['home', '/', 'viewer', ['h1', '.balance .money', '.rows time']],
  ['result', (s) => s.opened, 'viewer', ['h1', '.greeting', '.result .money', '.rows b', '.rows time']],
  ['finished', (s) => s.finished, 'sender', ['h1', '#grabs', '.rows b']],
  ['own open', (s) => s.open, 'sender', ['h1', '.share .qr'], ['#grabs']], // hung up for guests: no total
  ['records', '/records/received', 'viewer', ['h1', '.summary .money', '.month', '.rows b']],
  ['wallet', '/wallet', 'sender', ['h1', '.balance .money', '.rows b']],
  ['verify', (s) => `${s.finished}/verify`, 'sender', ['h1', 'table', 'code']],
  ['story', '/records/story', 'viewer', ['h1', 'h2', 'table']],
  ['receipt', (s) => `${s.finished}/receipt`, 'viewer', ['h1', '.money', 'dd bdi', 'time', '.facts code']],
];

for (const [name, path, as, parts, secret = []] of PRINTED) {
  test(`on paper there are no controls: ${name}`, async () => {
    const page = await visit(path, as);
    await page.emulateMedia({ media: 'print', colorScheme: 'light' });
    for (const part of parts) assert.ok(await page.isVisible(part), `${part} is not on the paper`);
    for (const part of secret) assert.ok(!await page.isVisible(part), `${part} is on the paper`);
    const controls = await page.evaluate(() => [...document.querySelectorAll('button, input, select, summary, nav, .button')]
      .filter((el) => el.checkVisibility()).map((el) => el.outerHTML.slice(0, 80)));
    assert.deepEqual(controls, []);
    const cut = await page.evaluate(() => {
      const names = [...document.querySelectorAll('main bdi')].filter((el) => el.checkVisibility());
      for (const name of names) name.textContent = '很长的名字'.repeat(12);
      return names.filter((el) => getComputedStyle(el).overflow === 'hidden' && el.scrollWidth > el.clientWidth).length;
    });
    assert.equal(cut, 0, 'a name is cut on paper');
    assert.match(await page.innerText('footer'), /China Standard Time|北京时间|时区|time zone/, 'the zone is not on the paper');
    const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.match(background, /^rgb\(255, 255, 255\)$|^rgba\(0, 0, 0, 0\)$/, 'the background is printed');
  });
}

// A contrast theme of Windows hides our backgrounds: a part that only its background marks needs a line.
const MARKED = [
  ['a chosen year', '/records/received', 'viewer', '.years [aria-current]', () => {
    const years = document.createElement('p');
    years.className = 'years';
    years.append(document.querySelector('.tabs [aria-current]').cloneNode(true));
    document.querySelector('main').append(years);
  }],
  ['a chosen list', '/records/received', 'viewer', '.tabs [aria-current]'],
  ['a wrong row', (s) => `${s.finished}/verify`, 'sender', 'tr.wrong', () => document.querySelector('[data-no]').classList.add('wrong')],
  ['a word about the network', '/', 'viewer', '.offline:not(:empty)', () => {
    const said = document.createElement('p');
    said.className = 'offline';
    said.textContent = 'offline';
    document.querySelector('main').append(said);
  }],
  ['a button', '/', 'viewer', '.button'],
  ['a chosen cover', '/send', 'sender', '.tile :checked + span'],
];

for (const [name, path, as, marked, prepare] of MARKED) {
  test(`without backgrounds one sees ${name}`, async () => {
    const page = await visit(path, as, { forcedColors: 'active' });
    if (prepare) await page.evaluate(prepare);
    const line = await page.locator(marked).first().evaluate((el) => {
      const { borderBottomWidth, borderBottomStyle, outlineWidth, outlineStyle } = getComputedStyle(el);
      return { border: borderBottomStyle === 'none' ? 0 : parseFloat(borderBottomWidth), outline: outlineStyle === 'none' ? 0 : parseFloat(outlineWidth) };
    });
    assert.ok(line.border >= 2 || line.outline >= 2, JSON.stringify(line));
  });
}

// A phone with a notch and a bar at the bottom. The pages use the whole screen (viewport-fit=cover), and keep texts and
// controls away from notch and bar.
const INSETS = { upright: { top: 47, bottom: 34, left: 0, right: 0 }, lying: { top: 0, bottom: 21, left: 47, right: 47 } };

for (const [how, insets] of Object.entries(INSETS)) {
  for (const [name, path, as] of [...LARGE, ['screen', (s) => s.screen, 'sender']]) {
    test(`nothing is under a phone's notch, ${how}: ${name}`, async () => {
      const viewport = how === 'lying' ? { width: 932, height: 430 } : { width: 390, height: 844 };
      const page = await visit(path, as, { viewport });
      const session = await page.context().newCDPSession(page);
      await session.send('Emulation.setSafeAreaInsetsOverride', { insets });
      const under = await page.evaluate(({ top, bottom, left, right }) => {
        const shown = [...document.querySelectorAll('a, button, input, select, summary, h1, h2, p, .money, .avatar, svg.qr')]
          .filter((el) => el.checkVisibility() && !el.matches('.skip, .seal *, .scroll *, .minis *, [type=hidden], p:empty, .offline') && el.getBoundingClientRect().height > 0);
        const page = document.documentElement.getBoundingClientRect().height; // scrollHeight is rounded
        return shown.filter((el) => {
          const box = el.getBoundingClientRect();
          return box.left < left || box.right > innerWidth - right || box.top + scrollY < top || box.bottom + scrollY > page - bottom;
        }).map((el) => el.outerHTML.slice(0, 80));
      }, insets);
      await session.detach();
      assert.deepEqual(under, []);
    });
  }
}

test('a phone makes no links of dates, amounts and numbers', async () => {
  for (const path of ['/', scene.opened, scene.screen]) {
    const page = await visit(path, 'viewer');
    assert.match(await page.getAttribute('meta[name=format-detection]', 'content'), /telephone=no.*date=no/);
  }
});
