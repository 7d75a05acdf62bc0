// Makes small bugs: each operator returns its mutations of a text. A mutation is a list of edits [from, to,
// replacement]. All of them are valid in Lua and SQL; in C some do not compile. No packaged tool makes them: Stryker
// reads JavaScript, C# and Scala, Mull the code of LLVM, and none Lua, or SQL in the strings of C.
import { sqlInC, tokensOf } from './tokens.js';

const COMPARED = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' };
const OTHER = {
  c: { ...COMPARED, '==': '!=', '!=': '==' },
  lua: { ...COMPARED, '==': '~=', '~=': '==' },
  sql: { ...COMPARED, '=': '<>', '<>': '=' },
};
const SUMS = { '+': '-', '-': '+', '+=': '-=', '-=': '+=' };
const PRODUCTS = { ...SUMS, '*': '+', '/': '*', '%': '/' };
const COMPUTED = { c: PRODUCTS, lua: PRODUCTS, sql: SUMS };
const LOGIC = { c: { '&&': '||', '||': '&&' }, lua: { and: 'or', or: 'and' }, sql: { AND: 'OR', OR: 'AND' } };
const WORDS = { true: 'false', false: 'true', TRUE: 'FALSE', FALSE: 'TRUE' };
// Calls without an effect that a test should notice.
const QUIET = /^(log_\w+|assert|_Static_assert|crash_point|free|\w+_free|close|fclose|closedir|sodium_memzero)$/;

// Calls whose two arguments may be swapped, and calls that build a model: the order of its members is never visible.
const SYMMETRIC = /(cmp|equal)(_\w+)?$/;
const MODEL = /_model$|^(value|text|view|model)_/;

const replace = (token, text) => [[token.at, token.end, text]];
const wrap = (first, before, last, after) => [[first.at, first.at, before], [last.end, last.end, after]];
const words = (text) => new Set(text.split(' '));
const KEYWORDS = words('return if else for while do switch case default break continue goto typedef struct enum static '
  + 'const unsigned sizeof and or not then local function end in elseif until repeat');
const isName = ({ kind, text } = {}) => kind === 'word' && !KEYWORDS.has(text);
const isOperand = (token) => isName(token) || /^(number|string)$/.test(token?.kind) || /^[)\]]$/.test(token?.text);
const isConstant = ({ kind, text } = {}) => kind === 'number' || /^[A-Z][A-Z0-9_]+$/.test(text);

// ---- expressions ----

const SQL_CONDITION = words('WHERE ON AND OR HAVING WHEN IF ELSEIF CHECK NOT');
const SQL_ASSIGNMENT = words('SET UPDATE DECLARE VALUES DEFAULT');

// Whether a sign of SQL is a comparison and not an assignment.
function compares(tokens, i) {
  let nested = false;
  for (let j = i - 1; j >= 0 && tokens[j].text !== ';'; j--) {
    const { text, partner } = tokens[j];
    if (text === ')' && partner >= 0) j = partner - (tokens[partner - 1]?.text === 'IF' ? 1 : 0);
    else if (text === '(') nested = true;
    else if (SQL_CONDITION.has(text)) return true;
    else if (SQL_ASSIGNMENT.has(text)) return false;
    else if (text === 'SELECT') return nested;
  }
  return false;
}

const compare = ({ tokens, language }) => tokens.flatMap((token, i) => {
  const other = OTHER[language][token.text];
  return other && (language !== 'sql' || compares(tokens, i)) ? [replace(token, other)] : [];
});

// In C, a star counts only where it can't be a pointer.
const arithmetic = ({ tokens, language }) => tokens.flatMap((token, i) => {
  const other = COMPUTED[language][token.text];
  const [before, after] = [tokens[i - 1], tokens[i + 1]];
  if (!other || !isOperand(before) || (language === 'sql' && before.kind === 'string')) return [];
  const isPointer = language === 'c' && token.text === '*' && before.kind !== 'number' && !isConstant(after);
  return isPointer ? [] : [replace(token, other)];
});

// Whether AND is a part of BETWEEN, or OR of CREATE OR REPLACE.
function isNoLogic(tokens, i) {
  if (tokens[i - 1]?.text === 'CREATE') return true;
  const isBefore = (j) => tokens[j]?.inside === tokens[i].inside && !/^(AND|OR|WHERE|ON|;)$/.test(tokens[j].text);
  let j = i - 1;
  while (isBefore(j) && tokens[j].text !== 'BETWEEN') j--;
  return isBefore(j);
}

const logic = ({ tokens, language }) => tokens.flatMap((token, i) => {
  const other = LOGIC[language][token.text];
  return other && (language !== 'sql' || !isNoLogic(tokens, i)) ? [replace(token, other)] : [];
});

