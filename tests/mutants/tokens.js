// Words, numbers and operators of C, Lua and SQL, without comments and directives.
const STRINGS = String.raw`"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'`;
const C_PARTS = String.raw`\/\*[\s\S]*?\*\/|\/\/[^\n]*|${STRINGS}`;
const SIGNS = String.raw`[A-Za-z_]\w*|\d[\w.]*|->|\+\+|--|<<=|>>=|<<|>>|[<>=!~]=|&&|\|\||[-+*\/%&|^]=|[^\s\w]`;
const LANGUAGES = {
  c: new RegExp(String.raw`^[ \t]*#(?:\\\n|[^\n])*|${C_PARTS}|${SIGNS}`, 'gm'),
  cWithDirectives: new RegExp(`${C_PARTS}|${SIGNS}`, 'gm'),
  lua: new RegExp(String.raw`^#!.*|--\[\[[\s\S]*?\]\]|--[^\n]*|${STRINGS}|\.\.|${SIGNS}`, 'gm'),
  sql: new RegExp(String.raw`--[^\n]*|\/\*[\s\S]*?\*\/|'(?:''|[^'])*'|<=>|<>|:=|${SIGNS}`, 'g'),
};
const COMMENT = { c: /^\/[*/]|^\s*#/, cWithDirectives: /^\/[*/]/, lua: /^--|^#!/, sql: /^--|^\/\*/ };
const PARTNERS = { '(': ')', '[': ']', '{': '}' };

const KINDS = [['string', /^["']/], ['number', /^\d/], ['word', /^\w/], ['sign', /^/]];
const kindOf = (text) => KINDS.find(([, pattern]) => pattern.test(text))[0];

// The tokens of the text: { kind, text, at, end, partner, inside }. partner: of a bracket, the index of the other one,
// else -1; inside: the index of the innermost bracket that is open there, or -1.
export function tokensOf(text, language) {
  const tokens = [...text.matchAll(LANGUAGES[language])].filter(([word]) => !COMMENT[language].test(word))
    .map(({ 0: word, index: at }) => ({ kind: kindOf(word), text: word, at, end: at + word.length }));
  const open = [];
  for (const [i, token] of tokens.entries()) {
    token.partner = -1;
    const last = open.at(-1) ?? -1;
    if (last >= 0 && PARTNERS[tokens[last].text] === token.text) {
      [tokens[last].partner, token.partner] = [i, last];
      open.pop();
    }
    token.inside = open.at(-1) ?? -1;
    if (PARTNERS[token.text]) open.push(i);
  }
  return tokens;
}

const blank = (text) => text.replace(/[^\n]/g, ' ');
const IS_SQL = /\bSELECT\b[\s\S]*\bFROM\b|\bUPDATE \w+ |\bDELETE FROM\b|\bINSERT INTO\b|\bWHERE\b|\b(AND|OR|ON) [(\w]/;

// A text of the same length as this C source: the SQL of its string literals, blanks elsewhere. Literals that follow
// each other, perhaps with macros between them, are one statement. A semicolon is before each.
export function sqlInC(text) {
  let out = '';
  let run = null; // { from, to } of a series of literals
  const close = () => {
    if (!run) return;
    // What is between two literals is one word where a format needs it: "… = %" PRIu64 " AND …".
    const inner = text.slice(run.from + 1, run.to - 1).replace(/\\[\s\S]/g, blank)
      .replace(/%"[^"]*"/g, (gap) => `%${'_'.repeat(gap.length - 1)}`).replace(/"[^"]*"/g, blank);
    if (IS_SQL.test(inner)) out += `${blank(text.slice(out.length, run.from))};${inner}`;
    run = null;
  };
  for (const { kind, text: word, at, end } of tokensOf(text, 'cWithDirectives')) {
    if (kind === 'string' && word.startsWith('"')) run = { from: run?.from ?? at, to: end };
    else if (!/^[A-Z_][A-Za-z0-9_]*$/.test(word) && word !== '\\') close();
  }
  close();
  return out + blank(text.slice(out.length));
}
