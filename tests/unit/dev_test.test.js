// The programs behind ./dev test and ./dev reached: their output, their choices and their counts.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BUILD = process.env.HB_TEST_BUILD;
const support = (name) => join(ROOT, 'tests/support', name);
let folder;

before(() => { folder = mkdtempSync(join(tmpdir(), 'hongbao-dev-test-')); });
after(() => rmSync(folder, { recursive: true }));

const LIST = `Test project /build
  Test  #1: unit.test_a
  Test  #2: unit.test_b
  Test  #3: stores.start
  Test  #4: integration.test_c
`;
const OUTPUT = `    Start 1: unit.test_a
    Start 2: unit.test_b
1/4 Test #1: unit.test_a ................   Passed    0.01 sec
2/4 Test #2: unit.test_b ................***Failed    2.00 sec
what it printed
    Start 3: stores.start
3/4 Test #3: stores.start ...............   Passed    1.00 sec
    Start 4: integration.test_c
4/4 Test #4: integration.test_c .........***Skipped   0.10 sec

75% tests passed, 1 tests failed out of 4
Total Test time (real) =   3.00 sec
`;

test('without a terminal a line comes when a label ends, and a failed test at once with its output', () => {
  const [list, table, passed] = ['list', 'table', 'passed'].map((name) => join(folder, name));
  writeFileSync(list, LIST);
  const shown = execFileSync('node', [support('glance.js'), list, table, passed, 'sum'], { input: OUTPUT, encoding: 'utf8' });
  const lines = shown.trimEnd().split('\n').map((line) => line.replace(/ +/g, ' '));
  assert.deepEqual(lines, ['failed: unit.test_b, 2 s', 'unit 2/2 0 s 1 failed', '--- the output of unit.test_b', 'what it printed',
    'servers 1/1 0 s', 'integration 1/1 0 s 1 skipped', '75% tests passed, 1 tests failed out of 4']);
  assert.match(readFileSync(table, 'utf8'), /^unit +2\/2 .*1 failed\nservers .*\nintegration .*\n$/);
  assert.match(readFileSync(passed, 'utf8'), /^unit\.test_a sum \d{10}\n$/, 'no test that failed or was skipped, no fixture');
});

test('the slowest tests of a run are named with what they protect, the slowest first', () => {
  const log = join(folder, 'ctest.log');
  writeFileSync(log, `${OUTPUT}1/2 Test #1: e2e.tokens ...   Passed   35.05 sec\n2/2 Test #2: unit.test_b ...   Passed    0.50 sec\n`);
  assert.equal(execFileSync('node', [support('slowest.js'), log, '2'], { encoding: 'utf8' }),
    `  35 s e2e.tokens  ${readFileSync(join(ROOT, 'tests/e2e/tokens.test.js'), 'utf8').slice(3).split('\n')[0]}\n`
    + '   2 s unit.test_b\n');
});

// The tests of this build, as ctest lists them.
const listed = () => execFileSync('ctest', ['--test-dir', BUILD, '--show-only=json-v1'], { encoding: 'utf8', maxBuffer: 1 << 26 });

// The choice when these files have changed: { tests, tidy, states }; tests: without the label tidy; tidy: the number of tests with it.
function choose(...files) {
  const list = join(folder, 'tests.json');
  if (!existsSync(list)) writeFileSync(list, listed());
  const text = execFileSync('node', [support('changed.js'), ROOT, BUILD, list], { input: files.join('\n'), encoding: 'utf8' });
  const chosen = [...text.matchAll(/^test (.*)$/gm)].map(([, name]) => name);
  // This test itself names the files of all cases, so it is always chosen.
  const tests = chosen.filter((name) => !name.startsWith('tidy.') && name !== 'unit.dev_test');
  return { tests, tidy: chosen.filter((name) => name.startsWith('tidy.')).length, states: /^states (.*)$/m.exec(text)?.[1] };
}

test('a changed file of app/ chooses the tests of its floor, of its name and of its header', () => {
  const { tests, tidy } = choose('app/packet/split.c');
  for (const name of ['unit.test_split', 'unit.test_packet', 'integration.test_send']) assert.ok(tests.includes(name), `${name} of ${tests}`);
  for (const name of ['unit.test_base_str', 'integration.test_health']) assert.ok(!tests.includes(name), name);
  assert.equal(tidy, 3);
});

