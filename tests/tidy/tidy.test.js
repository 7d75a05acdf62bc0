// The sources obey each rule of checks.js, and each check finds violations, which are planted in the texts that it
// reads.
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { checks } from './checks.js';
import { Sources } from '../support/sources.js';

const sources = new Sources(join(dirname(fileURLToPath(import.meta.url)), '../..'));
const FINE = null;

const replaced = (from, to) => (text) => {
  assert.notEqual(text.replace(from, to), text, `${from} is not there`);
  return text.replace(from, to);
};
const added = (more) => (text) => text + more;
const guarded = (name, more = '') => `#ifndef ${name}\n#define ${name}\n${more}#endif\n`;
const declared = `/* Planted. */\n${guarded('HB_BASE_PLANTED_H', 'int planted(void);\nstruct str str_trim(struct str s);\n')}`;
const long = 'word '.repeat(25);
const functionOf = (lines) => `int f(void)\n{\n${'    g();\n'.repeat(lines)}}\n`;
const head = '#!lua\n-- Planted.\n-- KEYS[1] a, KEYS[2] b\n-- ARGV[1] x\n-- returns {1}\n\n';
const body = "return {redis.call('GET', KEYS[1]), redis.call('GET', KEYS[2]), ARGV[1]}\n";
const form = (attributes) => `<p>\n<form method="post" action="/x"${attributes}><button>\n`;
const problem = (type) => `static const struct problem P = { 409, "${type}", "text/x", NULL, 0 };\n`;
const param = (name) => `struct str s = exchange_param(x, "${name}");\n`;
const hotRead = (seconds) => replaced('read_timeout 3s', `read_timeout ${seconds}s`);
const page = (mark) => `# Planted\n\n${mark}\n\`\`\`sh\ntrue\n\`\`\`\n`;
const TEMPLATE = 'templates/pages/planted.mustache';
const ENGLISH = 'templates/text/en.txt';
const HOT = 'nginx/snippets/fastcgi-hot.conf';
const HOW_TO = 'docs/how-to/planted.md';
const SECURITY = 'docs/SECURITY.md';
const MIGRATION = 'sql/migrations/0099_planted.sql';
const PLANTS = 'tests/mutants/plants.txt';
const EQUIVALENT = 'tests/mutants/equivalent.txt';

