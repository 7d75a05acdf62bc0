-- additive: yes
-- Every routine that writes more than one row becomes one statement. A function does the work; the roles call a
-- procedure of the same name, whose body is that one call. A statement is applied as a whole or not at all. So no row
-- is left without its money, whatever ends the statement (KILL, max_statement_time, an overflow, a constraint), also
-- with autocommit on, and when the caller commits afterwards. A trigger on transfer would do so for the balances, but
-- not for the account of an escrow, for new wallets or for the rows of a deletion.
--
-- Where MariaDB writes a binary log, it lets a role without SUPER create functions only with
-- log_bin_trust_function_creators = ON. So this file creates functions first: without it nothing is changed.
--
-- A function is called by SET or DECLARE … DEFAULT, not by DO, which swallows errors.
--
-- Times: SYSDATE is the server's clock, also after SET timestamp. No function writes a time of the future.

-- A time that a caller gives: what is more than ten minutes ahead of this server, or NULL, becomes now.
CREATE OR REPLACE FUNCTION ledger_time(p_ms BIGINT) RETURNS BIGINT
  DETERMINISTIC NO SQL SQL SECURITY DEFINER
BEGIN
  DECLARE now_ms BIGINT DEFAULT CAST(UNIX_TIMESTAMP(SYSDATE(3)) * 1000 AS SIGNED);
  RETURN IF(p_ms <= now_ms + 600000, p_ms, now_ms);
END;

-- Moves an amount. The other functions decide between which accounts.
CREATE OR REPLACE FUNCTION ledger_move(
  p_kind VARCHAR(8), p_debit BIGINT UNSIGNED, p_debit_kind VARCHAR(8), p_credit BIGINT UNSIGNED,
  p_credit_kind VARCHAR(8), p_fen BIGINT, p_packet BIGINT UNSIGNED, p_seq INT UNSIGNED, p_key VARCHAR(80),
  p_now BIGINT) RETURNS BOOLEAN
  DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE pays, receives INT DEFAULT 0;
  -- Locks both rows, in ascending order of their ids.
  SELECT COALESCE(SUM(id = p_debit AND kind = p_debit_kind AND (kind = 'bank' OR balance_fen >= p_fen)), 0),
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
      IF(kind = 'bank' OR balance_fen >= p_fen, balance_fen - p_fen, NULL))
    WHERE id IN (p_debit, p_credit);
  RETURN TRUE;
END;

-- The sender of a packet pays its amount into its escrow, as 0017 says.
CREATE OR REPLACE FUNCTION ledger_send(p_packet BIGINT UNSIGNED) RETURNS BOOLEAN
  DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE moved BOOLEAN;
  DECLARE sender BIGINT UNSIGNED;
  DECLARE fen, created BIGINT;
  SELECT sender_id, amount_fen, created_ms INTO sender, fen, created FROM packet
    WHERE id = p_packet AND id >= 1 << 50 AND state = 'funding';
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

