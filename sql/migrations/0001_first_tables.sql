-- The first tables. Dialect shared by MariaDB >= 10.6 and MySQL >= 8.0. Money is fen (BIGINT), times are
-- milliseconds since 1970 UTC (BIGINT), because Redis and the code speak the same numbers.

CREATE TABLE user (
  id            BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  username      VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  nickname      VARCHAR(64) NOT NULL,
  password_hash VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NULL,  -- NULL: a demo user, session only
  created_at    BIGINT NOT NULL,
  UNIQUE KEY user_username (username)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin AUTO_INCREMENT = 10001;

-- Ids need no mapping: the bank is account 1, a wallet has its user's id, an escrow account its packet's id
-- (packet ids are above 2^50, so the ranges never meet).
CREATE TABLE account (
  id      BIGINT UNSIGNED NOT NULL PRIMARY KEY,
  kind    ENUM ('wallet', 'escrow', 'bank') NOT NULL,
  balance BIGINT NOT NULL DEFAULT 0,
  CONSTRAINT account_not_negative CHECK (kind = 'bank' OR balance >= 0)
) ENGINE = InnoDB;

INSERT INTO account (id, kind, balance) VALUES (1, 'bank', 0);

-- A transfer moves amount fen from the debit account to the credit account and is never changed.
-- In the words of this ledger debit takes away: balance = sum(credits) - sum(debits).
CREATE TABLE transfer (
  id          BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  kind        ENUM ('deposit', 'send', 'grab', 'refund') NOT NULL,
  debit_id    BIGINT UNSIGNED NOT NULL,
  credit_id   BIGINT UNSIGNED NOT NULL,
  amount      BIGINT NOT NULL,
  packet_id   BIGINT UNSIGNED NULL,
  seq         INT UNSIGNED NULL,          -- grab: share_no; send and refund: 0
  request_key VARCHAR(80) CHARACTER SET ascii COLLATE ascii_bin NULL,  -- deposit: "userid:key"
  created_at  BIGINT NOT NULL,
  UNIQUE KEY transfer_packet (kind, packet_id, seq),
  UNIQUE KEY transfer_request (kind, request_key),
  KEY transfer_debit (debit_id, id),
  KEY transfer_credit (credit_id, id),
  CONSTRAINT transfer_debit_account FOREIGN KEY (debit_id) REFERENCES account (id),
  CONSTRAINT transfer_credit_account FOREIGN KEY (credit_id) REFERENCES account (id),
  CONSTRAINT transfer_positive CHECK (amount > 0),
  CONSTRAINT transfer_two_accounts CHECK (debit_id <> credit_id)
) ENGINE = InnoDB;

CREATE TABLE packet (
  id             BIGINT UNSIGNED NOT NULL PRIMARY KEY,
  sender_id      BIGINT UNSIGNED NOT NULL,
  sender_name    VARCHAR(64) NOT NULL,     -- nickname when sent
  receiver_id    BIGINT UNSIGNED NULL,     -- exclusive only
  receiver_name  VARCHAR(64) NULL,
  kind           ENUM ('lucky', 'even', 'exclusive') NOT NULL,
  split          ENUM ('double-average', 'uniform', 'gaussian', 'even') NOT NULL,
  amount         BIGINT NOT NULL,          -- total
  share_count    INT UNSIGNED NOT NULL,
  share_max      BIGINT NOT NULL DEFAULT 20000,  -- limit of one share when sent: the draw depends on it
  best_share_no  INT UNSIGNED NULL,        -- lucky only: the largest share, the first of equals
  greeting       VARCHAR(400) NOT NULL,
  seed           BINARY(32) NOT NULL,
  commitment     BINARY(32) NOT NULL,
  state          ENUM ('funding', 'open', 'finished', 'expired', 'closed') NOT NULL,
  grabbed_count  INT UNSIGNED NOT NULL DEFAULT 0,  -- settled so far
  grabbed_amount BIGINT NOT NULL DEFAULT 0,
  refund_amount  BIGINT NOT NULL DEFAULT 0,
  created_at     BIGINT NOT NULL,
  expires_at     BIGINT NOT NULL,
  finished_at    BIGINT NULL,              -- the last share was grabbed
  closed_at      BIGINT NULL,              -- everything settled, escrow zero
  request_key    VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  UNIQUE KEY packet_request (sender_id, request_key),
  KEY packet_sent (sender_id, created_at, id),
  KEY packet_due (state, expires_at, id),
  CONSTRAINT packet_sender FOREIGN KEY (sender_id) REFERENCES user (id),
  CONSTRAINT packet_receiver FOREIGN KEY (receiver_id) REFERENCES user (id),
  CONSTRAINT packet_sums CHECK (grabbed_amount + refund_amount <= amount AND grabbed_count <= share_count)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE grab (
  packet_id  BIGINT UNSIGNED NOT NULL,
  share_no   INT UNSIGNED NOT NULL,
  user_id    BIGINT UNSIGNED NOT NULL,
  nickname   VARCHAR(64) NOT NULL,         -- when grabbed
  amount     BIGINT NOT NULL,
  grabbed_at BIGINT NOT NULL,
  PRIMARY KEY (packet_id, share_no),
  UNIQUE KEY grab_once (packet_id, user_id),
  KEY grab_received (user_id, grabbed_at, packet_id),
  CONSTRAINT grab_packet FOREIGN KEY (packet_id) REFERENCES packet (id),
  CONSTRAINT grab_user FOREIGN KEY (user_id) REFERENCES user (id),
  CONSTRAINT grab_positive CHECK (amount > 0)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Totals of a calendar year in the service's time zone.
CREATE TABLE user_year (
  user_id         BIGINT UNSIGNED NOT NULL,
  year            SMALLINT UNSIGNED NOT NULL,
  sent_count      INT UNSIGNED NOT NULL DEFAULT 0,
  sent_amount     BIGINT NOT NULL DEFAULT 0,
  received_count  INT UNSIGNED NOT NULL DEFAULT 0,
  received_amount BIGINT NOT NULL DEFAULT 0,
  best_count      INT UNSIGNED NOT NULL DEFAULT 0,
  PRIMARY KEY (user_id, year)
) ENGINE = InnoDB;

-- How far the events of each partition are settled: moved in the transaction that moves the money. A partition's
-- row is made by the settle worker when it starts (the number of partitions is configured).
CREATE TABLE stream_cursor (
  partition_no SMALLINT UNSIGNED NOT NULL PRIMARY KEY,
  last_id      VARCHAR(41) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '0-0',
  updated_at   BIGINT NOT NULL DEFAULT 0
) ENGINE = InnoDB;

-- Who owns which instance number of packet ids (10 bits). A row is taken when its lease has run out.
CREATE TABLE instance_lease (
  instance_no  SMALLINT UNSIGNED NOT NULL PRIMARY KEY,
  holder       BIGINT UNSIGNED NOT NULL,
  leased_until BIGINT NOT NULL,
  KEY instance_lease_free (leased_until)
) ENGINE = InnoDB;

-- 1024 rows as 32 x 32: MySQL stops a recursion at 1000.
INSERT INTO instance_lease (instance_no, holder, leased_until)
  WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 31)
  SELECT a.i * 32 + b.i, 0, 0 FROM n AS a CROSS JOIN n AS b;
