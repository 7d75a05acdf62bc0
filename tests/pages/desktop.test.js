// A desktop: from 900 px on, the halves of a page stand side by side, and on smaller screens one above the other; the
// order of the HTML is the same. A single envelope is in the middle of the line.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from '../e2e/support/mysql.js';
import { newUser } from '../e2e/support/site.js';
import { LANGUAGES } from '../e2e/support/texts.js';
import { layout } from './support/checks.js';
import { buildScene } from './support/scene.js';
import { fileWindow } from './support/windows.js';
import { LONGEST } from './support/world.js';

const WIDE = [1440, 900];
const NARROW = [899, 390];
const LAST_YEAR = new Date().getFullYear() - 1;

const pages = await fileWindow();
let scene;
let id;
before(async () => {
  scene = await buildScene('zh-CN');
  scene.stranger = (await newUser({ nickname: LONGEST.latin })).client;
  ({ id } = (await scene.viewer.get('/')).json.user);
  const months = [1, 2, 3, 4].map((month) => `(${id}, ${LAST_YEAR}, ${month}, 2, ${month * 1000})`);
  await sql(`INSERT INTO user_month (user_id, year, month, received_count, received_fen) VALUES ${months}`);
});
after(async () => { await sql(`DELETE FROM user_month WHERE user_id = ${id} AND year = ${LAST_YEAR}`); });

const list = '[aria-labelledby=grabs]';
const rows = '[aria-labelledby=list_title]';
// name: path, the visitor, a part on the left, a part on the right
const PAGES = {
  welcome: ['/', 'guest', '.envelope', '[aria-labelledby=how_title]'],
  home: ['/', 'viewer', '.balance', '[aria-labelledby=received_title]'],
  result: [(s) => s.opened, 'viewer', '.result', list],
  sent: [(s) => s.open, 'sender', '.share .qr', list],
  'sold out': [(s) => s.finished, 'stranger', '.envelope', list],
  records: ['/records/received', 'viewer', '.summary', rows],
  'records of a year': [`/records/received?year=${LAST_YEAR}`, 'viewer', '.bars', rows],
  wallet: ['/wallet', 'viewer', '.balance', '[aria-labelledby=entries_title]'],
};

const visit = (path, as, look) => pages.visit(scene[as], typeof path === 'function' ? path(scene) : path, { reducedMotion: 'reduce', ...look });

const boxes = (page, ...selectors) => Promise.all(selectors.map((selector) => page.locator(selector).boundingBox()));
const sideBySide = (a, b) => a.x + a.width <= b.x && b.y < a.y + a.height;
const stacked = (a, b) => a.y + a.height <= b.y || b.y + b.height <= a.y;

// The places that Tab visits, in its order: their left edges, without header and footer.
const stops = (page) => page.evaluate(() => [...document.querySelectorAll('main :is(a, button, input, summary)')]
  .filter((element) => element.checkVisibility() && !element.closest('.aside-links'))
  .map((element) => element.getBoundingClientRect().left >= innerWidth / 2));

for (const [name, [path, as, left, right]] of Object.entries(PAGES)) {
  test(`two columns on a desktop, one on a phone: ${name}`, async () => {
    const page = await visit(path, as, { viewport: { width: WIDE[0], height: 900 } });
    for (const width of [...WIDE, ...NARROW]) {
      await page.setViewportSize({ width, height: 900 });
      const [a, b] = await boxes(page, left, right);
      const holds = WIDE.includes(width) ? sideBySide : stacked;
      assert.ok(holds(a, b), `${width} px: ${JSON.stringify([a, b])}`);
      assert.deepEqual(await layout(page), [], `${width} px`);
    }
  });
}

for (const name of ['home', 'result', 'sent', 'wallet']) {
  test(`Tab goes through the left column, then through the right one: ${name}`, async () => {
    const [path, as] = PAGES[name];
    const page = await visit(path, as, { viewport: { width: 1440, height: 900 } });
    const found = await stops(page);
    assert.ok(found.includes(true) || found.includes(false));
    assert.deepEqual(found, [...found].sort((a, b) => a - b));
  });
}

test('beside the send form is the envelope that friends will see', async () => {
  const page = await visit('/send', 'sender', { viewport: { width: WIDE[0], height: 900 } });
  for (const width of WIDE) {
    await page.setViewportSize({ width, height: 900 });
    assert.ok(sideBySide(...await boxes(page, 'form.send', '[data-envelope]')), `${width} px`);
  }
  const shown = (part) => page.innerText(`[data-envelope] ${part}`);
  await page.fill('[name=amount]', '66.66');
  await page.check('[name=cover][value=wedding]', { force: true });
  assert.equal(await shown('.greeting'), '新婚快乐，百年好合');
  assert.match(await page.getAttribute('[data-envelope]', 'class'), /cover-wedding/);
  await page.fill('[name=greeting]', '早生贵子');
  assert.equal(await shown('.greeting'), '早生贵子');
  assert.equal(await shown('.kind'), '发了一个红包，金额随机');
  await page.check('[value=exclusive]', { force: true });
  await page.fill('#to', 'somebody');
  assert.equal(await shown('.kind'), '给somebody的专属红包');
  assert.doesNotMatch(await page.innerText('[data-envelope]'), /66/, 'the amount is not on it');
  assert.equal(await page.innerText('[data-total] output'), '66.66');
  for (const width of NARROW) {
    await page.setViewportSize({ width, height: 900 });
    assert.equal(await page.isVisible('[data-envelope]'), false, `${width} px`);
    assert.deepEqual(await layout(page), [], `${width} px`);
  }
});

for (const [as, locale] of [['stranger', LANGUAGES[0]], ['guest', LANGUAGES[1]]]) {
  test(`the envelope is in the middle of the line, whole in the first view, for a ${as}`, async () => {
    const page = await visit(scene.open, as, { locale });
    for (const [width, height] of [[900, 800], [1280, 800], [1440, 900], [1920, 1080]]) {
      await page.setViewportSize({ width, height });
      const [box] = await boxes(page, '.envelope');
      const off = box.x + box.width / 2 - width / 2;
      const [action] = await boxes(page, as === 'guest' ? 'main .button >> nth=0' : 'button.coin');
      assert.ok(Math.abs(off) <= 1 && box.y > 0, `${width}×${height}: ${JSON.stringify(box)}`);
      for (const { y, height: tall } of [box, action]) assert.ok(y + tall <= height, `${width}×${height}: ${y} + ${tall}`);
    }
    for (const width of NARROW) {
      await page.setViewportSize({ width, height: 844 });
      const [box] = await boxes(page, '.envelope');
      assert.ok(Math.abs(box.x + box.width / 2 - width / 2) <= 1 && box.y < 100, `${width}: ${JSON.stringify(box)}`);
    }
  });
}