-- Settles a batch, as 0017 says: changes the balances of accounts and adds the transfers of refunds. The caller inserts
-- the grabs, which are their own transfers, in the same transaction.
CREATE OR REPLACE FUNCTION ledger_settle(
  p_accounts LONGTEXT CHARACTER SET ascii, p_refunds LONGTEXT CHARACTER SET ascii, p_now BIGINT) RETURNS BOOLEAN
  DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE wanted INT;
  DECLARE total BIGINT;
  SELECT COUNT(*), SUM(j.fen) INTO wanted, total
    FROM JSON_TABLE(p_accounts, '$[*]' COLUMNS (fen BIGINT PATH '$[1]')) AS j;
  IF COALESCE(total, 1) <> 0 THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31001, MESSAGE_TEXT = 'the changes do not sum to 0';
  END IF;
  UPDATE JSON_TABLE(p_accounts, '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$[0]', fen BIGINT PATH '$[1]')) AS j
    STRAIGHT_JOIN account AS a ON a.id = j.id AND a.kind = IF(j.fen < 0, 'escrow', 'wallet')
    SET a.balance_fen = IF(a.balance_fen + j.fen >= 0, a.balance_fen + j.fen, NULL);
  -- An account that is missing, of the other kind, or listed twice.
  IF ROW_COUNT() <> wanted THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31002, MESSAGE_TEXT = 'an account is missing';
  END IF;
  IF p_refunds IS NOT NULL THEN
    INSERT INTO transfer (kind, debit_id, credit_id, amount_fen, packet_id, seq, created_ms)
      SELECT 'refund', p.id, p.sender_id, j.fen, p.id, 0, ledger_time(p_now)
      FROM JSON_TABLE(p_refunds, '$[*]' COLUMNS (packet BIGINT UNSIGNED PATH '$[0]', fen BIGINT PATH '$[1]')) AS j
      STRAIGHT_JOIN packet AS p ON p.id = j.packet;
  END IF;
  RETURN TRUE;
END;

-- The wallets of new demo users, with money from the bank.
CREATE OR REPLACE FUNCTION ledger_demo(p_users LONGTEXT CHARACTER SET ascii, p_fen BIGINT, p_now BIGINT) RETURNS BOOLEAN
  DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE made, bank INT;
  IF COALESCE(p_fen, 0) <= 0 THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31001, MESSAGE_TEXT = 'the amount is not above 0';
  END IF;
  SELECT 1 INTO bank FROM account WHERE id = 1 AND kind = 'bank' FOR UPDATE;
  INSERT INTO account (id, kind) SELECT u.id, 'wallet'
    FROM JSON_TABLE(p_users, '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$')) AS j STRAIGHT_JOIN user AS u ON u.id = j.id;
  SET made = ROW_COUNT();
  IF made <> JSON_LENGTH(p_users) THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31002, MESSAGE_TEXT = 'there is no such user';
  END IF;
  INSERT INTO transfer (kind, debit_id, credit_id, amount_fen, request_key, created_ms)
    SELECT 'deposit', 1, u.id, p_fen, CONCAT(u.id, ':demo'), ledger_time(p_now)
    FROM JSON_TABLE(p_users, '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$')) AS j STRAIGHT_JOIN user AS u ON u.id = j.id;
  UPDATE JSON_TABLE(CONCAT('[1,', SUBSTRING(p_users, 2)), '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$')) AS j
    STRAIGHT_JOIN account AS a ON a.id = j.id
    SET a.balance_fen = IF(a.id = 1, -made * p_fen, p_fen) + a.balance_fen;
  RETURN TRUE;
END;

-- Begins the deletion of a user, as 0018 says.
CREATE OR REPLACE FUNCTION user_delete(
  p_user BIGINT UNSIGNED, p_hash VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin, p_retired BINARY(32),
  p_give_up BOOLEAN) RETURNS BOOLEAN
  DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE found, owning INT DEFAULT 0;
  DECLARE now_ms BIGINT DEFAULT CAST(UNIX_TIMESTAMP(SYSDATE(3)) * 1000 AS SIGNED);
  -- The lock makes sends wait, whose packets refer to the row.
  SELECT COUNT(*) INTO found FROM user WHERE id = p_user AND deleting_ms IS NULL AND password_hash = p_hash FOR UPDATE;
  IF found <> 1 THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31002, MESSAGE_TEXT = 'there is no such user';
  END IF;
  IF NOT COALESCE(p_give_up, FALSE) THEN
    SELECT COUNT(*) INTO owning FROM account WHERE id = p_user AND balance_fen > 0;
    IF owning = 0 THEN
      SELECT COUNT(*) INTO owning FROM packet
        WHERE sender_id = p_user AND state <> 'closed' AND grabbed_fen < amount_fen + returned_fen;
    END IF;
    IF owning > 0 THEN
      SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31001, MESSAGE_TEXT = 'there is money left';
    END IF;
  END IF;
  INSERT INTO username_retired (hash) VALUES (p_retired);
  UPDATE packet SET ended_ms = now_ms, expires_ms = now_ms
    WHERE sender_id = p_user AND state IN ('funding', 'open') AND expires_ms > now_ms
      AND grabbed_count < count + returned_count;
  UPDATE user SET username = CONCAT('~', id), nickname = '', password_hash = NULL, deleting_ms = now_ms
    WHERE id = p_user;
  RETURN TRUE;
