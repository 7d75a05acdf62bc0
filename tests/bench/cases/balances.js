// Ways to change a thousand balances in one transaction: the join of the settle worker, and the alternatives.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rounds } from '../rounds.js';
import { startStores, timed } from '../stores.js';

const ACCOUNTS = 100_000;
const FIRST = 1_000_000;
const CHANGED = 1000; // by a transaction, as in a full batch

// Ascending, like the worker's lists, and spread over all of them.
const ids = (transaction) => Array.from({ length: CHANGED }, (_, i) => FIRST + i * (ACCOUNTS / CHANGED) + transaction % (ACCOUNTS / CHANGED));

const WAYS = {
  'join with JSON_TABLE (the worker)': (list) => [`UPDATE JSON_TABLE('[${list.map((id) => `[${id},1]`)}]', '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$[0]',`
    + " fen BIGINT PATH '$[1]')) AS j STRAIGHT_JOIN account AS a ON a.id = j.id SET a.balance_fen = a.balance_fen + j.fen"],
  'CASE over the ids': (list) => [`UPDATE account SET balance_fen = balance_fen + CASE id ${list.map((id) => `WHEN ${id} THEN 1`).join(' ')} END WHERE id IN (${list})`],
  'INSERT … ON DUPLICATE KEY UPDATE': (list) => [`INSERT INTO account (id, kind, balance_fen) VALUES ${list.map((id) => `(${id},'wallet',1)`)}`
    + ' ON DUPLICATE KEY UPDATE balance_fen = balance_fen + VALUES(balance_fen)'],
  'a temporary table, then a join': (list) => ['CREATE TEMPORARY TABLE IF NOT EXISTS j (id BIGINT UNSIGNED PRIMARY KEY, fen BIGINT) ENGINE = MEMORY', 'DELETE FROM j',
    `INSERT INTO j VALUES ${list.map((id) => `(${id},1)`)}`, 'UPDATE j STRAIGHT_JOIN account AS a ON a.id = j.id SET a.balance_fen = a.balance_fen + j.fen'],
  'one UPDATE an account': (list) => list.map((id) => `UPDATE account SET balance_fen = balance_fen + 1 WHERE id = ${id}`),
};

export default {
  name: 'balances',
  title: `ways to change ${CHANGED} balances in one transaction`,
  async run(bench) {
    const transactions = bench.quick ? 20 : 200;
    const site = await startStores(bench);
    await site.sql(`INSERT INTO account (id, kind, balance_fen) SELECT ${FIRST} + seq, 'wallet', 0 FROM seq_0_to_${ACCOUNTS - 1}`);
    let done = 0;
    const { rows, ratio } = await rounds(bench, Object.entries(WAYS).map(([name, statements], number) => {
      const file = join(site.var, 'tmp', `way-${number}.sql`);
      const scripts = Array.from({ length: transactions }, (_, i) => ['BEGIN', ...statements(ids(i)), 'COMMIT'].join(';\n'));
      writeFileSync(file, `${scripts.join(';\n')};\n`);
      return { name, load: async () => {
        const { seconds, mariadb } = await timed(site, ['mariadb'], () => site.sql(`source ${file}`));
        done += transactions * CHANGED;
        return { 'µs an account': seconds * 1e6 / transactions / CHANGED, 'MariaDB CPU µs': mariadb * 1e6 / transactions / CHANGED };
      } };
    }));
    const [[sum]] = await site.sql(`SELECT SUM(balance_fen) FROM account WHERE id >= ${FIRST}`);
    if (Number(sum) !== done) throw new Error(`${done} fen were added, ${sum} are there`);
    return { rows, ratios: [bench.ratio('balances_join_vs_single_updates', ratio(0, rows.length - 1, 'MariaDB CPU µs'), '<= 0.5')],
      notes: ['CASE and the IN list search the whole list for every row; ON DUPLICATE KEY would make an account that is missing.'] };
  },
};
