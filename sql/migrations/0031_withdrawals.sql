-- additive: yes
-- Which channels pay withdrawals (docs/explanation/money.md). The locks have the order of 0030.
ALTER TABLE channel
  ADD withdraws BOOLEAN NOT NULL DEFAULT FALSE,           -- users may ask for withdrawals to it
  ADD withdraw_min_fen BIGINT NOT NULL DEFAULT 1,         -- the smallest amount
  ADD withdraw_hint VARCHAR(200) NOT NULL DEFAULT '',     -- what a user types as the account, such as "IBAN"
  ADD KEY channel_withdraws (withdraws),
  ADD CONSTRAINT channel_withdraw_min CHECK (withdraw_min_fen > 0);

-- Pages show the pending withdrawals of a user.
ALTER TABLE withdrawal ADD KEY withdrawal_user_state (user_id, state, id);

-- Whether a channel pays withdrawals, from which amount on, and what people read beside the account. NULL: as it is.
CREATE OR REPLACE FUNCTION channel_withdrawals(
  p_channel BIGINT UNSIGNED, p_allows BOOLEAN, p_min BIGINT, p_hint VARCHAR(200) CHARACTER SET utf8mb4) RETURNS BOOLEAN
  DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE found INT DEFAULT 0;
  SELECT COUNT(*) INTO found FROM channel WHERE id = p_channel AND id > 2 FOR UPDATE;
  IF found <> 1 THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31002, MESSAGE_TEXT = 'there is no such channel of an operator';
  END IF;
  IF p_min < 1 THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31001, MESSAGE_TEXT = 'the smallest amount is above 0';
  END IF;
  UPDATE channel SET withdraws = COALESCE(p_allows <> 0, withdraws),
      withdraw_min_fen = COALESCE(p_min, withdraw_min_fen), withdraw_hint = COALESCE(p_hint, withdraw_hint)
    WHERE id = p_channel;
  RETURN TRUE;
END;

-- As 0030 has it. The channel must allow it, and the amount.
CREATE OR REPLACE FUNCTION withdrawal_hold(
  p_user BIGINT UNSIGNED, p_channel BIGINT UNSIGNED, p_fen BIGINT, p_destination VARCHAR(200) CHARACTER SET utf8mb4,
  p_key VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin, p_now BIGINT) RETURNS BOOLEAN
  DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE found INT DEFAULT 0;
  DECLARE hold BIGINT UNSIGNED;
  DECLARE allows BOOLEAN;
  DECLARE least_fen BIGINT;
  IF COALESCE(p_key, '') = '' THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31001, MESSAGE_TEXT = 'there is no request key';
  END IF;
  SELECT withdraws, withdraw_min_fen INTO allows, least_fen FROM channel WHERE id = p_channel AND id > 2
    LOCK IN SHARE MODE;
  SELECT COUNT(*) INTO found FROM user
    WHERE id = p_user AND deleting_ms IS NULL AND disabled_ms IS NULL LOCK IN SHARE MODE;
  IF found <> 1 THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31002, MESSAGE_TEXT = 'there is no such user';
  END IF;
  -- A repeat is a duplicate also when the money is gone meanwhile, or the channel pays no more.
  SELECT COUNT(*) INTO found FROM account FORCE INDEX (PRIMARY) WHERE id IN (3, p_user) FOR UPDATE;
  SELECT COUNT(*) INTO found FROM withdrawal WHERE user_id = p_user AND request_key = p_key LOCK IN SHARE MODE;
  IF found > 0 THEN
    SIGNAL SQLSTATE '23000' SET MYSQL_ERRNO = 1062, MESSAGE_TEXT = 'the request key was used before';
  END IF;
  IF NOT COALESCE(allows, FALSE) THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31002, MESSAGE_TEXT = 'the channel pays no withdrawals';
  END IF;
  IF COALESCE(p_fen, 0) < least_fen OR COALESCE(p_destination, '') = '' THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31001, MESSAGE_TEXT = 'the amount is too small, or there is no account';
  END IF;
  SET hold = ledger_transfer('withdraw', p_user, 'wallet', 3, 'pending', p_fen, NULL, NULL,
    CONCAT(p_user, ':', p_key), p_now);
  INSERT INTO withdrawal (user_id, channel_id, amount_fen, destination, request_key, state, hold_id, created_ms)
    VALUES (p_user, p_channel, p_fen, p_destination, p_key, 'pending', hold, ledger_time(p_now));
  RETURN TRUE;
END;

CREATE OR REPLACE PROCEDURE channel_withdrawals(
  p_channel BIGINT UNSIGNED, p_allows BOOLEAN, p_min BIGINT, p_hint VARCHAR(200) CHARACTER SET utf8mb4)
  SQL SECURITY DEFINER
BEGIN
  DECLARE done BOOLEAN DEFAULT channel_withdrawals(p_channel, p_allows, p_min, p_hint);
END;
