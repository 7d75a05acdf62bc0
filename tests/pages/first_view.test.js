// A link to a red packet arrives in a chat, and a visitor without a session opens it on a phone. Without scrolling, the
// page shows the sender, the greeting or the only receiver, and one button (the switch of the sound looks like a link);
// it shows no amounts. The button leads through login or registration back to the packet, where one more tap opens it.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { fileBrowser } from '../e2e/support/browser.js';
import { opened, sentPath } from '../e2e/support/packets.js';
import { audit, clientPage, newUser, site, unique } from '../e2e/support/site.js';
import { Client } from '../e2e/support/client.js';
import { LANGUAGES, words } from '../e2e/support/texts.js';

const USER_AGENT = 'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) '
  + 'Chrome/130.0.0.0 Mobile Safari/537.36';
const PHONES = [{ width: 390, height: 844 }, { width: 320, height: 568 }];
const NICKNAME = '阿红';
const GREETING = '新年快乐，万事如意';
// The amounts of the share and of the packet, in yuan and in fen; but not inside an id or a hash.
const AMOUNTS = /7[.．]77|15[.．]54|(?<![0-9a-z])(?:777|1554)(?![0-9a-z])|[¥￥元]/;

const browser = fileBrowser({}, []);
let sender;
before(async () => { sender = await newUser({ nickname: NICKNAME, yuan: '2000' }); });

const packet = (fields) => sentPath(sender, { greeting: GREETING, ...fields });

const KINDS = {
  lucky: () => packet({ kind: 'lucky', count: '2', amount: '15.54' }),
  even: () => packet({ kind: 'even', count: '2', amount: '7.77' }),
  exclusive: (to) => packet({ kind: 'exclusive', to, amount: '7.77' }),
};

const phone = (viewport, locale) => browser.newPage({
  viewport, locale, userAgent: USER_AGENT, isMobile: true, hasTouch: true, deviceScaleFactor: 1, reducedMotion: 'reduce',
});

// Returns what a visitor sees without scrolling: the texts that lie fully inside the window, and the buttons of the
// main part.
const firstView = (page) => page.evaluate(() => {
  const inside = (box) => box.width > 0 && box.height > 0 && box.left >= 0 && box.top >= 0
    && box.right <= innerWidth && box.bottom <= innerHeight;
  const texts = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const range = document.createRange();
    range.selectNodeContents(walk.currentNode);
    const shown = walk.currentNode.parentElement.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    if (shown && inside(range.getBoundingClientRect())) texts.push(walk.currentNode.data.trim());
  }
  const buttons = [...document.querySelectorAll('main :is(.button, button:not(.link))')].map((el) => {
    const box = el.getBoundingClientRect();
    const middle = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    return {
      text: el.getAttribute('aria-label') ?? el.textContent.trim(),
      whole: inside(box) && el.contains(middle),
      begins: box.width > 0 && box.top < innerHeight && box.bottom > 0,
      filled: getComputedStyle(el).backgroundImage.includes('gradient'),
      width: Math.round(box.width),
      height: Math.round(box.height),
    };
  }).filter(({ begins }) => begins);
  return { texts: texts.filter(Boolean).join(' '), buttons, width: document.documentElement.scrollWidth };
});

// Expects exactly one button, fully visible and large enough for a thumb.
function oneButton({ buttons, width }, viewport, text) {
  assert.deepEqual(buttons.map((b) => b.text), [text]);
  const [button] = buttons;
  assert.ok(button.whole && button.filled, JSON.stringify(button));
  assert.ok(button.height >= 44 && button.width >= 80, JSON.stringify(button));
  assert.ok(width <= viewport.width, `${width} px wide`);
}

async function comesBack(page, path, locale, viewport, amount) {
  await page.waitForURL(site.url + path);
  const text = words(locale, 'open_from').replace('{{#sender}}{{>text/who}}{{/sender}}', NICKNAME);
  oneButton(await firstView(page), viewport, text);
  await page.tap('button.coin');
  await page.waitForSelector('.result');
  const shown = /\d+\.\d\d/.exec(await page.innerText('.result .money'))[0];
  if (amount) assert.equal(shown, amount);
  const { y, height } = await page.locator('.result .money').boundingBox(); // its digits may be elements of their own
  assert.ok(y >= 0 && y + height <= viewport.height, `${shown} without scrolling`);
}

describe('a link to a red packet on a phone', { concurrency: 2 }, () => {
  for (const viewport of PHONES) {
    for (const locale of LANGUAGES) {
      for (const kind of ['lucky', 'exclusive']) {
        test(`${kind}, ${viewport.width}×${viewport.height}, ${locale}`, async () => {
          const guest = await newUser({ nickname: '小明' });
          const path = await KINDS[kind](guest.username);
          const page = await phone(viewport, locale);
          await page.goto(site.url + path);
          const view = await firstView(page);
          const from = words(locale, 'packet_of').replace(/\{\{\$who\}\}.*\{\{\/who\}\}/, NICKNAME);
          assert.ok((await page.title()).replace(/[\u2068\u2069]/g, '').startsWith(from), 'the title');
          assert.equal(await page.innerText('h1'), from);
          const parts = kind === 'lucky' ? [GREETING] : words(locale, 'packet_for').split(/\{\{.*\}\}/).concat('小明');
          assert.equal(view.texts.includes(GREETING), kind === 'lucky');
          for (const part of [...from.split(NICKNAME), NICKNAME, ...parts].map((s) => s.trim())) {
            assert.ok(view.texts.includes(part), `${part} is not in ${view.texts}`);
          }
          oneButton(view, viewport, words(locale, kind === 'lucky' ? 'register_to_open' : 'login_to_see'));
          assert.doesNotMatch(await page.innerText('body'), AMOUNTS);

          await page.tap(kind === 'lucky' ? 'main .button' : 'main a[href^="/login"]');
          await page.waitForURL(`${site.url}/${kind === 'lucky' ? 'register' : 'login'}?next=${path}`);
          // a new user, or a known one
          await page.fill('[name=username]', kind === 'lucky' ? unique('phone') : guest.username);
          if (kind === 'lucky') await page.fill('[name=nickname]', '小红');
          await page.fill('[name=password]', guest.password);
          await page.tap('main button[type=submit]:visible');
          await comesBack(page, path, locale, viewport, kind === 'lucky' ? undefined : '7.77');
          await page.context().close();
        });
      }
    }
  }
});

