// The results of the case growth as small charts side by side, in one SVG: cost of one item against the number of items.
const PANEL = { width: 250, height: 170, left: 44, right: 16, top: 34, bottom: 34 };
const COLUMNS = 4;
const TITLES = { grab: '抢 grab', view: '看 view', records: '记录 records', audit: '审计 audit', settlement: '入账 settlement', expiry: '过期 expiry' };

const short = (n) => (n >= 1e6 ? `${n / 1e6}M` : n >= 1e3 ? `${n / 1e3}k` : String(Number(n.toPrecision(2))));
const escape = (text) => text.replace(/[&<>]/g, (character) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[character]);

// The next of 1, 2, 5, 10, 20 … above value: the end of an axis.
function ceiling(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((factor) => factor * power).find((end) => end >= value);
}

function panel(rows, index) {
  const { width, height, left, right, top, bottom } = PANEL;
  const end = ceiling(Math.max(...rows.map((row) => row['µs'])) * 1.1);
  const [first, last] = [Math.log10(rows[0].n), Math.log10(rows.at(-1).n)];
  const x = (n) => left + (width - left - right) * (Math.log10(n) - first) / (last - first || 1);
  const y = (us) => height - bottom - (height - top - bottom) * us / end;
  const points = rows.map((row) => [x(row.n), y(row['µs'])].map((value) => value.toFixed(1)));
  const text = (className, at, anchor, words) => `<text class="${className}" x="${at[0]}" y="${at[1]}" text-anchor="${anchor}">${escape(words)}</text>`;
  return [
    `<g transform="translate(${(index % COLUMNS) * width} ${Math.floor(index / COLUMNS) * height})">`,
    text('title', [left, 16], 'start', TITLES[rows[0].subject] ?? rows[0].subject),
    text('small', [left, 29], 'start', `µs of CPU, by ${rows[0].of}`),
    ...[0, end / 2, end].flatMap((us) => [
      `<line class="grid" x1="${left}" x2="${width - right}" y1="${y(us)}" y2="${y(us)}"/>`,
      text('small', [left - 5, y(us) + 3.5], 'end', short(us))]),
    ...rows.map((row) => text('small', [x(row.n), height - bottom + 14], 'middle', short(row.n))),
    `<polyline class="line" points="${points.map((point) => point.join(',')).join(' ')}"/>`,
    ...points.map(([px, py]) => `<circle class="dot" cx="${px}" cy="${py}" r="3"/>`),
    '</g>',
  ].join('\n');
}

// rows: of the case growth, grouped by subject.
export function growthPlot(rows) {
  const series = new Map();
  for (const row of rows) {
    const key = `${row.subject} ${row.of}`;
    series.set(key, [...(series.get(key) ?? []), row]);
  }
  const columns = Math.min(COLUMNS, series.size);
  const [width, height] = [columns * PANEL.width, Math.ceil(series.size / COLUMNS) * PANEL.height];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>What one costs as there is more of everything</title>
<style>
svg { background: #fff; font-family: system-ui, sans-serif; }
.title { font-size: 13px; font-weight: 600; fill: #222; }
.small { font-size: 10px; fill: #666; }
.grid { stroke: #ddd; }
.line { fill: none; stroke: #bf2c22; stroke-width: 2; }
.dot { fill: #bf2c22; }
</style>
${[...series.values()].map(panel).join('\n')}
</svg>
`;
}
