// The bench's own arithmetic: medians, ratios, CPU of processes, parsing of wrk's output.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { Rng } from '../support/rng.js';
import { cpuBetween, cpuOf, cpusOf, memoryOf, nginxTree, processTree } from './cpu.js';
import { turnsOf, wholeOf } from './gifts.js';
import { packetsNeeded, SPREAD, spreadShares, USERS } from './grabs.js';
import { measured, mustBeClean, parseWrk, rowOf } from './load.js';
import { fillMarkdown, machine } from './report.js';
import { rounds } from './rounds.js';
import { figure, median, medians, percentile, ratio } from './stats.js';

// A fake /proc: { pid: { tid: { ns, children } } }; ticks: { pid: of 10 ms }, by default the sum of the threads.
function proc(t, processes, ticks = {}) {
  const root = mkdtempSync(join(tmpdir(), 'bench-proc-'));
  t.after(() => rmSync(root, { recursive: true }));
  for (const [pid, threads] of Object.entries(processes)) {
    for (const [tid, { ns, children = [] }] of Object.entries(threads)) {
      const task = join(root, pid, 'task', tid);
      mkdirSync(task, { recursive: true });
      writeFileSync(join(task, 'schedstat'), `${ns} 123 4\n`);
      writeFileSync(join(task, 'children'), children.map((child) => `${child} `).join(''));
    }
    const sum = Object.values(threads).reduce((all, { ns }) => all + ns, 0);
    writeFileSync(join(root, pid, 'stat'), `${pid} (a (b) c) S${' 0'.repeat(10)} ${ticks[pid] ?? Math.floor(sum / 1e7)} 0 0 0\n`);
    writeFileSync(join(root, pid, 'smaps_rollup'), '00-ff ---p 0 00:00 0 [rollup]\nRss: 9000 kB\nPss:                2048 kB\n');
    writeFileSync(join(root, pid, 'cmdline'), `server\0--number\0${pid}\0`);
  }
  return root;
}

test('the median is the middle value, or the mean of the two middle ones; a percentile is the nearest rank', () => {
  assert.equal(median([30, 1, 2]), 2);
  assert.equal(median([4, 1, 3, 2]), 2.5);
  assert.equal(median([100, 9]), 54.5, 'sorted as numbers, not as text');
  assert.throws(() => median([]));
  assert.deepEqual(medians([{ load: 'a', x: 1, y: 9 }, { load: 'a', x: 3, y: 7 }, { load: 'a', x: 2, y: 8 }]), { load: 'a', x: 2, y: 8 });
  const list = Array.from({ length: 100 }, (_, i) => 100 - i);
  assert.deepEqual([0.5, 0.99, 1].map((share) => percentile(list, share)), [50, 99, 100]);
  assert.equal(percentile([7], 0.001), 7);
});

test('a ratio is compared with its target', () => {
  assert.deepEqual(ratio('cpu', 0.75, '<= 0.75'), { name: 'cpu', ratio: 0.75, want: '<= 0.75', ok: true });
  assert.equal(ratio('cpu', 0.7501, '<= 0.75').ok, false, 'by its full value, not as it is printed');
  assert.equal(ratio('rate', 1.19, '>= 1.2').ok, false);
  assert.equal(ratio('errors', 0, '= 0').ok, true);
  for (const strange of [NaN, Infinity, undefined]) {
    assert.deepEqual(ratio('none', strange, '>= 1'), { name: 'none', ratio: null, want: '>= 1', ok: false });
  }
  assert.throws(() => ratio('cpu', 1, 'small'));
});

test('the processes of a server are all descendants of any of its threads', (t) => {
  const root = proc(t, { 1: { 1: { ns: 0, children: [2] }, 11: { ns: 0, children: [3] } }, 2: { 2: { ns: 0, children: [4] } }, 3: { 3: { ns: 0 } },
    4: { 4: { ns: 0 } }, 5: { 5: { ns: 0 } } });
  assert.deepEqual(processTree(1, root).sort(), [1, 2, 3, 4]);
  assert.deepEqual(processTree(0, root), [], 'a server that does not run');
  assert.equal(memoryOf([1, 2], root), 4);
});

test('of nginx its first process and the workers are measured, which start first', (t) => {
  const root = proc(t, { 1: { 1: { ns: 0, children: [9, 2, 5, 7] } } });
  assert.deepEqual(nginxTree(1, root, 2), [1, 9, 2], 'and no cache manager or loader, whatever their numbers');
  assert.deepEqual(nginxTree(0, root, 2), []);
});

