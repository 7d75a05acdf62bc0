// Chooses the tests that changed files concern, as far as a minute reaches (./dev test --changed; docs/TESTING.md has the
// rules):
//   node changed.js ROOT BUILD TESTS <FILES
// FILES are paths, one a line; TESTS is what ctest --show-only=json-v1 prints of BUILD.
// Prints lines `test NAME`, `why TEXT`, and `states WORD|WORD` for the page checkers.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { basename, join, normalize, relative } from 'node:path';

const COMMON = 15; // a file that more tests include is not specific to any of them
const PAGES_MAX = 3; // a partial of more pages is checked on the pages of SAMPLE
const SAMPLE = 'home with|wallet rich|send lucky|envelope with a cover|result finished|received full|login refused';
// Pages whose states have other names than their template.
const STATES = {
  deleted: 'account deleted', home: 'home|welcome', login_recovery: 'login by', packet: 'own |envelope|result|sold out|phrase',
  problem: 'not found|bad request|too many', records: 'received|sent ', recovery: 'recovery codes', send: 'send ',
  send_confirm: 'to be confirmed', passkey_offer: 'passkey offered',
};

const [root, build, list] = process.argv.slice(2);
const read = (path) => readFileSync(join(root, path), 'utf8');
const filesOf = (folder, end) => readdirSync(join(root, folder), { recursive: true })
  .filter((path) => path.endsWith(end) && !path.includes('node_modules')).map((path) => join(folder, path));

const tests = JSON.parse(readFileSync(list, 'utf8')).tests.map(({ name, command = [], properties }) => {
  const labels = properties.find((property) => property.name === 'LABELS')?.value ?? [];
  return { name, label: labels[0], long: labels.includes('long'), files: command.filter((word) => word.startsWith('/')).map((word) => relative(root, word)) };
}).filter(({ label }) => label);

// The objects that ninja links into a program: its own sources, and folders of app/, the highest first.
function readGraph() {
  const built = relative(root, build);
  const programs = new Map(tests.flatMap((test) => test.files
    .filter((file) => file.startsWith(`${built}/tests/`)).map((file) => [relative(built, file), test])));
  const text = execFileSync('ninja', ['-C', build, '-t', 'query', ...programs.keys()], { encoding: 'utf8', maxBuffer: 1 << 26 });
  for (const part of text.split(/^(?=\S.*:$)/m)) {
    const test = programs.get(part.slice(0, part.indexOf(':\n')));
    if (!test) continue;
    test.sources = [...part.matchAll(/^ {4}(\S+)\/CMakeFiles\/[^/]+\.dir\/(\S+)\.o$/gm)]
      .map(([, folder, source]) => normalize(join(folder, source.replaceAll('__/', '../'))));
    test.floors = [...part.matchAll(/^ {4}\| app\/\w+\/libhb_(\w+)\.a$/gm)].map(([, floor]) => floor);
  }
}
readGraph();

const cTests = tests.filter(({ sources, long }) => sources && !long);
const chosen = new Set();
const states = new Set();
const why = (text) => console.log(`why ${text}`);
const shown = ({ name }) => name.replace('.', '/').replace('/test_', '/');

function choose(file, found, reason) {
  const fresh = [...new Set(found)];
  for (const { name } of fresh) chosen.add(name);
  if (fresh.length > 0) why(`${file}: ${fresh.map(shown).join(' ')} (${reason})`);
  return fresh.length > 0;
}

// Tests with a source that has this text; none when too many have it.
function mentioning(list, sourcesOf, text) {
  const found = list.filter((test) => sourcesOf(test).some((source) => existsSync(join(root, source)) && read(source).includes(text)));
  return found.length > COMMON ? [] : found;
}
const including = (header) => mentioning(cTests, ({ sources }) => sources, `#include "${header}"`);
const nodeTests = tests.filter(({ long, label, files }) => !long && label !== 'package' && files.some((file) => file.endsWith('.test.js')));
const scripts = ({ files }) => files.filter((file) => file.endsWith('.test.js'));

// test_send_again is about send, send_again and send_again_form.
const isAbout = (test, subject) => {
  const own = test.name.replace(/^\w+\.(test_)?/, '');
  return own === subject || own.startsWith(`${subject}_`) || subject.startsWith(`${own}_`);
};

