// Which lines of app/ the tests have reached since the counters were removed (./dev reached):
//   node reached.js ROOT BUILD OUT [AGAINST]
// Writes OUT: the sum of app/ in the first line, then FILE:LINE of each line that ran. Prints a summary by folder. With
// AGAINST, an earlier OUT, it prints the lines of AGAINST that OUT lacks, and exits with 1 when there are any.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';

const FILES_AT_ONCE = 40; // of a process gcov
const [root, build, out, against] = process.argv.slice(2);

const files = (folder, end) => readdirSync(folder, { recursive: true }).filter((path) => path.endsWith(end)).sort().map((path) => join(folder, path));

function sumOfApp() {
  const sum = createHash('sha256');
  for (const path of [...files(join(root, 'app'), '.c'), ...files(join(root, 'app'), '.h')]) sum.update(relative(root, path)).update(readFileSync(path));
  return sum.digest('hex').slice(0, 16);
}

// Maps 'app/base/str.c:12' to whether the line ran. The objects beside the counters list all lines, also of files that
// never ran.
function readLines() {
  const lines = new Map();
  const notes = files(join(build, 'app'), '.gcno');
  const folder = mkdtempSync(join(tmpdir(), 'hongbao-reached-'));
  for (let i = 0; i < notes.length; i += FILES_AT_ONCE) {
    const text = execFileSync('gcov', ['--json-format', '--stdout', ...notes.slice(i, i + FILES_AT_ONCE)],
      { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'ignore'] });
    for (const report of text.split('\n').filter(Boolean).map((line) => JSON.parse(line))) {
      for (const { file, lines: found } of report.files) {
        const path = relative(root, resolve(report.current_working_directory, file));
        if (!path.startsWith('app/')) continue;
        for (const { line_number: number, count } of found) {
          const line = `${path}:${number}`;
          lines.set(line, count > 0 || lines.get(line) === true);
        }
      }
    }
  }
  rmSync(folder, { recursive: true });
  return lines;
}

function printSummary(lines) {
  const folders = new Map();
  for (const [line, ran] of lines) {
    const folder = line.split('/').slice(0, -1).join('/');
    for (const name of [folder, 'all']) {
      const row = folders.get(name) ?? { all: 0, ran: 0 };
      folders.set(name, { all: row.all + 1, ran: row.ran + (ran ? 1 : 0) });
    }
  }
  console.log(`${'folder'.padEnd(24)}${'lines'.padStart(8)}${'reached'.padStart(9)}`);
  for (const [folder, { all, ran }] of [...folders].sort(([a], [b]) => (a === 'all') - (b === 'all') || a.localeCompare(b))) {
    console.log(`${folder.padEnd(24)}${String(all).padStart(8)}${String(ran).padStart(9)} ${(ran * 100 / all).toFixed(1).padStart(6)} %`);
  }
}

const byPlace = (a, b) => {
  const [[fileA, lineA], [fileB, lineB]] = [a.split(':'), b.split(':')];
  return fileA === fileB ? lineA - lineB : fileA < fileB ? -1 : 1;
};
const lines = readLines();
const reached = [...lines].filter(([, ran]) => ran).map(([line]) => line).sort(byPlace);
const sum = `# app/ ${sumOfApp()}`;
const [sumBefore, ...before] = against ? readFileSync(against, 'utf8').trim().split('\n') : [];
writeFileSync(out, `${[sum, ...reached].join('\n')}\n`);
if (!against) {
  printSummary(lines);
} else {
  if (sumBefore !== sum) console.error(`${against} is of another app/: the numbers of its lines may have moved`);
  const now = new Set(reached);
  const lost = before.filter((line) => !now.has(line));
  for (const line of lost) console.log(line);
  process.exitCode = lost.length > 0 ? 1 : 0;
}
