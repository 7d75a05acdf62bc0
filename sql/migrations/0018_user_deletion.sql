-- What the deletion of an account needs beside the columns of user (0015). The older program continues to run; it does
-- not know the kind forfeit, which only a wallet of a deleted user has.

-- A deleted user gives up what is left in the wallet: it goes to the bank.
ALTER TABLE transfer MODIFY kind ENUM ('deposit', 'send', 'refund', 'return', 'forfeit') NOT NULL;

-- Usernames of deleted users, which nobody may register again: senders name receivers by them. Only a keyed hash, and
-- not whose it was.
CREATE TABLE username_retired (
  hash BINARY(32) NOT NULL PRIMARY KEY
) ENGINE = InnoDB;

-- Begins the deletion of a user whose password hash the caller has verified. The row loses its names and its hash,
-- and the user's open packets end, as packet_end does it. p_retired: the keyed hash of the username. 31001: there is
-- money left in the wallet or in packets, and the user does not give it up. 31002: there is no such user, or another
-- password by now. Only within a transaction, which a failure rolls back. The clock of this server decides: one that is
-- ahead would keep the packets open until then.
CREATE PROCEDURE user_delete(
  p_user BIGINT UNSIGNED, p_hash VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin, p_retired BINARY(32),
  p_give_up BOOLEAN)
  SQL SECURITY DEFINER
BEGIN
  DECLARE found, owning INT DEFAULT 0;
  DECLARE now_ms BIGINT DEFAULT CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED);
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
END;

-- Removes the name of a user who is being deleted from the rows of packets. p_packets: [packet, …].
CREATE PROCEDURE user_erase(p_user BIGINT UNSIGNED, p_packets LONGTEXT CHARACTER SET ascii)
  SQL SECURITY DEFINER
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
END;

-- Ends the deletion of a user: what is left in the wallet goes to the bank, and the row says deleted. May be
-- repeated, for money that came later. The worker has looked for names before, part by part (app/settle/erase.h): a
-- user may have a million grabs. 31001: a packet of the user is not closed. 31002: the user did not ask for it. Only
-- within a transaction, which a failure rolls back.
CREATE PROCEDURE user_deleted(p_user BIGINT UNSIGNED, p_now BIGINT)
  SQL SECURITY DEFINER
BEGIN
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
    CALL ledger_move('forfeit', p_user, 'wallet', 1, 'bank', fen, NULL, NULL, CONCAT(p_user, ':', p_now), p_now);
  END IF;
  UPDATE user SET deleted_ms = p_now WHERE id = p_user;
END;
