-- additive: yes
-- Who may register (docs/how-to/door.md): invitations, and the terms that a user has accepted.
--
-- An invitation lets one person register. Its code is computed from the seed with a key of the site
-- (app/user/invitation_code.h): neither the seed nor the hash leads to the code without that key. It is used by one
-- UPDATE in the transaction that inserts the user, so of two who register with one code, one gets in.

CREATE TABLE invitation (
  id          BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  hash        CHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, -- keyed hash of the code
  seed        BIGINT UNSIGNED NOT NULL,
  user_id     BIGINT UNSIGNED NULL,                                    -- who made it; NULL: an operator, or is deleted
  author      VARCHAR(64) NULL,                                        -- the operator who made it
  request_key VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,  -- of the user's form
  note        VARCHAR(200) NOT NULL DEFAULT '',                        -- for whom; only its maker and operators read it
  created_ms  BIGINT NOT NULL,
  expires_ms  BIGINT NOT NULL,
  revoked_ms  BIGINT NULL,
  used_ms     BIGINT NULL,
  used_by     BIGINT UNSIGNED NULL,                                    -- NULL although used: a deleted user
  UNIQUE KEY invitation_hash (hash),
  UNIQUE KEY invitation_request (user_id, request_key),
  KEY invitation_used_by (used_by),
  CONSTRAINT invitation_maker FOREIGN KEY (user_id) REFERENCES user (id),
  CONSTRAINT invitation_user FOREIGN KEY (used_by) REFERENCES user (id),
  CONSTRAINT invitation_once CHECK (used_ms IS NULL OR revoked_ms IS NULL),
  CONSTRAINT invitation_used CHECK (used_by IS NULL OR used_ms IS NOT NULL),
  CONSTRAINT invitation_made_by CHECK (user_id IS NULL OR author IS NULL)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- A row for each version of the terms that a user has accepted.
CREATE TABLE user_terms (
  user_id     BIGINT UNSIGNED NOT NULL,
  version     VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  accepted_ms BIGINT NOT NULL,
  PRIMARY KEY (user_id, version),
  CONSTRAINT user_terms_user FOREIGN KEY (user_id) REFERENCES user (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- As 0030 has it. Invitations that nobody has used go, used ones forget the user, and so do the terms.
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
  DELETE FROM user_terms WHERE user_id = p_user;
  DELETE FROM invitation WHERE user_id = p_user AND used_ms IS NULL;
  UPDATE invitation SET user_id = NULL, note = '' WHERE user_id = p_user;
  UPDATE invitation SET used_by = NULL WHERE used_by = p_user;
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
