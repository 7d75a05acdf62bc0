-- additive: yes
-- Transfers of a channel in the order in which they were made: their ids. Whoever makes one has the lock on the
-- channel's account from before the row is written until it is committed (0030, 0034), so no row with a smaller id
-- comes later. Their times have no such order: a caller gives them.
ALTER TABLE external_transfer ADD KEY external_transfer_made (channel_id, transfer_id, created_ms);

-- As 0030 has it. The channel forfeited (2) has what deleted users have left, and pays no more than that.
CREATE OR REPLACE FUNCTION ledger_transfer(
  p_kind VARCHAR(8), p_debit BIGINT UNSIGNED, p_debit_kind VARCHAR(8), p_credit BIGINT UNSIGNED,
  p_credit_kind VARCHAR(8), p_fen BIGINT, p_packet BIGINT UNSIGNED, p_seq INT UNSIGNED,
  p_key VARCHAR(80) CHARACTER SET ascii COLLATE ascii_bin, p_now BIGINT) RETURNS BIGINT UNSIGNED
  DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE pays, receives INT DEFAULT 0;
  -- Locks both rows, in ascending order of their ids.
  SELECT COALESCE(SUM(id = p_debit AND kind = p_debit_kind
      AND (id <> 2 AND kind IN ('bank', 'channel') OR balance_fen >= p_fen)), 0),
    COALESCE(SUM(id = p_credit AND kind = p_credit_kind), 0)
    INTO pays, receives FROM account FORCE INDEX (PRIMARY)
    WHERE id IN (p_debit, p_credit) FOR UPDATE;
  IF pays <> 1 OR COALESCE(p_fen, 0) <= 0 OR p_debit = p_credit THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31001, MESSAGE_TEXT = 'the account can not pay';
  END IF;
  IF receives <> 1 THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31002, MESSAGE_TEXT = 'there is no account to credit';
  END IF;
  INSERT INTO transfer (kind, debit_id, credit_id, amount_fen, packet_id, seq, request_key, created_ms)
    VALUES (p_kind, p_debit, p_credit, p_fen, p_packet, p_seq, p_key, ledger_time(p_now));
  UPDATE account FORCE INDEX (PRIMARY) SET balance_fen = IF(id = p_credit, balance_fen + p_fen,
      IF(id <> 2 AND kind IN ('bank', 'channel') OR balance_fen >= p_fen, balance_fen - p_fen, NULL))
    WHERE id IN (p_debit, p_credit);
  RETURN LAST_INSERT_ID();
END;

