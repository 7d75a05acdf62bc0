// static/typed.js reads what people type as the server does: the cases of typed.json, which test_typed.c runs as well.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import vm from 'node:vm';

const cases = JSON.parse(readFileSync(new URL('typed.json', import.meta.url)));
const page = vm.createContext({});
vm.runInContext(readFileSync(new URL('../../static/typed.js', import.meta.url), 'utf8'), page);

// The result of a reader, in the form of the table.
const shown = (value) => {
  if (typeof value !== 'number') return typeof value === 'string' ? value : [...value];
  return Number.isNaN(value) ? null : value === Infinity ? 'max' : value;
};

const KINDS = ['fold', 'count', 'names'];
for (const kind of KINDS) {
  test(`the page reads ${kind} as the server does`, () => {
    for (const [typed, wanted] of cases[kind]) assert.deepEqual(shown(page.typed[kind](typed)), wanted, JSON.stringify(typed));
  });
}

for (const amounts of cases.amounts) {
  const [code, decimals, symbol, zh, en] = amounts.unit;
  const unit = [decimals, code, zh, en, symbol].join('~'); // text/unit_typed
  test(`the page reads and shows amounts in ${code} as the server does`, () => {
    for (const [typed, wanted] of amounts.cases) assert.deepEqual(shown(page.typed.amount(typed, unit)), wanted, JSON.stringify(typed));
    for (const [fen, text] of amounts.shown) {
      assert.equal(page.typed.shown(fen, unit, ''), text);
      assert.equal(page.typed.amount(text, unit), fen);
    }
  });
}

test('a sign stands between thousands', () => {
  const shown = [[99999, 2], [123456789, 2], [1000, 0], [999, 0]].map(([fen, decimals]) => page.typed.shown(fen, `${decimals}~`, ','));
  assert.deepEqual(shown, ['999.99', '1,234,567.89', '1,000', '999']);
});

test('the script has no reader without cases', () => {
  assert.deepEqual(Object.keys(page.typed).sort(), [...KINDS, 'amount', 'shown'].sort());
});
