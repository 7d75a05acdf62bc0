// Pairwise combinations: pairwise({ state: [a, b], width: [320, 390] }) returns rows { state, width } in which each
// pair of values of different factors occurs at least once. Greedy: each row starts with a missing pair and takes, of
// each other factor, the value that adds most missing pairs; among equals the least used one.
export function pairwise(factors) {
  const names = Object.keys(factors);
  const missing = new Map(); // key of two factors and values → their indexes
  const key = (a, i, b, j) => (a < b ? `${a} ${i} ${b} ${j}` : `${b} ${j} ${a} ${i}`);
  for (let a = 0; a < names.length; a += 1) {
    for (let b = a + 1; b < names.length; b += 1) {
      factors[names[a]].forEach((_, i) => {
        factors[names[b]].forEach((__, j) => missing.set(key(a, i, b, j), [a, i, b, j]));
      });
    }
  }
  const used = names.map((name) => factors[name].map(() => 0));
  const rows = [];
  while (missing.size) {
    const [a, i, b, j] = missing.values().next().value;
    const row = new Map([[a, i], [b, j]]);
    names.forEach((name, c) => {
      if (row.has(c)) return;
      const brings = (k) => [...row].filter(([d, l]) => missing.has(key(c, k, d, l))).length;
      const places = factors[name].map((_, k) => k);
      const better = (k, best) => (brings(k) - brings(best) || used[c][best] - used[c][k]) > 0;
      row.set(c, places.reduce((best, k) => (better(k, best) ? k : best)));
    });
    for (const [c, k] of row) {
      used[c][k] += 1;
      for (const [d, l] of row) missing.delete(key(c, k, d, l));
    }
    rows.push(Object.fromEntries(names.map((name, c) => [name, factors[name][row.get(c)]])));
  }
  return rows;
}