function chooseOfApp(file) {
  const [, floor, ...rest] = file.replace(/\.[ch]$/, '').split('/');
  const depends = cTests.filter(({ floors }) => floors.includes(floor));
  const ofFloor = depends.filter((test) => test.label === 'unit' && test.floors[0] === floor && /\.test_/.test(test.name));
  const included = including(`${floor}/${rest.join('/')}.h`).filter((test) => depends.includes(test));
  const named = depends.filter((test) => isAbout(test, basename(rest.join('/'))) || isAbout(test, `${floor}_${basename(rest.join('/'))}`) || (test.label !== 'unit' && isAbout(test, floor) && !test.name.includes(`${floor}_`)));
  if (ofFloor.length > 0) {
    for (const { name } of ofFloor) chosen.add(name);
    why(`${file}: ${ofFloor.length} unit tests that link ${floor} and what is below it`);
  }
  choose(file, named, 'by their names');
  choose(file, included.filter((test) => !chosen.has(test.name)), 'they include its header');
}

function chooseOfTests(file) {
  const own = tests.filter(({ files, sources = [] }) => files.includes(file) || sources.includes(file));
  for (const test of own.filter(({ long }) => long)) why(`${file}: ${shown(test)} is a long test, so not now: ./dev test ${shown(test)}`);
  if (choose(file, own.filter(({ long }) => !long), 'itself') || own.length > 0) return;
  if (/\.[ch]$/.test(file)) {
    const header = relative('tests', file).replace(/\.c$/, '.h');
    choose(file, [...including(header), ...including(basename(header))], 'they include it');
  } else {
    choose(file, mentioning(nodeTests, scripts, `/${basename(file)}'`), 'they import it');
  }
}

const templates = () => filesOf('templates', '.mustache').map((path) => relative('templates', path).replace('.mustache', ''));
const templateOf = (name) => read(`templates/${name}.mustache`);

// The pages on which a template is seen: itself, or those that include it, also through others.
function pagesOf(template, seen = new Set()) {
  if (template.startsWith('pages/')) return [basename(template)];
  const includes = new RegExp(`\\{\\{[><]\\s*${template}\\s*\\}\\}`);
  const users = templates().filter((name) => !seen.has(name) && includes.test(templateOf(name)));
  for (const user of users) seen.add(user);
  return [...new Set(users.flatMap((user) => pagesOf(user, seen)))];
}

function chooseOfLooks(file) {
  choose(file, tests.filter(({ name }) => name.startsWith('unit.templates_render_')), 'they render every page');
  const template = /^templates\/(?:examples\/)?((?:pages|partials)\/\w+)\./.exec(file)?.[1];
  const asset = basename(file).replace(/[.-]/g, '_'); // money_css is static/money.css in a template
  const pages = template ? pagesOf(template) : [...new Set(templates().filter((name) => templateOf(name).includes(asset)).flatMap((name) => pagesOf(name)))];
  const some = pages.length > 0 && pages.length <= PAGES_MAX;
  const words = some ? pages.map((page) => STATES[page] ?? page.replaceAll('_', ' ')) : [SAMPLE];
  for (const word of words.join('|').split('|')) states.add(word);
  choose(file, tests.filter(({ name }) => name === 'pages.checkers'), some ? `states of ${pages.join(' ')}` : 'a sample of states');
}

function chooseOf(file) {
  if (/^app\/\w+\/.*\.[ch]$/.test(file)) chooseOfApp(file);
  else if (/^tests\//.test(file) && !file.endsWith('CMakeLists.txt')) chooseOfTests(file);
  else if (/^(templates|static)\//.test(file)) chooseOfLooks(file);
  else if (/^lua\//.test(file)) choose(file, cTests.filter((test) => isAbout(test, basename(file).replace(/-.*/, '')) || test.name === 'integration.test_live'), 'by their names');
  else if (/^sql\//.test(file)) choose(file, cTests.filter(({ name }) => name === 'integration.test_migrate'), 'it runs the migrations');
  else if (/^nginx\//.test(file)) choose(file, tests.filter(({ name }) => /^unit\.test_nginx|^e2e\.front$/.test(name)), 'they read or serve it');
  else if (/CMake|\.cmake$|^app\/main\.c$/.test(file)) choose(file, cTests.filter(({ name }) => /^unit\.floor_/.test(name)), 'each floor links');
  choose(file, mentioning(nodeTests, scripts, file).filter(({ name }) => !chosen.has(name)), 'they name this file');
}

const changed = readFileSync(0, 'utf8').split('\n').filter(Boolean);
for (const file of changed) chooseOf(file);
for (const { name } of tests.filter(({ label }) => label === 'tidy')) chosen.add(name);
why(`${changed.length} changed files: tidy, always`);
for (const name of chosen) console.log(`test ${name}`);
if (states.size > 0) console.log(`states ${[...states].join('|')}`);
