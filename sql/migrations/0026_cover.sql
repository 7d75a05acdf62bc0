-- additive: yes
-- Covers of one's own: files that the site has made of uploads (app/io/picture.h), at most six for each user.
-- packet.cover of an envelope that shows one is '@' and the hash, and stays when the file is gone. The older program
-- continues to run; it shows the plain cover.
CREATE TABLE cover (
  user_id    BIGINT UNSIGNED NOT NULL,
  hash       CHAR(26) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, -- of bytes, 128 bits in base32
  bytes      BLOB NOT NULL,                                           -- a WebP file
  created_ms BIGINT NOT NULL,
  PRIMARY KEY (user_id, hash),
  KEY cover_hash (hash), -- not unique: two users may have the same picture
  CONSTRAINT cover_owner FOREIGN KEY (user_id) REFERENCES user (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

ALTER TABLE packet
  MODIFY COLUMN cover VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '', ALGORITHM = INSTANT;

-- Begins the deletion of a user, as 0025 says. The covers go, too.
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
  UPDATE user SET username = CONCAT('~', id), nickname = '', face = NULL, password_hash = NULL, deleting_ms = now_ms
    WHERE id = p_user;
  DELETE FROM picture WHERE user_id = p_user;
  DELETE FROM cover WHERE user_id = p_user;
  RETURN TRUE;
END;
