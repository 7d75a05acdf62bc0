// Does anything cost more when there is more of it? CPU of a call in the program (our own code for the live packet) and
// in Redis, of a page in the pool and MariaDB, of a background job per item.
import { cpuBetween, cpuOf, processTree } from '../cpu.js';
import { measure, redisOnly } from '../program.js';
import { rounds } from '../rounds.js';
import { makeWorld, runOn, startStores } from '../stores.js';
import { auditOnce } from './audit.js';
import { expireAll } from './expiry.js';
import { drainByWorker, openWorld } from './settlement.js';

const GROWTH_MAX = '<= 1.15';
const SHARES = 10;
const LOADERS = 4; // side by side: one waits for each answer

// The rows of a subject, smallest n first, and the last against the first.
const seriesOf = ({ rows, ratio }) => ({ rows: rows.map(({ load, ...row }) => row), growth: ratio(rows.length - 1, 0, 'µs') });

const callRow = (subject, of, n, one) => {
  const [app, redis] = [one.own_ns / one.count / 1000, one.redis_ns / one.count / 1000];
  return { subject, of, n, 'µs': app + redis, 'app µs': app, 'Redis µs': redis };
};

async function emptyRedis(bench) {
  const server = await bench.redisServer({ appendfsync: 'no', 'auto-aof-rewrite-percentage': 0 });
  return (...args) => measure(bench.program('bench_live'), args, redisOnly(bench, server));
}

// Grabs and looks while so many packets are open: each number on a Redis of its own.
async function livePackets(bench) {
  const calls = bench.quick ? 10_000 : 200_000;
  const worlds = [];
  for (const n of bench.quick ? [100, 1000, 10_000] : [100, 10_000, 1_000_000]) {
    const live = await emptyRedis(bench);
    const parts = n >= LOADERS * 100 ? LOADERS : 1;
    await Promise.all(Array.from({ length: parts }, (_, i) => live('load', i * n / parts, n / parts, SHARES)));
    const chosen = Math.min(n, calls / SHARES);
    worlds.push({ n, live, chosen, step: Math.floor(n / chosen), passes: calls / SHARES / chosen, round: 0 });
    bench.log(`growth: ${n} packets are open`);
  }
  const grab = async (world) => {
    const { n, live, chosen, step, passes } = world;
    const round = world.round++;
    if (step > round) return callRow('grab', 'open packets', n, await live('grab', round, step, chosen, SHARES, passes));
    await live('remove', 0, 1, chosen); // those of the last round once more
    await live('load', 0, chosen, SHARES);
    return callRow('grab', 'open packets', n, await live('grab', 0, 1, chosen, SHARES, passes));
  };
  // All that was grabbed first is grabbed to the last share.
  const view = async ({ n, live, chosen, step }) => callRow('view', 'open packets', n, await live('view', 0, step, chosen, calls / 4));
  const each = (load) => rounds(bench, worlds.map((world) => ({ name: String(world.n), load: () => load(world) })));
  return { grab_open_packets: seriesOf(await each(grab)), view_open_packets: seriesOf(await each(view)) };
}

// Packets of so many shares, grabbed to the last; then looks at them.
async function shares(bench) {
  const sizes = (bench.quick ? [100, 1000, 10_000] : [100, 10_000, 100_000]).map((n, i) => ({ n, first: i * 10_000_000, used: 0 }));
  const calls = sizes.at(-1).n;
  const live = await emptyRedis(bench);
  const grab = async (size) => {
    const packets = calls / size.n;
    const first = size.first + size.used;
    size.used += packets;
    await live('load', first, packets, size.n);
    return callRow('grab', 'shares', size.n, await live('grab', first, 1, packets, size.n, 1));
  };
  const view = async ({ n, first }) => callRow('view', 'shares', n, await live('view', first, 1, calls / n, calls / 4));
  const each = (load) => rounds(bench, sizes.map((size) => ({ name: String(size.n), load: () => load(size) })));
  return { grab_shares: seriesOf(await each(grab)), view_shares: seriesOf(await each(view)) };
}

// One user with n grabs since the year began.
async function receivePast(site, user, sender, first, n) {
  const id = `${first} + seq`;
  await site.sql(`SET foreign_key_checks = 0; SET @start = UNIX_TIMESTAMP(MAKEDATE(YEAR(NOW()), 2)) * 1000;
    SET @step = (UNIX_TIMESTAMP() * 1000 - @start) / ${n};
    INSERT INTO packet (id, sender_id, sender_name, kind, split, amount, share_count, share_max, best_share_no, greeting, seed, commitment,
      state, grabbed_count, grabbed_amount, created_at, expires_at, finished_at, closed_at, request_key)
      SELECT ${id}, ${sender}, 'x', 'lucky', 'double-average', 100, 1, 100, 0, '恭喜发财', REPEAT('s', 32), REPEAT('c', 32), 'closed', 1, 100,
        @t := @start + FLOOR(seq * @step), @t + 86400000, @t, @t, CONCAT('k', ${id}) FROM seq_1_to_${n};
    INSERT INTO \`grab\` (packet_id, share_no, user_id, nickname, amount, grabbed_at)
      SELECT id, 0, ${user}, 'x', 100, created_at FROM packet WHERE id > ${first} AND id <= ${first} + ${n};
    INSERT INTO user_year (user_id, year, received_count, received_amount) VALUES (${user}, YEAR(NOW()), ${n}, ${n} * 100)`);
}