test('CPU is the sum over all threads, also of those that started meanwhile', (t) => {
  const before = cpuOf([1, 2], proc(t, { 1: { 1: { ns: 1000 }, 11: { ns: 500 } }, 2: { 2: { ns: 70 } } }));
  const after = cpuOf([1, 2], proc(t, { 1: { 1: { ns: 1600 }, 11: { ns: 500 }, 12: { ns: 40 } }, 2: { 2: { ns: 75 } } }));
  assert.equal(cpuBetween(before, after), 600 + 40 + 5);
  before.set(3, before.get(2));
  assert.throws(() => cpuBetween(before, after), /process 3 \(server --number 2\) ended/);
});

test('a process whose threads have ended is counted by its ticks', (t) => {
  const one = (threads, ticks) => cpuOf([1], proc(t, { 1: threads }, { 1: ticks }));
  const [first, second] = [{ ns: 5e7 }, { ns: 3e7 }];
  assert.equal(cpuBetween(one({ 1: first, 2: second }, 8), one({ 1: first }, 12)), 4e7, 'one that was there before');
  assert.equal(cpuBetween(one({ 1: first }, 5), one({ 1: { ns: 6e7 } }, 20)), 15e7, 'one that came and went');
  assert.equal(cpuBetween(one({ 1: first }, 5), one({ 1: { ns: 5.1e7 } }, 7)), 1e6, 'by the threads, if only the ticks were rounded');
});

test('the CPUs of a process are read as numbers', (t) => {
  const root = proc(t, { 1: { 1: { ns: 0 } } });
  writeFileSync(join(root, '1/status'), 'Name:\tx\nCpus_allowed:\t13\nCpus_allowed_list:\t0-1,4\n');
  assert.deepEqual(cpusOf(1, root), [0, 1, 4]);
  assert.deepEqual(cpusOf(2, root), [], 'it has ended');
});

test('a load has the CPU time of its groups', async () => {
  const { row } = await measured({ app: [], own: [process.pid] }, async () => {
    for (const end = performance.now() + 30; performance.now() < end;);
    return { requests: 10, seconds: 1, p50: 1, p99: 1, p999: 1 };
  });
  assert.ok(row['own µs'] > 500, `${row['own µs']} of at most 3,000`);
  assert.equal(row['app µs'], 0);
  assert.equal(row['server µs'], row['own µs']);
});

test('a load has more shares than requests, and no user twice for one packet', () => {
  for (let n = 2; n <= SPREAD; n++) assert.ok(SPREAD % n !== 0 || USERS % n !== 0, `both can be divided by ${n}`);
  assert.ok(spreadShares(10_000, 4) * SPREAD > 1.3 * 40_000);
  assert.ok(spreadShares(100_000, 4) <= USERS);
  assert.ok(packetsNeeded(10_000, 4) * USERS > 1.3 * 40_000);
});

test('each gift has a turn of as many users as it has shares, and no two of them stand together', () => {
  const gifts = Array.from({ length: 2 * SPREAD }, (_, i) => i);
  const turns = turnsOf(gifts, 50, Array.from({ length: USERS }, (_, i) => i));
  assert.equal(new Set(turns.map(({ gift, user }) => `${gift} ${user}`)).size, 50 * gifts.length);
  assert.ok(turns.every(({ gift }, i) => i === 0 || gift !== turns[i - 1].gift));
});

test('a gift costs its send, and for each share the other steps', () => {
  const whole = wholeOf({ send: { '/s': 100, 'nginx µs': 7, 'server µs': 1000 }, open: { '/s': 500, 'nginx µs': 2, 'server µs': 30 } }, 5);
  assert.ok(Math.abs(whole['/s'] - 50) < 1e-9, 'the times of one after another');
  const figures = ['nginx µs', 'mariadb µs', 'server µs', 'send µs', 'open µs', 'settlement µs'].map((name) => whole[name]);
  assert.deepEqual(figures, [17, 0, 1150, 1000, 150, 0]);
});

const WRK = `Running 1s test @ http://127.0.0.1:1\n\nRESULT {"requests":5000,"us":2000000,"bytes":1,"p50":1500,"p99":20500,"p999":30000,
"max":40000,"connect":0,"read":1,"write":0,"status":2,"timeout":3}\n`.replace(',\n', ',');

test('the output of wrk is parsed into requests, seconds and milliseconds', () => {
  assert.deepEqual(parseWrk(WRK), { requests: 5000, seconds: 2, errors: { connect: 0, read: 1, write: 0, status: 2, timeout: 3 },
    p50: 1.5, p99: 20.5, p999: 30, max: 40 });
  assert.equal(parseWrk('unable to connect'), null);
});

