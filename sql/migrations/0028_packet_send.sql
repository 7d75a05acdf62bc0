-- additive: yes
-- A send is one statement: the packet with its receivers, its escrow with the money, the transfer, and the sender's
-- total of the month. Before, these were seven statements in a transaction, and each was a round trip.
--
-- Locks, in this order: the sender's row of user, the rows of the receivers, the sender's wallet. Every read takes a
-- lock, so it sees the newest row: a deletion of one of these users is over, or waits for the send. And without a
-- snapshot, innodb_snapshot_isolation refuses no row that is newer (0020).

-- Makes a packet in state funding, and its sender pays. p_receivers: how many may open it, 0: everybody or p_receiver.
-- p_receiver_ids: '[id,…]' of the rows of packet_receiver, in ascending order, or NULL: none; their names are the
-- nicknames of now. p_year, p_month: of p_created in the time zone of the site.
-- A p_key that the sender has used is a duplicate (packet_request), whatever the balance is by now. 31001: the sender
-- can't pay. 31002: the sender or a receiver does not exist or is being deleted, or the id may be that of a user.
CREATE OR REPLACE FUNCTION packet_send(
  p_id BIGINT UNSIGNED, p_sender BIGINT UNSIGNED, p_sender_name VARCHAR(64) CHARACTER SET utf8mb4,
  p_receiver BIGINT UNSIGNED, p_receiver_name VARCHAR(64) CHARACTER SET utf8mb4,
  p_kind VARCHAR(16) CHARACTER SET ascii, p_split VARCHAR(16) CHARACTER SET ascii, p_fen BIGINT, p_count INT UNSIGNED,
  p_share_max BIGINT, p_share_min BIGINT, p_best INT UNSIGNED, p_greeting VARCHAR(400) CHARACTER SET utf8mb4,
  p_seed BINARY(32), p_commitment BINARY(32), p_created BIGINT, p_expires BIGINT, p_opens BIGINT,
  p_key VARCHAR(64) CHARACTER SET ascii, p_phrase_hash VARBINARY(32), p_phrase_sealed VARBINARY(400),
  p_cover VARCHAR(40) CHARACTER SET ascii, p_receivers INT UNSIGNED, p_receiver_ids TEXT CHARACTER SET ascii,
  p_year SMALLINT UNSIGNED, p_month TINYINT UNSIGNED) RETURNS BOOLEAN
  DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE here INT;
  DECLARE EXIT HANDLER FOR 1452 -- a foreign key
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31002, MESSAGE_TEXT = 'the sender or a receiver does not exist';
  IF COALESCE(p_id, 0) < 1 << 50 THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31002, MESSAGE_TEXT = 'there is no such packet to fund';
  END IF;
  INSERT INTO packet (id, sender_id, sender_name, receiver_id, receiver_name, kind, split, amount_fen, count,
      share_max_fen, share_min_fen, best_share_no, greeting, seed, commitment, state, created_ms, expires_ms, opens_ms,
      request_key, phrase_hash, phrase_sealed, cover, receiver_count)
    VALUES (p_id, p_sender, p_sender_name, p_receiver, p_receiver_name, p_kind, p_split, p_fen, p_count,
      p_share_max, p_share_min, p_best, p_greeting, p_seed, p_commitment, 'funding', p_created, p_expires, p_opens,
      p_key, p_phrase_hash, p_phrase_sealed, p_cover, p_receivers);
  SELECT 1 INTO here FROM user WHERE id = p_sender AND deleting_ms IS NULL LOCK IN SHARE MODE;
  IF here IS NULL THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31002, MESSAGE_TEXT = 'the sender is being deleted';
  END IF;
  IF p_receiver_ids IS NOT NULL THEN
    INSERT INTO packet_receiver (packet_id, user_id, name, expires_ms)
      SELECT p_id, u.id, u.nickname, p_expires
      FROM JSON_TABLE(p_receiver_ids, '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$')) AS j
      STRAIGHT_JOIN user AS u ON u.id = j.id WHERE u.deleting_ms IS NULL LOCK IN SHARE MODE;
    IF ROW_COUNT() <> JSON_LENGTH(p_receiver_ids) THEN
      SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31002, MESSAGE_TEXT = 'a receiver is being deleted';
    END IF;
  END IF;
  UPDATE account SET balance_fen = balance_fen - p_fen
    WHERE id = p_sender AND kind = 'wallet' AND balance_fen >= p_fen;
  IF ROW_COUNT() <> 1 OR p_fen <= 0 THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31001, MESSAGE_TEXT = 'the sender can not pay';
  END IF;
  INSERT INTO account (id, kind, balance_fen) VALUES (p_id, 'escrow', p_fen);
  INSERT INTO transfer (kind, debit_id, credit_id, amount_fen, packet_id, seq, created_ms)
    VALUES ('send', p_sender, p_id, p_fen, p_id, 0, ledger_time(p_created));
  INSERT INTO user_month (user_id, year, month, sent_count, sent_fen) VALUES (p_sender, p_year, p_month, 1, p_fen)
    ON DUPLICATE KEY UPDATE sent_count = sent_count + 1, sent_fen = sent_fen + p_fen;
  RETURN TRUE;
END;

-- What the role page calls.
CREATE OR REPLACE PROCEDURE packet_send(
  p_id BIGINT UNSIGNED, p_sender BIGINT UNSIGNED, p_sender_name VARCHAR(64) CHARACTER SET utf8mb4,
  p_receiver BIGINT UNSIGNED, p_receiver_name VARCHAR(64) CHARACTER SET utf8mb4,
  p_kind VARCHAR(16) CHARACTER SET ascii, p_split VARCHAR(16) CHARACTER SET ascii, p_fen BIGINT, p_count INT UNSIGNED,
  p_share_max BIGINT, p_share_min BIGINT, p_best INT UNSIGNED, p_greeting VARCHAR(400) CHARACTER SET utf8mb4,
  p_seed BINARY(32), p_commitment BINARY(32), p_created BIGINT, p_expires BIGINT, p_opens BIGINT,
  p_key VARCHAR(64) CHARACTER SET ascii, p_phrase_hash VARBINARY(32), p_phrase_sealed VARBINARY(400),
  p_cover VARCHAR(40) CHARACTER SET ascii, p_receivers INT UNSIGNED, p_receiver_ids TEXT CHARACTER SET ascii,
  p_year SMALLINT UNSIGNED, p_month TINYINT UNSIGNED)
  SQL SECURITY DEFINER
BEGIN
  DECLARE done BOOLEAN DEFAULT packet_send(
    p_id, p_sender, p_sender_name, p_receiver, p_receiver_name, p_kind, p_split, p_fen, p_count, p_share_max,
    p_share_min, p_best, p_greeting, p_seed, p_commitment, p_created, p_expires, p_opens, p_key, p_phrase_hash,
    p_phrase_sealed, p_cover, p_receivers, p_receiver_ids, p_year, p_month);
END;
