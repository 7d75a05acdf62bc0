// Rules about the sources that a compiler does not check. Each check takes the project's folder and returns the
// violations as lines `file:line: why`. tidy.test.js plants violations of each kind and asserts that they are found.
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { blocksRead } from '../e2e/support/how_to_blocks.js';
import { mutantsRead } from '../mutants/list.js';

// The order of the floors: CMake reads the same file.
const floors = (root) => read(root, 'app/FLOORS.txt').split('\n').filter((line) => /^[a-z]/.test(line));
const FUNCTION_LINES_MAX = 70;
const LINE_COLUMNS_MAX = 120;
// Functions without a bound, without error reporting, or that start a shell.
const FORBIDDEN = new RegExp(`\\b(${[
  'strcpy', 'strncpy', 'strcat', 'strncat', 'sprintf', 'vsprintf', 'gets', 'strtok', 'atoi', 'atol', 'atoll', 'rand',
  'srand', 'alloca', 'system', 'popen',
].join('|')})\\s*\\(`);

function files(root, folder, pattern) {
  const found = [];
  const walk = (dir) => {
    for (const name of readdirSync(dir).sort()) {
      if (name === 'node_modules' || name.startsWith('.')) continue;
      const path = join(dir, name);
      if (statSync(path).isDirectory()) walk(path);
      else if (pattern.test(name)) found.push(relative(root, path));
    }
  };
  if (existsSync(join(root, folder))) walk(join(root, folder));
  return found;
}

const read = (root, file) => readFileSync(join(root, file), 'utf8');
const lineOf = (text, index) => text.slice(0, index).split('\n').length;

// The text with comments, and with strings: true also strings, replaced by spaces: line numbers stay the same.
function code(text, { strings = true } = {}) {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/g, (token) => {
    const isString = token[0] === '"' || token[0] === "'";
    return isString && !strings ? token : token.replace(/[^\n]/g, ' ');
  });
}