END;

-- Removes the name of a user who is being deleted from the rows of packets.
CREATE OR REPLACE FUNCTION user_erase(p_user BIGINT UNSIGNED, p_packets LONGTEXT CHARACTER SET ascii) RETURNS BOOLEAN
  DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE found INT DEFAULT 0;
  SELECT COUNT(*) INTO found FROM user WHERE id = p_user AND deleting_ms IS NOT NULL;
  IF found <> 1 THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31002, MESSAGE_TEXT = 'the user is not being deleted';
  END IF;
  UPDATE JSON_TABLE(p_packets, '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$')) AS j
    STRAIGHT_JOIN packet AS p ON p.id = j.id
    SET p.sender_name = IF(p.sender_id = p_user, '', p.sender_name),
      p.receiver_name = IF(p.receiver_id = p_user, '', p.receiver_name)
    WHERE p.sender_id = p_user OR p.receiver_id = p_user;
  UPDATE JSON_TABLE(p_packets, '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$')) AS j
    STRAIGHT_JOIN packet_receiver AS r ON r.packet_id = j.id AND r.user_id = p_user SET r.name = '';
  UPDATE JSON_TABLE(p_packets, '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$')) AS j
    STRAIGHT_JOIN `grab` AS g ON g.packet_id = j.id AND g.user_id = p_user SET g.nickname = '';
  RETURN TRUE;
END;

-- Ends the deletion of a user, as 0018 says.
CREATE OR REPLACE FUNCTION user_deleted(p_user BIGINT UNSIGNED, p_now BIGINT) RETURNS BOOLEAN
  DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE moved BOOLEAN;
  DECLARE found INT DEFAULT 0;
  DECLARE fen BIGINT DEFAULT 0;
  SELECT COUNT(*) INTO found FROM user WHERE id = p_user AND deleting_ms IS NOT NULL FOR UPDATE;
  IF found <> 1 THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31002, MESSAGE_TEXT = 'the user is not being deleted';
  END IF;
  IF EXISTS (SELECT 1 FROM packet WHERE sender_id = p_user AND state <> 'closed') THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31001, MESSAGE_TEXT = 'a packet is open';
  END IF;
  DELETE FROM token WHERE user_id = p_user;
  DELETE FROM passkey WHERE user_id = p_user;
  DELETE FROM recovery_code WHERE user_id = p_user;
  UPDATE dead_letter SET content = 'erased' WHERE resolved_ms IS NOT NULL AND content LIKE CONCAT('%,', p_user, ',%');
  SELECT balance_fen INTO fen FROM account WHERE id = p_user;
  IF fen > 0 THEN
    SET moved = ledger_move('forfeit', p_user, 'wallet', 1, 'bank', fen, NULL, NULL, CONCAT(p_user, ':', p_now), p_now);
  END IF;
  UPDATE user SET deleted_ms = ledger_time(p_now) WHERE id = p_user;
  RETURN TRUE;
END;

-- ---- what the roles call ----

CREATE OR REPLACE PROCEDURE ledger_send(p_packet BIGINT UNSIGNED)
  SQL SECURITY DEFINER
BEGIN
  DECLARE done BOOLEAN DEFAULT ledger_send(p_packet);
END;

CREATE OR REPLACE PROCEDURE ledger_settle(
  p_accounts LONGTEXT CHARACTER SET ascii, p_refunds LONGTEXT CHARACTER SET ascii, p_now BIGINT)
  SQL SECURITY DEFINER
