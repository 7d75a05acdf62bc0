// The tables of the peers that keep packets and money in MariaDB: peers/mariadb.sql, on the server of the site.
import { readFileSync } from 'node:fs';
import { DATABASE } from './peers.js';

const BANK = 1; // has no account: its balance is what all others have got

// Rows that contradict each other; each query counts them.
const CONTRADICTIONS = {
  'packets whose grabs are others than counted': `SELECT COUNT(*) FROM packet AS p JOIN account AS a ON a.id = p.id
    LEFT JOIN (SELECT packet_id, COUNT(*) AS n, MAX(share_no) + 1 AS next, SUM(amount_fen) AS fen
      FROM \`grab\` GROUP BY packet_id) AS g ON g.packet_id = p.id
    WHERE NOT (p.grabbed_count = COALESCE(g.n, 0) AND p.grabbed_count = COALESCE(g.next, 0)
      AND p.grabbed_fen = COALESCE(g.fen, 0) AND a.balance_fen = p.amount_fen - p.grabbed_fen)`,
  'accounts with another balance than the sum of their transfers and grabs': `WITH moved AS (
      SELECT credit_id AS id, amount_fen AS fen FROM transfer UNION ALL SELECT debit_id, -amount_fen FROM transfer
      UNION ALL SELECT user_id, amount_fen FROM \`grab\` UNION ALL SELECT packet_id, -amount_fen FROM \`grab\`)
    SELECT COUNT(*) FROM account LEFT JOIN (SELECT id, SUM(fen) AS fen FROM moved GROUP BY id) AS m USING (id)
    WHERE balance_fen <> COALESCE(m.fen, 0)`,
  // Only packets whose shares are not in Redis have rows of shares.
  'grabs of another amount than their share': `SELECT COUNT(*) FROM \`grab\` AS g
    LEFT JOIN share AS s USING (packet_id, share_no)
    WHERE NOT (s.amount_fen <=> g.amount_fen) AND g.packet_id IN (SELECT packet_id FROM share)`,
};

export class PeerTables {
  #site;

  // Empty tables, with an account of fen for each user.
  static async open(bench, site, users, fen = 0) {
    const self = new PeerTables();
    self.#site = site;
    const tables = readFileSync(new URL('peers/mariadb.sql', import.meta.url), 'utf8');
    await site.sql(`DROP DATABASE IF EXISTS ${DATABASE}; CREATE DATABASE ${DATABASE}; USE ${DATABASE}; ${tables}`);
    await self.deposit(users.map(({ id }) => id), fen);
    return self;
  }

  // New accounts with fen of the bank's each.
  async deposit(ids, fen) {
    await this.rows(`INSERT INTO account (id, balance_fen) VALUES ${ids.map((id) => `(${id},${fen})`)}`);
    await this.rows(`INSERT INTO transfer (debit_id, credit_id, amount_fen, created_ms)
      SELECT ${BANK}, id, balance_fen, 0 FROM account WHERE id IN (${ids})`);
  }

  rows(query) {
    return this.#site.sql(`USE ${DATABASE}; ${query}`);
  }

  async number(query) {
    return Number((await this.rows(query))[0][0]);
  }

  // Throws when rows contradict each other.
  async mustBeSound() {
    for (const [what, query] of Object.entries(CONTRADICTIONS)) {
      const found = await this.number(query);
      if (found > 0) throw new Error(`${DATABASE}: ${found} ${what}`);
    }
  }
}
