-- additive: yes
-- Money from outside and back (docs/explanation/money.md). A channel is a place outside where money is held or comes
-- from: an account that may be below zero. So minus the balances of all channels is what wallets, escrows and pending
-- withdrawals have. Every transfer from or to a channel has a reference, unique in the channel, and an author.
--
-- As in 0019, each function is one statement, and the roles call a procedure of the same name. 31001: the payer can't
-- pay, or an argument is wrong. 31002: an account, or the row that a routine is about, does not exist. A reference, a
-- request key or a reversal that was used before is a duplicate (1062): the caller reads the row, and compares.
--
-- Locks, in this order: the row of a withdrawal, the channel, rows of users in ascending order of their ids, accounts
-- in the same order. Every read takes a lock, so it sees the newest row, and innodb_snapshot_isolation refuses none
-- (0020).
--
-- A reference has no character outside of printable ASCII, and no blank at its ends: '[^ -~]|^ | $' finds these. Names
-- are checked in the same way, because $ also matches before a line break at the end.

-- The bank of demo money keeps its kind, because the audit of an older program knows no other account below zero.
ALTER TABLE account
  DROP CONSTRAINT account_not_negative,
  MODIFY kind ENUM ('wallet', 'escrow', 'bank', 'channel', 'pending') NOT NULL,
  ADD CONSTRAINT account_not_negative CHECK (kind IN ('bank', 'channel') OR balance_fen >= 0);

ALTER TABLE transfer MODIFY kind ENUM ('deposit', 'send', 'refund', 'return', 'forfeit', 'credit', 'debit', 'withdraw',
  'post', 'void', 'reverse') NOT NULL;

