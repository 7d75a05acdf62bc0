-- The tables of the peers: packets, their shares, drawn in advance, grabs and balances. Keys as in the site's own
-- tables of the same names. A grab is its own transfer, from the packet's account to the user's. A packet that was
-- copied from the site has no sender. Ids of users are smaller than ids of packets.
CREATE TABLE packet (
  id            BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  sender_id     BIGINT UNSIGNED NULL,
  sender_name   VARCHAR(64) NOT NULL DEFAULT '',
  greeting      VARCHAR(255) NOT NULL DEFAULT '',
  request_key   VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
  created_ms    BIGINT NOT NULL DEFAULT 0,
  expires_ms    BIGINT NOT NULL DEFAULT 0,
  count         INT UNSIGNED NOT NULL,
  amount_fen    BIGINT NOT NULL,
  grabbed_count INT UNSIGNED NOT NULL DEFAULT 0,
  grabbed_fen   BIGINT NOT NULL DEFAULT 0,
  UNIQUE KEY packet_request (sender_id, request_key),
  KEY packet_sent (sender_id, created_ms, id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin AUTO_INCREMENT = 1000000000000;

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

-- Deposits and sends. The history of an account is these and its grabs.
CREATE TABLE transfer (
  id         BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  debit_id   BIGINT UNSIGNED NOT NULL,
  credit_id  BIGINT UNSIGNED NOT NULL,
  amount_fen BIGINT NOT NULL,
  created_ms BIGINT NOT NULL,
  KEY transfer_debit (debit_id, created_ms, id),
  KEY transfer_credit (credit_id, created_ms, id)
) ENGINE = InnoDB;
