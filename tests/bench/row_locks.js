// Grabs without Redis: each is one MariaDB transaction with a lock on the packet's row (peers/gift.c). Packets are sent
// through the site, then copied into the peers' tables.
import { packetNumber } from '../e2e/support/packet_id.js';
import { Grabs, USERS } from './grabs.js';
import { PeerTables } from './peer_tables.js';

export class RowLocks extends Grabs {
  static async open(bench) {
    const self = await super.open(bench);
    self.tables = await PeerTables.open(bench, self.site, self.users);
    return self;
  }

  // Each share is one fen.
  async packets(count, shares = USERS) {
    const ids = await super.packets(count, shares);
    const numbers = ids.map(packetNumber);
    await this.tables.rows(`START TRANSACTION;
      INSERT INTO packet (id, count, amount_fen) VALUES ${numbers.map((id) => `(${id},${shares},${shares})`)};
      INSERT INTO share SELECT id, seq, 1 FROM packet JOIN seq_0_to_${shares - 1} WHERE id IN (${numbers}); COMMIT`);
    await this.tables.deposit(numbers, shares);
    return ids;
  }

  taken(ids) {
    return this.tables.number(`SELECT SUM(grabbed_count) FROM packet WHERE id IN (${ids.map(packetNumber)})`);
  }

  mustBeSound() {
    return this.tables.mustBeSound();
  }
}
