// Rules about the sources that a compiler does not check. Each check takes the Sources of the project and returns the
// violations as lines `file:line: why`. tidy.test.js plants violations of each kind and asserts that they are found.
import { basename, dirname, join, relative } from 'node:path';
import { blocksRead } from '../e2e/support/how_to_blocks.js';
import { equivalents, plants } from '../mutants/mutations.js';
import { FILES as JSON_FILES, jsonForm } from '../support/json_form.js';
import { changelog } from './changelog.js';
import { english } from './english.js';

const C = /\.[ch]$/;
// The order of the floors: CMake reads the same file.
const floors = (sources) => sources.read('app/FLOORS.txt').split('\n').filter((line) => /^[a-z]/.test(line));
const lineOf = (text, index) => text.slice(0, index).split('\n').length;

// ---- views of a file: what they leave out is replaced by spaces, so line numbers stay the same ----

const blank = (token) => token.replace(/[^\n]/g, ' ');
const without = (pattern) => (text) => text.replace(pattern, blank);
const C_TOKEN = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/g;
const raw = (text) => text;
const plainC = without(C_TOKEN); // without comments and strings
const codeC = (text) => text.replace(C_TOKEN, (token) => (/^["']/.test(token) ? token : blank(token)));
const codeLua = without(/^#!.*|--\[\[[\s\S]*?\]\]|--[^\n]*/g);
const codeSql = without(/--.*|'[^']*'/g);
const codeShell = without(/#.*/g); // also of CMake and nginx
const templateCode = without(/\{\{![\s\S]*?\}\}/g);
const unfenced = without(/^ *```[\s\S]*?^ *```$/gm); // Markdown without blocks of code

// The violations of a rule that is a pattern. why(match, file) says what is wrong, and returns nothing where nothing is.
function find(sources, files, view, pattern, why) {
  return files.flatMap((file) => {
    const text = sources.view(file, view);
    return [...text.matchAll(pattern)].map((match) => [match.index, why(match, file)]).filter(([, said]) => said)
      .map(([index, said]) => `${file}:${lineOf(text, index)}: ${said}`);
  });
}

// A floor includes only headers of its own and of the floors below; NAME_internal.h is for its own folder only.
export function includes(sources) {
  const all = sources.files('app', C);
  const FLOORS = floors(sources);
  const floorOf = (file) => file.split('/')[1];
  const why = ([, name], file) => {
    const [floor, included] = [floorOf(file), name.split('/')[0]];
    const [from, to] = [FLOORS.indexOf(floor), FLOORS.indexOf(included)];
    if (!sources.exists(`app/${name}`)) return `no file app/${name}`;
    if (to < 0) return `"${name}" is not on a floor`;
    if (from >= 0 && to > from) return `${floor}/ must not include ${name}`;
    return name.endsWith('_internal.h') && included !== floor && `${name} is for its own folder only`;
  };
  return [...all.filter((file) => file !== 'app/main.c' && !FLOORS.includes(floorOf(file))).map((file) => `${file}:1: app/${floorOf(file)} is no floor`),
    ...find(sources, all, codeC, /^[ \t]*#[ \t]*include[ \t]+"([^"]+)"/gm, why)];
}

// The folders of tests/ need each other without a circle: what several of them use is in tests/support/.
export function circles(sources) {
  const ways = new Map(); // folder → Map(a folder that it needs → the first file that does)
  const needed = /(?:\bfrom |\bimport |\bimport\()'(\.\.?\/[^']+)'|^[ \t]*#[ \t]*include[ \t]+"([^"]+)"/gm;
  for (const file of sources.files('tests', /\.(js|[ch])$/)) {
    for (const [, module, header] of sources.read(file).matchAll(needed)) {
      const path = module ? join(dirname(file), module) : join('tests', header);
      const [from, to] = [file, path].map((one) => one.split('/')[1]);
      if (from === to || !sources.exists(path)) continue;
      if (!ways.has(from)) ways.set(from, new Map());
      if (!ways.get(from).has(to)) ways.get(from).set(to, file);
    }
  }
  // The folders on the way from one to the other, or nothing.
  const way = (from, to, passed = []) => {
    if (from === to) return [from];
    if (passed.includes(from)) return null;
    for (const next of ways.get(from)?.keys() ?? []) {
      const rest = way(next, to, [...passed, from]);
      if (rest) return [from, ...rest];
    }
    return null;
  };
  return [...ways].flatMap(([from, all]) => [...all].map(([to, file]) => [file, from, way(to, from)]))
    .filter(([, , back]) => back).map(([file, from, back]) => `${file}:1: a circle of folders: ${[from, ...back].join(' → ')}`);
}

// web/ is HTTP only: no word of the service's domain.
export const domain = (sources) => find(sources, sources.files('app/web', C), raw, /packet|grab|escrow|wallet|refund|envelope|settle/gi,
  ([word]) => `web/ must not speak of the domain: ${word}`);

// The CMakeLists.txt of every floor begins with a comment: what the floor contains, and what it may use.
export const rooms = (sources) => floors(sources).map((floor) => `app/${floor}/CMakeLists.txt`)
  .filter((file) => !sources.exists(file) || !/^# \S.*\n/.test(sources.read(file)))
  .map((file) => `${file}:1: no first comment: what does this floor have, and what may it know?`);

// A header begins with a comment on its purpose, and has an include guard: HB_BASE_STR_H for app/base/str.h.
export function headers(sources) {
  return sources.files('app', /\.h$/).flatMap((file) => {
    const guard = `HB_${file.slice('app/'.length).replace(/[^A-Za-z0-9]/g, '_').toUpperCase()}`;
    const text = sources.read(file);
    return [!text.startsWith('/* ') && `${file}:1: no comment on its purpose`,
      !text.includes(`#ifndef ${guard}\n#define ${guard}\n`) && `${file}:1: the guard must be ${guard}`].filter(Boolean);
  });
}

// A header is the header of one source: what it declares is defined in the .c of the same name. mustache/ is a library
// with a single public header, and NAME_internal.h may serve several sources of its folder.
export function pairs(sources) {
  const definition = /^(?!static\b)[a-z_][\w *]*?[\s*](\w+)\([^;{}]*\)\s*\n\{/gm;
  const defined = new Map(sources.files('app', /\.c$/)
    .flatMap((file) => [...sources.view(file, plainC).matchAll(definition)].map(([, name]) => [name, file])));
  const single = sources.files('app', /\.h$/).filter((file) => !/_internal\.h$|^app\/mustache\/mustache\.h$/.test(file));
  return find(sources, single, plainC, /^(?!static\b|typedef\b|#)[a-z_][\w *]*?[\s*](\w+)\([^;{}]*\)[^;{}]*;/gm, ([, name], file) => {
    const source = defined.get(name);
    return source && source !== file.replace(/\.h$/, '.c') && `${name} is defined in ${source}`;
  });
}

export function lines(sources) {
  const files = ['app', 'lua', 'sql', 'tests'].flatMap((folder) => sources.files(folder, /\.([ch]|lua|sql|cmake)$|^CMakeLists\.txt$/));
  const rules = [[/^.{121,}$/gmu, 'longer than 120 columns'], [/\t/g, 'a tab'], [/[^\S\n]$/gm, 'a blank at the end']];
  return rules.flatMap(([pattern, why]) => find(sources, files, raw, pattern, () => why));
}

// The pages that a newcomer reads whole: [which, bytes at most].
const SIZES = [[/^README/, 8 << 10], [/^docs\/ARCHITECTURE\.md$/, 20 << 10], [/^docs\/explanation\//, 15 << 10]];

// English text in Markdown is wrapped; tables, code and single long words (addresses) are not. Some pages have a limit.
export function prose(sources) {
  const docs = sources.files('docs', /\.md$/);
  const files = [...docs, ...sources.files('app', /\.md$/), 'README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'];
  const limit = (file) => SIZES.find(([which]) => which.test(file))?.[1];
  return [
    ...find(sources, files, unfenced, /^(?!\|| {4}).{121,}$/gmu,
      ([line]) => /\S \S/.test(line.replace(/^\s*([-*]|\d+\.) /, '')) && 'longer than 120 columns'),
    ...[...sources.documents(), ...docs].filter((file) => Buffer.byteLength(sources.read(file)) > limit(file))
      .map((file) => `${file}:1: larger than ${limit(file)} bytes`),
  ];
}

// A function has at most 70 lines. Its opening and closing braces are alone in column 1.
export const functions = (sources) => find(sources, sources.files('app', /\.c$/), plainC, /^\{ *\n([\s\S]*?)^\} *$/gm, ([, body]) => {
  const length = body.split('\n').length - 1;
  return length > 70 && `a function of ${length} lines`;
});

// Functions without a bound, without error reporting, or that start a shell; also NDEBUG, because asserts stay on in every
// build. In tests, functions that the node 18 of Debian 12 lacks.
export function forbidden(sources) {
  const calls = /\b(strcpy|strncpy|strcat|strncat|v?sprintf|gets|strtok|atoi|atoll?|s?rand|alloca|system|popen)\s*\(/g;
  const ndebug = (files, view) => find(sources, files, view, /NDEBUG\b/g, () => 'NDEBUG, but asserts stay on in every build');
  const later = /\.(toSorted|toReversed|toSpliced)\(|\bimport\.meta\.(dirname|filename)\b|\bPromise\.withResolvers\b|\b(Object|Map)\.groupBy\b|\bimport \{[^}]*\bcrc32\b/g;
  const builds = [...sources.files('app', /\.cmake$|^CMakeLists\.txt$/), 'CMakeLists.txt', 'CMakePresets.json'];
  return [...find(sources, sources.files('app', C), plainC, calls, ([, name]) => `${name}() is not used here`),
    ...ndebug(sources.files('app', C), plainC), ...ndebug(builds, codeShell),
    ...find(sources, sources.files('tests', /\.js$/), (text) => text, later, ([word]) => `${word}: node 18 does not have it`)];
}

// Money is whole fen: no floating point in the program or in the tables.
export const money = (sources) => [
  [sources.files('app', C), plainC, /\b(float|double)\b/g],
  [sources.files('sql', /\.sql$/), codeSql, /\b(float|double|real)\b/gi],
].flatMap(([files, view, pattern]) => find(sources, files, view, pattern, () => 'no floating point near money'));

const numbers = (text, pattern) => new Set([...text.matchAll(pattern)].map((match) => Number(match[1])));

// The faults of a script: its name has the number of its keys; its header lists keys, arguments and result.
function scriptProblems(file, text) {
  const named = /^[a-z]+(?:_[a-z]+)*-(\d+)\.lua$/.exec(basename(file));
  if (!named) return ['the name of a script is name-K.lua, with K the number of its keys'];
  const count = Number(named[1]);
  const body = codeLua(text);
  const header = /^(?:--.*\n)*/.exec(text.replace(/^#!.*\n/, ''))[0];
  const [listed, used] = [numbers(header, /KEYS\[(\d+)\]/g), numbers(body, /\bKEYS\[(\d+)\]/g)];
  // ARGV[1] is one argument, ARGV[4…17] several, ARGV[19…] all from there on, which a loop reads.
  const ranges = [...header.matchAll(/ARGV\[(\d+)(…(\d*))?\]/g)]
    .map(([, from, more, to]) => [Number(from), more ? Number(to || Infinity) : Number(from)]);
  const given = numbers(body, /\bARGV\[(\d+)\]/g);
  const range = ([from, to]) => (to === Infinity ? [] : Array.from({ length: to - from + 1 }, (_, i) => from + i));
  const keys = range([1, count]);
  return [
    ...(/^#!lua(?: name=[a-z_]+)?(?: flags=[a-z,-]+)?\n/.test(text) ? [] : ['the first line must be #!lua, so that Redis refuses writes when memory is full']),
    ...keys.filter((n) => !listed.has(n)).map((n) => `the header does not list KEYS[${n}]`),
    ...keys.filter((n) => !used.has(n)).map((n) => `KEYS[${n}] is never used`),
    ...[...new Set([...listed, ...used])].filter((n) => !keys.includes(n)).map((n) => `KEYS[${n}] is more than the ${count} keys of the name`),
    ...(/\bKEYS\b(?!\[\d+\])/.test(body) ? ['KEYS is used in another way than KEYS[n]'] : []),
    ...[...given].filter((n) => !ranges.some(([from, to]) => from <= n && n <= to)).map((n) => `the header does not list ARGV[${n}]`),
    ...ranges.flatMap(range).filter((n) => !given.has(n)).map((n) => `ARGV[${n}] is never used`),
    ...(/^-- returns /m.test(header) ? [] : ['the header has no line "-- returns …"']),
  ];
}

// Includes without a file: app/live/options.c makes them.
const MADE = ['options'];

export function lua(sources) {
  const all = sources.files('lua', /\.lua$/);
  const scripts = all.filter((file) => dirname(file) !== 'lua/include');
  return [
    ...find(sources, all, codeLua, /\bmath\.random/g, () => 'math.random gives the same numbers after every restart of Redis'),
    ...find(sources, all, raw, /^-- @include "([^"]+)"/gm, ([, name]) => !MADE.includes(name) && !sources.exists(`lua/include/${name}.lua`) && `no lua/include/${name}.lua`),
    ...scripts.flatMap((file) => scriptProblems(file, sources.read(file)).map((why) => `${file}:1: ${why}`)),
  ];
}

// lua/include/codes.lua has the names and numbers of enum live_code.
export function codes(sources) {
  const [, text] = /enum live_code \{([\s\S]*?)\}/.exec(sources.view('app/live/live.h', codeC)) ?? [];
  if (!text) return ['app/live/live.h:1: no enum live_code'];
  const read = (of, pattern) => new Map([...of.matchAll(pattern)].map(([, name, number]) => [name, number]));
  const c = read(text, /\b(LIVE_[A-Z_]+)\s*=\s*(\d+)/g);
  const l = read(sources.view('lua/include/codes.lua', codeLua), /^local (LIVE_[A-Z_]+) = (\d+)\s*$/gm);
  const differs = (name) => c.get(name) !== l.get(name);
  return [
    ...(c.size === 0 ? ['app/live/live.h:1: enum live_code has no numbers'] : []),
    ...(new Set(c.values()).size === c.size ? [] : ['app/live/live.h:1: two codes have the same number']),
    ...[...new Set([...c.keys(), ...l.keys()])].filter(differs)
      .map((name) => `lua/include/codes.lua:1: ${name} is ${l.get(name) ?? 'missing'}, in app/live/live.h ${c.get(name) ?? 'missing'}`),
    ...find(sources, sources.files('lua', /-\d+\.lua$/), codeLua, /\b(LIVE_[A-Z_]+)\b/g, ([name]) => !l.has(name) && `no code ${name}`),
  ];
}

// Templates escape by default. Raw output is only for values named html_…, which our own code makes. A form that posts has
// data-once or data-open (static/app.js), so that it is sent once. <bdi> and <code> say whether a browser may translate
// them: never a name, a code or a command. No inline scripts or styles.
export const mustache = (sources) => [
  [/\{\{\{\s*([^}\s]*)\s*\}\}\}|\{\{&\s*([^}\s]*)\s*\}\}/g,
    ([, braces, and]) => !/^(?:[a-z_]+\.)*html_[a-z_]+$/.test(braces ?? and) && `${braces ?? and} is shown raw, but its name is not html_…`],
  [/<form(?![^>]*\sdata-(?:once|open))[^>]*method="post"/g, () => 'a form that posts needs data-once or data-open: a second click sends it again'],
  [/<(?:bdi|code)(?![^>]*\stranslate=)/g, ([tag]) => `${tag}> needs translate="no", or "yes"`],
  [/\sstyle\s*=|\son[a-z]+\s*=\s*["']|<script(?![^>]*\ssrc=)[^>]*>|<style/g, ([found]) => `${found.trim()} is refused by the Content-Security-Policy`],
].flatMap(([pattern, why]) => find(sources, sources.files('templates', /\.(mustache|txt)$/), templateCode, pattern, why));

// The entries of the text catalogues, { file: Map(key → line, text, names of the values and blocks that the text shows) }.
function catalogues(sources) {
  const read = (text) => new Map(text.split('\n').map((line, i) => [/^\s*([\w-]+)\s*=(.*)$/.exec(line), i + 1]).filter(([entry]) => entry)
    .map(([[, key, words], line]) => {
      const shown = [...words.matchAll(/\{\{(\$?[a-z_.]+)\}\}/g)].map((match) => match[1]);
      return [key, { line, text: words.trim(), shown: [...new Set(shown)].sort().join(' ') }];
    }));
  return new Map(sources.files('templates/text', /\.txt$/).map((file) => [file, read(sources.read(file))]));
}

// Demo users have Chinese names in every language; the digits of a receipt's capitals follow rules; the unit of money has
// a Chinese name.
const OWN_WORDS = ['app/commands/demo.c', 'app/base/money.c', 'app/config/config.c', 'app/config/settings.c'];
const GENERATED = 'app/web/unit_texts.c'; // makes texts from the settings
const MEDIA_TYPES = ['html', 'plain', 'csv', 'calendar'];
const templateWords = (text) => templateCode(text).replace(/>[福開]</g, '><'); // which count as pictures

// The unit of money is a setting: only its default value, what amounts of yuan alone have, and the texts that are made of
// it have signs of a unit. Catalogues write ¥(AMOUNT).
const UNIT_FILES = /^app\/(base|config)\/|^app\/web\/(unit_texts|catalogue)\.[ch]$|^app\/commands\/verify_receipt\.c$/;
const catalogueText = without(/^\s*#.*/gm);
const units = (sources) => [
  [sources.files('app', C).filter((file) => !UNIT_FILES.test(file)), codeC, /[元¥]|\byuan\b/gi],
  [sources.files('templates', /\.mustache$/), templateCode, /[元¥]|\byuan\b|\b0\.0\d/gi],
  [sources.files('templates/text', /\.txt$/), catalogueText, /元|¥(?!\()|\byuan\b|\b0\.0\d/gi],
].flatMap(([files, view, sign]) => find(sources, files, view, sign, ([found]) => `${found} is of one unit of money: write ¥(…) in a catalogue`));

// Every text exists in all languages, shows the same values in each, and is used; templates, C and scripts have no texts
// of their own, and no unit of money.
export function texts(sources) {
  const all = catalogues(sources);
  const used = new Set(MEDIA_TYPES);
  const generated = new Set(sources.read(GENERATED).match(/"text\/unit\w*"/g).map((name) => name.slice(6, -1)));
  const uses = (files, view, pattern) => [...all].flatMap(([name, entries]) => find(sources, files, view, pattern, ([, key]) => {
    const given = MEDIA_TYPES.includes(key) || generated.has(key);
    used.add(key);
    return !given && !entries.has(key) && `${name} lacks ${key}`;
  }));
  const words = (files, view) => find(sources, files, view, /\p{Script=Han}+/gu, ([found]) => `${found} belongs in the catalogues`);
  const found = [
    ...uses(sources.files('templates', /\.(mustache|txt)$/), raw, /\{\{[<>]\s*text\/([\w-]+)\s*\}\}/g),
    ...uses(sources.files('app', C), codeC, /"text\/([\w-]+)"/g),
    ...words([...sources.files('app', C), ...sources.files('static', /\.js$/)].filter((file) => !OWN_WORDS.includes(file)), codeC),
    ...words(sources.files('templates', /\.mustache$/), templateWords),
    ...units(sources),
  ];
  for (const [file, entries] of all) {
    for (const [key, { line, shown }] of entries) {
      if (!used.has(key)) found.push(`${file}:${line}: ${key} is not used`);
      for (const [other, there] of all) {
        if (!there.has(key)) found.push(`${other}:1: ${key} of ${file} is missing`);
        else if (there.get(key).shown !== shown) found.push(`${file}:${line}: ${other} shows other values for ${key}`);
      }
    }
  }
  return found;
}

// Every template that the code names is in the list with which a process checks the folder at its start, and every one of
// the list is named.
export function templates(sources) {
  const list = 'app/site/templates.c';
  const name = /"((?:pages|partials|pictures|layout)\/\w+)"/g;
  const listed = new Set([...sources.read(list).matchAll(name)].map((match) => match[1]));
  const named = new Set();
  const lacks = find(sources, sources.files('app', /\.c$/).filter((file) => file !== list), codeC, name, ([, one]) => {
    named.add(one);
    return !listed.has(one) && `${list} lacks ${one}`;
  });
  return [...lacks, ...[...listed].filter((one) => !named.has(one)).map((one) => `${list}:1: ${one} is not used`)];
}

// nginx's own messages exist in every language; where the program has the same problem, the titles are equal.
export function problems(sources) {
  const file = 'nginx/http.conf';
  const maps = [...sources.read(file).matchAll(/^map \$hb_error \$hb_error_title_(\w+) \{\n([^]*?)\n\}/gm)];
  const titles = new Map(maps.flatMap(([, language, rows]) => [...rows.matchAll(/^\s*([a-z-]+)\s+"(.*)";$/gm)]
    .map(([, problem, title]) => [`${problem} ${language.replace('_', '-')}`, title])));
  if (titles.size === 0) return [`${file}:1: no map of $hb_error_title_…`];
  const why = (problem, language, entries) => {
    const title = titles.get(`${problem} ${language}`);
    const ours = entries.get(`problem_${problem.replaceAll('-', '_')}`)?.text ?? title;
    if (title === undefined) return `${problem} has no title in ${language}`;
    return title !== ours && `${problem} is "${title}" in ${language}, in the catalogue "${ours}"`;
  };
  return [...new Set([...titles.keys()].map((key) => key.split(' ')[0]))]
    .flatMap((problem) => [...catalogues(sources)].map(([name, entries]) => why(problem, basename(name, '.txt'), entries)))
    .filter(Boolean).map((said) => `${file}:1: ${said}`);
}

// The description of the API names every problem of the program, except those that no operation of it leads to.
export function refusals(sources) {
  const undescribed = ['405 method-not-allowed', '500 internal'];
  const described = sources.read('app/site/api_operations.c') + sources.read('app/site/api.c');
  return find(sources, sources.files('app', /\.c$/), raw, /\bconst struct problem \w+ = \{ (\d{3}), "([a-z-]+)"/g, ([, status, type]) =>
    !described.includes(`${status}, "${type}"`) && !undescribed.includes(`${status} ${type}`)
    && `${status} ${type} is not in app/site/api_operations.c`);
}

// nginx passes no request header automatically: every parameter that the program reads must be in the list. And nginx
// buffers: the program reads requests and writes answers with blocking calls (app/io/fcgi.h), which a slow visitor must
// not delay.
export function nginx(sources) {
  const passed = new Set(sources.files('nginx', /\.conf$/)
    .flatMap((file) => [...sources.read(file).matchAll(/^\s*fastcgi_param\s+([A-Z_]+)\s/gm)].map((match) => match[1])));
  return [
    ...find(sources, [...sources.files('nginx'), ...sources.files('deploy')], codeShell, /\bfastcgi_(?:request_)?buffering\s+off\b/g,
      ([found]) => `${found} lets a visitor block a whole process`),
    ...find(sources, sources.files('app', /\.c$/), codeC, /\b(?:fcgi_param|exchange_param)\([^,()]+,\s*"([A-Z_]+)"\)/g,
      ([, name]) => !passed.has(name) && `nginx/ does not pass ${name}`),
  ];
}

// The product's limits of time, in seconds: most test sites have longer ones (tests/support/servers), so the values are
// checked here. In each wait the program gives up before nginx does, and answers with what it knows.
const LIMITS_OF_TIME = [
  ['redis round', 'app/config/settings.c', /SETTING_INT\(redis_timeout_ms, \d+, \d+, "(\d+)"/, 0.8, 1000],
  ['mysql statement', 'app/config/settings.c', /SETTING_INT\(mysql_timeout_s, \d+, \d+, "(\d+)"/, 2],
  ['idle transaction', 'app/mysql/db_session.c', /#define IDLE_TRANSACTION_S "(\d+)"/, 4],
  ['lock wait', 'app/mysql/db_connection.c', /\bLOCK_WAIT_S = (\d+)/, 3],
  ['hot connect', 'nginx/snippets/fastcgi-hot.conf', /^fastcgi_connect_timeout (\d+)s;/m, 1],
  ['hot send', 'nginx/snippets/fastcgi-hot.conf', /^fastcgi_send_timeout (\d+)s;/m, 3],
  ['hot read', 'nginx/snippets/fastcgi-hot.conf', /^fastcgi_read_timeout (\d+)s;/m, 3],
  ['page connect', 'nginx/snippets/fastcgi-page.conf', /^fastcgi_connect_timeout (\d+)s;/m, 2],
  ['page send', 'nginx/snippets/fastcgi-page.conf', /^fastcgi_send_timeout (\d+)s;/m, 10],
  ['page read', 'nginx/site.conf', /^fastcgi_read_timeout (\d+)s;/m, 10],
  ['readyz read', 'nginx/site.conf', /^location = \/readyz \{[^}]*\bfastcgi_read_timeout (\d+)s;/m, 4],
  ['download read', 'nginx/site.conf', /^location \^~ \/records\/ \{[^}]*\bfastcgi_read_timeout (\d+)s;/m, 60],
  ['client header', 'nginx/server.conf', /^client_header_timeout (\d+)s;/m, 10],
  ['client body', 'nginx/server.conf', /^client_body_timeout (\d+)s;/m, 5],
  ['client send', 'nginx/server.conf', /^send_timeout (\d+)s;/m, 10],
  ['node of Redis Cluster', 'deploy/redis/cluster.conf', /^cluster-node-timeout (\d+)$/m, 2, 1000],
  ['primary of Sentinel', 'deploy/dev/cluster/sentinel.conf.in', /^sentinel down-after-milliseconds hongbao (\d+)$/m, 2, 1000],
  ['node of Galera', 'deploy/mariadb/galera.cnf', /\bsuspect_timeout=PT(\d+)S"/, 2],
];
const SHORTER = [
  ['redis round', 'hot read'], ['mysql statement', 'hot read'], ['mysql statement', 'readyz read'], ['idle transaction', 'page read'],
  ['hot read', 'page read'], ['page read', 'download read'],
];

export function deadlines(sources) {
  const found = Object.fromEntries(LIMITS_OF_TIME.map(([name, file, pattern, , unit = 1]) => [name, Number(pattern.exec(sources.read(file))?.[1]) / unit]));
  return [
    ...LIMITS_OF_TIME.filter(([name, , , wanted]) => found[name] !== wanted)
      .map(([name, file, , wanted]) => `${file}: the limit of ${name} is ${found[name]} s, not ${wanted} s (tests/tidy/checks.js)`),
    ...SHORTER.filter(([first, second]) => !(found[first] < found[second]))
      .map(([first, second]) => `the limit of ${first} is not shorter than that of ${second}`),
  ];
}

// The anchors of a document, as GitHub makes them of its headings.
const anchors = (text) => new Set([...unfenced(text).matchAll(/^#+ (.*)$/gm)]
  .map(([, heading]) => heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-')));

// Files that documents and comments name exist: links and their anchors, paths in code quotes, files of other floors. Paths
// with NAME or NNNN are placeholders. docs/README.md links every document, or docs/ARCHITECTURE.md does.
export function references(sources) {
  const index = ['docs/README.md', 'docs/ARCHITECTURE.md'];
  const documents = sources.files('docs', /\.md$/);
  const pages = [...sources.documents(), ...documents];
  const code = sources.files('app', C);
  const missing = (files, pattern, folderOf) => find(sources, files, raw, pattern,
    ([, name], file) => !/NAME|NNNN/.test(name) && !sources.exists(join(folderOf(file), name)) && `no file ${name}`);
  return [
    ...missing(pages, /\]\((?![a-z]+:|#)([^)#\s]+)/g, dirname),
    ...find(sources, pages, raw, /\]\((?![a-z]+:)([^)#\s]*)#([^)\s]+)\)/g, ([link, page, anchor], file) => {
      const target = page ? join(dirname(file), page) : file;
      return sources.exists(target) && !sources.view(target, anchors).has(anchor) && `no heading for ${link.slice(1)}`;
    }),
    ...missing(pages, /`((?:app|lua|sql|templates|static|nginx|deploy|tests|docs)\/[\w./-]*)`/g, () => '.'),
    ...missing(code, new RegExp(`(?<![\\w/"])((?:${floors(sources).join('|')})/\\w+\\.[ch])\\b`, 'g'), () => 'app'),
    ...missing(code, /(?<![\w/])((?:app|docs|lua|sql)\/[\w/-]+\.(?:[ch]|md|lua|sql))\b/g, () => '.'),
    ...documents.filter((page) => page !== index[0] && !index.some((file) => sources.read(file).includes(`](${relative('docs', page)}`)))
      .map((page) => `${index[0]}:1: no link to ${page}`),
  ];
}

// Each block of commands in README.md, CONTRIBUTING.md and docs is run by the test that the page names, or is marked as not
// run, with a reason (how_to_blocks.js).
export function commands(sources) {
  return ['README.md', 'CONTRIBUTING.md', ...sources.files('docs', /\.md$/)].flatMap((file) => {
    const blocks = sources.view(file, blocksRead).filter(({ reason }) => !reason);
    const runs = (runner) => sources.exists(runner) && sources.read(runner).includes(`${basename(file)}'`);
    return [
      ...blocks.filter(({ runner }) => !runner).map(({ index }) => `${file}:${lineOf(sources.read(file), index)}: which test runs this? `
        + '<!-- run by tests/… --> or <!-- not run: REASON -->'),
      ...[...new Set(blocks.map(({ runner }) => runner))].filter((runner) => runner && !runs(runner))
        .map((runner) => `${file}:1: ${runner} does not run this page`),
    ];
  });
}

// The map in docs/ARCHITECTURE.md is complete: the commands of main.c, the folders of tests/.
export function map(sources) {
  const file = 'docs/ARCHITECTURE.md';
  const main = sources.read('app/main.c').replace(/^#ifdef HB_CRASH_POINTS[\s\S]*?^#endif/gm, '');
  const commands = [...main.matchAll(/^ {4}\{ "([a-z-]+)"/gm)].map((match) => match[1]).filter((name) => name !== 'version' && name !== 'help');
  const folders = new Set(sources.files('tests').map((path) => path.split('/')).filter((path) => path.length > 2).map(([, name]) => name));
  folders.delete('support');
  const compare = (what, row, there) => {
    const listed = new RegExp(`^\\| \`${row}\` \\|.*: ([a-z0-9 -]+) \\|`, 'm').exec(sources.read(file))?.[1] ?? '';
    const names = listed.trim().split(/\s+/);
    return [...there.filter((name) => !names.includes(name)).map((name) => `${file}:1: the map lacks the ${what} ${name}`),
      ...names.filter((name) => !there.includes(name)).map((name) => `${file}:1: there is no ${what} "${name}"`)];
  };
  return [...compare('command', 'app/main.c', commands), ...compare('folder of tests/', 'tests/', [...folders])];
}

// The number of requirements of the levels 1 and 2 in each section of OWASP ASVS 5.0.0, where the requirements of level
// 3 are last.
const ASVS = {
  1.1: 2, 1.2: 9, 1.3: 11, 1.4: 3, 1.5: 2, 2.1: 3, 2.2: 3, 2.3: 4, 2.4: 1, 3.2: 2, 3.3: 4, 3.4: 6, 3.5: 5, 3.7: 2, 4.1: 3, 4.2: 1,
  4.3: 2, 4.4: 4, 5.1: 1, 5.2: 3, 5.3: 2, 5.4: 3, 6.1: 3, 6.2: 12, 6.3: 4, 6.4: 4, 6.5: 5, 6.6: 3, 6.8: 4, 7.1: 3, 7.2: 4, 7.3: 2,
  7.4: 5, 7.5: 2, 7.6: 2, 8.1: 2, 8.2: 3, 8.3: 1, 8.4: 1, 9.1: 3, 9.2: 4, '10.1': 2, 10.2: 2, 10.3: 4, 10.4: 11, 10.5: 5, 10.6: 2,
  10.7: 3, 11.1: 2, 11.2: 3, 11.3: 3, 11.4: 4, 11.5: 1, 11.6: 1, 12.1: 3, 12.2: 2, 12.3: 4, 13.1: 1, 13.2: 5, 13.3: 2, 13.4: 5,
  14.1: 2, 14.2: 4, 14.3: 3, 15.1: 3, 15.2: 3, 15.3: 7, 16.1: 1, 16.2: 5, 16.3: 4, 16.4: 3, 16.5: 3, 17.1: 1, 17.2: 4, 17.3: 2,
};

// docs/SECURITY.md names each requirement of the standard once, with a state and what shows it. A difference is explained.
export function asvs(sources) {
  const file = 'docs/SECURITY.md';
  const text = sources.read(file);
  const missing = new Set(Object.entries(ASVS).flatMap(([section, count]) => Array.from({ length: count }, (_, i) => `${section}.${i + 1}`)));
  const reason = (name) => new RegExp(`\\*\\*[^*]*\\b${name}\\b[^*]*\\*\\*`).test(text);
  // What is wrong with the words "10.4.1–11" of a row.
  const wrong = (words, state) => {
    const [, section, first, last = first] = /^(\d+\.\d+)\.(\d+)(?:–(\d+))?$/.exec(words) ?? [];
    if (!section) return [`"${words}" is no requirement`];
    const names = Array.from({ length: last - first + 1 }, (_, i) => `${section}.${Number(first) + i}`);
    return names.flatMap((name) => [!missing.delete(name) && `${name} is named twice, or not of level 1 or 2`,
      state === 'differs' && !reason(name) && `${name} differs without a reason`]);
  };
  const found = text.split('\n').flatMap((line, i) => {
    const [, numbers, state, shown] = /^\| (\d+\.\d+\.[^|]*?) \| [^|]+ \| ([^|]*?) \| (.*?) ?\|$/.exec(line) ?? [];
    if (!numbers) return [];
    return [!['yes', 'n/a', 'differs', 'open'].includes(state) && `the state "${state}"`, !shown && 'nothing shows it',
      ...numbers.split(', ').flatMap((words) => wrong(words, state))].filter(Boolean).map((why) => `${file}:${i + 1}: ${why}`);
  });
  return [...found, ...[...missing].map((name) => `${file}:1: ${name} is not there`)];
}

// The first line of a migration says whether an older program works with the tables afterwards (docs/how-to/migrations.md).
// A function that replaces one says which file has the one before it, so that nobody copies an older text. Files that are
// older than a rule are let alone, because no applied file changes.
const LAST_WITHOUT_HEAD = 18, LAST_WITHOUT_ORIGIN = 30;
export const migrations = (sources) => {
  const found = [], newest = new Map();
  for (const file of sources.files('sql/migrations', /\.sql$/).sort()) {
    const text = sources.read(file), number = basename(file).slice(0, 4);
    if (Number(number) > LAST_WITHOUT_HEAD && !/^-- additive: (yes|no, .*\S)\n/.test(text))
      found.push(`${file}:1: the first line must be "-- additive: yes" or "-- additive: no, REASON"`);
    for (const { 1: words, 2: name, index } of text.matchAll(/((?:^--.*\n)*)^CREATE OR REPLACE FUNCTION (\w+)\b/gm)) {
      const before = newest.get(name);
      const line = text.slice(0, index + words.length).split('\n').length;
      if (before && Number(number) > LAST_WITHOUT_ORIGIN && !words.includes(`As ${before} has it`))
        found.push(`${file}:${line}: ${name} replaces that of ${before}: say "As ${before} has it" above it, and what is new`);
      newest.set(name, number);
    }
    for (const [, name] of text.matchAll(/^CREATE FUNCTION (\w+)\b/gm)) newest.set(name, number);
  }
  return found;
};

// JSON that people edit has one form.
export const json = (sources) => JSON_FILES.filter((file) => jsonForm(sources.read(file)) !== sources.read(file))
  .map((file) => `${file}:1: not in its form; node tests/support/json_form.js writes it`);

// The lists of tests/mutants still fit the sources.
export const mutants = (sources) => [...equivalents(sources).problems, ...plants(sources).problems];

export const checks = {
  includes, circles, domain, rooms, headers, pairs, lines, prose, functions, forbidden, money, lua, codes, mustache,
  texts, templates, problems, refusals, nginx, deadlines, references, commands, map, asvs, migrations, json, mutants,
  english, changelog,
};