-- As 0030 has it. The same holds here.
CREATE OR REPLACE FUNCTION ledger_external(
  p_kind VARCHAR(8), p_channel BIGINT UNSIGNED, p_rows LONGTEXT CHARACTER SET utf8mb4,
  p_author VARCHAR(64) CHARACTER SET utf8mb4, p_interface VARCHAR(8), p_now BIGINT) RETURNS BOOLEAN
  DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE wanted, found, valid INT DEFAULT 0;
  DECLARE total, now_ms BIGINT DEFAULT 0;
  DECLARE sign INT DEFAULT IF(p_kind = 'credit', 1, -1);
  DECLARE kind_of VARCHAR(8) DEFAULT channel_kind(p_channel);
  SET now_ms = ledger_time(p_now);
  SELECT COUNT(*), SUM(j.fen), SUM(j.fen BETWEEN 1 AND 9223372036854775806 AND j.reference <> ''
      AND CHAR_LENGTH(j.reference) <= 64 AND j.reference NOT REGEXP '[^ -~]|^ | $'
      AND CHAR_LENGTH(COALESCE(j.memo, '')) <= 400)
    INTO wanted, total, valid
    FROM JSON_TABLE(p_rows, '$[*]' COLUMNS (fen BIGINT PATH '$[1]',
      reference TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin PATH '$[2]', memo TEXT PATH '$[3]')) AS j;
  IF wanted = 0 OR COALESCE(valid, 0) <> wanted OR COALESCE(p_kind, '') NOT IN ('credit', 'debit')
      OR COALESCE(p_author, '') = '' THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31001, MESSAGE_TEXT = 'an amount, a text or the author is wrong';
  END IF;
  SELECT COUNT(*) INTO found
    FROM JSON_TABLE(p_rows, '$[*]' COLUMNS (user BIGINT UNSIGNED PATH '$[0]')) AS j
    STRAIGHT_JOIN user AS u ON u.id = j.user WHERE u.deleting_ms IS NULL LOCK IN SHARE MODE;
  IF found <> wanted THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31002, MESSAGE_TEXT = 'a user does not exist or is being deleted';
  END IF;
  -- Who has this lock reads all references of the channel.
  SELECT COUNT(*) INTO found FROM account WHERE id = p_channel FOR UPDATE;
  SELECT COUNT(*) INTO found
    FROM JSON_TABLE(p_rows, '$[*]' COLUMNS (reference VARCHAR(64) PATH '$[2]')) AS j
    STRAIGHT_JOIN external_transfer AS x FORCE INDEX (external_transfer_reference)
      ON x.channel_id = p_channel AND x.reference = CONVERT(j.reference USING ascii) LOCK IN SHARE MODE;
  IF found > 0 THEN
    SIGNAL SQLSTATE '23000' SET MYSQL_ERRNO = 1062, MESSAGE_TEXT = 'a reference was used before';
  END IF;
  SELECT COUNT(*) INTO found FROM account
    WHERE id = p_channel AND id = 2 AND p_kind = 'credit' AND balance_fen < total FOR UPDATE;
  IF found > 0 THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31001, MESSAGE_TEXT = 'the channel forfeited can not pay';
  END IF;
  SELECT COUNT(*) INTO found
    FROM JSON_TABLE(p_rows, '$[*]' COLUMNS (user BIGINT UNSIGNED PATH '$[0]')) AS j
    STRAIGHT_JOIN account AS a ON a.id = j.user WHERE a.kind = 'wallet' FOR UPDATE;
  IF found <> wanted THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31002, MESSAGE_TEXT = 'a wallet does not exist';
  END IF;
  IF p_kind = 'debit' THEN
    SELECT COUNT(*) INTO found FROM (
        SELECT j.user, SUM(j.fen) AS fen
        FROM JSON_TABLE(p_rows, '$[*]' COLUMNS (user BIGINT UNSIGNED PATH '$[0]', fen BIGINT PATH '$[1]')) AS j
        GROUP BY j.user) AS s
      STRAIGHT_JOIN account AS a ON a.id = s.user WHERE a.balance_fen < s.fen FOR UPDATE;
    IF found > 0 THEN
      SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31001, MESSAGE_TEXT = 'a wallet can not pay';
    END IF;
  END IF;
  INSERT INTO transfer (kind, debit_id, credit_id, amount_fen, request_key, created_ms)
    SELECT p_kind, IF(p_kind = 'credit', p_channel, j.user), IF(p_kind = 'credit', j.user, p_channel), j.fen,
      CONCAT(p_channel, ':', j.reference), now_ms
    FROM JSON_TABLE(p_rows, '$[*]' COLUMNS (user BIGINT UNSIGNED PATH '$[0]', fen BIGINT PATH '$[1]',
      reference VARCHAR(64) PATH '$[2]')) AS j;
  INSERT INTO external_transfer (transfer_id, channel_id, reference, memo, author, interface, created_ms)
    SELECT t.id, p_channel, j.reference, COALESCE(j.memo, ''), p_author, p_interface, now_ms
    FROM JSON_TABLE(p_rows, '$[*]' COLUMNS (reference VARCHAR(64) PATH '$[2]', memo VARCHAR(400) PATH '$[3]')) AS j
    STRAIGHT_JOIN transfer AS t FORCE INDEX (transfer_request)
      ON t.kind = p_kind AND t.request_key = CONVERT(CONCAT(p_channel, ':', j.reference) USING ascii)
    LOCK IN SHARE MODE;
  UPDATE (
      SELECT j.user AS id, CAST(SUM(j.fen) AS SIGNED) AS fen
      FROM JSON_TABLE(p_rows, '$[*]' COLUMNS (user BIGINT UNSIGNED PATH '$[0]', fen BIGINT PATH '$[1]')) AS j
      GROUP BY j.user
      UNION ALL SELECT p_channel, -total) AS s
    STRAIGHT_JOIN account AS a FORCE INDEX (PRIMARY) ON a.id = s.id
    SET a.balance_fen = IF(a.id = p_channel OR a.balance_fen + sign * s.fen >= 0, a.balance_fen + sign * s.fen, NULL);
  RETURN TRUE;
END;

-- As 0034 has it. Two calls at once do not pass the limit; a key is found among all orders, and before all refusals but
-- that of a user who is gone.
CREATE OR REPLACE FUNCTION topup_open(
  p_user BIGINT UNSIGNED, p_channel BIGINT UNSIGNED, p_fen BIGINT,
  p_key VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin, p_now BIGINT) RETURNS BOOLEAN
  DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE found, waiting INT DEFAULT 0;
  DECLARE now_ms BIGINT DEFAULT ledger_time(p_now);
  DECLARE takes BOOLEAN;
  SELECT topup_url <> '' INTO takes FROM channel WHERE id = p_channel AND id <> 1 LOCK IN SHARE MODE;
  -- Who has this lock is alone in making orders of the user.
  SELECT COUNT(*) INTO found FROM user WHERE id = p_user AND deleting_ms IS NULL FOR UPDATE;
  IF found <> 1 THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31002, MESSAGE_TEXT = 'there is no such user';
  END IF;
  -- Without locks: a payment has the row of its order before that of the user. These reads come after all that lock, so
  -- no row that is locked later is older than their snapshot.
  SELECT COUNT(*) INTO found FROM topup WHERE user_id = p_user AND request_key = p_key;
  IF found > 0 THEN
    SIGNAL SQLSTATE '23000' SET MYSQL_ERRNO = 1062, MESSAGE_TEXT = 'the request key was used before';
  END IF;
  SELECT COALESCE(SUM(state = 'waiting' AND created_ms > now_ms - 3600000), 0) INTO waiting
    FROM (SELECT state, created_ms FROM topup FORCE INDEX (topup_of_user)
      WHERE user_id = p_user ORDER BY id DESC LIMIT 40) AS t;
  IF COALESCE(p_key, '') = '' OR COALESCE(p_fen, 0) <= 0 OR waiting >= 20 THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31001, MESSAGE_TEXT = 'the amount is wrong, or too many orders wait';
  END IF;
  IF NOT COALESCE(takes, FALSE) THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31002, MESSAGE_TEXT = 'the channel takes no payments';
  END IF;
  INSERT INTO topup (user_id, channel_id, amount_fen, request_key, state, created_ms, expires_ms)
    VALUES (p_user, p_channel, p_fen, p_key, 'waiting', now_ms, now_ms + 86400000);
  RETURN TRUE;
END;