const STOPS = {
  c: words('&& || ? : ; , = += -= |= &= ( ) [ ] { } return'),
  lua: words('and or then do , = ( ) [ ] { } return if elseif else end while until local for'),
  sql: words('AND OR WHERE ON GROUP ORDER LIMIT FOR LOCK HAVING UNION SET LEFT INNER CROSS JOIN STRAIGHT_JOIN THEN DO '
    + 'ELSE END WHEN ; , ) ('),
};

// The index of the last token of the operand that continues from index i in this direction; the index before i: there
// is no operand.
function operandEnd({ tokens, text, language }, i, step, sign) {
  const startsLine = (at) => {
    const [before, token] = [tokens[at - 1], tokens[at]];
    return language === 'lua' && before && token && /\n/.test(text.slice(before.end, token.at)) && isOperand(before)
      && (isOperand(token) || KEYWORDS.has(token.text));
  };
  let j = i;
  for (; tokens[j]; j += step) {
    const { text: word, partner } = tokens[j];
    if (j !== i && startsLine(step > 0 ? j : j + 1)) break;
    if (step > 0 ? partner > j : partner >= 0 && partner < j) j = partner;
    else if (STOPS[language].has(word) || (sign === '|' && word === '|')) break;
  }
  return j - step;
}

// Drops one operand of && and || or, if both are constants, of |.
function clause(source) {
  const { tokens, language } = source;
  return tokens.flatMap((token, i) => {
    if (language === 'sql' || !(LOGIC[language][token.text] || (language === 'c' && token.text === '|'))) return [];
    const [first, last] = [operandEnd(source, i - 1, -1, token.text), operandEnd(source, i + 1, 1, token.text)];
    if (first > i - 1 || last < i + 1) return [];
    if (token.text === '|' && !(isConstant(tokens[first]) && isConstant(tokens[i + 1]))) return [];
    return [[[tokens[i - 1].end, tokens[last].end, '']], [[tokens[first].at, tokens[i + 1].at, '']]];
  });
}

const isOneComparison = (inner) => inner.some(({ text }) => /^([=!~]=|<>)$/.test(text))
  && !inner.some(({ text }) => /^(&&|\|\||and|or|AND|OR)$/.test(text));

// Negates the condition of an if. For a single comparison, the operator `compare` does the same.
const negate = ({ tokens, language }) => tokens.flatMap((token, i) => {
  if (language === 'sql' && token.text === 'IS' && /^(NOT|NULL)$/.test(tokens[i + 1]?.text)) {
    return tokens[i + 1].text === 'NULL' ? [replace(token, 'IS NOT')] : [replace(tokens[i + 1], '')];
  }
  if (!/^(if|elseif|IF|ELSEIF|WHEN)$/.test(token.text)) return [];
  if (token.text === 'IF' && !/^(;|BEGIN|THEN|ELSE|DO|LOOP)$/.test(tokens[i - 1]?.text)) return []; // a function
  const isEnd = ({ text }, j) => j > i && /^(then|THEN|;)$/.test(text);
  const end = language === 'c' ? tokens[i + 1]?.partner : tokens.findIndex(isEnd);
  const from = language === 'c' ? i + 2 : i + 1;
  if (!(end > from) || tokens[end].text === ';' || isOneComparison(tokens.slice(from, end))) return [];
  const not = { c: '!(', lua: 'not (', sql: 'NOT (' }[language];
  return [wrap(tokens[from], not, tokens[end - 1], ')')];
});

// Whether it is the length in the declaration of an array: `char text[20]`.
const isLength = (tokens, i) => tokens[i - 1]?.text === '[' && isName(tokens[i - 2])
  && (isName(tokens[i - 3]) || tokens[i - 3]?.text === '*');

const constant = ({ tokens, language }) => tokens.flatMap((token, i) => {
  if (WORDS[token.text]) return [replace(token, WORDS[token.text])];
  const [, digits, suffix] = /^(\d{1,2})([uUlL]*)$/.exec(token.text) ?? [];
  const number = Number(digits);
  if (digits === undefined || number > 20 || (language === 'sql' && number > 1) || isLength(tokens, i)) return [];
  if (tokens[i - 1]?.text === '{' && tokens[i + 1]?.text === '}') return []; // = { 0 }
  return [replace(token, `${number < 2 ? 1 - number : number + 1}${suffix}`)];
});

