-- Shares that their receivers gave back. The older program continues to run: it reads none of this, and its own kinds
-- of transfers stay. It can't read a wallet's statement with a return (docs/how-to/migrations.md).
ALTER TABLE transfer MODIFY kind ENUM ('deposit', 'send', 'refund', 'return') NOT NULL;

-- Never changed, except for applied_ms. position: the number of the share that it became in the packet; NULL: the
-- packet was over, the money went to its sender. applied_ms: Redis was told then; NULL: not yet.
CREATE TABLE share_return (
  packet_id   BIGINT UNSIGNED NOT NULL,
  share_no    INT UNSIGNED NOT NULL,
  user_id     BIGINT UNSIGNED NOT NULL,
  amount_fen  BIGINT NOT NULL,
  position    INT UNSIGNED NULL,
  returned_ms BIGINT NOT NULL,
  applied_ms  BIGINT NULL,
  PRIMARY KEY (packet_id, share_no),
  UNIQUE KEY share_return_position (packet_id, position),
  KEY share_return_pending (applied_ms, returned_ms),
  KEY share_return_user (user_id, packet_id, share_no),
  CONSTRAINT share_return_grab FOREIGN KEY (packet_id, share_no) REFERENCES `grab` (packet_id, share_no),
  CONSTRAINT share_return_positive CHECK (amount_fen > 0)
) ENGINE = InnoDB;
