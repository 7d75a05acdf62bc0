// node mutants.js FOLDER [OPTION...]: makes small bugs, one at a time, in a copy of the project in FOLDER, and runs the
// tests there. Exit 1 when a bug survives them. The copy and its build stay, so that the next run is quick.
//   --seed N     which mutations are drawn (default: another one each time)
//   --count N    how many (default: 30)
//   --only PATH  in this file or folder; several times: in any of them
//   --plants     the bugs of plants.txt instead
//   --near       only the tests that a change of the file concerns
//   --all        a bug that survives the quick tests of unit and integration must survive the long ones and the quick
//                ones of e2e, too
//   --list       shows the mutations, and runs nothing
import { execFileSync, spawn } from 'node:child_process';
import {
  copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync,
} from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Sources } from '../support/sources.js';
import { drawn, equivalents, filesOf, isBelow, isEquivalent, mutationsOfFile, plants } from './mutations.js';
import { edited } from './operators.js';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');
const LIMIT_MS_MIN = 60_000; // limit for tests that should fail: at least this, and
const LIMIT_FACTOR = 5; // so many times the time that they take without a mutation
const ALL_LIMIT_MS = 1_200_000; // for all tests
const [folder, ...args] = process.argv.slice(2);
const SOURCE = join(folder, 'source');
const BUILD = join(folder, 'build');
const TESTS = join(folder, 'tests.json'); // what ctest lists
const JOBS = String(availableParallelism());

function end(status, ...problems) {
  for (const problem of problems) console.error(problem);
  process.exit(status);
}

function optionsRead() {
  const given = { seed: '', count: '30', only: [], plants: false, near: false, all: false, list: false };
  const type = (value) => ({ type: typeof value === 'boolean' ? 'boolean' : 'string', multiple: Array.isArray(value) });
  try {
    const options = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, type(value)]));
    Object.assign(given, parseArgs({ args, options }).values);
  } catch (problem) {
    end(2, `mutants: ${problem.message}`);
  }
  for (const name of ['seed', 'count']) if (!/^\d{0,9}$/.test(given[name])) end(2, `mutants: --${name} takes a number`);
  const seed = given.seed === '' ? Math.floor(Math.random() * 1e6) : Number(given.seed);
  return { ...given, seed, count: Number(given.count) };
}

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

// Copies the working tree without the files that git ignores. Unchanged files keep their times: ninja does not rebuild.
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

// Quick to compile and to link: no sanitizers, no debug symbols. Warnings are no errors: many mutations leave a variable
// unused, and must be tested all the same.
async function configure() {
  const ccache = process.env.CMAKE_C_COMPILER_LAUNCHER === undefined && (await run('which', ['ccache'])).status === 0;
  await runOrEnd('cmake', ['-S', SOURCE, '-B', BUILD, '-G', 'Ninja', '-DCMAKE_BUILD_TYPE=Debug', '-DHB_DEV=OFF',
    '-DCMAKE_C_FLAGS=-DHB_CRASH_POINTS', '-DHB_SANITIZE=', '-DCMAKE_EXE_LINKER_FLAGS=-Wl,--strip-debug',
    ...(ccache ? ['-DCMAKE_C_COMPILER_LAUNCHER=ccache'] : [])]);
}

const build = (tests) => run('cmake', ['--build', BUILD, '-j', JOBS, '--target', ...tests]);

const ctest = (tests, limitMs) => run('ctest', ['--test-dir', BUILD, '-j', JOBS, '--output-on-failure',
  '--stop-on-failure', '--no-tests=error', '-R', `^(${tests.join('|')})$`], limitMs);