BEGIN
  DECLARE done BOOLEAN DEFAULT ledger_settle(p_accounts, p_refunds, p_now);
END;

CREATE OR REPLACE PROCEDURE ledger_demo(p_users LONGTEXT CHARACTER SET ascii, p_fen BIGINT, p_now BIGINT)
  SQL SECURITY DEFINER
BEGIN
  DECLARE done BOOLEAN DEFAULT ledger_demo(p_users, p_fen, p_now);
END;

CREATE OR REPLACE PROCEDURE user_delete(
  p_user BIGINT UNSIGNED, p_hash VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin, p_retired BINARY(32),
  p_give_up BOOLEAN)
  SQL SECURITY DEFINER
BEGIN
  DECLARE done BOOLEAN DEFAULT user_delete(p_user, p_hash, p_retired, p_give_up);
END;

CREATE OR REPLACE PROCEDURE user_erase(p_user BIGINT UNSIGNED, p_packets LONGTEXT CHARACTER SET ascii)
  SQL SECURITY DEFINER
BEGIN
  DECLARE done BOOLEAN DEFAULT user_erase(p_user, p_packets);
END;

CREATE OR REPLACE PROCEDURE user_deleted(p_user BIGINT UNSIGNED, p_now BIGINT)
  SQL SECURITY DEFINER
BEGIN
  DECLARE done BOOLEAN DEFAULT user_deleted(p_user, p_now);
END;

CREATE OR REPLACE PROCEDURE ledger_deposit(p_user BIGINT UNSIGNED, p_fen BIGINT, p_key VARCHAR(64), p_now BIGINT)
  SQL SECURITY DEFINER
BEGIN
  DECLARE moved BOOLEAN;
  IF COALESCE(p_key, '') = '' THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31001, MESSAGE_TEXT = 'there is no request key';
  END IF;
  SET moved = ledger_move('deposit', 1, 'bank', p_user, 'wallet', p_fen, NULL, NULL, CONCAT(p_user, ':', p_key), p_now);
END;

CREATE OR REPLACE PROCEDURE ledger_return(p_packet BIGINT UNSIGNED, p_share INT UNSIGNED, p_to_packet BOOLEAN,
  p_now BIGINT)
  SQL SECURITY DEFINER
BEGIN
  DECLARE moved BOOLEAN;
  DECLARE receiver, sender BIGINT UNSIGNED;
  DECLARE fen BIGINT;
  SELECT g.user_id, g.amount_fen, p.sender_id INTO receiver, fen, sender
    FROM `grab` AS g JOIN packet AS p ON p.id = g.packet_id
    WHERE g.packet_id = p_packet AND g.share_no = p_share AND (NOT p_to_packet OR p.state = 'open');
  IF receiver IS NULL THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31002, MESSAGE_TEXT = 'there is no such share to give back';
  END IF;
  IF p_to_packet THEN
    SET moved = ledger_move('return', receiver, 'wallet', p_packet, 'escrow', fen, p_packet, p_share, NULL, p_now);
  ELSE
    SET moved = ledger_move('return', receiver, 'wallet', sender, 'wallet', fen, p_packet, p_share, NULL, p_now);
  END IF;
END;

CREATE OR REPLACE PROCEDURE ledger_refund(p_packet BIGINT UNSIGNED, p_fen BIGINT, p_now BIGINT)
  SQL SECURITY DEFINER
BEGIN
  DECLARE moved BOOLEAN;
  DECLARE sender BIGINT UNSIGNED;
  SELECT sender_id INTO sender FROM packet WHERE id = p_packet;
  SET moved = ledger_move('refund', p_packet, 'escrow', sender, 'wallet', p_fen, p_packet, 0, NULL, p_now);
END;

DROP PROCEDURE IF EXISTS ledger_move;
