-- additive: yes
-- A send locks the sender's wallet before it reads anything without a lock. A function is one statement, which sees one
-- snapshot, and innodb_snapshot_isolation refuses to change a row that is newer than the snapshot. So of two sends of
-- one user at a time one was refused and repeated, and a few were refused five times and answered as busy.

CREATE OR REPLACE FUNCTION ledger_send(p_packet BIGINT UNSIGNED) RETURNS BOOLEAN
  DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE moved BOOLEAN;
  DECLARE sender BIGINT UNSIGNED;
  DECLARE fen, created BIGINT;
  SELECT p.sender_id, p.amount_fen, p.created_ms INTO sender, fen, created
    FROM packet AS p STRAIGHT_JOIN account AS a ON a.id = p.sender_id
    WHERE p.id = p_packet AND p.id >= 1 << 50 AND p.state = 'funding' FOR UPDATE;
  IF sender IS NULL THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31002, MESSAGE_TEXT = 'there is no such packet to fund';
  END IF;
  IF EXISTS (SELECT 1 FROM user WHERE id = sender AND deleting_ms IS NOT NULL)
      OR EXISTS (SELECT 1 FROM packet_receiver AS r STRAIGHT_JOIN user AS u ON u.id = r.user_id
                 WHERE r.packet_id = p_packet AND u.deleting_ms IS NOT NULL) THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31002, MESSAGE_TEXT = 'the sender or a receiver is being deleted';
  END IF;
  INSERT INTO account (id, kind) VALUES (p_packet, 'escrow');
  SET moved = ledger_move('send', sender, 'wallet', p_packet, 'escrow', fen, p_packet, 0, NULL, created);
  RETURN TRUE;
END;
