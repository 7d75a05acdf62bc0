// Rounds in which every target is measured in turn, so that a disturbance of the machine affects all targets.
import { randomInt } from 'node:crypto';
import { median, medians } from './stats.js';

const SEEDS = 2 ** 31;

// The seed of the order of the loads: the given one, or a random one. It is printed, so that --seed can repeat the
// order.
export function seedOf(given) {
  const seed = given ?? String(randomInt(SEEDS));
  console.error(`bench: the order of the loads is that of --seed ${seed}`);
  return seed;
}

// The items in another order, by the random numbers of rng (tests/support/rng.js).
function shuffled(items, rng) {
  const left = [...items];
  return items.map(() => left.splice(rng.int(0, left.length - 1), 1)[0]);
}

// targets: [{ name, load }]; load() returns a flat row. around(work): wraps the loads of a round. together: so many
// adjacent targets are measured directly after each other, for their ratio. Each round has a different order, by
// bench.order. rows: the median row of each target, with its name. ratio(a, b, column, other): target a's column by
// target b's column `other` (default: the same); the median of the ratios of the rounds, because the loads of one round
// ran under the same conditions.
export async function rounds(bench, targets, { around = (work) => work(), together = 1 } = {}) {
  const rows = targets.map(() => []);
  const places = [...targets.keys()];
  const groups = places.filter((i) => i % together === 0).map((i) => places.slice(i, i + together));
  for (let round = 0; round < bench.rounds; round++) {
    const order = shuffled(groups, bench.order).flatMap((group) => shuffled(group, bench.order));
    await around(async () => {
      for (const at of order) rows[at].push({ load: targets[at].name, ...await targets[at].load() });
    });
  }
  const ratio = (a, b, column, other = column) => median(rows[a].map((row, i) => row[column] / rows[b][i][other]));
  return { rows: rows.map(medians), ratio };
}
