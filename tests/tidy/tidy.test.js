// Every check finds its violations: each test plants one or more in a copy of the project.
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { checks } from './checks.js';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');
let copy;

before(() => {
  copy = mkdtempSync(join(tmpdir(), 'hongbao-tidy-'));
  const filter = (path) => !path.endsWith('node_modules');
  const names = [
    'app', 'lua', 'templates', 'nginx', 'deploy', 'sql', 'docs', 'tests', 'CMakeLists.txt', 'README.md', 'README.zh-CN.md',
    'SECURITY.md',
  ];
  for (const name of names) cpSync(join(ROOT, name), join(copy, name), { recursive: true, filter });
});
after(() => rmSync(copy, { recursive: true }));

// Writes change, or what change(old text) returns, to the file; the returned function restores it.
function plant(file, change) {
  const path = join(copy, file);
  const old = existsSync(path) ? readFileSync(path, 'utf8') : null;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof change === 'function' ? change(old) : change);
  return () => (old === null ? rmSync(path) : writeFileSync(path, old));
}

function finds(check, file, change, why) {
  const before = new Set(checks[check](copy));
  const undo = plant(file, change);
  const found = checks[check](copy).filter((problem) => !before.has(problem));
  undo();
  assert.ok(found.some((problem) => why.test(problem)), `${check} found ${JSON.stringify(found)}`);
}

function accepts(check, file, change) {
  const before = new Set(checks[check](copy));
  const undo = plant(file, change);
  const found = checks[check](copy).filter((problem) => !before.has(problem));
  undo();
  assert.deepEqual(found, []);
}

test('every check runs as a test of its own', () => {
  const listed = readFileSync(join(copy, 'tests/tidy/CMakeLists.txt'), 'utf8').match(/IN ITEMS([^)]*)\)/)[1].trim().split(/\s+/);
  assert.deepEqual(listed, Object.keys(checks));
});

test('an include that points upward is found', () => {
  const upward = '#include "base/str.h"\n#include "packet/packet.h"\n';
  finds('includes', 'app/base/planted.c', upward, /planted\.c:2: base\/ must not include/);
  finds('includes', 'app/settle/planted.c', '#include "web/router.h"\n', /settle\/ must not include web/);
  finds('includes', 'app/web/planted.c', '#include "../user/session.h"\n', /planted\.c:1:/);
  finds('includes', 'app/planted/x.c', '\n', /no floor/);
});

test('an internal header of another folder is found', () => {
  finds('includes', 'app/pages/planted.c', '#include "live/live_internal.h"\n', /planted\.c:1: .*its own folder/);
  accepts('includes', 'app/live/planted.c', '#include "live/live_internal.h"\n');
});

test('a word of the domain in web/ is found', () => {
  finds('domain', 'app/web/planted.c', '\nuint64_t packet_id;\n', /planted\.c:2: .*packet/);
  finds('domain', 'app/web/planted.h', '/* After a grab. */\n', /planted\.h:1: .*grab/);
  accepts('domain', 'app/web/planted.c', 'uint64_t id; /* of the page */\n');
});

