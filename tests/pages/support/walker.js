// A visitor without a mouse: Tab, Shift+Tab, arrows, Space, Enter and typing. At each stop the focus must be visible.
import assert from 'node:assert/strict';

const STOPS_MAX = 80;

// Runs in the page. Checks the focused element and returns the findings. It remembers how the element looks with the
// focus, and reports at the next stop when it looks the same without it.
function lookAtFocus(selector) {
  const wrong = [];
  const el = document.activeElement;
  const name = (e) => `<${e.tagName.toLowerCase()}${e.id && `#${e.id}`} class="${e.className}" href="${e.getAttribute('href')}">`
    + ` ${e.textContent.trim().slice(0, 20)}`;
  // A radio button of the tabs or covers is invisible; its label is visible.
  const shown = (e) => (e.matches('.tabs input, .tile input') ? e.nextElementSibling : e);
  const ring = (e) => {
    const { outlineStyle, outlineWidth, outlineColor, boxShadow } = getComputedStyle(shown(e));
    return `${outlineStyle === 'none' ? 'none' : `${outlineStyle} ${outlineWidth} ${outlineColor}`}, ${boxShadow}`;
  };
  const last = globalThis.lastFocus;
  if (last && last.el !== el && last.el.isConnected && ring(last.el) === last.ring) {
    wrong.push(`${name(last.el)} looks the same with the focus and without it: ${last.ring}`);
  }
  globalThis.lastFocus = undefined;
  if (!el || el === document.body || el === document.documentElement) return { wrong };
  globalThis.lastFocus = { el, ring: ring(el) };

  // The button of a date's calendar is a part of the field, which then only has the focus within.
  if (!el.matches(':focus-visible, [type^=date]:focus-within')) wrong.push(`${name(el)} does not match :focus-visible`);
  const style = getComputedStyle(shown(el));
  const width = style.outlineStyle === 'none' ? 0 : parseFloat(style.outlineWidth);
  if (width < 2 && style.boxShadow === 'none') wrong.push(`${name(el)} has no ring`);

  const box = shown(el).getBoundingClientRect();
  const reach = width + (width ? parseFloat(style.outlineOffset) : 0);
  const out = { left: box.left - reach, right: box.right + reach, top: box.top - reach, bottom: box.bottom + reach };
  const place = Object.values(out).map(Math.round).join(' ');
  if (box.width < 1 || box.height < 1) wrong.push(`${name(el)} has no size`);
  if (out.left < 0 || out.top < 0 || out.right > innerWidth || out.bottom > innerHeight) {
    wrong.push(`${name(el)} with its ring is not inside the window: ${place}`);
  }
  for (let up = shown(el).parentElement; up && up !== document.body; up = up.parentElement) {
    if (getComputedStyle(up).overflow === 'visible') continue;
    const frame = up.getBoundingClientRect();
    if (out.left < frame.left || out.right > frame.right || out.top < frame.top || out.bottom > frame.bottom) {
      wrong.push(`the ring of ${name(el)} is cut off by ${name(up)}: ${place}`);
    }
  }
  // Nothing covers the middle of the element or points near its corners. An inline link may have several lines.
  for (const line of el.matches('a') ? el.getClientRects() : [box]) {
    for (const [x, y] of [[0.5, 0.5], [0.1, 0.2], [0.9, 0.2], [0.1, 0.8], [0.9, 0.8]]) {
      const top = document.elementFromPoint(line.left + x * line.width, line.top + y * line.height);
      const own = top && (el.contains(top) || top.contains(el) || shown(el).contains(top));
      if (!own) wrong.push(`${name(el)} is covered by ${top ? name(top) : 'nothing'}`);
    }
  }
  return { inside: true, here: selector !== undefined && el.matches(selector), name: name(el), wrong };
}

export class Walker {
  constructor(page) {
    this.page = page;
    this.stops = 0;
  }

  // True when the focused element matches selector.
  at(selector) {
    return this.page.evaluate((s) => document.activeElement?.matches(s) ?? false, selector);
  }

  // Checks the focus. Returns { inside: false when the focus has left the page, here: it matches selector, name }.
  async look(selector) {
    this.stops += 1;
    const found = await this.page.evaluate(lookAtFocus, selector);
    assert.deepEqual(found.wrong, [], `${new URL(this.page.url()).pathname}: ${found.wrong.join('; ')}`);
    return found;
  }

  async press(key) {
    await this.page.keyboard.press(key);
  }

  // Presses Tab until the focus is on selector, and checks every stop.
  async tabTo(selector, key = 'Tab') {
    const seen = [];
    for (let i = 0; i < STOPS_MAX; i += 1) {
      await this.press(key);
      const found = await this.look(selector);
      if (found.here) return;
      seen.push(found.name);
    }
    assert.fail(`${this.page.url()}: ${key} never comes to ${selector}, but to\n${seen.join('\n')}`);
  }

  back(selector) {
    return this.tabTo(selector, 'Shift+Tab');
  }

  // Tabs once through the whole page and checks every stop.
  async around() {
    for (let i = 0; i < STOPS_MAX; i += 1) {
      await this.press('Tab');
      const found = await this.look('.skip');
      if (!found.inside || (i > 0 && found.here)) return;
    }
    assert.fail(`${this.page.url()}: more than ${STOPS_MAX} stops`);
  }

  // Presses key (Enter, Space) on the focused element and waits for the page to which it leads.
  async go(key, address) {
    await Promise.all([this.page.waitForURL(address, { waitUntil: 'load' }), this.press(key)]);
  }

  async follow(selector, address) {
    await this.tabTo(selector);
    await this.go('Enter', address);
  }

  // Replaces the text of the field by typing.
  async fill(name, text) {
    await this.tabTo(`:is([name=${name}], #${name})`);
    await this.press('Control+a');
    await this.page.keyboard.type(text);
  }
}
