// Rounds in which every target has its turn: what disturbs the machine for a while disturbs all of them.
import { median, medians } from './stats.js';

// targets: [{ name, load }]; load() gives a flat row. around(work): what has to be so while a round's loads run.
// rows: the median row of each target, with its name. ratio(a, b, column): how target number a compares to number b in that
// column (b's may be another one): the median of each round's own ratio, because a round's loads had the same weather.
// worst(a, column): its largest figure.
export async function rounds(bench, targets, around = (work) => work()) {
  const rows = targets.map(() => []);
  for (let round = 0; round < bench.rounds; round++) {
    await around(async () => {
      // Whoever comes first in one round comes last in the next.
      for (let i = 0; i < targets.length; i++) {
        const at = (i + round) % targets.length;
        rows[at].push({ load: targets[at].name, ...await targets[at].load() });
      }
    });
  }
  const ratio = (a, b, column, other = column) => median(rows[a].map((row, i) => row[column] / rows[b][i][other]));
  const worst = (a, column) => Math.max(...rows[a].map((row) => row[column]));
  return { rows: rows.map(medians), ratio, worst };
}
