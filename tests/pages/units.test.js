// Pages in other units of money than yuan: every page of templates/examples, rendered with points and with Hong Kong
// dollars, names no other unit and fits on a small phone, with each number and its unit on one line.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { fileBrowser } from '../e2e/support/browser.js';
import { temporaryFolder } from '../e2e/support/run.js';
import { layout } from './support/checks.js';

const WINDOW = { width: 320, height: 640 };
const ORIGIN = 'http://example.invalid';
const STATIC = fileURLToPath(new URL('../../static/', import.meta.url));
const MEDIA_TYPES = { '.css': 'text/css', '.svg': 'image/svg+xml', '.png': 'image/png' };

// Runs in the page: the amounts that are not on one line with this beginning of the unit's name.
function torn(name) {
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const amount = new RegExp(`[\\d.,]+[\\s\u2060]?${[...name].join('\u2060?')}`, 'g');
  while (walk.nextNode()) {
    for (const { 0: text, index } of walk.currentNode.data.matchAll(amount)) {
      const range = document.createRange();
      range.setStart(walk.currentNode, index);
      range.setEnd(walk.currentNode, index + text.length);
      const lines = new Set([...range.getClientRects()].filter(({ width }) => width > 0).map(({ bottom }) => Math.round(bottom)));
      if (lines.size > 1) found.push(`${text} is on two lines`);
    }
  }
  return found;
}

// The arguments of template_check, and what no page says.
const UNITS = {
  points: { unit: ['POINT', '0', '', '积分', 'points'], others: /元|¥|yuan|\b0\.01\b/i },
  'Hong Kong dollars': { unit: ['HKD', '2', 'HK$', '港元', 'dollars'], others: /(?<!港\u2060?)元|¥|yuan|(?<!HK)\$/i },
  'a long name': { unit: ['COIN', '1', '', '幸运大金币', 'lucky gold coins'], others: /元|¥|yuan|\b0\.01\b/i },
};

// Amounts in the messages of an example come from the program, which takes the unit from the same texts.
const templates = temporaryFolder('units');
cpSync(fileURLToPath(new URL('../../templates', import.meta.url)), templates, { recursive: true });
const examples = join(templates, 'examples/pages');
for (const name of readdirSync(examples)) {
  const file = join(examples, name);
  writeFileSync(file, readFileSync(file, 'utf8').replace(/(0\.01)?元|"capitals": .*,/g, ''));
}

const browser = fileBrowser();
for (const [name, { unit, others }] of Object.entries(UNITS)) {
  for (const language of ['zh-CN', 'en']) {
    test(`${name}, ${language}`, async () => {
      const out = join(temporaryFolder('pages'), 'out');
      mkdirSync(out);
      execFileSync(process.env.TEMPLATE_CHECK, [templates, language, out, ...unit]);
      const page = await browser.newPage({ javaScriptEnabled: false, viewport: WINDOW });
      const found = [];
      const [, , , zh, en] = unit;
      const kept = language === 'en' ? en.split(' ')[0] : zh.length > 4 ? zh[0] : zh; // a longer name may be broken
      let html;
      await page.route('**', (route) => {
        const path = new URL(route.request().url()).pathname;
        if (path === '/') return route.fulfill({ contentType: 'text/html; charset=utf-8', body: html });
        const file = path.replace(/^\/static\//, '').replace(/\.[0-9a-f]{10}\./, '.');
        return readdirSync(STATIC).includes(file)
          ? route.fulfill({ contentType: MEDIA_TYPES[extname(file)], body: readFileSync(join(STATIC, file)) })
          : route.abort();
      });
      for (const file of readdirSync(out)) {
        html = readFileSync(join(out, file), 'utf8');
        await page.goto(`${ORIGIN}/`);
        found.push(...[...html.split('\n').filter((line) => others.test(line)), ...await layout(page), ...await page.evaluate(torn, kept)].map((what) => `${file}: ${what}`));
      }
      await page.close();
      assert.deepEqual(found, []);
    });
  }
}
