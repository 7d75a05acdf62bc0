// Screenshots of the main pages, compared with the pictures in reference/ (docs/PAGES.md). HB_TEST_UPDATE_SHOTS=1 renews
// the references that no longer match. HB_TEST_UPDATE_PICTURES=1 makes the pictures of the README (docs/images).
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import pixelmatch from 'pixelmatch';
import { fileBrowser } from '../e2e/support/browser.js';
import { audit, Client, clientPage, site } from '../e2e/support/site.js';
import { decode, encode } from './support/png.js';
import { buildScene, freeze, withChannel, withPastMonths } from './support/scene.js';

// The allowed distance of two colours (0 to 1; antialiased edges do not count), and the allowed share of different
// pixels. A missing word is about 0.1 % of a phone's page.
const COLOUR_DISTANCE = 0.1;
const DIFFERENT_MAX = 0.0008;
const BYTES_MAX = 1.5 * 1024 * 1024;

const folder = (name) => fileURLToPath(new URL(name, import.meta.url));
const REFERENCE = folder('reference');
const IMAGES = folder('../../docs/images');
const FONTS = folder('support/fonts.conf');
const UPDATE = process.env.HB_TEST_UPDATE_SHOTS === '1';

const at = (name) => (scene) => scene[name];
const kind = (value) => (page) => page.check(`[name=kind][value=${value}]`, { force: true });

async function refuse(page) {
  await page.fill('[name=username]', 'a b');
  await page.fill('[name=password]', '12');
  await page.click('main button[type=submit]:visible');
  await page.waitForSelector('.wrong');
}

async function sendToViewer(page, scene) {
  await kind('exclusive')(page);
  await page.fill('#to', scene.viewerName);
  await page.fill('[name=amount]', '52');
  await page.click('main button[type=submit]:visible');
  await page.waitForSelector('.confirm');
}

async function unfoldAll(page) {
  await fillIn(page);
  await page.evaluate(() => document.querySelectorAll('details').forEach((part) => { part.open = true; }));
  await page.waitForFunction(() => [...document.images].every((image) => image.complete && image.naturalWidth > 0));
}

// The number of a transfer has as many digits as the tables have transfers.
async function numberOf4(page) {
  await page.locator('.facts code').last().evaluate((code) => { code.textContent = '4711'; });
}

async function fillIn(page) {
  await page.fill('[name=count]', '8');
  await page.fill('[name=amount]', '88.88');
}

// name: { path, as: the visitor (absent: a guest), act: runs before the picture is taken, during(language, visit): runs
// the visit }
const PAGES = {
  welcome: { path: '/' },
  register: { path: '/register', act: refuse },
  'logged-out': { path: at('open') },
  invited: { path: (scene) => `/login?next=${encodeURIComponent(scene.open)}` },
  home: { as: 'viewer', path: '/' },
  send: { as: 'sender', path: '/send', act: fillIn },
  options: { as: 'sender', path: '/send', act: unfoldAll },
  exclusive: { as: 'sender', path: '/send', act: kind('exclusive') },
  confirm: { as: 'sender', path: '/send', act: sendToViewer },
  share: { as: 'sender', path: at('open') },
  envelope: { as: 'viewer', path: at('open') },
  result: { as: 'viewer', path: at('opened') },
  finished: { as: 'sender', path: at('finished') },
  screen: { path: at('screen') },
  receipt: { as: 'viewer', path: (scene) => `${scene.finished}/receipt` },
  records: { as: 'viewer', path: '/records/received' },
  wallet: { as: 'sender', path: '/wallet' },
  withdraw: { as: 'payee', path: '/wallet/withdraw', during: withChannel },
  transfer: { as: 'payee', path: at('transfer'), act: numberOf4 },
  404: { as: 'viewer', path: '/nothing' },
};

const every = Object.keys(PAGES);
const LOOKS = [
  { names: every, language: 'zh-CN', width: 390, scheme: 'light' },
  { names: ['home', 'send', 'envelope', 'result', 'records'], language: 'zh-CN', width: 390, scheme: 'dark' },
  { names: ['welcome', 'invited', 'send', 'confirm', 'result', 'records', 'wallet', 'transfer'], language: 'en', width: 390, scheme: 'light' },
  { names: ['home', 'options', 'exclusive', 'share', 'envelope', 'finished'], language: 'en', width: 320, scheme: 'light' },
  { names: ['welcome', 'home', 'share', 'envelope', 'result', 'finished', 'screen', 'records'], language: 'zh-CN', width: 1280, scheme: 'light' },
];
const fileOf = (name, { language, width, scheme }) => `${name}-${language}-${width}-${scheme}.png`;

const browser = fileBrowser({ FONTCONFIG_FILE: FONTS }, []);
const scenes = new Map();
before(async () => { for (const language of ['zh-CN', 'en']) scenes.set(language, await buildScene(language)); });

