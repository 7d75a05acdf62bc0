-- additive: yes
-- One-time login links (app/user/login_link.h): a user has at most one, and it is deleted when it is used. Stored is a
-- keyed hash of its code. The operator makes it; the older program knows no links and gives nobody another way in.
CREATE TABLE login_link (
  user_id    BIGINT UNSIGNED NOT NULL PRIMARY KEY,
  hash       BINARY(32) NOT NULL,
  created_ms BIGINT NOT NULL,
  expires_ms BIGINT NOT NULL,
  UNIQUE KEY login_link_hash (hash),
  CONSTRAINT login_link_owner FOREIGN KEY (user_id) REFERENCES user (id),
  CONSTRAINT login_link_time CHECK (expires_ms > created_ms AND expires_ms - created_ms <= 7 * 86400000)
) ENGINE = InnoDB;