// Another status, answer or number of an error.
const status = ({ tokens }) => tokens.flatMap((token, i) => {
  const before = tokens[i - 1]?.text;
  if (/^ST_[A-Z_]+$/.test(token.text) && /^(return|\?|:|=)$/.test(before)) {
    return [replace(token, token.text === 'ST_OK' ? 'ST_UNAVAILABLE' : 'ST_OK')];
  }
  if (/^LIVE_[A-Z_]+$/.test(token.text) && before === '{') {
    return [replace(token, token.text === 'LIVE_BUSY' ? 'LIVE_MISSING' : 'LIVE_BUSY')];
  }
  return /^3100[12]$/.test(token.text) ? [replace(token, token.text === '31001' ? '31002' : '31001')] : [];
});

// Swaps two arguments whose names end alike.
function argument({ tokens, text, language }) {
  const opens = (i) => tokens[i].text === '(' && !/^(KEY|INDEX|UNIQUE|CHECK|IN)$/.test(tokens[i - 1]?.text)
    && !/^(KEY|INDEX)$/.test(tokens[i - 2]?.text) && !SYMMETRIC.test(tokens[i - 1]?.text);
  // The index behind a name with members that goes on from index i in this direction.
  const behind = (i, step) => {
    const isPart = (j) => isName(tokens[j]) && (j === i || tokens[j - step].kind !== 'word');
    let j = i;
    while (isPart(j) || /^(\.|->)$/.test(tokens[j]?.text)) j += step;
    return j;
  };
  const ending = (name) => /([a-z0-9]+)$/.exec(name)?.[1] ?? name;
  return tokens.flatMap((token, i) => {
    if (token.text !== ',' || (token.inside >= 0 ? !opens(token.inside) : language !== 'sql')) return [];
    const [before, after] = [behind(i - 1, -1), behind(i + 1, 1)];
    if (before === i - 1 || after === i + 1) return [];
    if (!/^[(,]$/.test(tokens[before]?.text) || !/^[),]$/.test(tokens[after]?.text)) return [];
    const first = text.slice(tokens[before + 1].at, token.at);
    const second = text.slice(tokens[i + 1].at, tokens[after - 1].end);
    if (first === second || ending(first) !== ending(second)) return [];
    return [[[tokens[before + 1].at, token.at, second], [tokens[i + 1].at, tokens[after - 1].end, first]]];
  });
}

// ---- statements ----

const ASSIGNS = /^([-+*/%&|^]|<<|>>)?=$/;

// The index behind a name with members and indices: p->rows[i].count.
function nameEnd(tokens, i) {
  let j = i + 1;
  while (tokens[j] && (/^(\.|->)$/.test(tokens[j].text) || (tokens[j].text === '[' && tokens[j].partner > 0))) {
    j = tokens[j].text === '[' ? tokens[j].partner + 1 : j + 2;
  }
  return j;
}

function statementOfC({ tokens }, i) {
  const before = tokens[i - 1];
  const head = before?.text === ')' && /^(if|for|while)$/.test(tokens[before.partner - 1]?.text);
  if (!/^([;{}]|else)$/.test(before?.text) && !head) return null;
  if (tokens[tokens[i].inside]?.text !== '{') return null;
  let j = tokens[i].text === '(' && tokens[i + 1]?.text === 'void' ? i + 3 : i;
  while (tokens[j]?.text === '*') j++;
  if (tokens[j]?.kind !== 'word' || KEYWORDS.has(tokens[j].text)) return null;
  const then = nameEnd(tokens, j);
  const isCall = tokens[then]?.text === '(' && tokens[tokens[then].partner + 1]?.text === ';';
  if (!isCall && !ASSIGNS.test(tokens[then]?.text)) return null;
  const last = tokens.findIndex(({ text, inside }, k) => k > then && text === ';' && inside === tokens[i].inside);
  const instead = head || before.text === 'else' ? '{}' : '';
  return last < 0 ? null : { first: i, last, isCall, name: tokens[j].text, instead };
}

function statementOfLua({ tokens, text }, i) {
  const { at, inside, kind, text: word } = tokens[i];
  if (inside >= 0 || kind !== 'word' || KEYWORDS.has(word) || !/(^|\n)[ \t]*$/.test(text.slice(0, at))) return null;
  const then = nameEnd(tokens, i);
  const isCall = tokens[then]?.text === '(';
  if (!isCall && !/^[=,]$/.test(tokens[then]?.text)) return null;
  const onNewLine = (j) => /\n/.test(text.slice(tokens[j - 1].end, tokens[j].at));
  let last = i;
  const goesOn = (j) => !onNewLine(j) || !isOperand(tokens[j - 1]) || /^(and|or|\.\.|[-+*/])$/.test(tokens[j].text);
  while (tokens[last + 1] && goesOn(last + 1)) last = Math.max(last + 1, tokens[last + 1].partner);
  return { first: i, last, isCall, name: word, instead: '' };
}