test('in a low window the countdown and the passphrase are above the bar', async () => {
  const guest = await newUser();
  const above = async (viewport, fields, selector) => {
    const page = await clientPage(browser, guest.client, { viewport, isMobile: true, hasTouch: true });
    await page.goto(site.url + await packet({ kind: 'lucky', count: '2', amount: '15.54', ...fields }));
    const [part, bar] = await Promise.all([selector, '.nav'].map((one) => page.locator(one).boundingBox()));
    assert.ok(part.y + part.height <= bar.y, JSON.stringify({ selector, part, bar }));
    await page.context().close();
  };
  await above({ width: 360, height: 560 }, { opens_at: new Date(Date.now() + 86_400_000).toISOString() }, '.clock');
  await above({ width: 390, height: 640 }, { phrase: 'sesame' }, '[name=phrase]');
});

test('every page of a packet leads a guest back to it: by the header, too', async () => {
  const path = await KINDS.even();
  const gone = await packet({ kind: 'even', count: '1', amount: '1' });
  await opened(await newUser(), gone);
  const next = (page) => ['login', 'register'].map((name) => `/${name}?next=${page}`);
  const pages = [path, `${path}/verify`, gone].map((page) => [page, next(page)]);
  for (const [page, links] of [...pages, ...next(path).map((page) => [page, next(path)])]) {
    const { text } = await new Client().getHtml(page);
    assert.deepEqual([...text.matchAll(/<a class="me" href="([^"]+)"/g)].map(([, link]) => link), links, page);
  }
});

// The preview of a chat program, which fetches the page without scripts and cookies and shows its title and picture. No
// amount may be in it.
async function preview(path, locale) {
  const { status, text } = await new Client().getHtml(path, { 'accept-language': locale });
  assert.equal(status, 200);
  assert.doesNotMatch(text, AMOUNTS);
  const head = text.slice(0, text.indexOf('</head>'));
  const found = [...head.matchAll(/<meta (?:property|name)="([^"]+)" content="([^"]*)"/g)];
  return { text, meta: Object.fromEntries(found.map(([, name, content]) => [name, content])) };
}

for (const locale of LANGUAGES) {
  test(`the preview of an exclusive packet says for whom it is, not its greeting: ${locale}`, async () => {
    const guest = await newUser({ nickname: '小明' });
    const { text, meta } = await preview(await KINDS.exclusive(guest.username), locale);
    const said = words(locale, 'packet_for').replace(/\{\{.*\}\}/, '小明');
    assert.deepEqual([meta.description, meta['og:description']], [said, said]);
    assert.ok(!text.includes(GREETING));
  });

  test(`the preview of a link in a chat says who, what, when it opens and that a passphrase is needed: ${locale}`, async () => {
    const opens = new Date(Date.now() + 86_400_000);
    const path = await packet({ kind: 'lucky', count: '2', amount: '15.54', phrase: '芝麻开门', opens_at: opens.toISOString() });
    const { meta } = await preview(path, locale);
    const time = new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeStyle: 'short', timeZone: 'Asia/Shanghai' }).format(opens);
    const zone = { en: ' China time', 'zh-CN': '（北京时间）' }[locale];
    const when = words(locale, 'opens_at').replace(/\{\{.*\}\}/, time) + zone;
    assert.equal(meta['og:description'], `${GREETING} · ${when} · ${words(locale, 'card_phrase')}`);
    assert.ok(meta['og:title'].includes(NICKNAME), meta['og:title']);
  });

  test(`the preview of a link in a chat has no amount: ${locale}`, async () => {
    const path = await KINDS.even();
    const { meta } = await preview(path, locale);
    for (const name of ['og:title', 'og:image:alt']) assert.ok(meta[name].includes(NICKNAME), meta[name]);
    const picture = await fetch(meta['og:image']);
    assert.deepEqual([picture.status, picture.headers.get('content-type')], [200, 'image/png']);
    const header = new DataView(await picture.arrayBuffer());
    const wanted = {
      'og:description': GREETING, 'og:url': site.url + path, 'og:type': 'website', 'og:image': `${site.url}${path}/card.png?lang=${locale}`,
      'og:image:width': String(header.getUint32(16)), 'og:image:height': String(header.getUint32(20)),
    };
    assert.deepEqual(Object.fromEntries(Object.keys(wanted).map((name) => [name, meta[name]])), wanted);
  });
}

test('the audit is clean afterwards', audit);
