-- Recovery codes: a user's set of ten, one slot each, hashed as passwords are. A code that was used is deleted. The
-- older program continues to run.
CREATE TABLE recovery_code (
  user_id    BIGINT UNSIGNED NOT NULL,
  slot       TINYINT UNSIGNED NOT NULL,
  hash       VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  created_ms BIGINT NOT NULL,
  PRIMARY KEY (user_id, slot),
  CONSTRAINT recovery_code_owner FOREIGN KEY (user_id) REFERENCES user (id)
) ENGINE = InnoDB;