function statementOfSql({ tokens }, i) {
  const name = tokens[i].text;
  if (!/^(INSERT|UPDATE|DELETE|CALL|SIGNAL)$/.test(name)) return null;
  if (!/^(;|BEGIN|THEN|ELSE)$/.test(tokens[i - 1]?.text ?? ';')) return null;
  const end = tokens.findIndex(({ text }, k) => k > i && text === ';');
  return end < 0 ? null : { first: i, last: end - 1, isCall: name !== 'SIGNAL', name, instead: 'DO 0' };
}

const STATEMENT = { c: statementOfC, lua: statementOfLua, sql: statementOfSql };
function statements(source) {
  if (source.embedded) return [];
  const found = source.tokens.map((_, i) => STATEMENT[source.language](source, i));
  return found.filter((one) => one && !QUIET.test(one.name));
}
const span = ({ tokens }, { first, last }) => [tokens[first].at, tokens[last].end];

const statement = (source) => statements(source).map((one) => [[...span(source, one), one.instead]]);

// Swaps two calls that follow each other.
function order(source) {
  const found = statements(source);
  const textOf = (one) => source.text.slice(...span(source, one));
  return found.slice(1).flatMap((second, i) => {
    const first = found[i];
    const follows = second.first === first.last + (source.language === 'sql' ? 2 : 1);
    const isWork = ({ isCall, name }) => isCall && !MODEL.test(name);
    const alike = isWork(first) && isWork(second) && first.instead === second.instead;
    if (!follows || !alike || textOf(first) === textOf(second)) return [];
    return [[[...span(source, first), textOf(second)], [...span(source, second), textOf(first)]]];
  });
}

// ---- SQL alone ----

// Makes a condition behind WHERE, ON, AND, OR and others ineffective, but keeps its text, which has parameters.
function condition(source) {
  const { tokens, language } = source;
  if (language !== 'sql') return [];
  return tokens.flatMap((token, i) => {
    const then = tokens[i + 1];
    if (!then || !/^(WHERE|ON|HAVING|AND|OR|CHECK)$/.test(token.text) || isNoLogic(tokens, i)) return [];
    if (/^(DUPLICATE|DELETE|UPDATE|REPLACE)$/.test(then.text)) return [];
    const first = token.text === 'CHECK' ? i + 2 : i + 1;
    const last = token.text === 'CHECK' ? then.partner - 1 : operandEnd(source, first, 1);
    if (last < first || tokens[last].text === '%') return []; // the rest of this format is a macro
    return [wrap(tokens[first], '(', tokens[last], token.text === 'OR' ? ' AND FALSE)' : ' OR TRUE)')];
  });
}

const series = (pattern, instead) => ({ tokens, language }) => (language !== 'sql' ? [] : tokens.flatMap((token, i) => {
  const found = tokens.slice(i, i + pattern.length);
  return pattern.every((word, k) => found[k]?.text === word) ? [[[token.at, found.at(-1).end, instead]]] : [];
}));
const [exclusive, shared] = [series(['FOR', 'UPDATE'], ''), series(['LOCK', 'IN', 'SHARE', 'MODE'], '')];
const lock = (source) => [...exclusive(source), ...shared(source)];
const unique = series(['UNIQUE', 'KEY'], 'KEY');

export const OPERATORS = {
  compare, arithmetic, logic, clause, negate, constant, status, argument, statement, order, condition, lock, unique,
};

// [from, to] of the calls that are quiet.
const quietCalls = (tokens) => tokens.flatMap(({ text, at }, i) => (QUIET.test(text) && tokens[i + 1]?.partner > 0
  ? [[at, tokens[tokens[i + 1].partner].end]] : []));

// All mutations of a text: [{ operator, edits }], without those in quiet calls.
export function mutationsOf(text, language) {
  const own = { tokens: tokensOf(text, language), text, language };
  const parts = [own];
  if (language === 'c') {
    const sql = sqlInC(text);
    parts.push({ tokens: tokensOf(sql, 'sql'), text: sql, language: 'sql', embedded: true });
  }
  const quiet = language === 'c' ? quietCalls(own.tokens) : [];
  const isHeard = ([[at]]) => !quiet.some(([from, to]) => from <= at && at < to);
  return Object.entries(OPERATORS)
    .flatMap(([operator, find]) => parts.flatMap(find).filter(isHeard).map((edits) => ({ operator, edits })));
}

// The text with the edits made, which are in ascending order and do not overlap.
export function edited(text, edits) {
  let [out, at] = ['', 0];
  for (const [from, to, instead] of edits) {
    out += text.slice(at, from) + instead;
    at = to;
  }
  return out + text.slice(at);
}