test('a row has the CPU of one request by group and in total', () => {
  const row = rowOf(parseWrk(WRK), { nginx: 50_200_000, app: 25_100_000, redis: 0 }, 5020);
  assert.equal(row['/s'], 2500, 'as the load saw it');
  assert.equal(row['nginx µs'], 10, 'over all that were worked for');
  assert.equal(row['app µs'], 5);
  assert.equal(row['redis µs'], 0);
  assert.equal(row['server µs'], 15);
});

test('an unexpected answer makes a load fail', () => {
  const errors = { connect: 0, read: 0, write: 0, status: 0, timeout: 0 };
  mustBeClean('fine', { errors });
  mustBeClean('all refused', { errors: { ...errors, status: 7 } }, { status: 7 });
  assert.throws(() => mustBeClean('one', { errors: { ...errors, status: 1 } }), /1 × status/);
  assert.throws(() => mustBeClean('late', { errors: { ...errors, timeout: 2 } }), /2 × timeout/);
  assert.throws(() => mustBeClean('not all refused', { errors: { ...errors, status: 6 } }, { status: 7 }));
});

// The order of the targets in some rounds, and what rounds() found: each load's number.
async function measuredIn(count, seed, names, more) {
  const order = [];
  const targets = [...names].map((name) => ({ name, load: async () => ({ x: order.push(name) }) }));
  const found = await rounds({ rounds: count, order: new Rng(seed, 'test') }, targets, more);
  return { order, found };
}

test('each round measures every target, in an order of its own, which the seed repeats', async () => {
  const { order } = await measuredIn(50, 1, 'abc');
  const each = Array.from({ length: 50 }, (_, i) => order.slice(3 * i, 3 * i + 3).join(''));
  assert.deepEqual([...new Set(each)].sort(), ['abc', 'acb', 'bac', 'bca', 'cab', 'cba']);
  assert.deepEqual((await measuredIn(50, 1, 'abc')).order, order);
  assert.notDeepEqual((await measuredIn(50, 2, 'abc')).order, order);
});

test('targets that are compared with each other are measured one after another', async () => {
  const { order } = await measuredIn(50, 1, 'aAbBcC', { together: 2 });
  const pairs = Array.from({ length: 150 }, (_, i) => order.slice(2 * i, 2 * i + 2).join(''));
  assert.deepEqual([...new Set(pairs)].sort(), ['Aa', 'Bb', 'Cc', 'aA', 'bB', 'cC']);
});

test('a row is the median of the rounds, and a ratio the median of their ratios', async () => {
  const values = { a: [1, 6, 8], b: [2, 4, 9] };
  const targets = Object.values(values).map((list, i) => ({ name: 'ab'[i], load: async () => ({ x: list.shift() }) }));
  const found = await rounds({ rounds: 3, order: new Rng(1, 'test') }, targets);
  assert.deepEqual(found.rows, [{ load: 'a', x: 6 }, { load: 'b', x: 4 }]);
  assert.equal(found.ratio(1, 0, 'x'), 9 / 8, 'the middle of 2/1, 4/6 and 9/8, not the 4/6 of the medians');
});

test('figures are short', () => {
  assert.deepEqual([12345, 123.4, 12.34, 1.234, 0.01234, 0, NaN, null, 'text'].map(figure),
    ['12,345', '123', '12.3', '1.23', '0.0123', '0', '–', '', 'text']);
});

test('results are written between the marks, and the rest of the page stays', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-page-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'page.md');
  writeFileSync(file, 'before\n<!-- bench: from here -->\nold\n<!-- bench: to here -->\nafter\n');
  const results = [{ name: 'one', title: 'a case', rows: [{ load: 'a', '/s': 1000 }], notes: ['a note'] }];
  fillMarkdown(file, { results, ratios: [ratio('r', 1, '<= 2')], facts: [['machine', 'a box']] });
  const text = readFileSync(file, 'utf8');
  assert.match(text, /^before\n[^]*- machine: a box[^]*\| r \| 1 \| <= 2 \| ok \|[^]*### one: a case[^]*\| a \| 1,000 \|[^]*a note[^]*\nafter\n$/);
  assert.doesNotMatch(text, /old/);
  writeFileSync(file, `<!-- bench one: from here -->\nold\n<!-- bench one: to here -->\n${text}`);
  fillMarkdown(file, { results, ratios: [], facts: [] });
  assert.match(readFileSync(file, 'utf8'), /one: a case[^]*<!-- bench one: to here -->\nbefore\n[^]*- machine: a box/, 'its own marks');
  writeFileSync(file, 'no marks');
  assert.throws(() => fillMarkdown(file, { results, ratios: [], facts: [] }), /lacks the marks/);
});

test('the command is printed without the paths of its files', () => {
  const args = ['--build', '/b', '--quick', '--json', '/j', '--markdown', '/m', '--only', 'audit'];
  assert.equal(machine(args)[0][1], './dev bench --quick --only audit');
});