async function takePicture({ path, as, act, during }, { language, width, scheme, height, scale = 1, natural }, scene) {
  const viewport = { width, height: height ?? (width > 600 ? 800 : 844) };
  const looks = { viewport, locale: language, colorScheme: scheme, reducedMotion: 'reduce', deviceScaleFactor: scale };
  const page = await clientPage(browser, scene[as] ?? new Client(), looks);
  const visit = () => page.goto(site.url + (typeof path === 'function' ? path(scene) : path));
  await (during ? during(language, visit) : visit());
  await act?.(page, scene);
  if (!natural) await freeze(page);
  await page.evaluate(() => document.activeElement.blur());
  const picture = decode(await page.screenshot({ fullPage: !height, animations: 'disabled', caret: 'hide' }));
  await page.context().close();
  return picture;
}

// The share of different pixels, and a picture that shows them.
function compare(expected, actual) {
  const { width, height } = expected;
  if (actual.width !== width || actual.height !== height) {
    return { different: 1, why: `${actual.width}×${actual.height} instead of ${width}×${height}` };
  }
  const picture = { width, height, data: Buffer.alloc(width * height * 4) };
  const pixels = pixelmatch(expected.data, actual.data, picture.data, width, height, { threshold: COLOUR_DISTANCE });
  const different = pixels / (width * height);
  return { different, why: `${pixels} pixels, ${(100 * different).toFixed(3)} %`, picture };
}

let failures; // folder for the pictures of failed tests
function keep(name, picture) {
  failures ??= mkdtempSync(join(tmpdir(), 'hongbao-shots-'));
  writeFileSync(join(failures, name), encode(picture));
}

test('the fonts are those of deploy/packages.txt', () => {
  const match = (family) => execFileSync('fc-match', ['-f', '%{file}', family],
    { env: { ...process.env, FONTCONFIG_FILE: FONTS }, encoding: 'utf8' });
  assert.equal(match('system-ui'), '/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf');
  assert.equal(match('Noto Sans CJK SC'), '/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc');
  assert.equal(match('Noto Serif CJK SC'), '/usr/share/fonts/opentype/noto/NotoSerifCJK-Regular.ttc');
  const list = readFileSync(folder('../../deploy/packages.txt'), 'utf8');
  for (const name of ['fonts-dejavu-core', 'fonts-noto-cjk']) assert.match(list, new RegExp(`^${name} `, 'm'));
});

for (const look of LOOKS) {
  for (const name of look.names) {
    const file = fileOf(name, look);
    test(`looks as in ${file}`, async (t) => {
      const actual = await takePicture(PAGES[name], look, scenes.get(look.language));
      const reference = join(REFERENCE, file);
      const { different, why, picture } = existsSync(reference)
        ? compare(decode(readFileSync(reference)), actual)
        : { different: 1, why: 'there is no reference' };
      if (different <= DIFFERENT_MAX) return;
      if (UPDATE) {
        mkdirSync(REFERENCE, { recursive: true });
        writeFileSync(reference, encode(actual));
        t.diagnostic(`renewed: ${why}`);
        return;
      }
      keep(file.replace('.png', '.actual.png'), actual);
      if (picture) keep(file.replace('.png', '.diff.png'), picture);
      assert.fail(`${why}; see ${failures}. If it is meant to look like this: HB_TEST_UPDATE_SHOTS=1 (docs/PAGES.md)`);
    });
  }
}

test('all references are used, and small', () => {
  const used = new Set(LOOKS.flatMap((look) => look.names.map((name) => fileOf(name, look))));
  const files = readdirSync(REFERENCE);
  const unused = files.filter((file) => !used.has(file));
  if (UPDATE) for (const file of unused) rmSync(join(REFERENCE, file));
  else assert.deepEqual(unused, []);
  const bytes = files.reduce((sum, file) => sum + readFileSync(join(REFERENCE, file)).length, 0);
  assert.ok(bytes <= BYTES_MAX, `${bytes} bytes`);
});

const skip = process.env.HB_TEST_UPDATE_PICTURES !== '1' && 'HB_TEST_UPDATE_PICTURES is not set';
test('the pictures of the README', { skip }, async () => {
  const pages = { ...PAGES, result: { as: 'viewer', path: at('draw') } };
  for (const [language, suffix] of [['zh-CN', ''], ['en', '-en']]) {
    const look = { language, width: 390, height: 780, scheme: 'light', scale: 2, natural: true };
    const scene = await buildScene(language, { withDraw: true });
    await withPastMonths(scene, async () => {
      for (const name of ['envelope', 'result', 'send', 'records']) {
        writeFileSync(join(IMAGES, `${name}${suffix}.png`), encode(await takePicture(pages[name], look, scene)));
      }
    });
  }
});

test('the audit is clean afterwards', audit);
