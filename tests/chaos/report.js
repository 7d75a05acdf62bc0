// The report of a run: a summary; on failure also the seed, the violations and the shortest trace of a packet with one.
import { drillTable } from './drill.js';

const TRACE_LINES_MAX = 60;

const sum = (counts) => Object.values(counts).reduce((total, n) => total + n, 0);

// { 'kill redis': 2, 'kill hot': 1 } → { kill: 3 }
function byType(counts) {
  const types = {};
  for (const [name, n] of Object.entries(counts)) types[name.split(' ')[0]] = (types[name.split(' ')[0]] ?? 0) + n;
  return types;
}
const listed = (counts) => Object.entries(counts).sort().map(([name, n]) => `${name} ${n}`).join(', ') || 'none';

function summarize(run) {
  const { operations } = run.history;
  const count = (outcome) => operations.filter((operation) => operation.outcome === outcome).length;
  const byKind = (kind) => run.violations.filter((violation) => violation.kind === kind).length;
  return {
    seed: run.seed, seconds: run.seconds, faults: run.faults.done, skipped: run.faults.skipped,
    requests: operations.length, ok: count('ok'), refused: count('refused'), unknown: count('unknown'), recovered: run.recovered,
    lost: byKind('lost'), unexpected: byKind('unexpected'), duplicated: byKind('duplicated'),
    other: byKind('changed') + byKind('broken'),
    packets: run.facts?.packets.length ?? 0, grabs: run.facts?.grabs.length ?? 0, returns: run.facts?.returns.length ?? 0, thanks: run.facts?.thanks.length ?? 0,
    externals: run.facts?.externals.length ?? 0,
    withdrawals: run.facts?.withdrawals.length ?? 0,
    refunds: run.facts?.packets.filter(({ refund_fen }) => refund_fen > 0).length ?? 0,
    audits: run.audits, pages: run.pages, back_ms: run.backMs, lag_ms: run.lagMs, drill: run.faults.rows,
    answers_500: operations.filter(({ status }) => status === 500).length,
  };
}

// A row of the table in docs/RELIABILITY.md.
function tableRow(s) {
  return `| ${s.seed} | ${s.seconds} s | ${sum(s.faults)} | ${s.requests} | ${s.grabs} | ${s.unknown} | ${sum(s.recovered)} ` +
    `| ${s.lost} / ${s.unexpected} / ${s.duplicated} | ${(s.back_ms / 1000).toFixed(1)} s | ${(s.lag_ms / 1000).toFixed(1)} s |`;
}

export function print(run, out = console.log) {
  const s = summarize(run);
  out(`faults      ${sum(s.faults)}: ${listed(byType(s.faults))}`);
  if (sum(s.skipped) > 0) out(`skipped     ${listed(byType(s.skipped))} (a full disk needs root to mount a file system)`);
  out(`requests    ${s.requests}: ${s.ok} ok, ${s.refused} refused, ${s.unknown} unknown; of the unknown took effect: ${listed(s.recovered)}`);
  out(`tables      ${s.packets} packets, ${s.grabs} grabs, ${s.refunds} refunds, ${s.returns} returns, ${s.thanks} thanks, ${s.externals} transfers of a channel, ${s.withdrawals} withdrawals; ${s.pages} pages compared`);
  out(`audits      ${s.audits.clean} clean during the run, ${s.audits.incomplete} could not run, ${s.audits.rebuilding} saw Redis behind`);
  out(`recovery    ${s.back_ms} ms after the last fault every request succeeded; then ${s.lag_ms} ms from grab to wallet`);
  out(`verdict     lost ${s.lost}, unexpected ${s.unexpected}, duplicated ${s.duplicated}, other ${s.other}`);
  out(s.drill ? `answers 500: ${s.answers_500}\n${drillTable(s.drill)}` : tableRow(s));
  if (run.violations.length > 0) printTrace(run, out);
}

// All operations on one packet, and the faults during that time.
function traceOf(run, packet) {
  const about = run.history.operations.filter((operation) => operation.packet === packet || run.keys?.get(operation.key) === packet);
  const from = Math.min(...about.map(({ at }) => at)) - 1000;
  const to = Math.max(...about.map(({ end, at }) => end ?? at)) + 1000;
  const faults = run.notes.filter(({ at }) => at >= from && at <= to);
  return [...about, ...faults].sort((a, b) => a.at - b.at);
}

function printTrace(run, out) {
  out(`\nThis run failed: ./dev chaos ${run.profile ? `--cluster --profile ${run.profile} ` : ''}${run.times ? `--times ${run.times}` : `--seconds ${run.seconds}`} --seed ${run.seed}${run.only ? ` --only ${run.only}` : ''}`);
  for (const { kind, packet, text } of run.violations.slice(0, 20)) out(`  ${kind.padEnd(10)} ${packet ?? ''} ${text}`);
  if (run.violations.length > 20) out(`  and ${run.violations.length - 20} more`);
  const traces = [...new Set(run.violations.map(({ packet }) => packet).filter(Boolean))].map((packet) => ({ packet, trace: traceOf(run, packet) }));
  traces.sort((a, b) => a.trace.length - b.trace.length);
  if (traces.length > 0) {
    out(`\nThe shortest trace, of packet ${traces[0].packet}:`);
    for (const line of traces[0].trace.slice(0, TRACE_LINES_MAX)) out(`  ${JSON.stringify(line)}`);
    if (traces[0].trace.length > TRACE_LINES_MAX) out(`  and ${traces[0].trace.length - TRACE_LINES_MAX} more lines`);
  }
  out(`\nThe whole history, logs and data: ${run.dir}`);
}
