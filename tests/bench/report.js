// Tables for a terminal and for docs/BENCHMARKS.md.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { figure } from './stats.js';

// The marks around the results; with the name of a case, around the results of a run of this case alone.
const marksOf = (name) => ({ from: `<!-- bench${name}: from here -->`, to: `<!-- bench${name}: to here -->` });

// Lines of a table; heads are the keys of all rows, in the order of their first appearance.
function table(rows, { markdown }) {
  const heads = [...new Set(rows.flatMap(Object.keys))];
  const cells = [heads, ...rows.map((row) => heads.map((head) => figure(row[head])))];
  const isNumber = heads.map((head) => rows.some((row) => typeof row[head] === 'number'));
  const widths = heads.map((_, i) => Math.max(...cells.map((row) => row[i].length)));
  const pad = (text, i) => (isNumber[i] ? text.padStart(widths[i]) : text.padEnd(widths[i]));
  if (!markdown) return cells.map((row) => `  ${row.map(pad).join('  ').trimEnd()}`);
  const rule = heads.map((_, i) => (isNumber[i] ? '---:' : '---'));
  return [cells[0], rule, ...cells.slice(1)].map((row) => `| ${row.join(' | ')} |`);
}

const ratioRows = (ratios) => ratios.map(({ name, ratio, want, ok }) => ({ comparison: name, measured: ratio, wanted: want, '': ok ? 'ok' : 'MISSED' }));

export function printCase({ name, title, rows, details = [], notes, failure, seconds }) {
  console.log(`\n${name}: ${title} (${figure(seconds)} s)`);
  for (const part of [rows, details].filter(({ length }) => length > 0)) console.log(table(part, {}).join('\n'));
  for (const note of notes ?? []) console.log(`  ${note}`);
  if (failure) console.log(`  FAILED: ${failure}`);
}

export function printRatios(ratios) {
  if (ratios.length > 0) console.log(`\n${table(ratioRows(ratios), {}).join('\n')}\n`);
}

const version = (file, args, pattern) => {
  try {
    return pattern.exec(execFileSync('sh', ['-c', '"$0" "$@" 2>&1 || true', file, ...args], { encoding: 'utf8' }))?.[1] ?? 'unknown';
  } catch {
    return 'missing';
  }
};

// Options with paths of files, which do not affect any figure.
const PLACES = ['--build', '--json', '--markdown'];

// The facts about the machine that figures depend on.
export function machine(args) {
  const php = ['php-fpm8.2', 'php-fpm8.3', 'php-fpm8.4', 'php-fpm'].map((name) => `/usr/sbin/${name}`).find(existsSync);
  return [
    ['command', `./dev bench ${args.filter((arg, i) => !PLACES.includes(arg) && !PLACES.includes(args[i - 1])).join(' ')}`.trim()],
    ['date', new Date().toISOString().slice(0, 10)],
    ['machine', `${cpus().length} × ${cpus()[0].model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}`],
    ['load average before', loadavg()[0].toFixed(2)],
    ['nginx', version('/usr/sbin/nginx', ['-v'], /nginx\/(\S+)/)],
    ['Redis', version('redis-server', ['--version'], /v=(\S+)/)],
    ['MariaDB', version('/usr/sbin/mariadbd', ['--version'], /Ver (\S+)/)],
    ['PHP', php ? version(php, ['-v'], /PHP (\S+)/) : 'missing'],
    ['wrk', version('wrk', ['-v'], /wrk (?:debian\/)?(\S+)/)],
  ];
}

// Writes the results between the marks of the file, which is created when it is missing: with one case only, between
// the marks of this case, if the file has them.
export function fillMarkdown(file, { results, ratios, facts }) {
  const parts = [facts.map(([what, value]) => `- ${what}: ${what === 'command' ? `\`${value}\`` : value}`).join('\n')];
  if (ratios.length > 0) parts.push(table(ratioRows(ratios), { markdown: true }).join('\n'));
  for (const { name, title, rows, details = [], notes, failure } of results) {
    parts.push(`### ${name}: ${title}`);
    for (const part of [rows, details].filter(({ length }) => length > 0)) parts.push(table(part, { markdown: true }).join('\n'));
    for (const note of notes ?? []) parts.push(note);
    if (failure) parts.push(`Failed: ${failure.split('\n')[0]}`);
  }
  const all = marksOf('');
  const old = existsSync(file) ? readFileSync(file, 'utf8') : `${all.from}\n${all.to}\n`;
  const own = marksOf(` ${results[0]?.name}`);
  const marks = results.length === 1 && old.includes(own.from) ? own : all;
  const [from, to] = [old.indexOf(marks.from), old.indexOf(marks.to)];
  if (from < 0 || to < from) throw new Error(`${file} lacks the marks ${marks.from} and ${marks.to}`);
  const text = `${marks.from}\n\n${parts.join('\n\n')}\n\n${marks.to}`;
  writeFileSync(file, old.slice(0, from) + text + old.slice(to + marks.to.length));
}
