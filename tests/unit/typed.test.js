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

const KINDS = ['fold', 'count', 'yuan', 'names'];
for (const kind of KINDS) {
  test(`the page reads ${kind} as the server does`, () => {
    for (const [typed, wanted] of cases[kind]) assert.deepEqual(shown(page.typed[kind](typed)), wanted, JSON.stringify(typed));
  });
}

test('the script has no reader without cases', () => {
  assert.deepEqual(Object.keys(page.typed), KINDS);
});
