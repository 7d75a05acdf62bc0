// Grabs without Redis: each is one MariaDB transaction with a lock on the packet's row (peers/grab_mariadb.c). Packets are
// sent through the site, then copied into tables of the peer's own on the same MariaDB server.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packetNumber } from '../e2e/support/packet_id.js';
import { Grabs, USERS } from './grabs.js';
import { DATABASE } from './peers.js';

// Rows that contradict each other; each query counts them.
const CONTRADICTIONS = {
  'packets whose grabs are others than counted': `SELECT COUNT(*) FROM packet AS p JOIN account AS a ON a.id = p.id
    LEFT JOIN (SELECT packet_id, COUNT(*) AS n, MAX(share_no) + 1 AS next, SUM(amount_fen) AS fen FROM \`grab\` GROUP BY packet_id) AS g ON g.packet_id = p.id
    WHERE NOT (p.grabbed_count = COALESCE(g.n, 0) AND p.grabbed_count = COALESCE(g.next, 0) AND p.grabbed_fen = COALESCE(g.fen, 0)
      AND a.balance_fen = p.amount_fen - p.grabbed_fen)`,
  'wallets with another balance than the sum of their grabs': `SELECT COUNT(*) FROM account AS a LEFT JOIN packet AS p ON p.id = a.id
    LEFT JOIN (SELECT user_id, SUM(amount_fen) AS fen FROM \`grab\` GROUP BY user_id) AS g ON g.user_id = a.id
    WHERE p.id IS NULL AND a.balance_fen <> COALESCE(g.fen, 0)`,
  'grabs of another amount than their share': `SELECT COUNT(*) FROM \`grab\` AS g LEFT JOIN share AS s USING (packet_id, share_no)
    WHERE NOT (s.amount_fen <=> g.amount_fen)`,
};

export class RowLocks extends Grabs {
  static async open(bench) {
    const self = await super.open(bench);
    const tables = readFileSync(join(bench.root, 'tests/bench/peers/mariadb.sql'), 'utf8');
    await self.site.sql(`DROP DATABASE IF EXISTS ${DATABASE}; CREATE DATABASE ${DATABASE}; USE ${DATABASE}; ${tables};
      INSERT INTO account (id) VALUES ${self.users.map(({ id }) => `(${id})`)}`);
    return self;
  }

  async #number(query) {
    return Number((await this.site.sql(`USE ${DATABASE}; ${query}`))[0][0]);
  }

  // Each share is one fen.
  async packets(count, shares = USERS) {
    const ids = await super.packets(count, shares);
    const numbers = ids.map(packetNumber);
    await this.site.sql(`USE ${DATABASE}; START TRANSACTION;
      INSERT INTO packet (id, count, amount_fen) VALUES ${numbers.map((id) => `(${id},${shares},${shares})`)};
      INSERT INTO account (id, balance_fen) VALUES ${numbers.map((id) => `(${id},${shares})`)};
      INSERT INTO share SELECT id, seq, 1 FROM packet JOIN seq_0_to_${shares - 1} WHERE id IN (${numbers}); COMMIT`);
    return ids;
  }

  taken(ids) {
    return this.#number(`SELECT SUM(grabbed_count) FROM packet WHERE id IN (${ids.map(packetNumber)})`);
  }

  async mustBeSound() {
    for (const [what, query] of Object.entries(CONTRADICTIONS)) {
      const found = await this.#number(query);
      if (found > 0) throw new Error(`${DATABASE}: ${found} ${what}`);
    }
  }
}
