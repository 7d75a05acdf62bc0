// Forms of English that a reader has to read twice, in comments and documents; each with what to write instead.

// [form, its name, what to write instead]. Words of a form may stand on two lines.
const NOUN = 'repeat the noun';
const WHAT = 'say what there is: "only …", "… except …"';
const FORMS = [
  [/\btells\b|\btold\b/gi, '"tells", "told"', 'a program reports, shows, writes or reads; a caller passes'],
  [/\b(?:is|are|was|were|be|been|being|gets|get)\s+(?:\w+\s+)?asked\b(?!\s+(?:for|to)\b)/gi, '"is asked"',
    'say who reads, requests or calls what'],
  [/\b(?:all|everything|anything|nothing|nobody|none|no\s+one)\s+but\b|\bbut\s+for\b/gi, '"all but", "nothing but", "but for"', 'except, only'],
  [/\b(?:none|nothing|nobody|no\s+one)\s+(?:that|which|who|whom|whose)\b/gi, '"none that", "nothing that", "nobody who"', WHAT],
  [/(?<!\bafter\s)\b(?:that|those)\s+of\b(?!\s+course\b)/gi, '"that of", "those of"', NOUN],
  [/\b(?:the|an?)\s+ones?\s+(?:that|which|who|whom|whose)\b/gi, '"the one that"', NOUN],
  [/(?<!\w)(?:True|False|NULL):\s+(?:that|this|these|those|none)\b(?!\s*[.;,)])/g, '"False: that …", "NULL: none …"',
    'one plain clause with its noun: False: <what happened>'],
];

// Not swept yet: folders and files whose violations are not reported. A function of lua/ is named by a hash of its whole
// text, and an applied migration never changes: comments there change with their code alone. The two pages of
// docs/reference are generated from the texts of the program.
const UNSWEPT = ['lua/', 'sql/migrations/', 'docs/reference/api.md', 'docs/reference/commands.md'];

// ---- the words of a file: the rest is replaced by marks, so that lines stay and no form reaches across code ----

const marks = (text) => text.replace(/\S/g, ';');

// Keeps the comments among the tokens of the pattern, as words(token) returns them; the length of the text stays.
const kept = (pattern, words) => (text) => {
  let out = '';
  let from = 0;
  for (const { 0: token, index } of text.matchAll(pattern)) {
    out += marks(text.slice(from, index)) + words(token);
    from = index + token.length;
  }
  return out + marks(text.slice(from));
};

const gap = (token) => ' '.repeat(token.length);
const wordsC = (token) => (/^\/[*/]/.test(token)
  ? token.replace(/^\/[*/]+|^[ \t]*\*(?!\/)/gm, gap).replace(/\*\/$/, ' ;') : marks(token));
const words = (leader) => (token) => token.replace(leader, gap);

const VIEWS = {
  c: kept(/\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/g, wordsC),
  js: kept(/(?<!\S)\/\*[\s\S]*?\*\/|(?<!\S)\/\/[^\n]*/g, wordsC), // strings and patterns of JS are not read
  css: kept(/\/\*[\s\S]*?\*\//g, wordsC),
  dashes: kept(/--[^\n]*/g, words(/^-+(?:\[\[)?/)),
  hashes: kept(/(?<!\S)#[^\n]*/g, words(/^#+/)),
  mustache: kept(/\{\{![\s\S]*?\}\}/g, words(/\{\{!|\}\}/g)),
  // Prose without code, addresses and comments.
  markdown: (text) => text.replace(/^ *```[\s\S]*?^ *```$|`[^`]*`|<!--[\s\S]*?-->|\]\([^)\s]*\)/gm, marks),
};
const KINDS = [[/\.[ch]$/, 'c'], [/\.js$/, 'js'], [/\.css$/, 'css'], [/\.(?:lua|sql|sql\.in)$/, 'dashes'], [/\.md$/, 'markdown'],
  [/\.mustache$/, 'mustache'], [/\.(?:json|svg|png|jpe?g|ico|webp|woff2?|dot|pdf|gz)$/, null], [/./, 'hashes']];
const kindOf = (file) => KINDS.find(([name]) => name.test(file))[1];

const FOLDERS = ['app', 'lua', 'sql', 'templates', 'static', 'nginx', 'deploy', 'docs', 'tests'];
// A line with these words may have a forbidden form, because the form is right there.
const EXCEPTION = 'tidy: english';

function problemsOf(sources, file) {
  const text = sources.view(file, VIEWS[kindOf(file)]);
  const raw = sources.read(file).split('\n');
  return FORMS.flatMap(([form, name, instead]) => [...text.matchAll(form)].map(({ 0: found, index }) => {
    const line = text.slice(0, index).split('\n').length;
    return !raw[line - 1].includes(EXCEPTION) && `${file}:${line}: "${found.replace(/\s+/g, ' ')}": not ${name}: ${instead}`;
  })).filter(Boolean);
}

export function english(sources) {
  return [...FOLDERS.flatMap((folder) => sources.files(folder)), 'dev', 'CMakeLists.txt', ...sources.documents()]
    .filter((file) => kindOf(file) && !UNSWEPT.some((path) => file.startsWith(path))).flatMap((file) => problemsOf(sources, file));
}
