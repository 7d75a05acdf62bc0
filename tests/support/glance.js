// Shows at a glance how a run of ctest goes:
//   ctest ... 2>&1 | node glance.js LIST [TABLE PASSED TREE]
// LIST is the output of ctest -N with the same options. On a terminal there is a line for each label, drawn again in
// place; elsewhere a line when a label ends, or after a silent minute. A test that failed is named at once; its output
// follows, on a terminal at the end. TABLE gets the last state of the lines. Each test that passed becomes a line
// `TEST TREE SECONDS-SINCE-1970` of the file PASSED.
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const OUTPUT_LINES_MAX = 400; // of a test that failed: the last ones
const REDRAW_MS = 1000;
const SILENCE_MS = 60_000;

const [list, table, passedFile, tree] = process.argv.slice(2);
const terminal = process.stdout.isTTY === true;

// Fixtures, such as `stores.start`, have a separate row.
const labelOf = (name) => (/\.(start|stop)$/.test(name) || !name.includes('.') ? 'servers' : name.split('.')[0]);

const rows = new Map(); // label → { all, done, failed, skipped, began, ended, running }
for (const [, name] of readFileSync(list, 'utf8').matchAll(/^ *Test +#\d+: (\S+)/gm)) {
  const label = labelOf(name);
  const row = rows.get(label) ?? { all: 0, done: 0, failed: 0, skipped: 0, began: 0, ended: 0, running: new Set() };
  row.all += 1;
  rows.set(label, row);
}

const duration = (ms) => {
  const s = Math.round(ms / 1000);
  return s < 60 ? `${s} s` : `${Math.floor(s / 60)}:${String(s % 60).padStart(2, '0')} min`;
};

function rowText(label) {
  const row = rows.get(label);
  const found = [row.failed && `${row.failed} failed`, row.skipped && `${row.skipped} skipped`].filter(Boolean).join(', ');
  const time = row.began === 0 ? '' : duration((row.running.size > 0 ? Date.now() : row.ended) - row.began);
  const count = `${row.done}/${row.all}`;
  return `${label.padEnd(12)}${count.padStart(8)} ${time.padStart(9)}  ${found.padEnd(10)} ${[...row.running].join(' ')}`.trimEnd();
}

// The table on a terminal.
let drawn = 0; // lines that it has there
const clipped = (line) => line.slice(0, (process.stdout.columns || 80) - 1);

function erase() {
  if (drawn > 0) process.stdout.write(`\x1b[${drawn}A\x1b[J`);
  drawn = 0;
}

function draw() {
  erase();
  for (const label of rows.keys()) process.stdout.write(`${clipped(rowText(label))}\n`);
  drawn = rows.size;
}

let lastPrinted = Date.now();
function print(...lines) {
  if (terminal) erase();
  for (const line of lines) process.stdout.write(`${line}\n`);
  lastPrinted = Date.now();
  if (terminal) draw();
}

const began = Date.now();
function heartbeat() {
  if (terminal) draw();
  if (terminal || Date.now() - lastPrinted < SILENCE_MS) return;
  const sum = (field) => [...rows.values()].reduce((total, row) => total + row[field], 0);
  const running = [...rows].flatMap(([label, row]) => [...row.running].map((name) => `${label}.${name}`));
  print(`${sum('done')}/${sum('all')} done, ${sum('failed')} failed, ${duration(Date.now() - began)}; running: ${running.join(' ')}`);
}

const failures = []; // { name, lines }
let failing = null; // the failure whose output comes now

function printOutput({ name, lines }) {
  const kept = lines.slice(-OUTPUT_LINES_MAX);
  const left = lines.length - kept.length;
  print(`--- the output of ${name}${left ? `, without its first ${left} lines` : ''}`, ...kept);
}

function endOutput() {
  if (failing && !terminal) printOutput(failing);
  failing = null;
}

function onStart(name) {
  const row = rows.get(labelOf(name));
  if (!row) return;
  row.began ||= Date.now();
  row.running.add(name.replace(/^[^.]+\.(test_)?/, ''));
}

function onEnd(name, how, seconds) {
  const label = labelOf(name);
  const row = rows.get(label);
  if (!row) return;
  row.done += 1;
  row.ended = Date.now();
  row.running.delete(name.replace(/^[^.]+\.(test_)?/, ''));
  if (how.includes('***Skipped')) {
    row.skipped += 1;
  } else if (how.includes('***')) {
    row.failed += 1;
    failing = { name, lines: [] };
    failures.push(failing);
    print(`failed: ${name}, ${duration(seconds * 1000)}${/Failed/.test(how) ? '' : `, ${how.replace('***', '')}`}`);
  } else if (passedFile && label !== 'servers') {
    appendFileSync(passedFile, `${name} ${tree} ${Math.floor(Date.now() / 1000)}\n`);
  }
  if (!terminal && row.done === row.all) print(rowText(label));
}

function onLine(line) {
  const start = /^ +Start +\d+: (\S+)/.exec(line);
  const end = /^ *\d+\/\d+ Test +#\d+: (\S+) \.*(.*?):? +([\d.]+) sec/.exec(line);
  if (start || end || /^\d+% tests passed/.test(line)) endOutput();
  if (start) onStart(start[1]);
  else if (end) onEnd(end[1], end[2].trim(), Number(end[3]));
  else failing?.lines.push(line);
}

const timer = setInterval(heartbeat, REDRAW_MS);
let passedLine = '';
for await (const line of createInterface({ input: process.stdin })) {
  onLine(line);
  if (/^\d+% tests passed/.test(line)) passedLine = line;
}
clearInterval(timer);
endOutput();
if (terminal) {
  erase();
  for (const failure of failures) printOutput(failure);
  draw();
}
if (table) writeFileSync(table, [...rows.keys()].map((label) => `${rowText(label)}\n`).join(''));
if (passedLine) console.log(passedLine);
