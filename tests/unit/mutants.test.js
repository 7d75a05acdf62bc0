// The bugs that ./dev mutants makes (tests/mutants).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawn } from '../mutants/mutations.js';
import { OPERATORS, edited, mutationsOf } from '../mutants/operators.js';

// [operator, language, a text, its mutations by the operator]
const MADE = [
  ['compare', 'c', '/* a < b */\n#if A < B\nx = "a < b" + (a < b);', ['/* a < b */\n#if A < B\nx = "a < b" + (a <= b);']],
  ['compare', 'lua', 'if a ~= b then -- a < b', ['if a == b then -- a < b']],
  ['compare', 'sql', 'UPDATE t SET a = 1 WHERE b = 2;', ['UPDATE t SET a = 1 WHERE b <> 2;']],
  ['compare', 'c', 'q("SELECT a FROM t WHERE b >= %" PRIu64\n  " AND c = \\"x\\"");', [
    'q("SELECT a FROM t WHERE b > %" PRIu64\n  " AND c = \\"x\\"");', 'q("SELECT a FROM t WHERE b >= %" PRIu64\n  " AND c <> \\"x\\"");']],
  ['arithmetic', 'c', 'int *p = f(a + 1, -b, 2 * c);', ['int *p = f(a - 1, -b, 2 * c);', 'int *p = f(a + 1, -b, 2 + c);']],
  ['logic', 'sql', 'SELECT 1 FROM t WHERE a BETWEEN 1 AND 2 AND b', ['SELECT 1 FROM t WHERE a BETWEEN 1 AND 2 OR b']],
  ['clause', 'c', 'return f(a, b) && c == d;', ['return f(a, b);', 'return c == d;']],
  ['clause', 'c', 'x = { NEED_USER | LIMITED_BY(A), 1 };', ['x = { NEED_USER, 1 };', 'x = { LIMITED_BY(A), 1 };']],
  ['clause', 'lua', 'if a and b then', ['if a then', 'if b then']],
  ['clause', 'lua', 'local x = a or b\nc = 1', ['local x = a\nc = 1', 'local x = b\nc = 1']],
  ['negate', 'c', 'if (ready(a)) f();', ['if (!(ready(a))) f();']],
  ['negate', 'c', 'if (a == b) f();', []],
  ['negate', 'lua', 'if not a then', ['if not (not a) then']],
  ['negate', 'sql', 'BEGIN IF a IS NULL THEN DO 0; END IF; END', ['BEGIN IF NOT (a IS NULL) THEN DO 0; END IF; END', 'BEGIN IF a IS NOT NULL THEN DO 0; END IF; END']],
  ['constant', 'c', 'char a[20]; x = (struct y){ 0 }; return b > 0 && true;', [
    'char a[20]; x = (struct y){ 0 }; return b > 1 && true;', 'char a[20]; x = (struct y){ 0 }; return b > 0 && false;']],
  ['status', 'c', 'return a == ST_OK ? ST_NO_MEMORY : ST_OK;', [
    'return a == ST_OK ? ST_OK : ST_OK;', 'return a == ST_OK ? ST_NO_MEMORY : ST_UNAVAILABLE;']],
  ['argument', 'lua', 'f(sum_fen, rest_fen, ms)', ['f(rest_fen, sum_fen, ms)']],
  ['argument', 'sql', 'INSERT INTO t (a_id, b_id) SELECT p.id, p.sender_id, 1 FROM p', [
    'INSERT INTO t (b_id, a_id) SELECT p.id, p.sender_id, 1 FROM p']],
  ['statement', 'c', 'int f(void)\n{\n    int a = g();\n    if (a)\n        h(a);\n    log_error("x", "a=%d", 1 + 1);\n    x->y = a;\n}\n', [
    'int f(void)\n{\n    int a = g();\n    if (a)\n        {}\n    log_error("x", "a=%d", 1 + 1);\n    x->y = a;\n}\n',
    'int f(void)\n{\n    int a = g();\n    if (a)\n        h(a);\n    log_error("x", "a=%d", 1 + 1);\n    \n}\n']],
  ['statement', 'lua', "redis.call('DEL',\n    KEYS[1])\na.b = 1", ['\na.b = 1', "redis.call('DEL',\n    KEYS[1])\n"]],
  ['order', 'lua', "f('a')\ng('b')\nx = 1", ["g('b')\nf('a')\nx = 1"]],
  ['order', 'sql', 'BEGIN\n  UPDATE a SET b = 1;\n  CALL c();\nEND;', ['BEGIN\n  CALL c();\n  UPDATE a SET b = 1;\nEND;']],
  ['condition', 'c', 'q("DELETE FROM t WHERE a = ? AND b");', ['q("DELETE FROM t WHERE (a = ? OR TRUE) AND b");', 'q("DELETE FROM t WHERE a = ? AND (b OR TRUE)");']],
  ['condition', 'sql', 'CHECK (a > 0)', ['CHECK ((a > 0 OR TRUE))']],
  ['lock', 'c', 'q("SELECT a FROM t WHERE b = ? FOR UPDATE");', ['q("SELECT a FROM t WHERE b = ? ");']],
  ['unique', 'sql', 'UNIQUE KEY a (b)', ['KEY a (b)']],
];

for (const [operator, language, text, wanted] of MADE) {
  test(`${operator} in ${language}: ${text.split('\n')[0]}`, () => {
    const made = mutationsOf(text, language).filter((one) => one.operator === operator).map(({ edits }) => edited(text, edits));
    assert.deepEqual(made, wanted);
  });
}

test('nothing in a call that only logs is changed', () => {
  assert.deepEqual(mutationsOf('log_error("x", "a=%d", a < 1 ? f(2) + 1 : 0);', 'c'), []);
});

test('every operator is tried here', () => assert.deepEqual([...new Set(MADE.map(([name]) => name))].sort(), Object.keys(OPERATORS).sort()));

test('a seed draws the same mutations again, each once, and rare operators as often as others', () => {
  const all = Array.from({ length: 100 }, (_, no) => ({ no, operator: no < 90 ? 'common' : 'rare' }));
  const first = [...drawn(all, 7)];
  assert.deepEqual([...drawn(all, 7)], first);
  assert.notDeepEqual([...drawn(all, 8)], first);
  assert.equal(new Set(first.map(({ no }) => no)).size, 100);
  assert.ok(first.slice(0, 10).filter(({ operator }) => operator === 'rare').length >= 2);
});
