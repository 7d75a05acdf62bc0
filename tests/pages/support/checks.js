// What is asked of every page as the visitor sees it. Each check answers a list of sentences: what is wrong.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const OPTIONS = {
  runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] },
  // The red arc behind the sender and the crown in a tag are pseudo elements; no text lies on either.
  checks: { 'color-contrast': { options: { ignorePseudo: true } } },
  preload: false,
  resultTypes: ['violations', 'incomplete'],
  selectors: false,
};

// Where axe may have no opinion. Anything else that it can't decide is a finding.
const UNDECIDED = [
  // Nor behind text in SVG: this has the colour of muted text on a card.
  { id: 'color-contrast', within: '<text ' },
  // One character is too short for it; the button's name begins with the one that it shows.
  { id: 'label-content-name-mismatch', within: 'class="coin"' },
];

// The rules of axe. Where scripts are off, timers stand still and axe would wait for them; promises go on.
export async function axe(page, javaScript) {
  if (!javaScript) {
    await page.evaluate(() => {
      window.setTimeout = (work, ms) => { if (!ms) Promise.resolve().then(work); };
    });
  }
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

// Nothing is wider than the window, and no text is cut off by it or by an element around it, unless that shows an
// ellipsis. The brand's words are cut off on purpose where there is no room (static/app.css), and what is for screen
// readers only.
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
      if (parent.closest('.brand, .skip, legend, option')) continue;
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
        if (isCut && style.textOverflow !== 'ellipsis') found.push(`${words} is cut off by ${by}`);
        if (isCut) rects = [box];
      }
      const leaves = rects.some(({ left, right }) => left < -SLACK || right > innerWidth + SLACK);
      if (leaves) found.push(`${words} leaves the window`);
    }
    return found;
  });
}

// The head: language and title.
export async function head(page, language) {
  const { lang, title } = await page.evaluate(() => ({ lang: document.documentElement.lang, title: document.title }));
  const found = lang === language ? [] : [`lang="${lang}"`];
  if (!title.trim() || /^\s|\s\s|\s$/.test(title)) found.push(`the title is "${title}"`);
  return found;
}