// For each check: a file, its new text or a function that changes its text, and the expected findings.
const PLANTED = {
  includes: [
    ['app/base/planted.c', '#include "base/str.h"\n#include "packet/packet.h"\n', /planted\.c:2: base\/ must not include/],
    ['app/settle/planted.c', '#include "web/router.h"\n', /settle\/ must not include web/],
    ['app/web/planted.c', '#include "../user/session.h"\n', /planted\.c:1:/],
    ['app/planted/x.c', '\n', /no floor/],
    ['app/pages/planted.c', '#include "live/live_internal.h"\n', /planted\.c:1: .*its own folder/],
    ['app/live/planted.c', '#include "live/live_internal.h"\n', FINE],
    ['app/base/planted.c', '/* #include "packet/packet.h" */\n', FINE],
  ],
  circles: [
    ['tests/support/planted.js', "import { Site } from '../bench/site.js';\n", /support\/planted\.js:1: .*support → bench → support/],
    ['tests/e2e/planted.js', "import { Machine } from '../package/machine.js';\n", /e2e → package → e2e/],
    ['tests/chaos/planted.js', "import { Site } from '../support/http.js';\nimport { plan } from './nemesis.js';\n", FINE],
  ],
  domain: [
    ['app/web/planted.c', '\nuint64_t packet_id;\n', /planted\.c:2: .*packet/],
    ['app/web/planted.h', '/* After a grab. */\n', /planted\.h:1: .*grab/],
    ['app/web/planted.c', 'uint64_t id; /* of the page */\n', FINE],
  ],
  rooms: [
    ['app/web/CMakeLists.txt', 'hb_floor(web)\n', /app\/web\/CMakeLists\.txt:1:/],
    ['app/FLOORS.txt', added('planted\n'), /app\/planted\//],
  ],
  headers: [
    ['app/base/planted.h', '/* Planted. */\n#pragma once\n', /HB_BASE_PLANTED_H/],
    ['app/base/planted.h', `/* Planted. */\n${guarded('HB_BASE_STR_H')}`, /HB_BASE_PLANTED_H/],
    ['app/base/planted.h', guarded('HB_BASE_PLANTED_H'), /no comment on its purpose/],
    ['app/base/planted.h', `/* Planted. */\n${guarded('HB_BASE_PLANTED_H')}`, FINE],
  ],
  pairs: [
    ['app/base/planted.h', declared, /planted\.h:5: str_trim is defined in app\/base\/str\.c/],
    ['app/base/planted_internal.h', declared, FINE],
  ],
  lines: [
    ['app/base/planted.c', `/* ${'红'.repeat(115)} */\n`, /planted\.c:1: longer/],
    ['lua/planted-1.lua', '\treturn\n', /planted-1\.lua:1: a tab/],
    ['sql/migrations/9999_planted.sql', 'SELECT 1; \n', /planted\.sql:1: a blank/],
    ['app/base/planted.c', `/* ${'红'.repeat(114)} */\n`, FINE],
  ],
  prose: [
    ['docs/explanation/planted.md', 'words\n'.repeat(3000), /planted\.md:1: larger than 15360 bytes/],
    ['README.zh-CN.md', added('红包'.repeat(2000)), /README\.zh-CN\.md:1: larger than 8192 bytes/],
    ['docs/planted.md', `# Planted\n\n${long}\n`, /planted\.md:3: longer/],
    ['docs/planted.md', `| ${long} |\n\n\`\`\`\n${long}\n\`\`\`\n`, FINE],
  ],
  functions: [
    ['app/base/planted.c', functionOf(71), /planted\.c:2: a function of 71 lines/],
    ['app/base/planted.c', functionOf(70), FINE],
  ],
  forbidden: [
    ...['strcpy(a, b)', 'sprintf(a, "x")', 'strcat (a, b)', 'gets(a)', 'system("ls")']
      .map((call) => ['app/base/planted.c', `void f(void)\n{\n    ${call};\n}\n`, /planted\.c:3/]),
    ['app/base/planted.c', 'const char *s = "system(1)"; /* strcpy(a, b) */\nint n = snprintf(a, 1, "x");\n', FINE],
    ['app/base/planted.c', '#define NDEBUG\n', /planted\.c:1: NDEBUG/],
    ['CMakeLists.txt', added('add_compile_options(-DNDEBUG)\n'), /CMakeLists\.txt/],
    ['app/cmake/planted.cmake', '# never NDEBUG\n', FINE],
    ['tests/e2e/planted.js', `[1].${'toSorted'}();\n`, /planted\.js:1/],
    ['tests/e2e/planted.js', '[1].sort();\n', FINE],
  ],
  money: [
    ['app/web/planted.c', 'double balance;\n', /planted\.c:1/],
    ['sql/migrations/9999_planted.sql', 'CREATE TABLE x (amount FLOAT);\n', /planted\.sql:1/],
    ['app/packet/planted.c', 'const char *name = "double-average";\n', FINE],
  ],
  lua: [
    ['lua/planted-2.lua', head + body, FINE],
    ['lua/planted.lua', head + body, /name-K\.lua/],
    ['lua/planted-3.lua', head + body, /KEYS\[3\] is never used/],
    ['lua/planted-1.lua', head + body, /KEYS\[2\] is more than/],
    ['lua/planted-2.lua', head.replace(', KEYS[2] b', '') + body, /does not list KEYS\[2\]/],
    ['lua/planted-2.lua', head + body.replace('ARGV[1]', 'ARGV[2]'), /does not list ARGV\[2\]/],
    ['lua/planted-2.lua', head.replace('ARGV[1] x', 'ARGV[1…2] x, y') + body, /ARGV\[2\] is never used/],
    ['lua/planted-2.lua', head.replace('-- returns {1}\n', '') + body, /no line "-- returns/],
    ['lua/planted-2.lua', (head + body).replace('#!lua\n', ''), /first line/],
    ['lua/planted-2.lua', `${head}local n = math.random(3)\n${body}`, /math\.random/],
    ['lua/planted-2.lua', `${head}-- @include "nothing"\n${body}`, /no lua\/include\/nothing\.lua/],
    ['lua/planted-2.lua', `${head}local k = KEYS\n${body}`, /KEYS is used in another way/],
  ],
  codes: [
    ['lua/include/codes.lua', replaced(/^local LIVE_GRABBED = \d+/m, 'local LIVE_GRABBED = 99'), /LIVE_GRABBED is 99/],
    ['app/live/live.h', replaced(/LIVE_GRABBED = \d+,/, ''), /LIVE_GRABBED/],
    ['lua/planted-1.lua', 'return {LIVE_NONSENSE, KEYS[1]}\n', /LIVE_NONSENSE/],
  ],
  mustache: [
    [TEMPLATE, form(''), /planted\.mustache:2: .*a second click/],
    [TEMPLATE, form(' data-send'), /a second click/],
    [TEMPLATE, form(' data-once="{{>text/send_sending}}"'), FINE],
    [TEMPLATE, '<form data-open method="post">\n<form action="/search">\n', FINE],
    [TEMPLATE, '<p>\n{{{greeting}}}\n', /planted\.mustache:2: greeting/],
    [TEMPLATE, '{{& site.name }}\n', /site\.name/],
    [TEMPLATE, '<p style="color: red">\n', /Content-Security-Policy/],
    [TEMPLATE, '<p>\n<bdi dir="ltr">{{nickname}}</bdi>\n', /planted\.mustache:2: <bdi> needs translate/],
    [TEMPLATE, '<code>{{id}}</code>\n', /<code> needs translate/],
    [TEMPLATE, '<script>alert(1)</script>\n', /Content-Security-Policy/],
    [TEMPLATE, '{{! {{{example}}} }}{{{html_qr}}}{{&packet.html_qr}}{{greeting}}\n', FINE],
  ],
  texts: [
    [TEMPLATE, '<p>\n{{>text/planted}}\n', /planted\.mustache:2: .*zh-CN\.txt lacks planted/],
    ['app/web/planted.c', 'text_of(x, "text/planted");\n', /planted\.c:1: .*en\.txt lacks planted/],
    ['app/web/planted.c', 'puts("a\\n"\n"金额\\n");\n', /planted\.c:2: 金额 belongs in the catalogues/],
    ['app/web/planted.c', '/* 金额 */\n', FINE],
    [TEMPLATE, '<p>\n<b title="金额">', /planted\.mustache:2: 金额 belongs in/],
    [TEMPLATE, '<b>\n红包開</b>', /planted\.mustache:2: 红包開 belongs in/],
    [TEMPLATE, '{{! 恭喜 }}\n<b aria-hidden="true">開</b>\n', FINE],
    [TEMPLATE, '{{>text/unit_before}}{{total_text}}{{>text/unit_after}}\n', FINE],
    [TEMPLATE, '<p>\n<small>¥</small>{{total_text}}\n', /planted\.mustache:2: ¥ is of one unit/],
    [TEMPLATE, '<input placeholder="0.01">\n', /0\.01 is of one unit/],
    ['app/web/planted.c', '/* yuan */\nsays("yuan");\n', /planted\.c:2: yuan is of one unit/],
    [ENGLISH, replaced(/^share_max = .*/m, 'share_max = A share can be at most ¥{{value}}'), /¥ is of one unit.*¥\(/],
    [ENGLISH, replaced(/^share_max = .*/m, 'share_max = A share can be at most {{value}} yuan'), /yuan is of one unit/],
    [ENGLISH, replaced(/^share_max = .*/m, 'share_max = No share is above ¥({{value}})'), FINE],
    [ENGLISH, added('planted = Planted\n'), /planted is not used/],
    [ENGLISH, replaced(/^problem_busy = .*\n/m, ''), /en\.txt:1: problem_busy of .* is missing/],
    [ENGLISH, replaced(/^(share_max = .*)\{\{value\}\}/m, '$1much'), /other values for share_max/],
  ],
  templates: [
    ['app/web/planted.c', 'respond_model(x, 200, "pages/planted", &m);\n', /planted\.c:1: .*lacks pages\/planted/],
    ['app/web/planted.c', '/* "pages/planted" */\n', FINE],
    ['app/site/templates.c', replaced('NULL', '"pages/planted", NULL'), /pages\/planted is not used/],
  ],
  problems: [
    ['nginx/http.conf', replaced(/^ +too-many +"Please wait.*\n/m, ''), /too-many has no title in en/],
    ['nginx/http.conf', replaced(/( unknown +")[^"]+/, '$1planted'), /unknown is "planted" in zh-CN/],
    [ENGLISH, replaced(/^(problem_too_large = ).*/m, '$1Planted'), /"Planted"/],
  ],
  refusals: [
    ['app/pages/planted.c', problem('planted-problem'), /planted\.c:1: 409 planted-problem is not in/],
    ['app/pages/planted.c', problem('sender-gone'), FINE],
  ],
  nginx: [
    ['app/web/planted.c', param('HTTP_X_PLANTED'), /HTTP_X_PLANTED/],
    ['app/web/planted.c', param('HTTP_ORIGIN'), FINE],
    ['nginx/site.conf', added('\nlocation /x { fastcgi_request_buffering  off; }\n'), /site\.conf:\d+: fastcgi_request_buffering/],
    ['nginx/snippets/planted.conf', 'fastcgi_buffering off;\n', /planted\.conf:1: fastcgi_buffering/],
    ['deploy/planted/site', '\nfastcgi_request_buffering off;\n', /planted\/site:2: /],
    ['nginx/snippets/planted.conf', '# never fastcgi_buffering off\nfastcgi_request_buffering on;\n', FINE],
  ],
  deadlines: [
    [HOT, hotRead(10), /fastcgi-hot\.conf: the limit of hot read is 10 s, not 3 s/],
    [HOT, hotRead(10), /hot read is not shorter than that of page read/],
    [HOT, replaced(/.*read_timeout.*/, ''), /the limit of hot read is NaN s/],
    ['app/config/settings.c', replaced('SETTING_INT(redis_timeout_ms, 10, 60000, "800"', 'SETTING_INT(redis_timeout_ms, 10, 60000, "3000"'),
      /redis round is not shorter than that of hot read/],
  ],
  references: [
    ['docs/planted.md', 'See [this](reference/planted.md).\n', /planted\.md:1: no file reference/],
    ['docs/planted.md', 'It is in\n`app/io/planted.c`.\n', /planted\.md:2: no file app\/io/],
    ['app/web/planted.c', '/* As packet/planted.h says. */\n', /no file packet\/planted\.h/],
    ['app/web/planted.c', '/* See docs/planted.md. */\n', /no file docs\/planted\.md/],
    ['docs/planted.md', '[a](ARCHITECTURE.md#planted)\n', /planted\.md:1: no heading for \(ARCHITECTURE\.md#planted\)/],
    ['docs/planted.md', '# Planted\n', /docs\/README\.md:1: no link to docs\/planted\.md/],
    ['docs/PAGES.md', added('[a](ARCHITECTURE.md#the-house) [b](https://example.com/#x) `sql/migrations/NNNN_name.sql`\n'), FINE],
    ['app/web/planted.c', '/* web/view.h, lua/include/codes.lua */\n', FINE],
  ],
  commands: [
    [HOW_TO, page(''), /planted\.md:4: which test runs this/],
    [HOW_TO, page('<!-- not run: -->'), /which test runs this/],
    [HOW_TO, page('<!-- run by tests/e2e/audit.test.js -->'), /audit\.test\.js does not run this page/],
    [HOW_TO, page('<!-- run by tests/e2e/nothing.test.js -->'), /nothing\.test\.js does not run this page/],
    ['docs/reference/planted.md', page(''), /planted\.md:4: which test runs this/],
    ['docs/how-to/audit.md', replaced(/^<!-- run by .*\n/m, ''), /audit\.md:\d+: which test runs this/],
    [HOW_TO, page('<!-- not run: it needs the internet -->'), FINE],
  ],
  map: [
    ['docs/ARCHITECTURE.md', replaced(/(: serve .*) audit/, '$1'), /ARCHITECTURE\.md:1: the map lacks .* audit/],
    ['docs/ARCHITECTURE.md', replaced(': unit ', ': unit nothing '), /no folder of tests\/ "nothing"/],
    ['app/main.c', replaced('    { "help"', '    { "planted"'), /lacks the command planted/],
    ['tests/planted/CMakeLists.txt', '\n', /lacks the folder of tests\/ planted/],
  ],
  asvs: [
    [SECURITY, replaced('| 1.1.2 |', '| 1.1.1 |'), /1\.1\.1 is named twice/],
    [SECURITY, replaced('| 1.1.2 |', '| 1.2.1 |'), /1\.1\.2 is not there/],
    [SECURITY, replaced('10.4.1–11', '10.4.1–12'), /10\.4\.12 is named twice, or not/],
    [SECURITY, replaced('| 1.1.2 |', '| 1.1.2b |'), /"1\.1\.2b" is no requirement/],
    [SECURITY, replaced(/^(\| 1\.1\.2 \| .* \| )yes/m, '$1maybe'), /the state "maybe"/],
    [SECURITY, replaced(/^(\| 1\.1\.2 \| .* \| )yes/m, '$1differs'), /1\.1\.2 differs without a reason/],
    [SECURITY, replaced(/^(\| 1\.1\.2 \| .* \| yes \|) .* \|$/m, '$1 |'), /nothing shows it/],
  ],
  migrations: [
    [MIGRATION, 'DO 1;\n', /0099_planted\.sql:1: the first line/],
    [MIGRATION, '-- additive: no\nDO 1;\n', /0099_planted/],
    [MIGRATION, '-- additive: no, \nDO 1;\n', /0099_planted/],
    [MIGRATION, '-- Words.\n-- additive: yes\n', /0099_planted/],
    [MIGRATION, '-- additive: yes\nDO 1;\n', FINE],
    [MIGRATION, '-- additive: no, a column is renamed\nDO 1;\n', FINE],
    [MIGRATION, '-- additive: yes\n-- As 0026 has it.\nCREATE OR REPLACE FUNCTION user_delete(\n', /0099_planted\.sql:3: user_delete replaces/],
    [MIGRATION, '-- additive: yes\nCREATE OR REPLACE FUNCTION user_delete(\n', /0099_planted\.sql:2: user_delete replaces/],
    [MIGRATION, '-- additive: yes\n-- As 0040 has it.\nCREATE OR REPLACE FUNCTION user_delete(\n', FINE],
    [MIGRATION, '-- additive: yes\nCREATE OR REPLACE FUNCTION of_its_own(\n', FINE],
  ],
  json: [
    ['templates/openapi.json', replaced('{ "type"', '{\n"type"'), /openapi\.json:1: not in its form/],
    ['templates/openapi.json', replaced('"required": [', '"required":  ['), /openapi\.json:1: not in its form/],
  ],
  mutants: [
    ['lua/grab-5.lua', replaced("redis.call('HSET', KEYS[3], ARGV[2]", "redis.call('HSETNX', KEYS[3], ARGV[2]"), /grab-5\.lua has "redis.* 0 times/],
    [PLANTS, added('\napp/main.c  unit/x\n    - #\n'), /app\/main\.c has "#" \d+ times/],
    [PLANTS, added('\napp/planted.c  unit/x\n    - x\n'), /no file app\/planted\.c/],
    [EQUIVALENT, added('\napp/main.c  why\n    - x\n    + y\n'), /app\/main\.c has no such mutation/],
  ],
  english: [
    ['app/web/planted.c', '\n/* Redis is\n * told later. */\n', /planted\.c:3: "told": .*shows, writes or reads/],
    ['app/web/planted.h', 'int a;/* False: that was too many. */\n', /planted\.h:1: "False: that"/],
    ['app/web/planted.c', '/* The mark, then that of\n * the tables. */\n', /planted\.c:1: "that of": .*repeat the noun/],
    ['app/web/planted.c', '/* None\n * that is better. */\n', /planted\.c:1: "None that"/],
    ['nginx/planted.conf', 'listen 80; # the server is asked\n', /planted\.conf:1: "is asked"/],
    ['static/planted.js', 'var a;\n// nothing but a\n', /planted\.js:2: "nothing but"/],
    ['deploy/rights/planted.sql', 'SELECT 1; -- all\n-- but one\n', /planted\.sql:1: "all but"/],
    ['templates/planted.mustache', '{{! the one which is first }}', /planted\.mustache:1: "the one which"/],
    ['docs/planted.md', '# A\n\nIt tells, and\nthe mark is those\nof a.\n', /planted\.md:4: "those of"/],
    ['docs/planted.md', 'It tells `a`.\n', /planted\.md:1: "tells"/],
    ['app/web/planted.c', 'const char *told = "that of"; /* none */\nint that; /* that */\nint of; /* of */\n', FINE],
    ['app/web/planted.c', '/* False: no memory. NULL: none. After that of course none is told. tidy: english */\n', FINE],
    ['deploy/planted.sh', 'told=${told#asked} # a\nthat=1\n# of all\n', FINE],
    ['docs/planted.md', 'See [this](that%20of) `that of` <!-- tells -->\n\n```\nthat of\n```\n', FINE],
  ],
  changelog: [
    ['CHANGELOG.md', replaced(/^## \d+\.\d+/m, '## 9.9'), /CHANGELOG\.md:\d+: the first heading must be of \d/],
    ['CHANGELOG.md', added('\n## 0.9.0 (not released)\n'), /"## 0\.9\.0 \(not released\)" must be/],
    ['CMakeLists.txt', replaced(/hongbao VERSION [\d.]+/, 'hongbao VERSION 9.9.9'), /must be of 9\.9\.9/],
    [MIGRATION, '-- additive: yes\nDO 1;\n', /newest migration, 0099, is not named/],
    ['docs/planted.md', 'The release 9.9.9.\n', FINE],
  ],
};

for (const [name, check] of Object.entries(checks)) {
  const before = check(sources);
  test(`the sources keep the rule ${name}`, () => assert.equal(before.join('\n'), ''));
  assert.ok(PLANTED[name]?.some(([, , why]) => why), `no violation of ${name} is planted`);
  for (const [file, change, why] of PLANTED[name]) {
    test(`${name}: ${why ? `${file} has ${why}` : `nothing is wrong with ${file}`}`, () => {
      const found = sources.planted(file, change, () => check(sources)).filter((one) => !before.includes(one));
      if (why) assert.ok(found.some((one) => why.test(one)), JSON.stringify(found));
      else assert.deepEqual(found, []);
    });
  }
}
