-- Money moves through these routines alone: no role that serves may change a balance, or insert an account or a
-- transfer (deploy/rights/grants.sql). They run with the rights of the role migrate, which creates them. The
-- program calls them within its transactions, but each keeps the rules by itself, whoever calls it: an amount is
-- above 0, each account has the right kind, and the payer can pay. A session can switch off constraints: so a
-- balance below zero becomes NULL, which the column refuses in any case.  Refusals have error numbers of their own
-- (app/io/db.c). 31001: the payer can't pay, or an amount is wrong. 31002: an account, or the row that a routine is
-- about, does not exist.

-- The bank is the only account that may be below zero.
ALTER TABLE account ADD CONSTRAINT account_one_bank CHECK (kind <> 'bank' OR id = 1);

-- Moves an amount. Granted to no role: the other routines decide between which accounts. Both balances change in one
-- statement, the last one, so what a failure leaves behind has moved no money.
CREATE PROCEDURE ledger_move(
  p_kind VARCHAR(8), p_debit BIGINT UNSIGNED, p_debit_kind VARCHAR(8), p_credit BIGINT UNSIGNED,
  p_credit_kind VARCHAR(8), p_fen BIGINT, p_packet BIGINT UNSIGNED, p_seq INT UNSIGNED, p_key VARCHAR(80),
  p_now BIGINT)
  SQL SECURITY DEFINER
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
    VALUES (p_kind, p_debit, p_credit, p_fen, p_packet, p_seq, p_key, p_now);
  UPDATE account FORCE INDEX (PRIMARY) SET balance_fen = IF(id = p_credit, balance_fen + p_fen,
      IF(kind = 'bank' OR balance_fen >= p_fen, balance_fen - p_fen, NULL))
    WHERE id IN (p_debit, p_credit);
END;

-- The wallet of a user, once.
CREATE PROCEDURE ledger_wallet(p_user BIGINT UNSIGNED)
  SQL SECURITY DEFINER
BEGIN
  INSERT INTO account (id, kind) SELECT id, 'wallet' FROM user WHERE id = p_user;
  IF ROW_COUNT() <> 1 THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31002, MESSAGE_TEXT = 'there is no such user';
  END IF;
END;

-- Demo money from the bank, once for each key. Granted only where demo = on.
CREATE PROCEDURE ledger_deposit(p_user BIGINT UNSIGNED, p_fen BIGINT, p_key VARCHAR(64), p_now BIGINT)
  SQL SECURITY DEFINER
BEGIN
  IF COALESCE(p_key, '') = '' THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31001, MESSAGE_TEXT = 'there is no request key';
  END IF;
  CALL ledger_move('deposit', 1, 'bank', p_user, 'wallet', p_fen, NULL, NULL, CONCAT(p_user, ':', p_key), p_now);
END;

-- The sender of a packet pays its amount into its escrow, which is created here, once. Neither from nor to a user who
-- is being deleted: the foreign keys of the packet and its receivers have locked the rows of these users, before the
-- first SELECT of this transaction. And not for a packet with the id of a user to come, whose wallet could not be
-- opened then: all ids of packets are above 2^50.
CREATE PROCEDURE ledger_send(p_packet BIGINT UNSIGNED)
  SQL SECURITY DEFINER
BEGIN
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
  CALL ledger_move('send', sender, 'wallet', p_packet, 'escrow', fen, p_packet, 0, NULL, created);
END;

-- The receiver of a share gives it back: into the escrow of its packet, or to the packet's sender.
CREATE PROCEDURE ledger_return(p_packet BIGINT UNSIGNED, p_share INT UNSIGNED, p_to_packet BOOLEAN, p_now BIGINT)
  SQL SECURITY DEFINER
BEGIN
  DECLARE receiver, sender BIGINT UNSIGNED;
  DECLARE fen BIGINT;
  SELECT g.user_id, g.amount_fen, p.sender_id INTO receiver, fen, sender
    FROM `grab` AS g JOIN packet AS p ON p.id = g.packet_id
    WHERE g.packet_id = p_packet AND g.share_no = p_share AND (NOT p_to_packet OR p.state = 'open');
  IF receiver IS NULL THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31002, MESSAGE_TEXT = 'there is no such share to give back';
  END IF;
  IF p_to_packet THEN
    CALL ledger_move('return', receiver, 'wallet', p_packet, 'escrow', fen, p_packet, p_share, NULL, p_now);
  ELSE
    CALL ledger_move('return', receiver, 'wallet', sender, 'wallet', fen, p_packet, p_share, NULL, p_now);
  END IF;
END;

-- The rest of a packet goes back to its sender, once.
CREATE PROCEDURE ledger_refund(p_packet BIGINT UNSIGNED, p_fen BIGINT, p_now BIGINT)
  SQL SECURITY DEFINER
BEGIN
  DECLARE sender BIGINT UNSIGNED;
  SELECT sender_id INTO sender FROM packet WHERE id = p_packet;
  CALL ledger_move('refund', p_packet, 'escrow', sender, 'wallet', p_fen, p_packet, 0, NULL, p_now);
END;

-- Settles a batch: changes the balances of accounts and adds the transfers of refunds. The caller inserts the
-- grabs, which are their own transfers. p_accounts: [account, change] of each account once, in ascending order,
-- which is the order of the locks; the changes sum to 0, escrows pay and wallets receive. p_refunds: [packet,
-- amount] of each refund, or NULL. Only within a transaction, which a failure rolls back.
CREATE PROCEDURE ledger_settle(
  p_accounts LONGTEXT CHARACTER SET ascii, p_refunds LONGTEXT CHARACTER SET ascii, p_now BIGINT)
  SQL SECURITY DEFINER
BEGIN
  DECLARE wanted INT;
  DECLARE total BIGINT;
  -- Not to a savepoint: after a deadlock there is none.
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN
    ROLLBACK;
    RESIGNAL;
  END;
  -- Outside a transaction there are no savepoints, so this fails.
  SAVEPOINT ledger_settle;
  ROLLBACK TO SAVEPOINT ledger_settle;
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
      SELECT 'refund', p.id, p.sender_id, j.fen, p.id, 0, p_now
      FROM JSON_TABLE(p_refunds, '$[*]' COLUMNS (packet BIGINT UNSIGNED PATH '$[0]', fen BIGINT PATH '$[1]')) AS j
      STRAIGHT_JOIN packet AS p ON p.id = j.packet;
  END IF;
END;

-- The wallets of new demo users, with money from the bank. p_users: [id, …]. Granted only where demo = on.
CREATE PROCEDURE ledger_demo(p_users LONGTEXT CHARACTER SET ascii, p_fen BIGINT, p_now BIGINT)
  SQL SECURITY DEFINER
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
    SELECT 'deposit', 1, u.id, p_fen, CONCAT(u.id, ':demo'), p_now
    FROM JSON_TABLE(p_users, '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$')) AS j STRAIGHT_JOIN user AS u ON u.id = j.id;
  UPDATE JSON_TABLE(CONCAT('[1,', SUBSTRING(p_users, 2)), '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$')) AS j
    STRAIGHT_JOIN account AS a ON a.id = j.id
    SET a.balance_fen = IF(a.id = 1, -made * p_fen, p_fen) + a.balance_fen;
END;