// The first page and one in the middle of what a user has received.
async function records(bench) {
  const requests = bench.quick ? 100 : 1000;
  const site = await bench.site({ own: true });
  await site.stop('settle'); // its samples would find packets without transfers
  const sizes = bench.quick ? [1000, 20_000] : [1000, 1_000_000];
  const people = await site.users(sizes.length + 1);
  const sender = people.pop();
  await site.sql('SET GLOBAL innodb_flush_log_at_trx_commit = 0');
  for (const [i, n] of sizes.entries()) await receivePast(site, people[i].id, sender.id, 2 ** 58 + i * 2 ** 40, n);
  await site.sql('SET GLOBAL innodb_flush_log_at_trx_commit = 1; ANALYZE TABLE packet, `grab`');
  const groups = ['page', 'mariadb'].map((name) => processTree(site.pid(name)));
  return seriesOf(await rounds(bench, sizes.map((n, i) => ({ name: String(n), load: async () => {
    const { cookie } = people[i];
    const paths = ['/records/received'];
    const { status, json } = await site.request(paths[0], { cookie });
    if (status !== 200 || json.count !== n || !json.next) throw new Error(`${paths[0]}: ${status}, ${json?.count} of ${n}`);
    paths.push(`/records/received?before=${encodeURIComponent(json.next)}`);
    const before = groups.map((pids) => cpuOf(pids));
    for (let request = 0; request < requests; request++) {
      const answer = await site.request(paths[request % 2], { cookie, accept: 'text/html' });
      if (answer.status !== 200) throw new Error(`${paths[request % 2]}: ${answer.status}`);
    }
    const [app, mariadb] = groups.map((pids, j) => cpuBetween(before[j], cpuOf(pids)) / requests / 1000);
    return { subject: 'records', of: 'grabs of the user', n, 'µs': app + mariadb, 'app µs': app, 'MariaDB µs': mariadb };
  } }))));
}

const jobRow = (subject, of, n, app, mariadb, redis) => ({ subject, of, n, 'µs': app + mariadb + redis, 'app µs': app, 'MariaDB µs': mariadb, 'Redis µs': redis });

// Background work, per item of it.
async function jobs(bench) {
  const scale = bench.quick ? 1 / 50 : 1;
  const found = { audit: [], settlement: [], expiry: [] };
  for (const n of [20_000, 200_000, 1_000_000].map((size) => size * scale)) {
    const site = await startStores(bench);
    await makeWorld(bench, site, 'closed', n, 100);
    const one = bench.medians([await auditOnce(site), await auditOnce(site), await auditOnce(site)]);
    found.audit.push(jobRow('audit', 'grabs', n, one['CPU s'] * 1e6 / n, one['MariaDB CPU s'] * 1e6 / n, 0));
    await site.down();
  }
  for (const n of [10_000, 100_000, 400_000].map((size) => size * scale)) {
    const site = await openWorld(bench, n / 100, 100, { worker: true });
    await runOn(bench, site, 'bench_live', 'grab', 0, 1, n / 100, 100, 1);
    const one = await drainByWorker(site, n);
    found.settlement.push(jobRow('settlement', 'grabs', n, one['settle µs'], one['mariadb µs'], one['redis µs']));
    await site.down();
  }
  for (const n of [1000, 10_000, 100_000].map((size) => size * (bench.quick ? 1 / 20 : 1))) {
    const one = await expireAll(bench, n);
    found.expiry.push(jobRow('expiry', 'packets', n, one['settle µs'], one['mariadb µs'], one['redis µs']));
  }
  return Object.fromEntries(Object.entries(found).map(([name, rows]) => [name, { rows, growth: rows.at(-1)['µs'] / rows[0]['µs'] }]));
}

export default {
  name: 'growth',
  title: 'CPU of one call, page or item, as there is more of everything',
  async run(bench) {
    const series = await livePackets(bench);
    await bench.endCase(); // a gigabyte of packets
    Object.assign(series, await shares(bench));
    series.records_grabs = await records(bench);
    await bench.endCase();
    Object.assign(series, await jobs(bench));
    return { rows: Object.values(series).flatMap(({ rows }) => rows),
      ratios: Object.entries(series).map(([name, { growth }]) => bench.ratio(`growth_${name}`, growth, GROWTH_MAX)) };
  },
};
