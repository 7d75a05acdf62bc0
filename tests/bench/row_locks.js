// Grabs without Redis: each is one MariaDB transaction with a lock on the packet's row (peers/grab_mariadb.c). Packets are
// sent through the site, then copied into tables of the peer's own on the same MariaDB server.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packetNumber } from '../e2e/support/packet_id.js';
import { packetsNeeded, SPREAD, spreadShares, USERS } from './grabs.js';
import { DATABASE } from './peers.js';

const RATE_MIN = 10_000; // there are shares for so many requests a second, or for more than there were before

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

export class RowLocks {
  #rates = new Map();

  // grabs: an open Grabs.
  static async open(grabs) {
    const self = Object.assign(new RowLocks(), { grabs });
    const tables = readFileSync(join(grabs.bench.root, 'tests/bench/peers/mariadb.sql'), 'utf8');
    await self.sql(`DROP DATABASE IF EXISTS ${DATABASE}; CREATE DATABASE ${DATABASE}; USE ${DATABASE}; ${tables}`);
    await self.sql(`USE ${DATABASE}; INSERT INTO account (id) VALUES ${grabs.users.map(({ id }) => `(${id})`)}`);
    return self;
  }

  sql(text) {
    return this.grabs.site.sql(text);
  }

  async #number(query) {
    return Number((await this.sql(`USE ${DATABASE}; ${query}`))[0][0]);
  }

  // A peer of KINDS, compared with the site.
  async peer(kind) {
    const peer = await this.grabs.peer(kind);
    const [id] = await this.#packets(1, USERS);
    await this.grabs.mustDoTheSame(peer, { id, share: 0, count: () => this.#taken([id]), counted: 1 });
    return peer;
  }

  // Packets of one fen a share.
  async #packets(count, shares) {
    const ids = await this.grabs.packets(count, shares);
    const numbers = ids.map(packetNumber);
    await this.sql(`USE ${DATABASE}; START TRANSACTION;
      INSERT INTO packet (id, count, amount_fen) VALUES ${numbers.map((id) => `(${id},${shares},${shares})`)};
      INSERT INTO account (id, balance_fen) VALUES ${numbers.map((id) => `(${id},${shares})`)};
      INSERT INTO share SELECT id, seq, 1 FROM packet JOIN seq_0_to_${shares - 1} WHERE id IN (${numbers}); COMMIT`);
    return ids;
  }

  #taken(ids) {
    return this.#number(`SELECT SUM(grabbed_count) FROM packet WHERE id IN (${ids.map(packetNumber)})`);
  }

  // Runs a load of grabs; returns its row. spread: over SPREAD packets at once, otherwise all on one packet until each
  // user has tried it. There is a share for each request, so whoever is turned away is turned away while shares are left.
  async load(peer, seconds, { spread }) {
    const key = `${peer.name} ${spread}`;
    const rate = this.#rates.get(key) ?? RATE_MIN;
    const shares = spread ? spreadShares(rate, seconds) : USERS;
    const ids = await this.#packets(spread ? SPREAD : packetsNeeded(rate, seconds), shares);
    const paths = this.grabs.file(ids.map((id) => `POST /p/${id}/open`));
    const row = await this.grabs.load(peer, { paths, seconds, kind: spread ? 'cycle' : 'every', some: true, count: () => this.#taken(ids) });
    this.#rates.set(key, Math.max(rate, row['/s']));
    if (row['/s'] * seconds > ids.length * shares) throw new Error(`${peer.name}: more requests than shares`);
    this.#mustHaveWorked(peer);
    if (!peer.nowait && row['turned away'] > 0) throw new Error(`${peer.name}: ${row['turned away']} were turned away`);
    return row;
  }

  // A request that MariaDB failed is answered like one that was turned away, and logged.
  #mustHaveWorked(peer) {
    const failure = /^grab_mariadb: .*$/m.exec(readFileSync(join(peer.folder, 'log/app.out'), 'utf8'));
    if (failure) throw new Error(`${peer.name}: ${failure[0]}`);
  }

  async mustBeSound() {
    for (const [what, query] of Object.entries(CONTRADICTIONS)) {
      const found = await this.#number(query);
      if (found > 0) throw new Error(`${DATABASE}: ${found} ${what}`);
    }
  }
}
