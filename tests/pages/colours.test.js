// Colours that axe does not judge: a button must be visible as a button, and the amount must not look like muted text.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { clientPage, launch, site } from '../e2e/support/site.js';
import { buildScene } from './support/scene.js';

const RATIO_MIN = 3; // WCAG 2.2: 1.4.11, non-text contrast; and 1.4.3 for large text
const LARGE_PX = 24; // of 1.4.3, for text that is not bold
const SATURATION_MIN = 0.6; // of the amount's colour: #8a5a00 on white is so dark that it looks brown
const LIGHTNESS_MIN = 0.35;

let browser;
let scene;
before(async () => {
  browser = await launch();
  scene = await buildScene('zh-CN');
});
after(async () => { await browser?.close(); });

const rgb = (colour) => /^rgba?\(([^)]+)\)$/.exec(colour)[1].split(/[ ,/]+/).map(Number);

function luminance(colour) {
  const [r, g, b] = rgb(colour).slice(0, 3).map((level) => level / 255)
    .map((level) => (level <= 0.04045 ? level / 12.92 : ((level + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one, other) {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

// The colour of each element, of the ground behind it, and the size of its text.
const read = (page, selector) => page.locator(selector).evaluateAll((found) => found
  .filter((element) => element.checkVisibility()).map((element) => {
    const opaque = (colour) => !/, 0\)$/.test(colour);
    const ground = (from) => {
      for (let e = from; e; e = e.parentElement) {
        const { backgroundColor } = getComputedStyle(e);
        if (opaque(backgroundColor)) return backgroundColor;
      }
      return 'rgb(255, 255, 255)';
    };
    const { backgroundColor, color, fontSize } = getComputedStyle(element);
    return { text: element.textContent.trim(), fill: backgroundColor, behind: ground(element.parentElement), color, size: parseFloat(fontSize) };
  }));

const BUTTONS = '.button:not(.quiet, .line), .tabs :checked + span, .tabs [aria-current]';
const PAGES = {
  welcome: ['/', undefined],
  home: ['/', 'viewer'],
  send: ['/send', 'viewer'],
  wallet: ['/wallet', 'viewer'],
  account: ['/account', 'viewer'],
  records: ['/records/received', 'viewer'],
  'logged out': [(s) => s.open, undefined],
};

for (const colorScheme of ['light', 'dark']) {
  for (const [name, [path, as]] of Object.entries(PAGES)) {
    test(`the main buttons stand out from their ground: ${name}, ${colorScheme}`, async () => {
      const page = await clientPage(browser, as ? scene[as] : { cookie() {} }, { colorScheme, locale: 'zh-CN' });
      await page.goto(site.url + (typeof path === 'function' ? path(scene) : path));
      await page.evaluate(() => document.querySelectorAll('details').forEach((part) => { part.open = true; }));
      const found = await read(page, BUTTONS);
      assert.ok(found.length > 0);
      for (const { text, fill, behind } of found) {
        assert.ok(contrast(fill, behind) >= RATIO_MIN, `${text}: ${fill} on ${behind}: ${contrast(fill, behind).toFixed(2)}`);
      }
      await page.context().close();
    });
  }

  test(`the amount is gold and large: ${colorScheme}`, async () => {
    const page = await clientPage(browser, scene.viewer, { colorScheme, locale: 'zh-CN' });
    for (const path of [scene.opened, `${scene.finished}/receipt`]) {
      await page.goto(site.url + path);
      const found = await read(page, '.money, .money small:not(:empty)');
      assert.ok(found.length > 0, path);
      for (const { text, color, behind, size } of found) {
        const [max, min] = [Math.max(...rgb(color)), Math.min(...rgb(color))].map((level) => level / 255);
        const lightness = (max + min) / 2;
        assert.ok((max - min) / (1 - Math.abs(2 * lightness - 1)) >= SATURATION_MIN && lightness >= LIGHTNESS_MIN, `${text}: ${color}`);
        assert.ok(size >= LARGE_PX && contrast(color, behind) >= RATIO_MIN, `${text}: ${color} on ${behind}, ${size} px`);
      }
    }
    await page.context().close();
  });
}
