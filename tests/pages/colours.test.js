// The roles of colours (docs/DESIGN-LANGUAGE.md): the contrast of each with every ground on which it is used, in both
// schemes, read from the page as the browser shows it. Also, a button is visible as a button.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { contrast as contrastOf } from './support/contrast.js';
import { buildScene } from './support/scene.js';
import { fileWindow } from './support/windows.js';
import { COVERS } from './support/world.js';

// WCAG 2.2: 1.4.3 for text, 1.4.11 for other parts.
const TEXT = 4.5;
const SHAPE = 3;
const LARGE_PX = 24;

// Which colour is used on which ground. Each role that is a colour is in this list.
const ROLES = [
  ['text', TEXT, ['page', 'card', 'sunk', 'slip', 'tag', 'seg', 'glow']],
  ['muted', TEXT, ['page', 'card', 'sunk', 'slip', 'glow']],
  ['link', TEXT, ['page', 'card', 'slip']],
  ['gold', TEXT, ['card', 'tag', 'slip']],
  ['sum', TEXT, ['card', 'slip']],
  ['good', TEXT, ['page', 'card', 'slip']],
  ['bad', TEXT, ['page', 'card', 'slip']],
  ['on-red', TEXT, ['red', 'red-hi', 'red-lo']],
  ['page', TEXT, ['text']],
  ['edge', SHAPE, ['page', 'card', 'slip']],
  ['red', SHAPE, ['page', 'card']],
  ['red-hi', SHAPE, ['page', 'card']],
  ['bar', SHAPE, ['card', 'sunk']],
  ['ring', SHAPE, ['ring-2', 'page', 'card', 'slip']],
  ['coin-ink', TEXT, ['foil', 'foil-2']],
  ['foil', TEXT, ['lit', 'paper', 'deep']],
  ['foil-2', SHAPE, ['lit', 'paper', 'deep']],
];
const DECOR = ['line']; // lines between rows: the rows are recognizable without them

const pages = await fileWindow();
let scene;
before(async () => { scene = await buildScene('zh-CN'); });

const visit = (path, as, look) => pages.visit(scene[as], typeof path === 'function' ? path(scene) : path, look);

const rgb = (colour) => /^rgba?\(([^)]+)\)$/.exec(colour)[1].split(/[ ,/]+/).map(Number).slice(0, 3);
const contrast = (one, other) => contrastOf(rgb(one), rgb(other));

// The colours of each element and of the ground behind it (of a gradient without a ground: all of them), its text and the size of that.
const read = (page, selector) => page.locator(selector).evaluateAll((found) => found
  .filter((element) => element.checkVisibility()).map((element) => {
    const fills = (e) => {
      const { backgroundColor, backgroundImage } = getComputedStyle(e);
      const opaque = (colours) => colours.filter((colour) => !/, 0(\.\d+)?\)$/.test(colour));
      const plain = opaque([backgroundColor]);
      return plain.length > 0 ? plain : opaque(backgroundImage.match(/rgba?\([^)]+\)/g) ?? []);
    };
    let behind = element.parentElement;
    while (behind.parentElement && fills(behind).length === 0) behind = behind.parentElement;
    const { color, fontSize } = getComputedStyle(element);
    return { text: element.textContent.trim(), fills: fills(element), behind: fills(behind), color, size: parseFloat(fontSize) };
  }));

// Each custom property of the root that is a colour, as rgb(), with the class of a cover on the root.
const roles = (page, cover) => page.evaluate((name) => {
  const names = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])
    .filter(({ selectorText }) => selectorText?.startsWith(':root')).flatMap(({ style }) => [...style])
    .filter((property) => property.startsWith('--'));
  const root = document.documentElement;
  root.className = `cover-${name}`;
  const probe = document.body.appendChild(document.createElement('i'));
  const found = {};
  for (const property of new Set(names)) {
    const value = getComputedStyle(root).getPropertyValue(property).trim();
    probe.style.color = '';
    probe.style.color = value;
    if (probe.style.color) found[property.slice(2)] = getComputedStyle(probe).color;
  }
  probe.remove();
  return found;
}, cover);

