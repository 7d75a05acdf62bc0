// Rounds in which every target has its turn: what disturbs the machine for a while disturbs all of them.

// targets: [{ name, load }]; load() gives a flat row. around(work): what has to be so while a round's loads run.
// The median rows, each with its server's name in front.
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
  return rows.map(bench.medians);
}
