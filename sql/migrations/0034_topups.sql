-- additive: yes
-- Top-ups in two phases (docs/how-to/topup.md): a user makes an order with an amount; the channel's own page takes the
-- payment; the program of the channel, or an operator, says that it was paid. Nothing ends an order: a late payment
-- counts as well as an early one, and expires_ms only says how long the link to the channel's page is valid.
--
-- An order is no money. A payment of it is a credit with its reference, as 0030 has them: so a second payment of the
-- same order with another reference is real money, too, and is credited as another transfer. What is credited is what
-- was paid.
--
-- Routines, errors and checks of references as in 0030. Locks: rows of topup come before those that 0030 lists.

ALTER TABLE channel
  ADD COLUMN topup_url VARCHAR(500) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT ''; -- '': no top-ups

CREATE TABLE topup (
  id          BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  user_id     BIGINT UNSIGNED NOT NULL,
  channel_id  BIGINT UNSIGNED NOT NULL,
  amount_fen  BIGINT NOT NULL,               -- as ordered
  request_key VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  state       ENUM ('waiting', 'paid') NOT NULL,
  created_ms  BIGINT NOT NULL,
  expires_ms  BIGINT NOT NULL,
  UNIQUE KEY topup_request (user_id, request_key),
  KEY topup_of_user (user_id, id),
  KEY topup_state (state, id),
  CONSTRAINT topup_user FOREIGN KEY (user_id) REFERENCES user (id),
  CONSTRAINT topup_channel FOREIGN KEY (channel_id) REFERENCES channel (id),
  CONSTRAINT topup_positive CHECK (amount_fen > 0)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- The payments of orders: credits. Append-only, as transfer.
CREATE TABLE topup_payment (
  transfer_id BIGINT UNSIGNED NOT NULL PRIMARY KEY,
  topup_id    BIGINT UNSIGNED NOT NULL,
  KEY topup_payment_order (topup_id, transfer_id),
  CONSTRAINT topup_payment_transfer FOREIGN KEY (transfer_id) REFERENCES external_transfer (transfer_id),
  CONSTRAINT topup_payment_topup FOREIGN KEY (topup_id) REFERENCES topup (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Where the channel takes payments; '': it takes none any more. An order that was made before may still be paid.
CREATE OR REPLACE FUNCTION channel_topup(
  p_channel BIGINT UNSIGNED, p_url VARCHAR(500) CHARACTER SET ascii COLLATE ascii_bin) RETURNS BOOLEAN
  DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE found INT DEFAULT 0;
  IF p_url IS NULL OR p_url <> '' AND (p_url NOT REGEXP '^https?://' OR p_url REGEXP '[^!-~]') THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31001, MESSAGE_TEXT = 'it is no address of a page';
  END IF;
  -- The channels of 0030 have no page.
  SELECT COUNT(*) INTO found FROM channel WHERE id = p_channel AND id > 2 FOR UPDATE;
  IF found <> 1 THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31002, MESSAGE_TEXT = 'there is no such channel';
  END IF;
  UPDATE channel SET topup_url = p_url WHERE id = p_channel;
  RETURN TRUE;
END;

-- A new order, once for each key of the user. 31001 also: 20 orders of the last hour wait.
CREATE OR REPLACE FUNCTION topup_open(
  p_user BIGINT UNSIGNED, p_channel BIGINT UNSIGNED, p_fen BIGINT,
  p_key VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin, p_now BIGINT) RETURNS BOOLEAN
  DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE used, waiting, found INT DEFAULT 0;
  DECLARE now_ms BIGINT DEFAULT ledger_time(p_now);
  DECLARE kind_of VARCHAR(8);
  SELECT COALESCE(SUM(request_key = p_key), 0), COALESCE(SUM(state = 'waiting' AND created_ms > now_ms - 3600000), 0)
    INTO used, waiting FROM (
      SELECT request_key, state, created_ms FROM topup FORCE INDEX (topup_of_user)
      WHERE user_id = p_user ORDER BY id DESC LIMIT 40 LOCK IN SHARE MODE) AS t;
  IF used > 0 THEN
    SIGNAL SQLSTATE '23000' SET MYSQL_ERRNO = 1062, MESSAGE_TEXT = 'the request key was used before';
  END IF;
  IF COALESCE(p_key, '') = '' OR COALESCE(p_fen, 0) <= 0 OR waiting >= 20 THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31001, MESSAGE_TEXT = 'the amount is wrong, or too many orders wait';
  END IF;
  SET kind_of = channel_kind(p_channel);
  SELECT COUNT(*) INTO found FROM channel WHERE id = p_channel AND topup_url <> '' LOCK IN SHARE MODE;
  IF found <> 1 THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31002, MESSAGE_TEXT = 'the channel takes no payments';
  END IF;
  SELECT COUNT(*) INTO found FROM user WHERE id = p_user AND deleting_ms IS NULL LOCK IN SHARE MODE;
  IF found <> 1 THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31002, MESSAGE_TEXT = 'there is no such user';
  END IF;
  INSERT INTO topup (user_id, channel_id, amount_fen, request_key, state, created_ms, expires_ms)
    VALUES (p_user, p_channel, p_fen, p_key, 'waiting', now_ms, now_ms + 86400000);
  RETURN TRUE;
END;

-- A payment of an order: a credit of what was paid, which may differ from what was ordered.
CREATE OR REPLACE FUNCTION topup_paid(
  p_id BIGINT UNSIGNED, p_reference VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin, p_fen BIGINT,
  p_author VARCHAR(64) CHARACTER SET utf8mb4, p_interface VARCHAR(8), p_now BIGINT) RETURNS BOOLEAN
  DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE owner, via, made BIGINT UNSIGNED;
  DECLARE found INT DEFAULT 0;
  DECLARE kind_of VARCHAR(8);
  SELECT user_id, channel_id INTO owner, via FROM topup WHERE id = p_id FOR UPDATE;
  IF owner IS NULL THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31002, MESSAGE_TEXT = 'there is no such order';
  END IF;
  IF COALESCE(p_author, '') = '' OR COALESCE(p_reference, '') = '' OR p_reference REGEXP '[^ -~]|^ | $'
      OR COALESCE(p_fen, 0) <= 0 THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31001, MESSAGE_TEXT = 'the amount, reference or author is wrong';
  END IF;
  SET kind_of = channel_kind(via);
  SELECT COUNT(*) INTO found FROM user WHERE id = owner AND deleting_ms IS NULL LOCK IN SHARE MODE;
  IF found <> 1 THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31002, MESSAGE_TEXT = 'the user is being deleted';
  END IF;
  -- Who has this lock reads all references of the channel.
  SELECT COUNT(*) INTO found FROM account FORCE INDEX (PRIMARY) WHERE id IN (via, owner) FOR UPDATE;
  SELECT COUNT(*) INTO found FROM external_transfer
    WHERE channel_id = via AND reference = p_reference LOCK IN SHARE MODE;
  IF found > 0 THEN
    SIGNAL SQLSTATE '23000' SET MYSQL_ERRNO = 1062, MESSAGE_TEXT = 'the reference was used before';
  END IF;
  SET made = ledger_transfer('credit', via, kind_of, owner, 'wallet', p_fen, NULL, NULL,
    CONCAT(via, ':', p_reference), p_now);
  INSERT INTO external_transfer (transfer_id, channel_id, reference, memo, author, interface, created_ms)
    VALUES (made, via, p_reference, CONCAT('top-up ', p_id), p_author, p_interface, ledger_time(p_now));
  INSERT INTO topup_payment (transfer_id, topup_id) VALUES (made, p_id);
  UPDATE topup SET state = 'paid' WHERE id = p_id;
  RETURN TRUE;
END;

-- The same by a service (0033), whose channel must be the order's.
CREATE OR REPLACE FUNCTION service_topup_paid(
  p_hash BINARY(32), p_id BIGINT UNSIGNED, p_reference VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin, p_fen BIGINT,
  p_now BIGINT) RETURNS BOOLEAN
  DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE caller, via BIGINT UNSIGNED;
  DECLARE done BOOLEAN;
  SELECT channel_id INTO via FROM topup WHERE id = p_id FOR UPDATE;
  SET caller = service_check(p_hash, 'topup', via);
  SET done = topup_paid(p_id, p_reference, p_fen, service_author(caller), 'http', service_time(p_now));
  RETURN service_count(caller, p_fen);
END;

-- ---- what the roles call ----

CREATE OR REPLACE PROCEDURE channel_topup(
  p_channel BIGINT UNSIGNED, p_url VARCHAR(500) CHARACTER SET ascii COLLATE ascii_bin)
  SQL SECURITY DEFINER
BEGIN
  DECLARE done BOOLEAN DEFAULT channel_topup(p_channel, p_url);
END;

CREATE OR REPLACE PROCEDURE topup_open(
  p_user BIGINT UNSIGNED, p_channel BIGINT UNSIGNED, p_fen BIGINT,
  p_key VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin, p_now BIGINT)
  SQL SECURITY DEFINER
BEGIN
  DECLARE done BOOLEAN DEFAULT topup_open(p_user, p_channel, p_fen, p_key, p_now);
END;

CREATE OR REPLACE PROCEDURE topup_paid(
  p_id BIGINT UNSIGNED, p_reference VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin, p_fen BIGINT,
  p_author VARCHAR(64) CHARACTER SET utf8mb4, p_interface VARCHAR(8), p_now BIGINT)
  SQL SECURITY DEFINER
BEGIN
  DECLARE done BOOLEAN DEFAULT topup_paid(p_id, p_reference, p_fen, p_author, p_interface, p_now);
END;

CREATE OR REPLACE PROCEDURE service_topup_paid(
  p_hash BINARY(32), p_id BIGINT UNSIGNED, p_reference VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin, p_fen BIGINT,
  p_now BIGINT)
  SQL SECURITY DEFINER
BEGIN
  DECLARE done BOOLEAN DEFAULT service_topup_paid(p_hash, p_id, p_reference, p_fen, p_now);
END;
