// Checks of a page in the browser. Each check returns a list of findings.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const OPTIONS = {
  runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] },
  // The red arc behind the sender and the crown in a tag are pseudo elements without text on them.
  checks: { 'color-contrast': { options: { ignorePseudo: true } } },
  preload: false,
  resultTypes: ['violations', 'incomplete'],
  selectors: false,
};

// Findings that axe can't decide and that are known to be fine. Any other undecided rule is a finding.
const UNDECIDED = [
  // The background of text in SVG. This text has the colour of muted text on a card.
  { id: 'color-contrast', within: '<text ' },
  // Long names on several lines, whose boxes overlap by a pixel. This text has a role's colour (colours.test.js).
  { id: 'color-contrast', within: '<p class="kind">' },
  // A label of one character is too short for the rule. The button's name begins with that character.
  { id: 'label-content-name-mismatch', within: 'class="coin"' },
];

// Moves everything that is animated to its end.
export const atRest = (page) => page.evaluate(() => {
  for (const animation of document.getAnimations()) {
    if (animation.effect.getComputedTiming().endTime < Infinity) animation.finish();
    else animation.cancel();
  }
});

// The rules of axe. When scripts are off, timers do not run, so timers without delay are replaced by promises.
export async function axe(page, javaScript) {
  if (!javaScript) {
    await page.evaluate(() => {
      window.setTimeout = (work, ms) => { if (!ms) Promise.resolve().then(work); };
    });
  }
  // axe can't decide about text on a gradient. Each has a plain colour below it on which its text is hardest to read.
  // It can't decide either about text under a fixed bar, in a row that scrolls, on the faint art of a big screen, and
  // under a user's picture, where it is visible once the picture is gone.
  await page.evaluate(() => {
    const plain = new CSSStyleSheet();
    plain.replaceSync(`*, ::before, ::after { background-image: none !important; }
      .corner { display: none !important; }
      .nav, .pay { position: static !important; } .nav { flex: 0 0 100% !important; }
      .scroll, .minis { flex-wrap: wrap !important; }
      .photo { display: none !important; }`);
    document.adoptedStyleSheets = [plain];
  });
  await page.evaluate(AXE);
  const { violations, incomplete } = await page.evaluate((options) => window.axe.run(document, options), OPTIONS);
  const told = (kind) => ({ id, nodes }) => nodes.map(({ html, any, all, none }) => {
    const reasons = [...any, ...all, ...none].map(({ message }) => message).join('; ');
    return { id, html, text: `${kind} ${id}: ${html} ${reasons}` };
  });
  const open = incomplete.flatMap(told('axe can not decide'))
    .filter(({ id, html }) => !UNDECIDED.some((known) => known.id === id && html.includes(known.within)));
  return [...violations.flatMap(told('axe')), ...open].map(({ text }) => text);
}

// Nothing is wider than the window, and no text is cut off by the window or an element, unless with an ellipsis.
// Exceptions: texts for screen readers only, and a row that scrolls.
export function layout(page) {
  return page.evaluate(() => {
    const found = [];
    const { scrollWidth } = document.scrollingElement;
    if (scrollWidth > innerWidth) found.push(`${scrollWidth} pixels wide in a window of ${innerWidth}`);
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    const SLACK = 1; // pixels: rounding
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      const parent = text.parentElement;
      if (!text.data.trim() || !parent.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true })) continue;
      if (parent.closest('.vh, .news, .skip, legend, option')) continue;
      range.selectNodeContents(text);
      let rects = [...range.getClientRects()].filter(({ width }) => width > 0);
      const words = `"${text.data.trim().slice(0, 40)}" in <${parent.localName} class="${parent.className}">`;
      for (let e = parent; e && e !== document.documentElement; e = e.parentElement) {
        const style = getComputedStyle(e);
        if ([style.overflowX, style.overflowY].every((overflow) => overflow === 'visible')) continue;
        const box = e.getBoundingClientRect();
        const isCut = rects.some((r) => r.left < box.left - SLACK || r.right > box.right + SLACK ||
          r.top < box.top - SLACK || r.bottom > box.bottom + SLACK);
        const by = `<${e.localName} class="${e.className}">`;
        const scrolls = style.overflowX === 'auto' && e.scrollWidth > e.clientWidth;
        if (isCut && !scrolls && style.textOverflow !== 'ellipsis') found.push(`${words} is cut off by ${by}`);
        if (isCut) rects = [box];
      }
      const leaves = rects.some(({ left, right }) => left < -SLACK || right > innerWidth + SLACK);
      if (leaves) found.push(`${words} leaves the window`);
    }
    return found;
  });
}

// No field has letters below 16 pixels: iOS would zoom the page when it is touched. The list of mistakes above a form
// names the fields in their order on the page.
export function fields(page) {
  return page.evaluate(() => {
    const LEAST = 16; // pixels
    const wrong = [...document.querySelectorAll('.errors a[href^="#"]')].map(({ hash }) => document.querySelector(hash));
    const early = wrong.filter((field, i) => i > 0 && wrong[i - 1].compareDocumentPosition(field) & Node.DOCUMENT_POSITION_PRECEDING)
      .map(({ id }) => `the message of #${id} is behind that of a later field`);
    const typed = 'input:not([type=hidden], [type=radio], [type=checkbox], [type=submit], [type=button]), select, textarea';
    return early.concat([...document.querySelectorAll(typed)].flatMap((field) => {
      const size = parseFloat(getComputedStyle(field).fontSize);
      return size < LEAST ? [`the letters of <${field.localName} name="${field.name}"> have ${size} pixels`] : [];
    }));
  });
}

// The head of the page: language and title.
export async function head(page, language) {
  const { lang, title } = await page.evaluate(() => ({ lang: document.documentElement.lang, title: document.title }));
  const found = lang === language ? [] : [`lang="${lang}"`];
  if (!title.trim() || /^\s|\s\s|\s$/.test(title)) found.push(`the title is "${title}"`);
  return found;
}

// For each selector of the page's style sheets, without pointer, focus, language and pseudo elements: whether it
// matches something. As 'app.css: .rows > li' → true.
export async function selectors(page) {
  return new Map(await page.evaluate(() => {
    const found = [];
    const read = (name, rules) => {
      for (const rule of rules) {
        if (rule.selectorText) {
          const bare = rule.selectorText.replace(/:(:[a-z-]+|hover|active|lang\(\w+\)|focus(-visible|-within)?)/g, ':where(*)');
          found.push([`${name}: ${rule.selectorText}`, document.querySelector(bare) !== null]);
        }
        if (rule.cssRules && !(rule instanceof CSSKeyframesRule)) read(name, rule.cssRules);
      }
    };
    for (const { href, cssRules } of document.styleSheets) read(/([a-z]+)\.[0-9a-f]*\.?css/.exec(href)[1], cssRules);
    return found;
  }));
}
