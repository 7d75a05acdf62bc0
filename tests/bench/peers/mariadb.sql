-- The tables of the peer without Redis: packets, their shares, drawn in advance, grabs and balances. Keys as in the
-- site's own tables of the same names.
CREATE TABLE packet (
  id            BIGINT UNSIGNED NOT NULL PRIMARY KEY,
  count         INT UNSIGNED NOT NULL,
  amount_fen    BIGINT NOT NULL,
  grabbed_count INT UNSIGNED NOT NULL DEFAULT 0,
  grabbed_fen   BIGINT NOT NULL DEFAULT 0
) ENGINE = InnoDB;

CREATE TABLE share (
  packet_id  BIGINT UNSIGNED NOT NULL,
  share_no   INT UNSIGNED NOT NULL,
  amount_fen BIGINT NOT NULL,
  PRIMARY KEY (packet_id, share_no)
) ENGINE = InnoDB;

CREATE TABLE `grab` (
  packet_id  BIGINT UNSIGNED NOT NULL,
  share_no   INT UNSIGNED NOT NULL,
  user_id    BIGINT UNSIGNED NOT NULL,
  nickname   VARCHAR(64) NOT NULL,
  amount_fen BIGINT NOT NULL,
  grabbed_ms BIGINT NOT NULL,
  PRIMARY KEY (packet_id, share_no),
  UNIQUE KEY grab_once (packet_id, user_id),
  KEY grab_received (user_id, grabbed_ms, packet_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE account (
  id          BIGINT UNSIGNED NOT NULL PRIMARY KEY,
  balance_fen BIGINT NOT NULL DEFAULT 0
) ENGINE = InnoDB;
