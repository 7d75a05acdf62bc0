// The arithmetic of the bench: medians, percentiles, ratios with a target, formatting of numbers.

// The middle of a list of numbers; the mean of the two middle ones when their count is even.
export function median(list) {
  if (list.length === 0) throw new Error('the median of nothing');
  const sorted = [...list].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

// The value below which share (0…1) of the list lies: the nearest rank.
export function percentile(list, share) {
  if (list.length === 0) throw new Error('a percentile of nothing');
  const sorted = [...list].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
}

// One object with the median of each numeric member over a list of flat objects; other members come from the first.
export function medians(list) {
  return Object.fromEntries(Object.entries(list[0]).map(([name, value]) => [name,
    typeof value === 'number' ? median(list.map((one) => one[name])) : value]));
}

const COMPARE = { '<=': (a, b) => a <= b, '>=': (a, b) => a >= b, '=': (a, b) => a === b };

// { name, ratio, want, ok }; want, the target, is an operator and a number: '<= 0.75'. ok is false for NaN or infinity.
export function ratio(name, value, want) {
  const [, operator, limit] = /^(<=|>=|=) ?([0-9.]+)$/.exec(want) ?? [];
  if (!operator) throw new Error(`"${want}" is not a target such as '<= 0.75'`);
  return { name, ratio: Number.isFinite(value) ? Number(value.toPrecision(4)) : null, want,
    ok: Number.isFinite(value) && COMPARE[operator](value, Number(limit)) };
}

// 12,345 · 123 · 12.3 · 1.23 · 0.0123
export function figure(value) {
  if (typeof value !== 'number') return value === null || value === undefined ? '' : String(value);
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (Number.isInteger(value) || size >= 100) return Math.round(value).toLocaleString('en-US');
  return size >= 10 ? value.toFixed(1) : size >= 1 ? value.toFixed(2) : value.toPrecision(3);
}
