-- Access tokens of programs. The token itself is not kept, only its SHA-256. used_ms: the last use, at most an hour
-- late; 0: never.
CREATE TABLE token (
  id         BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  user_id    BIGINT UNSIGNED NOT NULL,
  hash       BINARY(32) NOT NULL,
  name       VARCHAR(64) NOT NULL,
  scopes     VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,  -- names with blanks between: "read send"
  created_ms BIGINT NOT NULL,
  expires_ms BIGINT NOT NULL,
  used_ms    BIGINT NOT NULL DEFAULT 0,
  UNIQUE KEY token_hash (hash),
  KEY token_user (user_id, id),
  CONSTRAINT token_owner FOREIGN KEY (user_id) REFERENCES user (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