const BUTTONS = '.button:not(.quiet)';
const PAGES = {
  welcome: ['/', undefined],
  home: ['/', 'viewer'],
  send: ['/send', 'viewer'],
  wallet: ['/wallet', 'viewer'],
  'logged out': [(s) => s.open, undefined],
};

const OTHERS = {
  account: ['/account', 'viewer'],
  records: ['/records/received', 'viewer'],
  envelope: [(s) => s.open, 'viewer'],
  result: [(s) => s.opened, 'viewer'],
  'sold out': [(s) => s.finished, 'viewer'],
  screen: [(s) => s.screen, 'sender'],
};

for (const colorScheme of ['light', 'dark']) {
  test(`each role has its contrast on every ground, with every cover: ${colorScheme}`, async () => {
    const page = await visit('/', 'viewer', { colorScheme });
    for (const cover of COVERS) {
      const colours = await roles(page, cover);
      const known = new Set([...ROLES.flatMap(([role, , grounds]) => [role, ...grounds]), ...DECOR]);
      assert.deepEqual([...known].sort(), Object.keys(colours).sort(), 'the roles of static/app.css and those of this test');
      for (const [role, least, grounds] of ROLES) {
        for (const ground of grounds) {
          const ratio = contrast(colours[role], colours[ground]);
          assert.ok(ratio >= least, `${cover}: ${role} on ${ground}: ${ratio.toFixed(2)} of ${least}`);
        }
      }
    }
    const avatars = await page.evaluate(() => [...Array(12).keys()].map((hue) => {
      const avatar = document.body.appendChild(document.createElement('span'));
      avatar.className = `avatar h${hue}`;
      avatar.textContent = '小'; // an empty one is a deleted user's
      const { color, backgroundColor } = getComputedStyle(avatar);
      return [color, backgroundColor];
    }));
    for (const [i, pair] of avatars.entries()) assert.ok(contrast(...pair) >= TEXT, `.h${i}: ${pair.join(' on ')}`);
  });

  for (const [name, [path, as]] of Object.entries(PAGES)) {
    test(`the main buttons stand out from their ground: ${name}, ${colorScheme}`, async () => {
      const page = await visit(path, as, { colorScheme });
      await page.evaluate(() => document.querySelectorAll('details').forEach((part) => { part.open = true; }));
      const found = await read(page, BUTTONS);
      assert.ok(found.length > 0);
      for (const { text, fills, behind } of found) {
        for (const [fill, ground] of fills.flatMap((one) => behind.map((other) => [one, other]))) {
          assert.ok(contrast(fill, ground) >= SHAPE, `${text}: ${fill} on ${ground}: ${contrast(fill, ground).toFixed(2)}`);
        }
      }
    });
  }

  for (const [name, [path, as]] of Object.entries({ ...PAGES, ...OTHERS })) {
    test(`with a contrast theme all text has its contrast: ${name}, ${colorScheme}`, async () => {
      const page = await visit(path, as, { colorScheme, forcedColors: 'active' });
      await page.evaluate(() => document.querySelectorAll('details').forEach((part) => { part.open = true; }));
      await page.evaluate(() => document.querySelectorAll('body *').forEach((element) => {
        if ([...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim())) element.dataset.said = '';
      }));
      const found = await read(page, '[data-said]');
      assert.ok(found.length > 10, `${found.length} texts`);
      for (const { text, color, fills, behind } of found) {
        const ratio = Math.min(...(fills.length > 0 ? fills : behind).map((ground) => contrast(color, ground)));
        assert.ok(ratio >= TEXT, `${text}: ${color} on ${fills.length > 0 ? fills : behind}: ${ratio.toFixed(2)}`);
      }
    });
  }

  test(`the amount is large and has the contrast of text: ${colorScheme}`, async () => {
    for (const path of [scene.opened, `${scene.finished}/receipt`, '/wallet']) {
      const page = await visit(path, 'viewer', { colorScheme });
      const found = await read(page, '.money');
      assert.ok(found.length > 0, path);
      for (const { text, color, behind, size } of found) {
        const ratio = Math.min(...behind.map((ground) => contrast(color, ground)));
        assert.ok(size >= LARGE_PX && ratio >= TEXT, `${text}: ${color} on ${behind}, ${size} px`);
      }
    }
  });
}