// Runs the tests: null when all pass, else { test: the name of one that fails, late: whether they took too long }.
// durations, a map: how long each took in ms is put into it.
async function failure(tests, limitMs, durations = new Map()) {
  const { status, text } = await ctest(tests, limitMs);
  const passed = / Test +#\d+: (\S+) \.+ +Passed +([\d.]+) sec/g;
  for (const [, test, seconds] of text.matchAll(passed)) durations.set(test, seconds * 1000);
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

// For sql/, changed.js chooses the tests that run the migrations; these tests call the routines that the migrations
// make.
const OF_SQL = ['wallet_ledger', 'send', 'settle', 'give_back', 'user_deletion']
  .map((name) => `integration.test_${name}`);

// Maps a file to the listed tests that a change of it concerns.
const concerned = new Map();
function testsOf(file, all) {
  if (!concerned.has(file)) {
    const changed = [join(SOURCE, 'tests/support/changed.js'), SOURCE, BUILD, TESTS];
    const text = execFileSync('node', changed, { input: file, encoding: 'utf8' });
    const tests = [...text.matchAll(/^test (.*)$/gm)].map(([, test]) => test);
    const more = file.startsWith('sql/') ? OF_SQL : [];
    concerned.set(file, [...new Set([...tests, ...more])].filter((test) => all.includes(test)));
  }
  return concerned.get(file);
}

// Builds the tests again; returns whether one of them fails.
async function failAnew(tests) {
  const built = await build(tests);
  return built.status === 0 && await failure(tests, ALL_LIMIT_MS) !== null;
}

// As failure, but returns [null] or [failure, name]: name is a test that also fails when it is repeated alone. A
// failure without the name of a test, such as a server that did not start, must happen twice.
async function failureAgain(tests, limitMs) {
  const failed = await failure(tests, limitMs);
  const name = failed?.test.split(' ')[0];
  if (!tests.includes(name)) return failed && !failed.late && !await failure(tests, limitMs) ? [null] : [failed, name];
  if (await failure([name], limitMs)) return [failed, name];
  const others = tests.filter((test) => test !== name);
  return others.length > 0 ? failureAgain(others, limitMs) : [null];
}

// Runs the stages of tests, one after the other: [status, detail], status one of caught, late (caught, but only by a
// limit of time), SURVIVED, error, skipped (it does not compile). durations: how long a test takes without a mutation;
// a test that is not in it has not passed yet. remove(): removes the mutation.
async function judge(stages, durations, remove) {
  for (const tests of stages.filter(({ length }) => length > 0)) {
    const usualMs = tests.reduce((sum, test) => sum + (durations.get(test) ?? LIMIT_MS_MIN), 0);
    const limitMs = Math.min(ALL_LIMIT_MS, Math.max(LIMIT_MS_MIN, LIMIT_FACTOR * usualMs));
    const built = await build(tests);
    if (built.status !== 0) return ['skipped', 'does not compile'];
    const [failed, name] = await failureAgain(tests, limitMs);
    if (!failed) continue;
    const isTest = tests.includes(name); // else a server did not start, or ctest failed
    if (isTest ? !durations.has(name) : !failed.late) {
      remove();
      if (await failAnew(isTest ? [name] : tests)) return ['error', `fails without any mutation, too: ${failed.test}`];
    }
    return [failed.late ? 'late' : 'caught', failed.test];
  }
  return ['SURVIVED', ''];
}

// Plants a mutation in the copy, and judges it.
async function tried(mutation, stages, durations) {
  const path = join(SOURCE, mutation.file);
  const text = readFileSync(path, 'utf8');
  const remove = () => writeFileSync(path, text);
  writeFileSync(path, edited(text, mutation.edits));
  try {
    return await judge(stages, durations, remove);
  } finally {
    remove();
  }
}

function* chosen(options, sources) {
  const { keys, problems } = equivalents(sources);
  const listed = plants(sources);
  if (problems.length + listed.problems.length > 0) end(1, ...problems, ...listed.problems);
  const files = filesOf(sources, options.only);
  if (options.plants) {
    yield* listed.plants.filter(({ file }) => isBelow(file, options.only));
  } else {
    if (files.length === 0) end(1, `mutants: nothing at ${options.only.join(' ')} has mutations`);
    const all = files.flatMap((file) => mutationsOfFile(sources, file));
    yield* drawn(all.filter((one) => !isEquivalent(keys, one)), options.seed);
  }
}

const place = ({ operator, file, line }) => `${operator} ${file}:${line}`;
const change = ({ old, new: after }) => [...old.split('\n').map((line) => `    - ${line}`),
  ...after.split('\n').filter(Boolean).map((line) => `    + ${line}`)].join('\n');

const options = optionsRead();
const queue = chosen(options, new Sources(ROOT));
const first = [];
for (let next = queue.next(); !next.done; next = queue.next()) {
  first.push(next.value);
  if (!options.plants && first.length >= options.count) break;
}
if (options.list) {
  for (const mutation of first) console.log(`${place(mutation)}\n${change(mutation)}`);
  process.exit(0);
}
const again = options.plants ? '' : `; --seed ${options.seed} draws the same again`;
console.log(`mutants: a copy of the project in ${SOURCE}${again}`);
await copyProject();
await configure();
const listed = () => runOrEnd('ctest', ['--test-dir', BUILD, '--show-only=json-v1']);
const known = JSON.parse(await listed()).tests.map(({ name, properties }) => ({ name,
  labels: properties.find((property) => property.name === 'LABELS')?.value ?? [] }));
const named = (wanted) => known.filter(({ labels }) => wanted(labels)).map(({ name }) => name);
const quick = (pattern) => named((labels) => pattern.test(labels[0]) && !labels.includes('long'));
const all = quick(/^(unit|integration)$/);
const nameable = named(([label]) => /^(unit|integration|e2e)$/.test(label));
const more = options.all ? [...named(([label]) => label === 'integration'), ...quick(/^e2e$/)] : [];
const stagesOf = ({ file, at, tests }) => {
  const words = tests?.map((word) => testNamed(word, nameable) ?? end(1, `${at}: no test ${word}`));
  const begin = words ?? testsOf(file, all);
  const others = options.near ? [] : all.filter((test) => !begin.includes(test));
  return [begin, others, more.filter((test) => !begin.includes(test) && !others.includes(test))];
};
await runOrEnd('cmake', ['--build', BUILD, '-j', JOBS, '--target', ...all]);
writeFileSync(TESTS, await listed()); // a test has a command there only once it is built
const durations = new Map();
const begin = [...new Set(first.flatMap((mutation) => stagesOf(mutation)[0]))];
const broken = begin.length > 0 && await build(begin) && await failure(begin, ALL_LIMIT_MS, durations);
if (broken) end(1, `mutants: fails without any mutation: ${broken.test}`);

const counts = { caught: 0, late: 0, SURVIVED: 0, error: 0, skipped: 0 };
const begun = Date.now();
const wanted = first.length;
for (let done = 0; done < wanted;) {
  const mutation = first.shift() ?? queue.next().value;
  if (!mutation) break;
  const since = Date.now();
  const [status, detail] = await tried(mutation, stagesOf(mutation), durations);
  counts[status]++;
  if (status === 'skipped') continue;
  done++;
  const seconds = ((Date.now() - since) / 1000).toFixed(1);
  console.log(`${done}/${wanted} ${status}  ${place(mutation)}  ${seconds} s  ${detail}`);
  if (status !== 'caught') console.log(change(mutation));
}
console.log(`mutants: ${counts.caught} caught, ${counts.late} late, ${counts.SURVIVED} survived, `
  + `${counts.error} not judged, ${counts.skipped} did not compile; ${Math.round((Date.now() - begun) / 1000)} s`);
process.exit(counts.SURVIVED + counts.error === 0 ? 0 : 1);
