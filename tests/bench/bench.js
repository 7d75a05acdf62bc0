// node bench.js --build FOLDER [--quick] [--only CASE,…] [--rounds N] [--seed N] [--json FILE] [--markdown FILE] [--keep]
// Runs the cases of cases/ one after another and prints their results: docs/BENCHMARKS.md. Exit 0 when every case ran and
// every ratio met its target.
import { readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Bench } from './harness.js';
import { fillMarkdown, machine, printCase, printRatios } from './report.js';
import { seedOf } from './rounds.js';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');
const CASES = join(ROOT, 'tests/bench/cases');

// The order of the cases; those not named here come last.
const ORDER = ['gift', 'grab_win', 'grab_lose', 'view', 'send', 'settlement', 'audit', 'credits', 'routes', 'connections', 'growth', 'memory', 'idle', 'wait'];

const OPTIONS = {
  build: { type: 'string' }, quick: { type: 'boolean', default: false }, only: { type: 'string', default: '' },
  rounds: { type: 'string' }, seed: { type: 'string' }, json: { type: 'string' }, markdown: { type: 'string' }, keep: { type: 'boolean', default: false },
};

async function chooseCases(only) {
  const place = (name) => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);
  const there = readdirSync(CASES).filter((file) => file.endsWith('.js')).map((file) => file.slice(0, -3))
    .sort((a, b) => place(a) - place(b) || a.localeCompare(b));
  const wanted = only.split(',').filter(Boolean);
  const strange = wanted.filter((name) => !there.includes(name));
  if (strange.length > 0) throw new Error(`no case ${strange.join(', ')}; there are: ${there.join(' ')}`);
  return Promise.all(there.filter((name) => wanted.length === 0 || wanted.includes(name))
    .map(async (name) => (await import(join(CASES, `${name}.js`))).default));
}

// { name, title, rows, ratios, notes } or, when it threw, with failure.
async function runCase(bench, one) {
  const started = Date.now();
  const result = { name: one.name, title: one.title, rows: [], ratios: [], notes: [] };
  bench.log(`== ${one.name}: ${one.title}`);
  try {
    Object.assign(result, await one.run(bench));
  } catch (error) {
    result.failure = error.stack ?? String(error);
  }
  await bench.endCase().catch((error) => { result.failure ??= error.stack; });
  result.seconds = (Date.now() - started) / 1000;
  return result;
}

async function main() {
  const { values: given } = parseArgs({ options: OPTIONS });
  const rounds = given.rounds === undefined ? undefined : Number(given.rounds);
  if (rounds !== undefined && !(rounds >= 1)) throw new Error(`--rounds ${given.rounds} is no number of rounds`);
  const cases = await chooseCases(given.only);
  const seed = seedOf(given.seed);
  const bench = new Bench({ root: ROOT, build: resolve(given.build), quick: given.quick, rounds, seed });
  const facts = [...machine(process.argv.slice(2)), ['seed of the order', seed]];
  const end = () => bench.close(given.keep);
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(name, () => { end().finally(() => process.exit(130)); });
  const results = [];
  try {
    for (const one of cases) {
      const result = await runCase(bench, one);
      results.push(result);
      printCase(result);
    }
  } finally {
    await end();
  }
  const ratios = results.flatMap((result) => result.ratios);
  printRatios(ratios);
  const failed = results.filter(({ failure }) => failure);
  if (given.json) writeFileSync(given.json, `${JSON.stringify(ratios, null, 2)}\n`);
  if (given.markdown) fillMarkdown(given.markdown, { results, ratios, facts });
  if (failed.length > 0) console.log(`failed: ${failed.map(({ name }) => name).join(' ')}`);
  process.exitCode = failed.length > 0 || ratios.some(({ ok }) => !ok) ? 1 : 0;
}

main().catch((error) => {
  console.error(`bench: ${error.message}`);
  process.exitCode = 2;
});
