// node mutants.js FOLDER [FILTER...]: plants the bugs of mutants.txt whose name or file contains a FILTER, one at a time,
// in a copy of the project in FOLDER, and runs the unit and integration tests there. Exit 1 when one survives them or can't
// be planted. The copy and its build stay, so that the next run is quick.
import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Sources } from '../tidy/sources.js';
import { mutantsRead } from './list.js';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');
const LIMIT_MS_MIN = 60_000; // for the tests that should fail: at least this, and
const LIMIT_FACTOR = 5; // so many times as long as without any mutant
const ALL_LIMIT_MS = 1_200_000; // for all tests
const [folder, ...filters] = process.argv.slice(2);
const SOURCE = join(folder, 'source');
const BUILD = join(folder, 'build');
const JOBS = String(availableParallelism());

let child = null;
for (const [signal, status] of [['SIGINT', 130], ['SIGTERM', 143], ['SIGHUP', 129]]) {
  process.on(signal, () => {
    if (child) process.kill(-child.pid, 'SIGKILL');
    process.exit(status);
  });
}

// Runs a command in a process group of its own: { status, text }; status null: it took longer than limitMs.
function run(command, args, limitMs = 0) {
  return new Promise((resolve, reject) => {
    child = spawn(command, args, { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    const chunks = [];
    let late = false;
    const timer = limitMs && setTimeout(() => {
      late = true;
      process.kill(-child.pid, 'SIGKILL');
    }, limitMs);
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => chunks.push(chunk));
    child.on('error', reject);
    child.on('close', (code) => {
      child = null;
      clearTimeout(timer);
      resolve({ status: late ? null : code ?? 1, text: Buffer.concat(chunks).toString() });
    });
  });
}

async function runOrEnd(command, args) {
  const { status, text } = await run(command, args);
  if (status === 0) return text;
  process.stderr.write(text.slice(-6000));
  console.error(`mutants: ${command} ${args.join(' ')} failed`);
  return process.exit(1);
}

function filesBelow(dir) {
  if (!existsSync(dir)) return [];
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile()).map((entry) => relative(dir, join(entry.parentPath ?? entry.path, entry.name)));
}

// Copies the working tree without the files that git ignores. Unchanged files keep their times, so ninja does not rebuild.
async function copyProject() {
  const listed = await runOrEnd('git', ['-C', ROOT, 'ls-files', '-z', '--cached', '--others', '--exclude-standard']);
  const files = new Set(listed.split('\0').filter((file) => file && existsSync(join(ROOT, file))));
  for (const file of filesBelow(SOURCE)) if (!files.has(file)) rmSync(join(SOURCE, file));
  for (const file of files) {
    const [from, to] = [join(ROOT, file), join(SOURCE, file)];
    if (!statSync(from).isFile()) continue;
    if (existsSync(to) && readFileSync(from).equals(readFileSync(to))) continue;
    mkdirSync(dirname(to), { recursive: true });
    copyFileSync(from, to);
  }
  const [packages, link] = [join(ROOT, 'tests/e2e/node_modules'), join(SOURCE, 'tests/e2e/node_modules')];
  if (existsSync(packages) && !existsSync(link)) symlinkSync(packages, link); // git ignores them
}

// Quick to compile and to link: no sanitizers, no debug symbols.
async function configure() {
  const ccache = process.env.CMAKE_C_COMPILER_LAUNCHER === undefined && (await run('which', ['ccache'])).status === 0;
  await runOrEnd('cmake', ['-S', SOURCE, '-B', BUILD, '-G', 'Ninja', '-DCMAKE_BUILD_TYPE=Debug', '-DHB_DEV=ON',
    '-DHB_SANITIZE=', '-DCMAKE_EXE_LINKER_FLAGS=-Wl,--strip-debug', ...(ccache ? ['-DCMAKE_C_COMPILER_LAUNCHER=ccache'] : [])]);
}

const build = (tests) => run('cmake', ['--build', BUILD, '-j', JOBS, '--target', ...tests]);

const ctest = (tests, limitMs) => run('ctest', ['--test-dir', BUILD, '-j', JOBS, '--output-on-failure', '--stop-on-failure',
  '--no-tests=error', '-R', `^(${tests.join('|')})$`], limitMs);

