// Names the slowest tests of a run of ctest, and what each protects:
//   node slowest.js LOG COUNT
// LOG is the output of ctest. Prints a line for each of the COUNT slowest tests: its seconds, its name, and the first
// sentence of its source.
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const TESTS = fileURLToPath(new URL('..', import.meta.url));
const [log, count] = process.argv.slice(2);

function protects(test) {
  const path = TESTS + test.replace('.', '/');
  const file = [`${path}.c`, `${path}.test.js`].find((name) => existsSync(name));
  const comment = file && /^(?:\/\*[\s\S]*?\*\/|(?:\/\/.*\n)+)/.exec(readFileSync(file, 'utf8'))?.[0];
  return comment ? /^.*?(?:\.(?= )|$)/.exec(comment.replace(/\*\/$|^ ?\*|\/\*|\/\//gm, '').replace(/\s+/g, ' ').trim())[0] : '';
}

const seconds = new Map(); // of a test that ran again: the longest
for (const [, test, time] of readFileSync(log, 'utf8').matchAll(/^ *\d+\/\d+ Test +#\d+: (\S+) .* ([\d.]+) sec/gm)) {
  seconds.set(test, Math.max(seconds.get(test) ?? 0, Number(time)));
}
for (const [test, time] of [...seconds].sort((a, b) => b[1] - a[1]).slice(0, Number(count))) {
  console.log(`${time.toFixed(0).padStart(4)} s ${test}  ${protects(test)}`.trimEnd());
}