test('a floor without its first comment is found', () => {
  finds('rooms', 'app/web/CMakeLists.txt', 'hb_floor(web)\n', /app\/web\/CMakeLists\.txt:1:/);
  finds('rooms', 'app/FLOORS.txt', (text) => `${text}planted\n`, /app\/planted\//);
});

test('an include in a comment is not taken for one', () => {
  accepts('includes', 'app/base/planted.c', '/* #include "packet/packet.h" */\n');
});

test('a header without its guard or its purpose is found', () => {
  const guard = (name) => `#ifndef ${name}\n#define ${name}\n#endif\n`;
  finds('headers', 'app/base/planted.h', '/* Planted. */\n#pragma once\n', /HB_BASE_PLANTED_H/);
  finds('headers', 'app/base/planted.h', `/* Planted. */\n${guard('HB_BASE_STR_H')}`, /HB_BASE_PLANTED_H/);
  finds('headers', 'app/base/planted.h', guard('HB_BASE_PLANTED_H'), /no comment on its purpose/);
  accepts('headers', 'app/base/planted.h', `/* Planted. */\n${guard('HB_BASE_PLANTED_H')}`);
});

test('a function that another source than that of its header defines is found', () => {
  const guard = 'HB_BASE_PLANTED_H';
  const header = `/* Planted. */\n#ifndef ${guard}\n#define ${guard}\nint planted(void);\nstruct str str_trim(struct str s);\n#endif\n`;
  finds('pairs', 'app/base/planted.h', header, /planted\.h:5: str_trim is defined in app\/base\/str\.c/);
  accepts('pairs', 'app/base/planted_internal.h', header);
});

test('a line that is too long, a tab and trailing white space are found', () => {
  finds('lines', 'app/base/planted.c', `/* ${'红'.repeat(115)} */\n`, /planted\.c:1: longer/);
  finds('lines', 'lua/planted-1.lua', '\treturn\n', /planted-1\.lua:1: a tab/);
  finds('lines', 'sql/migrations/9999_planted.sql', 'SELECT 1; \n', /planted\.sql:1: a blank/);
  accepts('lines', 'app/base/planted.c', `/* ${'红'.repeat(114)} */\n`);
});

test('a long line of text in Markdown is found, a long row of a table or line of code is not', () => {
  const long = 'word '.repeat(25);
  finds('prose', 'docs/planted.md', `# Planted\n\n${long}\n`, /planted\.md:3: longer/);
  accepts('prose', 'docs/planted.md', `| ${long} |\n\n\`\`\`\n${long}\n\`\`\`\n`);
});

test('a function of 71 lines is found, one of 70 is not', () => {
  const body = (lines) => `int f(void)\n{\n${'    g();\n'.repeat(lines)}}\n`;
  finds('functions', 'app/base/planted.c', body(71), /planted\.c:2: a function of 71 lines/);
  accepts('functions', 'app/base/planted.c', body(70));
});

test('a forbidden call is found, its name in a string or comment is not', () => {
  for (const call of ['strcpy(a, b)', 'sprintf(a, "x")', 'strcat (a, b)', 'gets(a)', 'system("ls")']) {
    finds('forbidden', 'app/base/planted.c', `void f(void)\n{\n    ${call};\n}\n`, /planted\.c:3/);
  }
  const harmless = 'const char *s = "system(1)"; /* strcpy(a, b) */\nint n = snprintf(a, 1, "x");\n';
  accepts('forbidden', 'app/base/planted.c', harmless);
});

test('switching the asserts off is found', () => {
  finds('forbidden', 'app/base/planted.c', '#define NDEBUG\n', /planted\.c:1: NDEBUG/);
  finds('forbidden', 'CMakeLists.txt', (text) => `${text}add_compile_options(-DNDEBUG)\n`, /CMakeLists\.txt/);
  accepts('forbidden', 'app/cmake/planted.cmake', '# never NDEBUG\n');
});

test('floating point is found', () => {
  finds('money', 'app/web/planted.c', 'double balance;\n', /planted\.c:1/);
  finds('money', 'sql/migrations/9999_planted.sql', 'CREATE TABLE x (amount FLOAT);\n', /planted\.sql:1/);
  accepts('money', 'app/packet/planted.c', 'const char *name = "double-average";\n');
});

test('a script that disagrees with its name or header is found', () => {
  const head = '#!lua\n-- Planted.\n-- KEYS[1] a, KEYS[2] b\n-- ARGV[1] x\n-- returns {1}\n\n';
  const body = "return {redis.call('GET', KEYS[1]), redis.call('GET', KEYS[2]), ARGV[1]}\n";
  accepts('lua', 'lua/planted-2.lua', head + body);
  finds('lua', 'lua/planted.lua', head + body, /name-K\.lua/);
  finds('lua', 'lua/planted-3.lua', head + body, /KEYS\[3\] is never used/);
  finds('lua', 'lua/planted-1.lua', head + body, /KEYS\[2\] is more than/);
  finds('lua', 'lua/planted-2.lua', head.replace(', KEYS[2] b', '') + body, /does not list KEYS\[2\]/);
  finds('lua', 'lua/planted-2.lua', head + body.replace('ARGV[1]', 'ARGV[2]'), /does not list ARGV\[2\]/);
  finds('lua', 'lua/planted-2.lua', head.replace('ARGV[1] x', 'ARGV[1…2] x, y') + body, /ARGV\[2\] is never used/);
  finds('lua', 'lua/planted-2.lua', head.replace('-- returns {1}\n', '') + body, /no line "-- returns/);
  finds('lua', 'lua/planted-2.lua', (head + body).replace('#!lua\n', ''), /first line/);
  finds('lua', 'lua/planted-2.lua', `${head}local n = math.random(3)\n${body}`, /math\.random/);
  finds('lua', 'lua/planted-2.lua', `${head}-- @include "nothing"\n${body}`, /no lua\/include\/nothing\.lua/);
});

test('a code that differs between C and Lua is found', () => {
  const renumber = (text) => text.replace(/^local LIVE_GRABBED = \d+/m, 'local LIVE_GRABBED = 99');
  finds('codes', 'lua/include/codes.lua', renumber, /LIVE_GRABBED is 99/);
  finds('codes', 'app/live/live.h', (text) => text.replace(/LIVE_GRABBED = \d+,/, ''), /LIVE_GRABBED/);
  finds('codes', 'lua/planted-1.lua', 'return {LIVE_NONSENSE, KEYS[1]}\n', /LIVE_NONSENSE/);
});

test('an option that C and Lua have in another place is found', () => {
  const swap = (a, b) => (text) => text.replace(`${a}, ${b}`, `${b}, ${a}`);
  finds('options', 'lua/view-4.lua', swap("'ended_ms'", "'returned_count'"), /the call of HMGET has opens_ms, .*; app\/live\/options\.c has opens_ms/);
  finds('options', 'lua/view-4.lua', swap('ended_ms', 'returned_count'), /the header has /);
  finds('options', 'lua/view-4.lua', (text) => text.replace(/ receivers, receiver_names\}/, ' receivers}'), /the header has /);
  finds('options', 'app/live/options.c', (text) => text.replace(/^ +\{ "cover".*\n/m, ''), /the call of HMGET has /);
  finds('options', 'app/live/options.c', (text) => text.replace('OPTIONS[] =', 'PLANTED[] ='), /no OPTIONS/);
});

test('a form that could be posted twice is found', () => {
  const form = (attributes) => `<p>\n<form method="post" action="/x"${attributes}><button>\n`;
  finds('mustache', 'templates/pages/planted.mustache', form(''), /planted\.mustache:2: .*a second click/);
  finds('mustache', 'templates/pages/planted.mustache', form(' data-send'), /a second click/);
  accepts('mustache', 'templates/pages/planted.mustache', form(' data-once="{{>text/send_sending}}"'));
  accepts('mustache', 'templates/pages/planted.mustache', '<form data-open method="post">\n<form action="/search">\n');
});

test('raw output of a value that is not named html_… is found', () => {
  finds('mustache', 'templates/pages/planted.mustache', '<p>\n{{{greeting}}}\n', /planted\.mustache:2: greeting/);
  finds('mustache', 'templates/pages/planted.mustache', '{{& site.name }}\n', /site\.name/);
  finds('mustache', 'templates/pages/planted.mustache', '<p style="color: red">\n', /Content-Security-Policy/);
  finds('mustache', 'templates/pages/planted.mustache', '<p>\n<bdi dir="ltr">{{nickname}}</bdi>\n', /planted\.mustache:2: <bdi> needs translate/);
  finds('mustache', 'templates/pages/planted.mustache', '<code>{{id}}</code>\n', /<code> needs translate/);
  finds('mustache', 'templates/pages/planted.mustache', '<script>alert(1)</script>\n', /Content-Security-Policy/);
  const escaped = '{{! {{{example}}} }}{{{html_qr}}}{{&packet.html_qr}}{{greeting}}\n';
  accepts('mustache', 'templates/pages/planted.mustache', escaped);
});

test('a text that is missing, is unused or shows other values is found', () => {
  const english = 'templates/text/en.txt';
  finds('texts', 'templates/pages/planted.mustache', '<p>\n{{>text/planted}}\n', /planted\.mustache:2: .*zh-CN\.txt lacks planted/);
  finds('texts', 'app/web/planted.c', 'text_of(x, "text/planted");\n', /planted\.c:1: .*en\.txt lacks planted/);
  finds('texts', 'app/web/planted.c', 'puts("a\\n"\n"金额\\n");\n', /planted\.c:2: 金额 belongs in the catalogues/);
  accepts('texts', 'app/web/planted.c', '/* 金额 */\n');
  finds('texts', 'templates/pages/planted.mustache', '<p>\n<b title="金额">', /planted\.mustache:2: 金额 belongs in/);
  finds('texts', 'templates/pages/planted.mustache', '<b>\n红包開</b>', /planted\.mustache:2: 红包開 belongs in/);
  accepts('texts', 'templates/pages/planted.mustache', '{{! 恭喜 }}\n<b aria-hidden="true">開</b>\n');
  finds('texts', english, (text) => `${text}planted = Planted\n`, /planted is not used/);
  finds('texts', english, (text) => text.replace(/^problem_busy = .*\n/m, ''), /en\.txt:1: problem_busy of .* is missing/);
  finds('texts', english, (text) => text.replace(/^(share_max = .*)\{\{value\}\}/m, '$1much'), /other values for share_max/);
});

test('a template that the code names is in the list of what must be there', () => {
  const list = 'app/ops/site_templates.c';
  finds('templates', 'app/web/planted.c', 'respond_model(x, 200, "pages/planted", &m);\n', /planted\.c:1: .*lacks pages\/planted/);
  accepts('templates', 'app/web/planted.c', '/* "pages/planted" */\n');
  finds('templates', list, (text) => text.replace('NULL', '"pages/planted", NULL'), /pages\/planted is not used/);
});

test('a message of nginx that is missing or differs from the program\'s is found', () => {
  const conf = 'nginx/http.conf';
  finds('problems', conf, (text) => text.replace(/^ +too-many +"Please wait.*\n/m, ''), /too-many has no title in en/);
  finds('problems', conf, (text) => text.replace(/( unknown +")[^"]+/, '$1planted'), /unknown is "planted" in zh-CN/);
  finds('problems', 'templates/text/en.txt', (text) => text.replace(/^(problem_too_large = ).*/m, '$1Planted'), /"Planted"/);
});

test('a problem that the description of the API lacks is found', () => {
  const planted = (type) => `static const struct problem P = { 409, "${type}", "text/x", NULL, 0 };\n`;
  finds('refusals', 'app/pages/planted.c', planted('planted-problem'), /planted\.c:1: 409 planted-problem is not in/);
  accepts('refusals', 'app/pages/planted.c', planted('sender-gone'));
});

test('a request header that the program reads but nginx does not pass is found', () => {
  finds('nginx', 'app/web/planted.c', 'struct str s = exchange_param(x, "HTTP_X_PLANTED");\n', /HTTP_X_PLANTED/);
  accepts('nginx', 'app/web/planted.c', 'struct str s = exchange_param(x, "HTTP_ORIGIN");\n');
});

test('a configuration of nginx that does not buffer is found', () => {
  const off = (what) => (text) => `${text}\nlocation /x { ${what}  off; }\n`;
  finds('nginx', 'nginx/site.conf', off('fastcgi_request_buffering'), /site\.conf:\d+: fastcgi_request_buffering/);
  finds('nginx', 'nginx/snippets/planted.conf', 'fastcgi_buffering off;\n', /planted\.conf:1: fastcgi_buffering/);
  finds('nginx', 'deploy/planted/site', '\nfastcgi_request_buffering off;\n', /planted\/site:2: /);
  accepts('nginx', 'nginx/snippets/planted.conf', '# never fastcgi_buffering off\nfastcgi_request_buffering on;\n');
});

test('another limit of time, or one in another order, is found', () => {
  const hot = 'nginx/snippets/fastcgi-hot.conf';
  finds('deadlines', hot, (text) => text.replace('read_timeout 3s', 'read_timeout 10s'), /fastcgi-hot\.conf: the limit of hot read is 10 s, not 3 s/);
  finds('deadlines', hot, (text) => text.replace('read_timeout 3s', 'read_timeout 10s'), /hot read is not shorter than that of page read/);
  finds('deadlines', hot, (text) => text.replace(/.*read_timeout.*/, ''), /the limit of hot read is NaN s/);
  finds('deadlines', 'app/base/config.c', (text) => text.replace('SETTING_INT(redis_timeout_ms, 10, 60000, "800"', 'SETTING_INT(redis_timeout_ms, 10, 60000, "3000"'),
    /redis round is not shorter than that of hot read/);
});

test('the name of a missing file is found, in documents and in comments', () => {
  finds('references', 'docs/planted.md', 'See [this](reference/planted.md).\n', /planted\.md:1: no file reference/);
  finds('references', 'docs/planted.md', 'It is in\n`app/io/planted.c`.\n', /planted\.md:2: no file app\/io/);
  finds('references', 'app/web/planted.c', '/* As packet/planted.h says. */\n', /no file packet\/planted\.h/);
  finds('references', 'app/web/planted.c', '/* See docs/planted.md. */\n', /no file docs\/planted\.md/);
  finds('references', 'docs/planted.md', '[a](ARCHITECTURE.md#planted)\n', /planted\.md:1: no heading for \(ARCHITECTURE\.md#planted\)/);
  finds('references', 'docs/planted.md', '# Planted\n', /README\.zh-CN\.md:1: no link to docs\/planted\.md/);
  const links = '[a](ARCHITECTURE.md#invariants) [b](https://example.com/#x) `sql/migrations/NNNN_name.sql`\n';
  accepts('references', 'docs/PAGES.md', (text) => text + links);
  accepts('references', 'app/web/planted.c', '/* web/view.h, lua/include/codes.lua */\n');
});

test('a block of commands that no test runs, and that does not say so, is found', () => {
  const page = (mark) => `# Planted\n\n${mark}\n\`\`\`sh\ntrue\n\`\`\`\n`;
  finds('commands', 'docs/how-to/planted.md', page(''), /planted\.md:4: which test runs this/);
  finds('commands', 'docs/how-to/planted.md', page('<!-- not run: -->'), /which test runs this/);
  finds('commands', 'docs/how-to/planted.md', page('<!-- run by tests/e2e/audit.test.js -->'), /audit\.test\.js does not run this page/);
  finds('commands', 'docs/how-to/planted.md', page('<!-- run by tests/e2e/nothing.test.js -->'), /nothing\.test\.js does not run this page/);
  finds('commands', 'docs/reference/planted.md', page(''), /planted\.md:4: which test runs this/);
  finds('commands', 'docs/how-to/audit.md', (text) => text.replace(/^<!-- run by .*\n/m, ''), /audit\.md:\d+: which test runs this/);
  accepts('commands', 'docs/how-to/planted.md', page('<!-- not run: it needs the internet -->'));
});

test('a map in a README that lacks or invents a name is found', () => {
  finds('map', 'README.md', (text) => text.replace(/(: serve .*) audit/, '$1'), /README\.md:1: the map lacks .* audit/);
  finds('map', 'README.zh-CN.md', (text) => text.replace(/^tests\/ +/m, '$&nothing '), /no folder of tests\/ "nothing"/);
  finds('map', 'app/main.c', (text) => text.replace('    { "help"', '    { "planted"'), /lacks the command planted/);
  finds('map', 'tests/planted/CMakeLists.txt', '\n', /lacks the folder of tests\/ planted/);
});

test('a requirement of the standard that is missing, named twice or without a reason is found', () => {
  const file = 'docs/SECURITY.md';
  const replaced = (from, to) => (text) => { assert.ok(text.includes(from)); return text.replace(from, to); };
  finds('asvs', file, replaced('| 1.1.2 |', '| 1.1.1 |'), /1\.1\.1 is named twice/);
  finds('asvs', file, replaced('| 1.1.2 |', '| 1.2.1 |'), /1\.1\.2 is not there/);
  finds('asvs', file, replaced('10.4.1–11', '10.4.1–12'), /10\.4\.12 is named twice, or not/);
  finds('asvs', file, (text) => text.replace(/^(\| 1\.1\.2 \| .* \| )yes/m, '$1maybe'), /the state "maybe"/);
  finds('asvs', file, (text) => text.replace(/^(\| 1\.1\.2 \| .* \| )yes/m, '$1differs'), /1\.1\.2 differs without a reason/);
  finds('asvs', file, (text) => text.replace(/^(\| 1\.1\.2 \| .* \| yes \|) .* \|$/m, '$1 |'), /nothing shows it/);
});

test('a migration that does not say whether it is additive is found', () => {
  const file = 'sql/migrations/0099_planted.sql';
  finds('migrations', file, 'DO 1;\n', /0099_planted\.sql:1: the first line/);
  finds('migrations', file, '-- additive: no\nDO 1;\n', /0099_planted/);
  finds('migrations', file, '-- additive: no, \nDO 1;\n', /0099_planted/);
  finds('migrations', file, '-- Words.\n-- additive: yes\n', /0099_planted/);
  accepts('migrations', file, '-- additive: yes\nDO 1;\n');
  accepts('migrations', file, '-- additive: no, a column is renamed\nDO 1;\n');
});

test('a mutant whose text does not exist exactly once is found', () => {
  finds('mutants', 'app/web/origin.c', (text) => text.replace('str_equal_fold(from, host)', 'false'), /host-as-prefix: .* 0 times/);
  finds('mutants', 'tests/mutants/mutants.txt', (text) => `${text}\nplanted  app/main.c  unit/x\n    why\n    - #\n`, /planted: .* \d+ times/);
  finds('mutants', 'tests/mutants/mutants.txt', (text) => `${text}\nplanted  app/planted.c  unit/x\n    why\n    - x\n`, /no file app\/planted\.c/);
});