// Runs the tests: null when all pass, else { test: the name of one that fails, late: whether they took too long }.
// durations, a map: how long each took in ms is put into it.
async function failure(tests, limitMs, durations = new Map()) {
  const { status, text } = await ctest(tests, limitMs);
  for (const [, test, seconds] of text.matchAll(/ Test +#\d+: (\S+) \.+ +Passed +([\d.]+) sec/g)) durations.set(test, seconds * 1000);
  if (status === 0) return null;
  if (status === null) {
    await run(join(SOURCE, 'tests/support/servers'), ['stop-all', join(BUILD, 'servers')]);
    return { test: `not finished within ${Math.round(limitMs / 1000)} s`, late: true };
  }
  const test = /^\s*\d+ - (\S+) \((.*)\)/m.exec(text);
  const sentence = /^\[ {2}FAILED {2}\] (?:\S+: )?([a-z]\w+)$/m.exec(text);
  const words = [test?.[1] ?? text.slice(-2000), test && test[2] !== 'Failed' ? test[2] : '', sentence?.[1]];
  return { test: words.filter(Boolean).join(' '), late: test?.[2] === 'Timeout' };
}

// unit/base_money → unit.test_base_money
function testNamed(word, all) {
  const [label, name] = word.split('/');
  return [`${label}.${name}`, `${label}.test_${name}`].find((test) => all.includes(test));
}

// Whether a test fails that is built anew. "not finished …" is no name of a test.
async function failsAlone(test) {
  const built = await build([test]);
  return built.status === 0 && await failure([test], ALL_LIMIT_MS) !== null;
}

// Tests the planted mutant: [status, detail], status one of caught, late (caught, but only by a limit of time),
// SURVIVED, error. durations: how long a test takes without a mutant. remove(): takes the mutant away.
async function judge(mutant, all, durations, remove) {
  const firstMs = Math.max(LIMIT_MS_MIN, LIMIT_FACTOR * mutant.tests.reduce((sum, test) => sum + durations.get(test), 0));
  const others = all.filter((test) => !mutant.tests.includes(test));
  for (const [tests, limitMs] of [[mutant.tests, firstMs], [others, ALL_LIMIT_MS]]) {
    const built = await build(tests);
    if (built.status !== 0) return ['error', `does not build\n${built.text.slice(-2000)}`];
    const failed = await failure(tests, limitMs);
    if (!failed) continue;
    if (tests === others) { // only the tests that are named for mutants have passed before
      remove();
      if (await failsAlone(failed.test.split(' ')[0])) return ['error', `fails without any mutant, too: ${failed.test}`];
    }
    return [failed.late ? 'late' : 'caught', failed.test];
  }
  return ['SURVIVED', mutant.why];
}

const { mutants, problems } = mutantsRead(new Sources(ROOT));
const fits = (filter, { name, file }) => name.includes(filter) || file.includes(filter);
const chosen = mutants.filter((mutant) => filters.length === 0 || filters.some((filter) => fits(filter, mutant)));
for (const filter of filters) if (!chosen.some((mutant) => fits(filter, mutant))) problems.push(`no mutant whose name or file contains ${filter}`);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);

console.log(`mutants: a copy of the project in ${SOURCE}`);
await copyProject();
await configure();
const testsOf = async (labels) => (await runOrEnd('ctest', ['--test-dir', BUILD, '-N', '-L', `^(${labels})$`, '-FA', '.']))
  .split('\n').map((line) => /^ *Test *#\d+: (\S+)/.exec(line)?.[1]).filter(Boolean);
const all = await testsOf('unit|integration');
const nameable = await testsOf('unit|integration|e2e'); // of e2e only what needs no servers is quick enough
for (const mutant of chosen) {
  mutant.tests = mutant.tests.map((word) => {
    const test = testNamed(word, nameable);
    if (test) return test;
    console.error(`mutants.txt:${mutant.line}: ${mutant.name}: no test ${word}`);
    return process.exit(1);
  });
}
await runOrEnd('cmake', ['--build', BUILD, '-j', JOBS, '--target', ...all]);
const durations = new Map();
const broken = await failure([...new Set(chosen.flatMap(({ tests }) => tests))], ALL_LIMIT_MS, durations);
if (broken) {
  console.error(`mutants: fails without any mutant: ${broken.test}`);
  process.exit(1);
}

const counts = { caught: 0, late: 0, SURVIVED: 0, error: 0 };
const begun = Date.now();
for (const [i, mutant] of chosen.entries()) {
  const path = join(SOURCE, mutant.file);
  const text = readFileSync(path, 'utf8');
  const since = Date.now();
  writeFileSync(path, text.split(mutant.old).join(mutant.new));
  const [status, detail] = await judge(mutant, all, durations, () => writeFileSync(path, text));
  writeFileSync(path, text);
  counts[status]++;
  console.log(`${i + 1}/${chosen.length} ${status}  ${mutant.name}  ${((Date.now() - since) / 1000).toFixed(1)} s  ${detail}`);
}
console.log(`mutants: ${counts.caught} caught, ${counts.late} late, ${counts.SURVIVED} survived, ${counts.error} not judged; `
  + `${Math.round((Date.now() - begun) / 1000)} s`);
process.exit(counts.SURVIVED + counts.error === 0 ? 0 : 1);
