// Whether the cost grows with the number of packets, shares or records: CPU of a request in all servers, and of a
// background job per item.
import { poll } from '../../support/deployment.js';
import { cpuBetween, cpuOf } from '../cpu.js';
import { Grabs } from '../grabs.js';
import { requests } from '../growth_requests.js';
import { rounds } from '../rounds.js';
import { startStores, unsynced, world } from '../stores.js';
import { openWorld, settleAll, workerCost } from './settlement.js';

const GROWTH_MAX = '<= 1.15';
const READERS = 16; // connections of a load on the page pool
const EXPIRING_SHARES = 10;
const EXPIRY_S_MAX = 900;

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

// Loads the first page and one in the middle of a user's received records, in turn.
async function records(bench) {
  const seconds = bench.size(3, 1);
  const site = await bench.site({ own: true });
  await site.stop('settle'); // its sampling audit would find packets without transfers
  const sizes = [1000, bench.size(1_000_000, 20_000)];
  const grabs = await Grabs.open(bench, { site, users: sizes.length + 1 });
  const sender = grabs.users.at(-1);
  await unsynced(site, async () => {
    for (const [i, n] of sizes.entries()) await receivePast(site, grabs.users[i].id, sender.id, 2 ** 58 + i * 2 ** 40, n);
  });
  await site.sql('ANALYZE TABLE packet, `grab`');
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

// Grabs in the live layer and in Redis alone, each as a separate call, for each number of shares of a packet.
async function calls(bench, sizes) {
  const site = await startStores(bench);
  let first = 0;
  const load = (shares) => unsynced(site, async () => {
    const packets = { first, packets: sizes.at(-1) / shares, shares };
    first += packets.packets;
    await world(bench, site, 'load', packets);
    const before = cpuOf([site.pid('redis')]);
    const { count, own_ns: own } = await world(bench, site, 'grab', packets);
    return { 'call µs': (own + cpuBetween(before, cpuOf([site.pid('redis')]))) / count / 1000 };
  });
  return rounds(bench, sizes.map((n) => ({ name: String(n), load: () => load(n) })));
}

// Packets that expire while the worker is stopped; then it continues, closes them and refunds the rest.
async function expireAll(bench, packets) {
  const site = await openWorld(bench, packets, EXPIRING_SHARES, { lifeMs: 0 });
  const isOver = async () => (await site.sql("SELECT 1 FROM packet WHERE state IN ('funding', 'open', 'finished', 'expired') LIMIT 1")).length === 0;
  const { seconds, cpu } = await workerCost(site, packets, async () => {
    if (!await poll(EXPIRY_S_MAX, isOver)) throw new Error(`after ${EXPIRY_S_MAX} s not every packet is closed`);
  });
  const [[refunds, fen]] = await site.sql("SELECT COUNT(*), SUM(amount_fen) FROM transfer WHERE kind = 'refund'");
  if (Number(refunds) !== packets || Number(fen) !== packets * EXPIRING_SHARES * 100) throw new Error(`${refunds} refunds of ${fen} fen`);
  await site.down();
  return { '/s': packets / seconds, ...cpu };
}

// Background work, per item.
async function jobs(bench) {
  const rows = [];
  const add = (subject, of, n, rate, app, mariadb, redis) => rows.push({ subject, of, n, 'µs': app + mariadb + redis, 'app µs': app,
    'Redis µs': redis, 'MariaDB µs': mariadb, '/s': rate });
  for (const n of [10_000, 100_000, 400_000].map((size) => bench.size(size, size / 50))) {
    const site = await openWorld(bench, n / 100, 100);
    const one = await settleAll(bench, site, 0, n / 100, 100);
    await site.down();
    add('settlement', 'grabs', n, one['events/s'], one['settle µs'], one['mariadb µs'], one['redis µs']);
  }
  for (const n of [1000, 10_000, 100_000].map((size) => bench.size(size, size / 20))) {
    const one = await expireAll(bench, n);
    add('expiry', 'packets', n, one['/s'], one['settle µs'], one['mariadb µs'], one['redis µs']);
  }
  return rows;
}

export default {
  name: 'growth',
  title: 'CPU of one request or item, as there is more of everything',
  async run(bench) {
    const packets = bench.size([100, 10_000, 1_000_000], [100, 1000, 10_000]);
    const sizes = bench.size([100, 10_000, 100_000], [100, 1000, 10_000]);
    const layer = await calls(bench, sizes);
    const series = await requests(bench, { packets, sizes });
    await bench.endCase();
    series.records_grabs = await records(bench);
    await bench.endCase();
    series.grab_shares.rows.forEach((row, i) => { row['call µs'] = layer.rows[i]['call µs']; });
    const rows = Object.values(series).flatMap((one) => one.rows.map(({ load, ...row }) => row));
    const last = sizes.length - 1;
    return { rows: [...rows, ...await jobs(bench)],
      ratios: [
        ...Object.entries(series).map(([name, one]) => bench.ratio(`growth_${name}`, one.ratio(one.rows.length - 1, 0, 'µs'), GROWTH_MAX)),
        bench.ratio('growth_grab_shares_call', layer.ratio(last, 0, 'call µs'), GROWTH_MAX),
      ],
      notes: ['call µs: the same grab by the layer below the site alone, in the program and in Redis; each grab is a call of its own.',
        'Of the packets with the most shares there are few: several grabs of one arrive together and are one call, so a request is cheaper there.'] };
  },
};
