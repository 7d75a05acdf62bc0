// Rounds in which every target is measured in turn, so that a disturbance of the machine affects all targets.
import { median, medians } from './stats.js';

// targets: [{ name, load }]; load() returns a flat row. around(work): wraps the loads of a round.
// rows: the median row of each target, with its name. ratio(a, b, column, other): target a's column by target b's column
// `other` (default: the same); the median of the ratios of the rounds, because the loads of one round ran under the same
// conditions.
export async function rounds(bench, targets, around = (work) => work()) {
  const rows = targets.map(() => []);
  for (let round = 0; round < bench.rounds; round++) {
    await around(async () => {
      // The first target of a round is the last one of the next.
      for (let i = 0; i < targets.length; i++) {
        const at = (i + round) % targets.length;
        rows[at].push({ load: targets[at].name, ...await targets[at].load() });
      }
    });
  }
  const ratio = (a, b, column, other = column) => median(rows[a].map((row, i) => row[column] / rows[b][i][other]));
  return { rows: rows.map(medians), ratio };
}