-- Users begin at 10001: the accounts below are 1 (demo), 2 (forfeited), 3 (pending withdrawals), and channels from 16.
CREATE TABLE channel (
  id         BIGINT UNSIGNED NOT NULL PRIMARY KEY, -- of its account
  name       VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  note       VARCHAR(200) NOT NULL DEFAULT '',     -- what people read in their statement, such as "ACME payroll"
  author     VARCHAR(64) NOT NULL,                 -- who made it
  created_ms BIGINT NOT NULL,
  UNIQUE KEY channel_name (name),
  CONSTRAINT channel_account FOREIGN KEY (id) REFERENCES account (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

INSERT INTO account (id, kind) VALUES (2, 'channel'), (3, 'pending');
INSERT INTO channel (id, name, author, created_ms) VALUES
  (1, 'demo', 'migrate', FLOOR(UNIX_TIMESTAMP(NOW(3)) * 1000)),
  (2, 'forfeited', 'migrate', FLOOR(UNIX_TIMESTAMP(NOW(3)) * 1000));

-- What the row of a transfer of the kinds credit, debit, post and reverse does not say. Append-only, as transfer.
CREATE TABLE external_transfer (
  transfer_id BIGINT UNSIGNED NOT NULL PRIMARY KEY,
  channel_id  BIGINT UNSIGNED NOT NULL,
  reference   VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, -- of the payment outside
  memo        VARCHAR(400) NOT NULL DEFAULT '',
  author      VARCHAR(64) NOT NULL,          -- who asked for it
  interface   ENUM ('command', 'import', 'http', 'page') NOT NULL,
  reverses    BIGINT UNSIGNED NULL,          -- the transfer that this one corrects
  created_ms  BIGINT NOT NULL,               -- as in transfer
  UNIQUE KEY external_transfer_reference (channel_id, reference),
  UNIQUE KEY external_transfer_reverses (reverses),
  KEY external_transfer_time (channel_id, created_ms, transfer_id),
  CONSTRAINT external_transfer_transfer FOREIGN KEY (transfer_id) REFERENCES transfer (id),
  CONSTRAINT external_transfer_reversed FOREIGN KEY (reverses) REFERENCES external_transfer (transfer_id),
  CONSTRAINT external_transfer_channel FOREIGN KEY (channel_id) REFERENCES channel (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- A withdrawal: its money waits in account 3 until an operator posts it (it was paid outside) or voids it (it goes
-- back into the wallet). Nothing ends it by itself.
CREATE TABLE withdrawal (
  id          BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  user_id     BIGINT UNSIGNED NOT NULL,
  channel_id  BIGINT UNSIGNED NOT NULL,
  amount_fen  BIGINT NOT NULL,
  destination VARCHAR(200) NOT NULL,         -- where the user wants to be paid, as typed
  request_key VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  state       ENUM ('pending', 'posted', 'voided') NOT NULL,
  hold_id     BIGINT UNSIGNED NOT NULL,      -- the transfer wallet → pending
  end_id      BIGINT UNSIGNED NULL,          -- the transfer pending → channel or wallet
  reason      VARCHAR(200) NOT NULL DEFAULT '', -- of a void, for the user
  author      VARCHAR(64) NOT NULL DEFAULT '',  -- who posted or voided it
  created_ms  BIGINT NOT NULL,
  ended_ms    BIGINT NULL,
  UNIQUE KEY withdrawal_request (user_id, request_key),
  UNIQUE KEY withdrawal_hold (hold_id),
  UNIQUE KEY withdrawal_end (end_id),
  KEY withdrawal_state (state, id),
  CONSTRAINT withdrawal_user FOREIGN KEY (user_id) REFERENCES user (id),
  CONSTRAINT withdrawal_channel FOREIGN KEY (channel_id) REFERENCES channel (id),
  CONSTRAINT withdrawal_held FOREIGN KEY (hold_id) REFERENCES transfer (id),
  CONSTRAINT withdrawal_ended FOREIGN KEY (end_id) REFERENCES transfer (id),
  CONSTRAINT withdrawal_positive CHECK (amount_fen > 0),
  CONSTRAINT withdrawal_states CHECK ((state = 'pending') = (end_id IS NULL) AND (end_id IS NULL) = (ended_ms IS NULL))
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Moves an amount, as ledger_move of 0019, and returns the id of the transfer.
CREATE OR REPLACE FUNCTION ledger_transfer(
  p_kind VARCHAR(8), p_debit BIGINT UNSIGNED, p_debit_kind VARCHAR(8), p_credit BIGINT UNSIGNED,
  p_credit_kind VARCHAR(8), p_fen BIGINT, p_packet BIGINT UNSIGNED, p_seq INT UNSIGNED,
  p_key VARCHAR(80) CHARACTER SET ascii COLLATE ascii_bin, p_now BIGINT) RETURNS BIGINT UNSIGNED
  DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE pays, receives INT DEFAULT 0;
  -- Locks both rows, in ascending order of their ids.
  SELECT COALESCE(SUM(id = p_debit AND kind = p_debit_kind
      AND (kind IN ('bank', 'channel') OR balance_fen >= p_fen)), 0),
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
      IF(kind IN ('bank', 'channel') OR balance_fen >= p_fen, balance_fen - p_fen, NULL))
    WHERE id IN (p_debit, p_credit);
  RETURN LAST_INSERT_ID();
END;

-- What the functions before this file call.
CREATE OR REPLACE FUNCTION ledger_move(
  p_kind VARCHAR(8), p_debit BIGINT UNSIGNED, p_debit_kind VARCHAR(8), p_credit BIGINT UNSIGNED,
  p_credit_kind VARCHAR(8), p_fen BIGINT, p_packet BIGINT UNSIGNED, p_seq INT UNSIGNED, p_key VARCHAR(80),
  p_now BIGINT) RETURNS BOOLEAN
  DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE transfer BIGINT UNSIGNED DEFAULT ledger_transfer(
    p_kind, p_debit, p_debit_kind, p_credit, p_credit_kind, p_fen, p_packet, p_seq, p_key, p_now);
  RETURN TRUE;
END;

-- The kind of a channel's account. The channel demo has routines of its own, which are granted only where demo = on.
CREATE OR REPLACE FUNCTION channel_kind(p_channel BIGINT UNSIGNED) RETURNS VARCHAR(8)
  DETERMINISTIC READS SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE found INT DEFAULT 0;
  SELECT COUNT(*) INTO found FROM channel WHERE id = p_channel AND id <> 1 LOCK IN SHARE MODE;
  IF found <> 1 THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31002, MESSAGE_TEXT = 'there is no such channel';
  END IF;
  RETURN 'channel';
END;

-- A new channel with its account. p_name that is there: a duplicate.
CREATE OR REPLACE FUNCTION channel_open(
  p_name VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin, p_note VARCHAR(200) CHARACTER SET utf8mb4,
  p_author VARCHAR(64) CHARACTER SET utf8mb4, p_now BIGINT) RETURNS BOOLEAN
  DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE next BIGINT UNSIGNED;
  IF COALESCE(p_name, '') NOT REGEXP '^[a-z]' OR p_name REGEXP '[^a-z0-9-]' OR COALESCE(p_author, '') = '' THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31001, MESSAGE_TEXT = 'a name has small letters, digits and -';
  END IF;
  -- The lock on account 3 lets one caller at a time choose an id.
  SELECT id INTO next FROM account WHERE id = 3 FOR UPDATE;
  SELECT GREATEST(id + 1, 16) INTO next FROM channel ORDER BY id DESC LIMIT 1 LOCK IN SHARE MODE;
  IF next > 9999 THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31001, MESSAGE_TEXT = 'there are too many channels';
  END IF;
  INSERT INTO account (id, kind) VALUES (next, 'channel');
  INSERT INTO channel (id, name, note, author, created_ms)
    VALUES (next, p_name, COALESCE(p_note, ''), p_author, ledger_time(p_now));
  RETURN TRUE;
END;

CREATE OR REPLACE FUNCTION channel_note(p_channel BIGINT UNSIGNED, p_note VARCHAR(200) CHARACTER SET utf8mb4)
  RETURNS BOOLEAN
  DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE found INT DEFAULT 0;
  SELECT COUNT(*) INTO found FROM channel WHERE id = p_channel AND id <> 1 FOR UPDATE;
  IF found <> 1 THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31002, MESSAGE_TEXT = 'there is no such channel';
  END IF;
  UPDATE channel SET note = COALESCE(p_note, '') WHERE id = p_channel;
  RETURN TRUE;
END;

-- Credits wallets from a channel, or debits them to it: all of the rows or none. p_kind: 'credit' or 'debit'. p_rows:
-- [[user, amount, reference, memo], …] in ascending order of the users, which is the order of the locks.
--
-- JSON_TABLE makes a value fit into its column. So texts are checked in a larger one, and the largest amount is
-- refused.
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

-- Takes the money of a withdrawal out of the wallet, once for each key of the user.
CREATE OR REPLACE FUNCTION withdrawal_hold(
  p_user BIGINT UNSIGNED, p_channel BIGINT UNSIGNED, p_fen BIGINT, p_destination VARCHAR(200) CHARACTER SET utf8mb4,
  p_key VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin, p_now BIGINT) RETURNS BOOLEAN
  DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE found INT DEFAULT 0;
  DECLARE hold BIGINT UNSIGNED;
  DECLARE kind_of VARCHAR(8) DEFAULT channel_kind(p_channel);
  IF COALESCE(p_key, '') = '' THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31001, MESSAGE_TEXT = 'there is no request key';
  END IF;
  SELECT COUNT(*) INTO found FROM user WHERE id = p_user AND deleting_ms IS NULL LOCK IN SHARE MODE;
  IF found <> 1 THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31002, MESSAGE_TEXT = 'there is no such user';
  END IF;
  -- A repeat is a duplicate also when the money is gone meanwhile.
  SELECT COUNT(*) INTO found FROM account FORCE INDEX (PRIMARY) WHERE id IN (3, p_user) FOR UPDATE;
  SELECT COUNT(*) INTO found FROM withdrawal WHERE user_id = p_user AND request_key = p_key LOCK IN SHARE MODE;
  IF found > 0 THEN
    SIGNAL SQLSTATE '23000' SET MYSQL_ERRNO = 1062, MESSAGE_TEXT = 'the request key was used before';
  END IF;
  SET hold = ledger_transfer('withdraw', p_user, 'wallet', 3, 'pending', p_fen, NULL, NULL,
    CONCAT(p_user, ':', p_key), p_now);
  INSERT INTO withdrawal (user_id, channel_id, amount_fen, destination, request_key, state, hold_id, created_ms)
    VALUES (p_user, p_channel, p_fen, p_destination, p_key, 'pending', hold, ledger_time(p_now));
  RETURN TRUE;
END;

-- Ends a pending withdrawal, once. p_post: it was paid outside, with p_reference; else it goes back into the wallet,
-- and p_reason tells the user why.
CREATE OR REPLACE FUNCTION withdrawal_end(
  p_id BIGINT UNSIGNED, p_post BOOLEAN, p_reference VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  p_reason VARCHAR(200) CHARACTER SET utf8mb4, p_author VARCHAR(64) CHARACTER SET utf8mb4, p_interface VARCHAR(8),
  p_now BIGINT) RETURNS BOOLEAN
  DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE owner, via, ended BIGINT UNSIGNED;
  DECLARE fen BIGINT;
  DECLARE held VARCHAR(8);
  SELECT user_id, channel_id, amount_fen, state INTO owner, via, fen, held FROM withdrawal WHERE id = p_id FOR UPDATE;
  IF owner IS NULL THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31002, MESSAGE_TEXT = 'there is no such withdrawal';
  END IF;
  IF held <> 'pending' OR COALESCE(p_author, '') = '' OR p_post IS NULL
      OR p_post AND (COALESCE(p_reference, '') = '' OR p_reference REGEXP '[^ -~]|^ | $') THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31001, MESSAGE_TEXT = 'it is over, or the reference or author is wrong';
  END IF;
  IF p_post THEN
    SET ended = ledger_transfer('post', 3, 'pending', via, channel_kind(via), fen, NULL, NULL,
      CONCAT(via, ':', p_reference), p_now);
    INSERT INTO external_transfer (transfer_id, channel_id, reference, author, interface, created_ms)
      VALUES (ended, via, p_reference, p_author, p_interface, ledger_time(p_now));
  ELSE
    SET ended = ledger_transfer('void', 3, 'pending', owner, 'wallet', fen, NULL, NULL, CONCAT(p_id), p_now);
  END IF;
  UPDATE withdrawal SET state = IF(p_post, 'posted', 'voided'), end_id = ended, reason = COALESCE(p_reason, ''),
      author = p_author, ended_ms = ledger_time(p_now)
    WHERE id = p_id;
  RETURN TRUE;
END;

-- Moves the amount of a credit, debit or post back, once. A post that is reversed goes into the wallet.
CREATE OR REPLACE FUNCTION ledger_reverse(
  p_transfer BIGINT UNSIGNED, p_reference VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  p_memo VARCHAR(400) CHARACTER SET utf8mb4, p_author VARCHAR(64) CHARACTER SET utf8mb4, p_interface VARCHAR(8),
  p_now BIGINT) RETURNS BOOLEAN
  DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE owner, via, made BIGINT UNSIGNED;
  DECLARE fen BIGINT;
  DECLARE moved, kind_of VARCHAR(8);
  DECLARE here, found INT DEFAULT 0;
  SELECT t.kind, COALESCE(w.user_id, IF(t.kind = 'credit', t.credit_id, t.debit_id)), t.amount_fen, x.channel_id
    INTO moved, owner, fen, via
    FROM external_transfer AS x JOIN transfer AS t ON t.id = x.transfer_id LEFT JOIN withdrawal AS w ON w.end_id = t.id
    WHERE x.transfer_id = p_transfer AND t.kind IN ('credit', 'debit', 'post') LOCK IN SHARE MODE;
  IF moved IS NULL THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31002, MESSAGE_TEXT = 'there is no such transfer to reverse';
  END IF;
  IF COALESCE(p_author, '') = '' OR COALESCE(p_reference, '') = '' OR p_reference REGEXP '[^ -~]|^ | $' THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31001, MESSAGE_TEXT = 'the reference or author is wrong';
  END IF;
  SET kind_of = channel_kind(via);
  SELECT COUNT(*) INTO here FROM user WHERE id = owner AND deleting_ms IS NULL LOCK IN SHARE MODE;
  IF here <> 1 THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31002, MESSAGE_TEXT = 'the user is being deleted';
  END IF;
  -- A repeat is a duplicate also when the wallet can't pay any more.
  SELECT COUNT(*) INTO found FROM account FORCE INDEX (PRIMARY) WHERE id IN (via, owner) FOR UPDATE;
  SELECT COUNT(*) INTO found FROM external_transfer WHERE reverses = p_transfer LOCK IN SHARE MODE;
  IF found = 0 THEN
    SELECT COUNT(*) INTO found FROM external_transfer
      WHERE channel_id = via AND reference = p_reference LOCK IN SHARE MODE;
  END IF;
  IF found > 0 THEN
    SIGNAL SQLSTATE '23000' SET MYSQL_ERRNO = 1062, MESSAGE_TEXT = 'it was reversed, or the reference was used before';
  END IF;
  IF moved = 'credit' THEN
    SET made = ledger_transfer('reverse', owner, 'wallet', via, kind_of, fen, NULL, NULL,
      CONCAT(via, ':', p_reference), p_now);
  ELSE
    SET made = ledger_transfer('reverse', via, kind_of, owner, 'wallet', fen, NULL, NULL,
      CONCAT(via, ':', p_reference), p_now);
  END IF;
  INSERT INTO external_transfer (transfer_id, channel_id, reference, memo, author, interface, reverses, created_ms)
    VALUES (made, via, p_reference, COALESCE(p_memo, ''), p_author, p_interface, p_transfer, ledger_time(p_now));
  RETURN TRUE;
END;

-- As 0026 has it. A pending withdrawal is money, too.
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
    IF owning = 0 THEN
      SELECT COUNT(*) INTO owning FROM withdrawal WHERE user_id = p_user AND state = 'pending';
    END IF;
    IF owning > 0 THEN
      SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31001, MESSAGE_TEXT = 'there is money left';
    END IF;
  END IF;
  INSERT INTO username_retired (hash) VALUES (p_retired);
  UPDATE packet SET ended_ms = now_ms, expires_ms = now_ms
    WHERE sender_id = p_user AND state IN ('funding', 'open') AND expires_ms > now_ms
      AND grabbed_count < count + returned_count;
  UPDATE user SET username = CONCAT('~', id), nickname = '', face = NULL, password_hash = NULL, deleting_ms = now_ms
    WHERE id = p_user;
  DELETE FROM picture WHERE user_id = p_user;
  DELETE FROM cover WHERE user_id = p_user;
  RETURN TRUE;
END;

-- As 0019 has it. It waits for pending withdrawals. What is left goes to the channel forfeited; where there is no money
-- but demo money, back to the bank.
CREATE OR REPLACE FUNCTION user_deleted(p_user BIGINT UNSIGNED, p_now BIGINT) RETURNS BOOLEAN
  DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE moved BOOLEAN;
  DECLARE found INT DEFAULT 0;
  DECLARE taker BIGINT UNSIGNED;
  DECLARE fen BIGINT DEFAULT 0;
  SELECT COUNT(*) INTO found FROM user WHERE id = p_user AND deleting_ms IS NOT NULL FOR UPDATE;
  IF found <> 1 THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31002, MESSAGE_TEXT = 'the user is not being deleted';
  END IF;
  IF EXISTS (SELECT 1 FROM packet WHERE sender_id = p_user AND state <> 'closed') THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31001, MESSAGE_TEXT = 'a packet is open';
  END IF;
  IF EXISTS (SELECT 1 FROM withdrawal WHERE user_id = p_user AND state = 'pending') THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31001, MESSAGE_TEXT = 'a withdrawal is open';
  END IF;
  UPDATE withdrawal SET destination = '' WHERE user_id = p_user;
  DELETE FROM token WHERE user_id = p_user;
  DELETE FROM passkey WHERE user_id = p_user;
  DELETE FROM recovery_code WHERE user_id = p_user;
  UPDATE dead_letter SET content = 'erased' WHERE resolved_ms IS NOT NULL AND content LIKE CONCAT('%,', p_user, ',%');
  SELECT balance_fen INTO fen FROM account WHERE id = p_user;
  IF fen > 0 THEN
    SET taker = IF(EXISTS (SELECT 1 FROM channel WHERE id > 2), 2, 1);
    SET moved = ledger_move('forfeit', p_user, 'wallet', taker, IF(taker = 1, 'bank', 'channel'), fen, NULL, NULL,
      CONCAT(p_user, ':', p_now), p_now);
  END IF;
  UPDATE user SET deleted_ms = ledger_time(p_now) WHERE id = p_user;
  RETURN TRUE;
END;

-- ---- what the roles call ----

CREATE OR REPLACE PROCEDURE channel_open(
  p_name VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin, p_note VARCHAR(200) CHARACTER SET utf8mb4,
  p_author VARCHAR(64) CHARACTER SET utf8mb4, p_now BIGINT)
  SQL SECURITY DEFINER
BEGIN
  DECLARE done BOOLEAN DEFAULT channel_open(p_name, p_note, p_author, p_now);
END;

CREATE OR REPLACE PROCEDURE channel_note(p_channel BIGINT UNSIGNED, p_note VARCHAR(200) CHARACTER SET utf8mb4)
  SQL SECURITY DEFINER
BEGIN
  DECLARE done BOOLEAN DEFAULT channel_note(p_channel, p_note);
END;

CREATE OR REPLACE PROCEDURE ledger_external(
  p_kind VARCHAR(8), p_channel BIGINT UNSIGNED, p_rows LONGTEXT CHARACTER SET utf8mb4,
  p_author VARCHAR(64) CHARACTER SET utf8mb4, p_interface VARCHAR(8), p_now BIGINT)
  SQL SECURITY DEFINER
BEGIN
  DECLARE done BOOLEAN DEFAULT ledger_external(p_kind, p_channel, p_rows, p_author, p_interface, p_now);
END;

CREATE OR REPLACE PROCEDURE withdrawal_hold(
  p_user BIGINT UNSIGNED, p_channel BIGINT UNSIGNED, p_fen BIGINT, p_destination VARCHAR(200) CHARACTER SET utf8mb4,
  p_key VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin, p_now BIGINT)
  SQL SECURITY DEFINER
BEGIN
  DECLARE done BOOLEAN DEFAULT withdrawal_hold(p_user, p_channel, p_fen, p_destination, p_key, p_now);
END;

CREATE OR REPLACE PROCEDURE withdrawal_end(
  p_id BIGINT UNSIGNED, p_post BOOLEAN, p_reference VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  p_reason VARCHAR(200) CHARACTER SET utf8mb4, p_author VARCHAR(64) CHARACTER SET utf8mb4, p_interface VARCHAR(8),
  p_now BIGINT)
  SQL SECURITY DEFINER
BEGIN
  DECLARE done BOOLEAN DEFAULT withdrawal_end(p_id, p_post, p_reference, p_reason, p_author, p_interface, p_now);
END;

CREATE OR REPLACE PROCEDURE ledger_reverse(
  p_transfer BIGINT UNSIGNED, p_reference VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  p_memo VARCHAR(400) CHARACTER SET utf8mb4, p_author VARCHAR(64) CHARACTER SET utf8mb4, p_interface VARCHAR(8),
  p_now BIGINT)
  SQL SECURITY DEFINER
BEGIN
  DECLARE done BOOLEAN DEFAULT ledger_reverse(p_transfer, p_reference, p_memo, p_author, p_interface, p_now);
END;
