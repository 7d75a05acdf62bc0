-- additive: yes
-- The login by an issuer of OpenID Connect (docs/how-to/issuer.md). A subject is a user of the issuer, by the
-- name that the issuer never gives to anybody else (sub). It belongs to one user for ever; nobody is found by e-mail or
-- username. Both texts are bytes: compared to the letter, blanks at the end included. The older program knows none of
-- this; its user_delete is this one, too, because routines are replaced with the migration.
CREATE TABLE subject (
  issuer        VARBINARY(255) NOT NULL,
  subject       VARBINARY(255) NOT NULL,
  user_id       BIGINT UNSIGNED NOT NULL,
  linked_ms     BIGINT NOT NULL,
  proof_session VARCHAR(80) CHARACTER SET ascii COLLATE ascii_bin NULL, -- session that a fresh login has begun last
  logout_jti    VARBINARY(255) NULL,                                    -- the order to log out that was done last
  PRIMARY KEY (issuer, subject),
  UNIQUE KEY subject_owner (user_id, issuer),
  CONSTRAINT subject_user FOREIGN KEY (user_id) REFERENCES user (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- The user of this session has proved who it is, and may link one subject: linking deletes the row.
CREATE TABLE subject_permit (
  user_id    BIGINT UNSIGNED NOT NULL PRIMARY KEY,
  session    VARCHAR(80) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  expires_ms BIGINT NOT NULL,
  CONSTRAINT subject_permit_user FOREIGN KEY (user_id) REFERENCES user (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- As 0030 has it. The subject goes at once, so that the person can begin anew: the next login makes another user.
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
  DELETE FROM subject WHERE user_id = p_user;
  DELETE FROM subject_permit WHERE user_id = p_user;
  UPDATE packet SET ended_ms = now_ms, expires_ms = now_ms
    WHERE sender_id = p_user AND state IN ('funding', 'open') AND expires_ms > now_ms
      AND grabbed_count < count + returned_count;
  UPDATE user SET username = CONCAT('~', id), nickname = '', face = NULL, password_hash = NULL, deleting_ms = now_ms
    WHERE id = p_user;
  DELETE FROM picture WHERE user_id = p_user;
  DELETE FROM cover WHERE user_id = p_user;
  RETURN TRUE;
END;
