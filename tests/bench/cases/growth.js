// Does the cost grow with the number of packets, shares or records? CPU of a request in all servers, and of a background
// job per item.
import { Grabs } from '../grabs.js';
import { calls } from '../growth_calls.js';
import { requests } from '../growth_requests.js';
import { rounds } from '../rounds.js';
import { makeWorld, runOn, startStores } from '../stores.js';
import { auditOnce } from './audit.js';
import { expireAll } from './expiry.js';
import { drainByWorker, openWorld } from './settlement.js';

const GROWTH_MAX = '<= 1.15';
const SECONDS = 3;
const SECONDS_QUICK = 1;
const READERS = 16; // connections of a load on the page pool

// One user with n grabs in this year.
async function receivePast(site, user, sender, first, n) {
  const id = `${first} + seq`;
  await site.sql(`SET foreign_key_checks = 0; SET @start = UNIX_TIMESTAMP(MAKEDATE(YEAR(NOW()), 2)) * 1000;
    SET @step = (UNIX_TIMESTAMP() * 1000 - @start) / ${n};
    INSERT INTO packet (id, sender_id, sender_name, kind, split, amount_fen, count, share_max_fen, best_share_no, greeting, seed, commitment,
      state, grabbed_count, grabbed_fen, created_ms, expires_ms, finished_ms, closed_ms, request_key)
      SELECT ${id}, ${sender}, 'x', 'lucky', 'double-average', 100, 1, 100, 0, '恭喜发财', REPEAT('s', 32), REPEAT('c', 32), 'closed', 1, 100,
        @t := @start + FLOOR(seq * @step), @t + 86400000, @t, @t, CONCAT('k', ${id}) FROM seq_1_to_${n};
    INSERT INTO \`grab\` (packet_id, share_no, user_id, nickname, amount_fen, grabbed_ms)
      SELECT id, 0, ${user}, 'x', 100, created_ms FROM packet WHERE id > ${first} AND id <= ${first} + ${n};
    INSERT INTO user_month (user_id, year, month, received_count, received_fen)
      SELECT user_id, YEAR(NOW()), MONTH(FROM_UNIXTIME(FLOOR(grabbed_ms / 1000))) AS m, COUNT(*), SUM(amount_fen) FROM \`grab\`
      WHERE user_id = ${user} GROUP BY user_id, m`);
}

// The first page and one in the middle of what a user has received, in turn.
async function records(bench) {
  const seconds = bench.quick ? SECONDS_QUICK : SECONDS;
  const site = await bench.site({ own: true });
  await site.stop('settle'); // its samples would find packets without transfers
  const sizes = bench.quick ? [1000, 20_000] : [1000, 1_000_000];
  const grabs = await Grabs.open(bench, { site, users: sizes.length + 1 });
  const sender = grabs.users.at(-1);
  await site.sql('SET GLOBAL innodb_flush_log_at_trx_commit = 0');
  for (const [i, n] of sizes.entries()) await receivePast(site, grabs.users[i].id, sender.id, 2 ** 58 + i * 2 ** 40, n);
  await site.sql('SET GLOBAL innodb_flush_log_at_trx_commit = 1; ANALYZE TABLE packet, `grab`');
  const us = grabs.target('page');
  return rounds(bench, await Promise.all(sizes.map(async (n, i) => {
    const { cookie } = grabs.users[i];
    const first = '/records/received';
    const { status, json } = await site.request(first, { cookie });
    if (status !== 200 || json.count !== n || !json.next) throw new Error(`${first}: ${status}, ${json?.count} of ${n}`);
    const load = { cookies: grabs.file([cookie]), paths: grabs.file([first, `${first}?before=${encodeURIComponent(json.next)}`]),
      seconds, connections: READERS, accept: 'text/html' };
    return { name: String(n), load: async () => {
      const row = await grabs.load(us, load);
      return { subject: 'records', of: 'grabs of the user', n, 'µs': row['server µs'], 'nginx µs': row['nginx µs'], 'app µs': row['app µs'],
        'Redis µs': row['redis µs'], 'MariaDB µs': row['mariadb µs'] };
    } };
  })));
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
  return Object.values(found).flat();
}

export default {
  name: 'growth',
  title: 'CPU of one request or item, as there is more of everything',
  async run(bench) {
    const wanted = bench.quick ? { packets: [100, 1000, 10_000], sizes: [100, 1000, 10_000] }
      : { packets: [100, 10_000, 1_000_000], sizes: [100, 10_000, 100_000] };
    const layer = await calls(bench, wanted);
    const series = await requests(bench, wanted);
    await bench.endCase();
    series.records_grabs = await records(bench);
    await bench.endCase();
    const rows = Object.entries(series).flatMap(([name, one]) => one.rows.map(({ load, ...row }, i) => ({ ...row, 'call µs': layer[name]?.rows[i]['call µs'] })));
    return { rows: [...rows, ...await jobs(bench)],
      ratios: [
        ...Object.entries(series).map(([name, one]) => bench.ratio(`growth_${name}`, one.ratio(one.rows.length - 1, 0, 'µs'), GROWTH_MAX)),
        bench.ratio('growth_grab_shares_call', layer.grab_shares.ratio(wanted.sizes.length - 1, 0, 'call µs'), GROWTH_MAX),
      ],
      notes: ['call µs: the same grab or look by the layer below the site alone, in the program and in Redis; each grab is a call of its own.',
        'Of the packets with the most shares there are few: several grabs of one arrive together and are one call, so a request is cheaper there.'] };
  },
};
