// Every page in every state, in both languages, with and without JavaScript, light and dark, at three widths. Checks
// accessibility rules, layout, console and HTML. Each state is visited once, with the looks by turns; HB_TEST_VISITS=all:
// so often that each pair of values occurs (support/pairwise.js). HB_TEST_STATE=WORD|WORD: only states with one of these
// words in their name.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { launch, LIGHT } from '../e2e/support/browser.js';
import { audit, pooled } from '../e2e/support/site.js';
import { atRest, axe, fields, head, layout, selectors } from './support/checks.js';
import { htmlValidate, vnu } from './support/html.js';
import { pairwise } from './support/pairwise.js';
import { buildWorld, inTrouble, open, states } from './support/states.js';
import { Window } from './support/windows.js';

const STATIC = fileURLToPath(new URL('../../static', import.meta.url));
const PAGES_AT_ONCE = 2;
const HEIGHT = 844;
const SHOWN = 50;
const LOOKS = {
  locale: ['zh-CN', 'en'],
  javaScriptEnabled: [true, false],
  colorScheme: ['light', 'dark'],
  width: [320, 390, 1280],
};

const words = (process.env.HB_TEST_STATE ?? '').split('|');
const chosen = states.filter(({ name }) => words.some((word) => name.includes(word)));
const factors = Object.entries({ state: chosen, ...LOOKS });
const all = process.env.HB_TEST_VISITS === 'all';
const looks = pairwise(LOOKS);
const visits = all ? pairwise({ state: chosen, ...LOOKS }) : chosen.map((state, i) => ({ state, ...looks[i % looks.length] }));
const html = new Map(); // 'state, language' → the HTML as sent
const matched = new Map(); // 'app: .row' → whether this selector of a style sheet matches something in a state
const titles = new Map(); // 'language: title' → the pages with this title

const windows = []; // windows that are not in use
let browser;
let world;
before(async () => {
  browser = await launch({}, LIGHT);
  world = await buildWorld();
});
after(async () => {
  await browser?.close();
  await world?.end();
});

const none = (found) => assert.equal(found.length, 0, `${found.length} findings:\n${found.slice(0, SHOWN).join('\n')}`);

// The name of the page, independent of its state. The problem page of each status counts as a page; a refused form, also
// one with too many wrong passphrases, is the page of the form, and a packet that is refused is its page.
function pageOf({ status = 200 }, url) {
  const { pathname, searchParams } = new URL(url);
  const form = status === 422 || ([403, 429].includes(status) && pathname.endsWith('/open'));
  if (status >= 400 && !form) return `problem ${status}`;
  return [pathname.replace(/^\/p\/[^/]+/, '/p/ID').replace('/account/tokens', '/account/developers').replace('/account/sessions/end', '/account/devices').replace(/oidc\/(un)?link$/, 'oidc').replace(/\/(deposit|nickname|picture|open|thanks)$/, ''), searchParams.get('year') ?? ''].join('');
}

async function findings({ state, width, ...look }) {
  const window = windows.pop() ?? await new Window().open(browser);
  const { page, response, html: sent, problems } = await open(window, world, state, { viewport: { width, height: HEIGHT }, ...look });
  html.set(`${state.name}, ${look.locale}`, sent);
  await atRest(page);
  for (const [selector, matches] of await selectors(page)) matched.set(selector, matches || matched.get(selector) === true);
  const found = [...await head(page, look.locale), ...await layout(page), ...await fields(page), ...await axe(page, look.javaScriptEnabled)];
  const title = `${look.locale}: ${(await page.title()).replace(/^错误：|^Error: /, '')}`;
  titles.set(title, new Set([...titles.get(title) ?? [], pageOf(state, response.url())]));
  await window.leave();
  windows.push(window);
  const where = [state.name, look.locale, look.javaScriptEnabled ? 'JS' : 'no JS', look.colorScheme, width].join(', ');
  return [...found, ...problems].map((what) => `${where}: ${what}`);
}

test('each state is visited once, and each value of a look in every turn', { skip: all && 'here in all pairs' }, () => {
  assert.deepEqual(visits.map(({ state }) => state), chosen);
  for (const [name, values] of Object.entries(LOOKS)) {
    const counts = values.map((value) => visits.filter((visit) => visit[name] === value).length);
    assert.ok(Math.min(...counts) >= Math.floor(visits.length / looks.length), `${name}: ${counts}`);
  }
});

test('each pair of values of different factors occurs in a visit', { skip: !all && 'only with HB_TEST_VISITS=all' }, () => {
  const pair = (...values) => values.map((value) => value.name ?? value).join(' and ');
  const met = new Set(visits.flatMap((visit) => factors.flatMap(([a], i) =>
    factors.slice(i + 1).map(([b]) => pair(a, visit[a], b, visit[b])))));
  for (const [i, [a, values]] of factors.entries()) {
    for (const [b, others] of factors.slice(i + 1)) {
      const wanted = values.flatMap((value) => others.map((other) => pair(a, value, b, other)));
      assert.deepEqual(wanted.filter((both) => !met.has(both)), []);
    }
  }
  const fewest = Math.max(chosen.length, LOOKS.locale.length) * LOOKS.width.length;
  assert.ok(visits.length <= fewest + 2, `${visits.length} visits where ${fewest} are the fewest`);
});

for (const trouble of new Set(chosen.map((state) => state.trouble))) {
  test(`${trouble ?? 'no fault'}: no rule is broken, nothing overflows, the console is silent`, async (t) => {
    const some = visits.filter(({ state }) => state.trouble === trouble);
    await inTrouble(trouble, world, async () => {
      const found = (await pooled(some, PAGES_AT_ONCE, findings)).flat();
      const count = new Set(some.map(({ state }) => state)).size;
      t.diagnostic(`${some.length} visits of ${count} states, ${found.length} findings`);
      none(found);
    });
  });
}

test('every page has a title of its own', () => {
  assert.deepEqual([...titles].filter(([, pages]) => pages.size > 1), []);
});

// A page that was just loaded lacks the classes and attributes that a script sets later; the scripts name these.
test('each selector of a style sheet matches something in a state', { skip: chosen.length < states.length && 'of all states' }, () => {
  const scripts = readdirSync(STATIC).filter((name) => name.endsWith('.js')).map((name) => readFileSync(join(STATIC, name), 'utf8')).join();
  const byScript = (selector) => [...selector.matchAll(/[.[]([a-z][a-z-]+)/g)].some(([, name]) => new RegExp(`['" .]${name}['" ]`).test(scripts));
  none([...matched].filter(([selector, matches]) => !matches && !byScript(selector)).map(([selector]) => selector));
});

test('the HTML as sent has no errors and no warnings', async (t) => {
  t.diagnostic(`${html.size} pages`);
  none(await vnu(html));
  none(await htmlValidate(html));
});

test('the audit is clean', async () => {
  await world.end();
  await audit();
});