test('a changed page chooses the checkers in its states, one that many pages include in a sample of states', () => {
  const { tests, states } = choose('templates/pages/wallet.mustache');
  assert.deepEqual(tests, ['unit.templates_render_their_examples_zh-CN', 'unit.templates_render_their_examples_en', 'pages.checkers']);
  assert.equal(states, 'wallet');
  assert.match(choose('static/app.css').states, /wallet.*\|send/);
});

test('a changed test chooses itself unless it is long, a helper those that have it, other files those that name them', () => {
  assert.deepEqual(choose('tests/integration/test_settle.c', 'tests/e2e/limits.test.js').tests, ['integration.test_settle']);
  assert.ok(choose('tests/e2e/support/moments.js').tests.includes('e2e.phrase'));
  assert.ok(choose('README.md').tests.includes('e2e.readme'));
  assert.deepEqual(choose('LICENSE').tests, []);
});

// A gcov that reports these lines of app/a/x.c; '#': not reached.
function reached(lines, ...more) {
  const report = { current_working_directory: folder, files: [{ file: 'app/a/x.c',
    lines: lines.map((mark, i) => ({ line_number: i + 1, count: mark === '#' ? 0 : 1 })) }] };
  writeFileSync(join(folder, 'gcov'), `#!/bin/sh\ncat <<'END'\n${JSON.stringify(report)}\nEND\n`, { mode: 0o755 });
  const { status, stdout } = spawnSync('node', [support('reached.js'), folder, folder, join(folder, 'reached.txt'), ...more],
    { encoding: 'utf8', env: { ...process.env, PATH: `${folder}:${process.env.PATH}` } });
  return { status, stdout };
}

test('the lines that are no longer reached are printed, and make it fail', () => {
  mkdirSync(join(folder, 'app/a'), { recursive: true });
  for (const name of ['x.c', 'x.gcno']) writeFileSync(join(folder, 'app/a', name), '');
  const all = reached(['1', '1', '#']);
  assert.equal(all.status, 0);
  assert.match(all.stdout, /^app\/a +3 +2 +66\.7 %$/m);
  const before = join(folder, 'before.txt');
  writeFileSync(before, readFileSync(join(folder, 'reached.txt')));
  assert.deepEqual(reached(['1', '1', '1'], before), { status: 0, stdout: '' });
  assert.deepEqual(reached(['1', '#', '1'], before), { status: 1, stdout: 'app/a/x.c:2\n' });
});

test('the seconds of CPU are also those of what was left in the background, and the exit status is the command’s', (t) => {
  const program = join(BUILD, 'tests/support/cpu_seconds');
  if (!existsSync(program)) {
    t.skip('built for another processor');
    return;
  }
  const [file, ready, pid] = ['cpu', 'ready', 'pid'].map((name) => join(folder, name));
  const busy = `i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done; times >${ready}.new; mv ${ready}.new ${ready}`;
  const script = `(setsid sh -c '${busy}' & echo $! >${pid})
    while [ ! -e ${ready} ] || kill -0 "$(cat ${pid})" 2>/dev/null; do sleep 0.1; done; exit 7`;
  assert.equal(spawnSync(program, [file, 'sh', '-c', script]).status, 7);
  const own = /^0m([\d.]+)s/.exec(readFileSync(ready, 'utf8'))[1];
  const [user, system] = readFileSync(file, 'utf8').trim().split(' ').map(Number);
  assert.ok(user + system + 0.1 >= Number(own), `${user} + ${system} are less than ${own}`);
});

test('every label has a line about what it protects', () => {
  const { tests } = JSON.parse(listed());
  const labels = tests.flatMap(({ properties }) => properties.find(({ name }) => name === 'LABELS')?.value ?? []);
  const docs = /^## What each label protects\n([\s\S]*?)^## /m.exec(readFileSync(join(ROOT, 'docs/TESTING.md'), 'utf8'))[1];
  const explained = [...docs.matchAll(/^\| `(\w+)` \| \S/gm)].map(([, label]) => label);
  assert.deepEqual([...new Set(labels)].filter((label) => label !== 'long').sort(), explained.sort());
});
