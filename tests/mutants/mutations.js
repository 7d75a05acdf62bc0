// The mutations of the project: which files have them, which are drawn, and the two lists beside this file. An entry:
//
//   FILE  WORDS
//       - the text that goes
//       + what comes instead; none: nothing
//
// equivalent.txt: mutations whose effect no test could notice. WORDS are the reason; the texts are a line of FILE
// before and after the mutation. plants.txt: bugs that no operator makes. WORDS are tests, separated by commas; FILE
// has the text exactly once. Texts of several lines have - or + on each.
import { edited, mutationsOf } from './operators.js';

export const EQUIVALENT = 'tests/mutants/equivalent.txt';
export const PLANTS = 'tests/mutants/plants.txt';
const FOLDERS = [['app', /\.c$|_internal\.h$/], ['lua', /\.lua$/], ['sql', /\.sql$/]];

// The parts of a migration that a later migration replaces: [from, to] of each routine.
function replaced(sources, file) {
  const head = /^(?:CREATE|DROP)[\w ]* (FUNCTION|PROCEDURE|TRIGGER) (?:IF EXISTS )?(\w+)/gm;
  const later = new Set(sources.files('sql', /\.sql$/).filter((other) => other > file)
    .flatMap((other) => [...sources.read(other).matchAll(head)].map(([, kind, name]) => `${kind} ${name}`)));
  const routine = /^CREATE[\w ]* ((?:FUNCTION|PROCEDURE|TRIGGER) \w+)[\s\S]*?(?=^(?!BEGIN|END)[A-Z-]|$(?![\s\S]))/gm;
  return [...sources.read(file).matchAll(routine)].filter(([, name]) => later.has(name))
    .map((match) => [match.index, match.index + match[0].length]);
}

const lineAt = (text, at) => text.slice(text.lastIndexOf('\n', at - 1) + 1, `${text}\n`.indexOf('\n', at)).trim();

// The line of the first edit, after all edits.
function lineAfter(text, edits) {
  const from = text.lastIndexOf('\n', edits[0][0] - 1) + 1;
  const part = text.slice(from, `${text}\n`.indexOf('\n', edits.at(-1)[1]));
  const inPart = edits.map(([first, last, instead]) => [first - from, last - from, instead]);
  return lineAt(edited(part, inPart), edits[0][0] - from);
}

// [{ file, operator, edits, line, old, new }]: line, old: the number and the text of the first line that changes; new:
// its text afterwards.
export function mutationsOfFile(sources, file) {
  const text = sources.read(file);
  const gone = file.endsWith('.sql') ? replaced(sources, file) : [];
  const found = mutationsOf(text, file.endsWith('.h') ? 'c' : file.slice(file.lastIndexOf('.') + 1))
    .filter(({ edits: [[at]] }) => !gone.some(([from, to]) => from <= at && at < to))
    .map(({ operator, edits }) => ({ file, operator, edits, line: text.slice(0, edits[0][0]).split('\n').length,
      old: lineAt(text, edits[0][0]), new: lineAfter(text, edits) }));
  // Dropping b from `a && b && c` is found twice: as the second operand of the first operator, and as the first operand
  // of the second.
  return [...new Map(found.map((one) => [`${one.line} ${one.new}`, one])).values()];
}

// Whether the file is one of these paths, or below one; without paths always.
export const isBelow = (file, paths) => paths.length === 0
  || paths.some((path) => `${file}/`.startsWith(`${path.replace(/\/+$/, '')}/`));

// The files below these paths that have mutations.
export const filesOf = (sources, paths) => FOLDERS.flatMap(([folder, pattern]) => sources.files(folder, pattern)).sort()
  .filter((file) => isBelow(file, paths));

// Numbers from 0 up to 1, the same for the same seed (mulberry32).
function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(state ^ (state >>> 15), state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 4294967296;
  };
}

// The mutations in a drawn order: each operator is as likely as any other, so are the mutations of one.
export function* drawn(mutations, seed) {
  const next = random(seed);
  const groups = new Map(mutations.map(({ operator }) => [operator, []]));
  for (const mutation of mutations) groups.get(mutation.operator).push(mutation);
  const left = [...groups.values()];
  while (left.length > 0) {
    const no = Math.floor(next() * left.length);
    yield left[no].splice(Math.floor(next() * left[no].length), 1)[0];
    if (left[no].length === 0) left.splice(no, 1);
  }
}

// The entries of a list: { entries: [{ file, words, old, new, at }], problems }, at: FILE:LINE of the entry.
function entriesRead(sources, list) {
  const entries = [];
  const problems = [];
  sources.read(list).split('\n').forEach((text, i) => {
    const head = /^(\w\S*) +(\S.*)$/.exec(text);
    const body = /^ {4}([-+]) (.*)$/.exec(text);
    if (head) entries.push({ file: head[1], words: head[2], old: [], new: [], at: `${list}:${i + 1}` });
    else if (body && entries.length > 0) entries.at(-1)[body[1] === '-' ? 'old' : 'new'].push(body[2]);
    else if (/^[^#]/.test(text)) problems.push(`${list}:${i + 1}: neither a head nor a part of an entry`);
  });
  for (const entry of entries) Object.assign(entry, { old: entry.old.join('\n'), new: entry.new.join('\n') });
  const isThere = ({ file }) => sources.exists(file);
  problems.push(...entries.filter((entry) => !isThere(entry)).map(({ at, file }) => `${at}: no file ${file}`));
  return { entries: entries.filter(isThere), problems };
}

const keyOf = ({ file, old, new: after }) => `${file}\n${old}\n${after}`;

// { keys: a Set, problems }; isEquivalent(keys, mutation) says whether the list has it.
export function equivalents(sources) {
  const { entries, problems } = entriesRead(sources, EQUIVALENT);
  const files = [...new Set(entries.map(({ file }) => file))];
  const there = new Set(files.flatMap((file) => mutationsOfFile(sources, file).map(keyOf)));
  const gone = entries.filter((entry) => !there.has(keyOf(entry)));
  problems.push(...gone.map(({ at, file }) => `${at}: ${file} has no such mutation`));
  return { keys: new Set(entries.map(keyOf)), problems };
}
export const isEquivalent = (keys, mutation) => keys.has(keyOf(mutation));

// { plants: [{ file, operator, edits, line, old, new, tests }], problems }
export function plants(sources) {
  const { entries, problems } = entriesRead(sources, PLANTS);
  const found = entries.map((entry) => {
    const text = sources.read(entry.file);
    const at = text.indexOf(entry.old);
    const count = entry.old === '' ? 0 : text.split(entry.old).length - 1;
    if (count !== 1) problems.push(`${entry.at}: ${entry.file} has "${entry.old}" ${count} times`);
    const line = text.slice(0, at).split('\n').length;
    const edits = [[at, at + entry.old.length, entry.new]];
    return { ...entry, operator: 'plant', edits, line, tests: entry.words.split(',') };
  });
  return { plants: found, problems };
}