// A floor includes only headers of its own and of the floors below; NAME_internal.h is for its own folder only.
export function includes(root) {
  const problems = [];
  const FLOORS = floors(root);
  for (const file of files(root, 'app', /\.[ch]$/)) {
    const folder = file.split('/')[1];
    const from = FLOORS.indexOf(folder);
    if (from < 0 && file !== 'app/main.c') problems.push(`${file}:1: app/${folder} is no floor`);
    const text = code(read(root, file), { strings: false });
    for (const match of text.matchAll(/^[ \t]*#[ \t]*include[ \t]+"([^"]+)"/gm)) {
      const to = FLOORS.indexOf(match[1].split('/')[0]);
      const where = `${file}:${lineOf(text, match.index)}`;
      if (!existsSync(join(root, 'app', match[1]))) problems.push(`${where}: no file app/${match[1]}`);
      else if (to < 0) problems.push(`${where}: "${match[1]}" is not on a floor`);
      else if (from >= 0 && to > from) problems.push(`${where}: ${folder}/ must not include ${match[1]}`);
      else if (/_internal\.h$/.test(match[1]) && match[1].split('/')[0] !== folder) {
        problems.push(`${where}: ${match[1]} is for its own folder only`);
      }
    }
  }
  return problems;
}

// web/ is HTTP only: no word of the service's domain.
export function domain(root) {
  const problems = [];
  const words = /packet|grab|escrow|wallet|refund|envelope|settle/i;
  for (const file of files(root, 'app/web', /\.[ch]$/)) {
    read(root, file).split('\n').forEach((line, i) => {
      const match = words.exec(line);
      if (match) problems.push(`${file}:${i + 1}: web/ must not speak of the domain: ${match[0]}`);
    });
  }
  return problems;
}

// The CMakeLists.txt of every floor begins with a comment: what the floor has, and what it may know.
export function rooms(root) {
  return floors(root).map((floor) => `app/${floor}/CMakeLists.txt`)
    .filter((file) => !existsSync(join(root, file)) || !/^# \S.*\n/.test(read(root, file)))
    .map((file) => `${file}:1: no first comment: what does this floor have, and what may it know?`);
}

// A header begins with a comment on its purpose, and has an include guard: HB_BASE_STR_H for app/base/str.h.
export function headers(root) {
  const problems = [];
  for (const file of files(root, 'app', /\.h$/)) {
    const guard = `HB_${file.slice('app/'.length).replace(/[^A-Za-z0-9]/g, '_').toUpperCase()}`;
    const text = read(root, file);
    if (!text.startsWith('/* ')) problems.push(`${file}:1: no comment on its purpose`);
    if (!text.includes(`#ifndef ${guard}\n#define ${guard}\n`)) problems.push(`${file}:1: the guard must be ${guard}`);
  }
  return problems;
}

// A header is the header of one source: what it declares is defined in the .c of the same name. mustache/ is a library
// with a single public header, and NAME_internal.h may serve several sources of its folder.
export function pairs(root) {
  const problems = [];
  const plain = (file) => code(read(root, file));
  const defined = new Map();
  for (const file of files(root, 'app', /\.c$/)) {
    for (const [, name] of plain(file).matchAll(/^(?!static\b)[a-z_][\w *]*?[\s*](\w+)\([^;{}]*\)\s*\n\{/gm)) defined.set(name, file);
  }
  for (const file of files(root, 'app', /\.h$/)) {
    if (/_internal\.h$/.test(file) || file === 'app/mustache/mustache.h') continue;
    const text = plain(file);
    for (const match of text.matchAll(/^(?!static\b|typedef\b|#)[a-z_][\w *]*?[\s*](\w+)\([^;{}]*\)[^;{}]*;/gm)) {
      const source = defined.get(match[1]);
      if (source && source !== file.replace(/\.h$/, '.c')) {
        problems.push(`${file}:${lineOf(text, match.index)}: ${match[1]} is defined in ${source}`);
      }
    }
  }
  return problems;
}

export function lines(root) {
  const problems = [];
  for (const folder of ['app', 'lua', 'sql', 'tests']) {
    for (const file of files(root, folder, /\.([ch]|lua|sql|cmake)$|^CMakeLists\.txt$/)) {
      read(root, file).split('\n').forEach((line, i) => {
        const where = `${file}:${i + 1}`;
        if ([...line].length > LINE_COLUMNS_MAX) problems.push(`${where}: longer than ${LINE_COLUMNS_MAX} columns`);
        if (line.includes('\t')) problems.push(`${where}: a tab`);
        if (/\s$/.test(line)) problems.push(`${where}: a blank at the end`);
      });
    }
  }
  return problems;
}

// English text in Markdown is wrapped; tables, code and single long words (addresses) are not.
export function prose(root) {
  const problems = [];
  for (const file of [...files(root, 'docs', /\.md$/), ...files(root, 'app', /\.md$/), 'README.md', 'SECURITY.md']) {
    let fenced = false;
    read(root, file).split('\n').forEach((line, i) => {
      if (/^\s*```/.test(line)) fenced = !fenced;
      const isText = !fenced && !line.startsWith('|') && !line.startsWith('    ') && /\S \S/.test(line.replace(/^\s*([-*]|\d+\.) /, ''));
      if (isText && [...line].length > LINE_COLUMNS_MAX) problems.push(`${file}:${i + 1}: longer than ${LINE_COLUMNS_MAX} columns`);
    });
  }
  return problems;
}

// A function has at most FUNCTION_LINES_MAX lines. Its opening and closing braces are alone in column 1.
export function functions(root) {
  const problems = [];
  for (const file of files(root, 'app', /\.c$/)) {
    const lines = code(read(root, file)).split('\n');
    let start = -1;
    lines.forEach((line, i) => {
      if (line.trimEnd() === '{') start = i;
      if (line.trimEnd() === '}' && start >= 0) {
        const length = i - start - 1;
        if (length > FUNCTION_LINES_MAX) problems.push(`${file}:${start + 1}: a function of ${length} lines`);
        start = -1;
      }
    });
  }
  return problems;
}

// Forbidden calls; also NDEBUG, because asserts stay on in every build.
export function forbidden(root) {
  const problems = [];
  for (const file of files(root, 'app', /\.[ch]$/)) {
    code(read(root, file)).split('\n').forEach((line, i) => {
      const match = FORBIDDEN.exec(line);
      if (match) problems.push(`${file}:${i + 1}: ${match[1]}() is not used here`);
    });
  }
  const builds = [...files(root, 'app', /\.([ch]|cmake)$|^CMakeLists\.txt$/), 'CMakeLists.txt', 'CMakePresets.json'];
  for (const file of builds.filter((name) => existsSync(join(root, name)))) {
    const text = read(root, file);
    const plain = /\.[ch]$/.test(file) ? code(text) : text.replace(/#.*/g, '');
    plain.split('\n').forEach((line, i) => {
      if (/NDEBUG\b/.test(line)) problems.push(`${file}:${i + 1}: NDEBUG, but asserts stay on in every build`);
    });
  }
  return problems;
}

// Money is whole fen: no floating point in the program or in the tables.
export function money(root) {
  const problems = [];
  const look = (file, text, pattern) => text.split('\n').forEach((line, i) => {
    if (pattern.test(line)) problems.push(`${file}:${i + 1}: no floating point near money`);
  });
  for (const file of files(root, 'app', /\.[ch]$/)) look(file, code(read(root, file)), /\b(float|double)\b/);
  for (const file of files(root, 'sql', /\.sql$/)) {
    look(file, read(root, file).replace(/--.*|'[^']*'/g, ''), /\b(float|double|real)\b/i);
  }
  return problems;
}

const luaCode = (text) => text.replace(/--\[\[[\s\S]*?\]\]|--[^\n]*/g, (token) => token.replace(/[^\n]/g, ' '));
const numbers = (text, pattern) => new Set([...text.matchAll(pattern)].map((match) => Number(match[1])));

// The name of a script has the number of its keys; its header lists keys, arguments and result.
export function lua(root) {
  const problems = [];
  for (const file of files(root, 'lua', /\.lua$/)) {
    const say = (why) => problems.push(`${file}:1: ${why}`);
    const text = read(root, file);
    const body = luaCode(text.replace(/^#!.*/, ''));
    if (/\bmath\.random/.test(body)) say('math.random gives the same numbers after every restart of Redis');
    for (const [, name] of text.matchAll(/^-- @include "([^"]+)"/gm)) {
      if (!existsSync(join(root, 'lua/include', `${name}.lua`))) say(`no lua/include/${name}.lua`);
    }
    if (dirname(file) === 'lua/include') continue;

    const named = /^[a-z]+(?:_[a-z]+)*-(\d+)\.lua$/.exec(basename(file));
    if (!named) {
      say('the name of a script is name-K.lua, with K the number of its keys');
      continue;
    }
    const count = Number(named[1]);
    if (!/^#!lua(?: name=[a-z_]+)?(?: flags=[a-z,-]+)?\n/.test(text)) {
      say('the first line must be #!lua, so that Redis refuses writes when memory is full');
    }
    const header = /^(?:--.*\n)*/.exec(text.replace(/^#!.*\n/, ''))[0];
    const want = Array.from({ length: count }, (_, i) => i + 1);
    const told = numbers(header, /KEYS\[(\d+)\]/g);
    const used = numbers(body, /\bKEYS\[(\d+)\]/g);
    for (const n of want) {
      if (!told.has(n)) say(`the header does not list KEYS[${n}]`);
      if (!used.has(n)) say(`KEYS[${n}] is never used`);
    }
    for (const n of new Set([...told, ...used])) {
      if (n < 1 || n > count) say(`KEYS[${n}] is more than the ${count} keys of the name`);
    }
    if (/\bKEYS\b(?!\[\d+\])/.test(body)) say('KEYS is used in another way than KEYS[n]');
    // ARGV[1] is one argument, ARGV[4…17] several, ARGV[19…] all from there on.
    const ranges = [...header.matchAll(/ARGV\[(\d+)(…(\d*))?\]/g)]
      .map(([, from, more, to]) => [Number(from), more ? Number(to || Infinity) : Number(from)]);
    const given = numbers(body, /\bARGV\[(\d+)\]/g);
    for (const n of given) {
      if (!ranges.some(([from, to]) => from <= n && n <= to)) say(`the header does not list ARGV[${n}]`);
    }
    for (const [from, to] of ranges) {
      if (to === Infinity) continue; // read in a loop
      for (let n = from; n <= to; n++) if (!given.has(n)) say(`ARGV[${n}] is never used`);
    }
    if (!/^-- returns /m.test(header)) say('the header has no line "-- returns …"');
  }
  return problems;
}

// lua/include/codes.lua has the names and numbers of enum live_code.
export function codes(root) {
  const enumText = /enum live_code \{([\s\S]*?)\}/.exec(code(read(root, 'app/live/live.h')));
  if (!enumText) return ['app/live/live.h:1: no enum live_code'];
  const pairs = (text, pattern) => new Map([...text.matchAll(pattern)].map(([, name, number]) => [name, number]));
  const c = pairs(enumText[1], /\b(LIVE_[A-Z_]+)\s*=\s*(\d+)/g);
  const l = pairs(luaCode(read(root, 'lua/include/codes.lua')), /^local (LIVE_[A-Z_]+) = (\d+)\s*$/gm);
  const problems = [];
  if (c.size === 0) problems.push('app/live/live.h:1: enum live_code has no numbers');
  if (new Set(c.values()).size !== c.size) problems.push('app/live/live.h:1: two codes have the same number');
  for (const name of new Set([...c.keys(), ...l.keys()])) {
    const [inC, inLua] = [c, l].map((codes) => codes.get(name) ?? 'missing');
    if (inC !== inLua) problems.push(`lua/include/codes.lua:1: ${name} is ${inLua}, in app/live/live.h ${inC}`);
  }
  for (const file of files(root, 'lua', /-\d+\.lua$/)) {
    for (const [, name] of luaCode(read(root, file)).matchAll(/\b(LIVE_[A-Z_]+)\b/g)) {
      if (!l.has(name)) problems.push(`${file}:1: no code ${name}`);
    }
  }
  return problems;
}

// lua/view-4.lua returns the options of a packet, and its header lists them, in the order of OPTIONS in app/live/options.c.
export function options(root) {
  const table = /\} OPTIONS\[\] = \{([\s\S]*?)\n\};/.exec(read(root, 'app/live/options.c'))?.[1] ?? '';
  const names = [...table.matchAll(/\{ "(\w+)"/g)].map(([, name]) => name).join(', ');
  if (names === '') return ['app/live/options.c:1: no OPTIONS'];
  const script = read(root, 'lua/view-4.lua');
  const places = {
    header: /it has no options, or \{([^}]*)\}/.exec(script.replace(/\n--\s+/g, ' '))?.[1],
    'call of HMGET': /local options = [^(]*\('HMGET', KEYS\[1\],([^)]*)\)/.exec(luaCode(script))?.[1].replaceAll("'", ''),
  };
  return Object.entries(places).map(([place, list]) => [place, (list ?? 'nothing').trim().replace(/\s+/g, ' ')])
    .filter(([, list]) => list !== names)
    .map(([place, list]) => `lua/view-4.lua:1: the ${place} has ${list}; app/live/options.c has ${names}`);
}

// The text with comments replaced by spaces: line numbers stay the same.
const templateCode = (text) => text.replace(/\{\{![\s\S]*?\}\}/g, (token) => token.replace(/[^\n]/g, ' '));

// Templates escape by default. Raw output is only for values named html_…, which our own code makes. A form that posts has
// data-once or data-open (static/app.js), so that it is sent once. <bdi> and <code> say whether a browser may translate
// them: never a name, a code or a command. No inline scripts or styles.
export function mustache(root) {
  const problems = [];
  for (const file of files(root, 'templates', /\.(mustache|txt)$/)) {
    const text = templateCode(read(root, file));
    const say = (match, why) => problems.push(`${file}:${lineOf(text, match.index)}: ${why}`);
    for (const match of text.matchAll(/\{\{\{\s*([^}\s]*)\s*\}\}\}|\{\{&\s*([^}\s]*)\s*\}\}/g)) {
      const name = match[1] ?? match[2];
      if (!/^(?:[a-z_]+\.)*html_[a-z_]+$/.test(name)) say(match, `${name} is shown raw, but its name is not html_…`);
    }
    for (const match of text.matchAll(/<form(?![^>]*\sdata-(?:once|open))[^>]*method="post"/g)) {
      say(match, 'a form that posts needs data-once or data-open: a second click sends it again');
    }
    for (const match of text.matchAll(/<(?:bdi|code)(?![^>]*\stranslate=)/g)) say(match, `${match[0]}> needs translate="no", or "yes"`);
    for (const match of text.matchAll(/\sstyle\s*=|\son[a-z]+\s*=\s*["']|<script(?![^>]*\ssrc=)[^>]*>|<style/g)) {
      say(match, `${match[0].trim()} is refused by the Content-Security-Policy`);
    }
  }
  return problems;
}

// The entries of a text catalogue by key: line, text, and the names of the values and blocks that the text shows.
function catalogue(root, file) {
  const entries = new Map();
  read(root, file).split('\n').forEach((line, i) => {
    const entry = /^\s*([\w-]+)\s*=(.*)$/.exec(line);
    if (!entry) return;
    const text = entry[2].trim();
    const shown = [...text.matchAll(/\{\{(\$?[a-z_.]+)\}\}/g)].map((match) => match[1]);
    entries.set(entry[1], { line: i + 1, text, shown: [...new Set(shown)].sort().join(' ') });
  });
  return entries;
}

// Demo users have Chinese names in every language; the digits of a receipt's capitals follow rules.
const OWN_WORDS = ['app/ops/demo.c', 'app/base/money.c'];

// Every text exists in all languages, shows the same values in each, and is used; templates, C and scripts have no texts
// of their own. (福 and 開 count as pictures.)
export function texts(root) {
  const problems = [];
  const catalogues = new Map(files(root, 'templates/text', /\.txt$/).map((file) => [file, catalogue(root, file)]));
  const used = new Set();
  const use = (folder, pattern, mention) => {
    for (const file of files(root, folder, pattern)) {
      const text = /\.[ch]$/.test(file) ? code(read(root, file), { strings: false }) : read(root, file);
      for (const match of text.matchAll(mention)) {
        if (match[1] === 'html' || match[1] === 'plain' || match[1] === 'csv' || match[1] === 'calendar') continue; // the media types
        used.add(match[1]);
        for (const [name, entries] of catalogues) {
          if (!entries.has(match[1])) problems.push(`${file}:${lineOf(text, match.index)}: ${name} lacks ${match[1]}`);
        }
      }
    }
  };
  use('templates', /\.(mustache|txt)$/, /\{\{[<>]\s*text\/([\w-]+)\s*\}\}/g);
  use('app', /\.[ch]$/, /"text\/([\w-]+)"/g);
  const words = (file, text) => {
    for (const match of text.matchAll(/\p{Script=Han}+/gu)) {
      problems.push(`${file}:${lineOf(text, match.index)}: ${match[0]} belongs in the catalogues`);
    }
  };
  for (const file of [...files(root, 'app', /\.[ch]$/), ...files(root, 'static', /\.js$/)]) {
    if (!OWN_WORDS.includes(file)) words(file, code(read(root, file), { strings: false }));
  }
  for (const file of files(root, 'templates', /\.mustache$/)) {
    words(file, templateCode(read(root, file)).replace(/>[福開]</g, '><'));
  }
  for (const [file, entries] of catalogues) {
    for (const [key, { line, shown }] of entries) {
      if (!used.has(key)) problems.push(`${file}:${line}: ${key} is not used`);
      for (const [other, there] of catalogues) {
        if (!there.has(key)) problems.push(`${other}:1: ${key} of ${file} is missing`);
        else if (there.get(key).shown !== shown) problems.push(`${file}:${line}: ${other} shows other values for ${key}`);
      }
    }
  }
  return problems;
}

// Every template that the code names is in the list with which a process checks the folder at its start, and every one of
// the list is named.
export function templates(root) {
  const list = 'app/ops/site_templates.c';
  const name = /"((?:pages|partials|pictures|layout)\/\w+)"/g;
  const listed = new Set([...read(root, list).matchAll(name)].map((match) => match[1]));
  const named = new Set();
  const problems = [];
  for (const file of files(root, 'app', /\.c$/)) {
    const text = code(read(root, file), { strings: false });
    if (file === list) continue;
    for (const match of text.matchAll(name)) {
      named.add(match[1]);
      if (!listed.has(match[1])) problems.push(`${file}:${lineOf(text, match.index)}: ${list} lacks ${match[1]}`);
    }
  }
  for (const one of listed) if (!named.has(one)) problems.push(`${list}:1: ${one} is not used`);
  return problems;
}

// nginx's own messages exist in every language; where the program has the same problem, the titles are equal.
export function problems(root) {
  const file = 'nginx/http.conf';
  const found = [];
  const catalogues = files(root, 'templates/text', /\.txt$/)
    .map((name) => [basename(name, '.txt'), catalogue(root, name)]);
  const titles = new Map([...read(root, file).matchAll(/^map \$hb_error \$hb_error_title_(\w+) \{\n([^]*?)\n\}/gm)]
    .map(([, language, rows]) => [language.replace('_', '-'), rows]));
  const said = new Map([...titles].flatMap(([language, rows]) => [...rows.matchAll(/^\s*([a-z-]+)\s+"(.*)";$/gm)]
    .map(([, problem, title]) => [`${problem} ${language}`, title])));
  if (said.size === 0) return [`${file}:1: no map of $hb_error_title_…`];
  for (const problem of new Set([...said.keys()].map((key) => key.split(' ')[0]))) {
    for (const [language, entries] of catalogues) {
      const title = said.get(`${problem} ${language}`);
      const ours = entries.get(`problem_${problem.replaceAll('-', '_')}`)?.text ?? title;
      if (title === undefined) found.push(`${file}:1: ${problem} has no title in ${language}`);
      else if (title !== ours) found.push(`${file}:1: ${problem} is "${title}" in ${language}, in the catalogue "${ours}"`);
    }
  }
  return found;
}

// The description of the API names every problem of the program, but those that no operation of it leads to.
export function refusals(root) {
  const found = [];
  const undescribed = ['405 method-not-allowed', '500 internal'];
  const described = read(root, 'app/ops/api_operations.c') + read(root, 'app/ops/api.c');
  for (const file of files(root, 'app', /\.c$/)) {
    const text = read(root, file);
    for (const match of text.matchAll(/\bconst struct problem \w+ = \{ (\d{3}), "([a-z-]+)"/g)) {
      const [, status, type] = match;
      if (!described.includes(`${status}, "${type}"`) && !undescribed.includes(`${status} ${type}`)) {
        found.push(`${file}:${lineOf(text, match.index)}: ${status} ${type} is not in app/ops/api_operations.c`);
      }
    }
  }
  return found;
}

// nginx passes no request header automatically: every parameter that the program reads must be in the list. And nginx
// buffers: the program reads requests and writes answers with blocking calls (app/io/fcgi.h), which a slow visitor must
// not delay.
export function nginx(root) {
  const passed = new Set();
  const problems = [];
  for (const file of [...files(root, 'nginx', /./), ...files(root, 'deploy', /./)]) {
    const text = read(root, file).replace(/#.*/g, '');
    for (const match of text.matchAll(/\bfastcgi_(?:request_)?buffering\s+off\b/g)) {
      problems.push(`${file}:${lineOf(text, match.index)}: ${match[0]} lets a visitor block a whole process`);
    }
  }
  for (const file of files(root, 'nginx', /\.conf$/)) {
    for (const [, name] of read(root, file).matchAll(/^\s*fastcgi_param\s+([A-Z_]+)\s/gm)) passed.add(name);
  }
  for (const file of files(root, 'app', /\.c$/)) {
    const text = code(read(root, file), { strings: false });
    for (const match of text.matchAll(/\b(?:fcgi_param|exchange_param)\([^,()]+,\s*"([A-Z_]+)"\)/g)) {
      if (!passed.has(match[1])) {
        problems.push(`${file}:${lineOf(text, match.index)}: nginx/ does not pass ${match[1]}`);
      }
    }
  }
  return problems;
}

// The product's limits of time, in seconds: most sites of tests have longer ones (tests/support/servers), so the values
// are here. At each wait the program gives up before nginx does, and says what it knows.
const LIMITS_OF_TIME = [
  ['redis round', 'app/base/config.c', /SETTING_INT\(redis_timeout_ms, \d+, \d+, "(\d+)"/, 0.8, 1000],
  ['mysql statement', 'app/base/config.c', /SETTING_INT\(mysql_timeout_s, \d+, \d+, "(\d+)"/, 2],
  ['idle transaction', 'app/io/db_session.c', /#define IDLE_TRANSACTION_S "(\d+)"/, 4],
  ['lock wait', 'app/io/db_connection.c', /\bLOCK_WAIT_S = (\d+)/, 3],
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

export function deadlines(root) {
  const problems = [];
  const found = {};
  for (const [name, file, pattern, wanted, unit = 1] of LIMITS_OF_TIME) {
    found[name] = Number(pattern.exec(read(root, file))?.[1]) / unit;
    if (found[name] !== wanted) problems.push(`${file}: the limit of ${name} is ${found[name]} s, not ${wanted} s (tests/tidy/checks.js)`);
  }
  for (const [first, second] of SHORTER) {
    if (!(found[first] < found[second])) problems.push(`the limit of ${first} is not shorter than that of ${second}`);
  }
  return problems;
}

// The anchors of a document, as GitHub makes them of its headings.
function anchors(text) {
  const headings = text.replace(/^ *```[\s\S]*?^ *```$/gm, '').matchAll(/^#+ (.*)$/gm);
  const slug = (heading) => heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-');
  return new Set([...headings].map(([, heading]) => slug(heading)));
}

// Files that documents and comments name exist: links and their anchors, paths in code quotes, files of other floors. Paths
// with NAME or NNNN are placeholders. Both READMEs link every document.
export function references(root) {
  const problems = [];
  const look = (file, text, pattern, folder) => {
    for (const match of text.matchAll(pattern)) {
      if (!/NAME|NNNN/.test(match[1]) && !existsSync(join(root, folder, match[1]))) {
        problems.push(`${file}:${lineOf(text, match.index)}: no file ${match[1]}`);
      }
    }
  };
  const readmes = readdirSync(root).filter((name) => name.endsWith('.md'));
  for (const file of [...readmes, ...files(root, 'docs', /\.md$/)]) {
    const text = read(root, file);
    look(file, text, /\]\((?![a-z]+:|#)([^)#\s]+)/g, dirname(file));
    for (const [link, page, anchor] of text.matchAll(/\]\((?![a-z]+:)([^)#\s]*)#([^)\s]+)\)/g)) {
      const target = join(root, page ? join(dirname(file), page) : file);
      if (existsSync(target) && !anchors(readFileSync(target, 'utf8')).has(anchor)) {
        problems.push(`${file}:${lineOf(text, text.indexOf(link))}: no heading for ${link.slice(1)}`);
      }
    }
    look(file, text, /`((?:app|lua|sql|templates|static|nginx|deploy|tests|docs)\/[\w./-]*)`/g, '.');
  }
  for (const file of files(root, 'app', /\.[ch]$/)) {
    const text = read(root, file);
    look(file, text, new RegExp(`(?<![\\w/"])((?:${floors(root).join('|')})/\\w+\\.[ch])\\b`, 'g'), 'app');
    look(file, text, /(?<![\w/])((?:app|docs|lua|sql)\/[\w/-]+\.(?:[ch]|md|lua|sql))\b/g, '.');
  }
  for (const readme of ['README.md', 'README.zh-CN.md']) {
    for (const page of files(root, 'docs', /\.md$/)) {
      if (!read(root, readme).includes(`](${page}`)) problems.push(`${readme}:1: no link to ${page}`);
    }
  }
  return problems;
}

// Each block of commands in README.md and docs is run by the test that the page names, or is marked as not run, with a
// reason (how_to_blocks.js).
export function commands(root) {
  const problems = [];
  for (const file of ['README.md', ...files(root, 'docs', /\.md$/)]) {
    const text = read(root, file);
    const runners = new Set();
    for (const { runner, reason, index } of blocksRead(text)) {
      if (reason) continue;
      if (runner) runners.add(runner);
      else problems.push(`${file}:${lineOf(text, index)}: which test runs this? <!-- run by tests/… --> or <!-- not run: REASON -->`);
    }
    for (const runner of runners) {
      const code = existsSync(join(root, runner)) ? read(root, runner) : '';
      if (!code.includes(`${basename(file)}'`)) problems.push(`${file}:1: ${runner} does not run this page`);
    }
  }
  return problems;
}

// The map in the READMEs is true: the commands of main.c, the folders of tests/.
export function map(root) {
  const problems = [];
  const main = read(root, 'app/main.c').replace(/^#ifdef HB_CRASH_POINTS[\s\S]*?^#endif/gm, '');
  const commands = [...main.matchAll(/^    \{ "([a-z-]+)"/gm)].map((match) => match[1]);
  const folders = readdirSync(join(root, 'tests'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const compare = (file, what, listed, there) => {
    const names = (listed ?? '').trim().split(/\s+/);
    for (const name of there) if (!names.includes(name)) problems.push(`${file}:1: the map lacks the ${what} ${name}`);
    for (const name of names) if (!there.includes(name)) problems.push(`${file}:1: there is no ${what} "${name}"`);
  };
  for (const file of readdirSync(root).filter((name) => /^README.*\.md$/.test(name))) {
    const text = read(root, file);
    compare(file, 'command', /^ +main\.c .*[:：]([a-z -]+)$/m.exec(text)?.[1],
      commands.filter((name) => name !== 'version' && name !== 'help'));
    compare(file, 'folder of tests/', /^tests\/ +(\S.*?)  /m.exec(text)?.[1],
      folders.map((entry) => entry.name).filter((name) => name !== 'support'));
  }
  return problems;
}

// The number of requirements of the levels 1 and 2 in each section of OWASP ASVS 5.0.0, where those of level 3 are last.
const ASVS = {
  1.1: 2, 1.2: 9, 1.3: 11, 1.4: 3, 1.5: 2, 2.1: 3, 2.2: 3, 2.3: 4, 2.4: 1, 3.2: 2, 3.3: 4, 3.4: 6, 3.5: 5, 3.7: 2, 4.1: 3, 4.2: 1,
  4.3: 2, 4.4: 4, 5.1: 1, 5.2: 3, 5.3: 2, 5.4: 3, 6.1: 3, 6.2: 12, 6.3: 4, 6.4: 4, 6.5: 5, 6.6: 3, 6.8: 4, 7.1: 3, 7.2: 4, 7.3: 2,
  7.4: 5, 7.5: 2, 7.6: 2, 8.1: 2, 8.2: 3, 8.3: 1, 8.4: 1, 9.1: 3, 9.2: 4, '10.1': 2, 10.2: 2, 10.3: 4, 10.4: 11, 10.5: 5, 10.6: 2,
  10.7: 3, 11.1: 2, 11.2: 3, 11.3: 3, 11.4: 4, 11.5: 1, 11.6: 1, 12.1: 3, 12.2: 2, 12.3: 4, 13.1: 1, 13.2: 5, 13.3: 2, 13.4: 5,
  14.1: 2, 14.2: 4, 14.3: 3, 15.1: 3, 15.2: 3, 15.3: 7, 16.1: 1, 16.2: 5, 16.3: 4, 16.4: 3, 16.5: 3, 17.1: 1, 17.2: 4, 17.3: 2,
};

// docs/SECURITY.md names each requirement of the standard once, with a state and what shows it. A difference is explained.
export function asvs(root) {
  const file = 'docs/SECURITY.md';
  const problems = [];
  const text = read(root, file);
  const missing = new Set(Object.entries(ASVS).flatMap(([section, count]) => Array.from({ length: count }, (_, i) => `${section}.${i + 1}`)));
  text.split('\n').forEach((line, i) => {
    const [, numbers, state, shown] = /^\| (\d+\.\d+\.[^|]*?) \| [^|]+ \| ([^|]*?) \| (.*?) ?\|$/.exec(line) ?? [];
    if (!numbers) return;
    if (!['yes', 'n/a', 'differs', 'open'].includes(state)) problems.push(`${file}:${i + 1}: the state "${state}"`);
    if (!shown) problems.push(`${file}:${i + 1}: nothing shows it`);
    for (const each of numbers.split(', ')) {
      const [, section, first, last] = /^(\d+\.\d+)\.(\d+)(?:–(\d+))?$/.exec(each) ?? [];
      for (let n = Number(first); n <= Number(last ?? first); n++) {
        if (!missing.delete(`${section}.${n}`)) problems.push(`${file}:${i + 1}: ${section}.${n} is named twice, or not of level 1 or 2`);
        if (state === 'differs' && !new RegExp(`\\*\\*[^*]*\\b${section}\\.${n}\\b[^*]*\\*\\*`).test(text)) {
          problems.push(`${file}:${i + 1}: ${section}.${n} differs without a reason`);
        }
      }
      if (!section) problems.push(`${file}:${i + 1}: "${each}" is no requirement`);
    }
  });
  for (const each of missing) problems.push(`${file}:1: ${each} is not there`);
  return problems;
}

// The first line of a migration says whether an older program works with the tables afterwards (docs/how-to/migrations.md).
// Files up to LAST_WITHOUT_HEAD are older than this rule, and no applied file changes.
export function migrations(root) {
  const LAST_WITHOUT_HEAD = 18;
  return files(root, 'sql/migrations', /\.sql$/)
    .filter((file) => Number(basename(file).slice(0, 4)) > LAST_WITHOUT_HEAD)
    .filter((file) => !/^-- additive: (yes|no, .*\S)\n/.test(read(root, file)))
    .map((file) => `${file}:1: the first line must be "-- additive: yes" or "-- additive: no, REASON"`);
}

// The text that a mutant replaces exists exactly once, so the list stays valid between runs of ./dev mutants.
export const mutants = (root) => mutantsRead(root).problems;

export const checks = {
  includes, domain, rooms, headers, pairs, lines, prose, functions, forbidden, money, lua, codes, options, mustache, texts,
  templates, problems, refusals, nginx, deadlines, references, commands, map, asvs, migrations, mutants,
};
