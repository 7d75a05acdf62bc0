-- A grab is its own transfer: its row in `grab` moves the amount from the packet's escrow (account packet_id) to the
-- wallet (account user_id). `transfer` keeps deposits, sends and refunds. A year's totals are the sums of its months.
-- Stop the page pool and the worker first (docs/how-to/migrations.md).

-- Refuses, by a row that violates transfer_positive, when a grab and its transfer differ or one of them is missing.
-- Nothing is changed then: `hongbao audit` of the program before names the rows (I4).
INSERT INTO transfer (kind, debit_id, credit_id, amount_fen, created_ms)
  SELECT 'deposit', 1, user_id, 0, 0 FROM (
    SELECT g.user_id FROM `grab` AS g
      LEFT JOIN transfer AS t ON t.kind = 'grab' AND t.packet_id = g.packet_id AND t.seq = g.share_no
        AND t.debit_id = g.packet_id AND t.credit_id = g.user_id AND t.amount_fen = g.amount_fen
      WHERE t.id IS NULL
    UNION ALL
    SELECT t.credit_id FROM transfer AS t
      LEFT JOIN `grab` AS g ON g.packet_id = t.packet_id AND g.share_no = t.seq
      WHERE t.kind = 'grab' AND g.packet_id IS NULL) AS different
  LIMIT 1;

-- From here on every statement of an older program that moves money fails, so nothing is added behind the copy.
RENAME TABLE transfer TO transfer_before;

ALTER TABLE user_month ADD COLUMN best_count INT UNSIGNED NOT NULL DEFAULT 0;

-- The largest shares of finished packets, in the month of their grab.
INSERT INTO user_month (user_id, year, month, best_count)
  SELECT user_id, month_no DIV 100, month_no MOD 100, COUNT(*)
  FROM (SELECT g.user_id, (SELECT z.month_no FROM zone_month AS z WHERE z.from_ms <= g.grabbed_ms
                           ORDER BY z.from_ms DESC LIMIT 1) AS month_no
        FROM packet AS p JOIN `grab` AS g ON g.packet_id = p.id AND g.share_no = p.best_share_no
        WHERE p.state = 'closed' AND p.finished_ms IS NOT NULL) AS b
  GROUP BY user_id, month_no
  ON DUPLICATE KEY UPDATE best_count = VALUES(best_count);

-- Few of the rows stay, so they are copied. The next file gives the table its name. Its constraints have new names,
-- because those of the old table are taken until it is dropped. The statement of an account reads its keys backwards.
CREATE TABLE transfer_kept (
  id          BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  kind        ENUM ('deposit', 'send', 'refund') NOT NULL,
  debit_id    BIGINT UNSIGNED NOT NULL,
  credit_id   BIGINT UNSIGNED NOT NULL,
  amount_fen  BIGINT NOT NULL,
  packet_id   BIGINT UNSIGNED NULL,
  seq         INT UNSIGNED NULL,          -- send and refund: 0
  request_key VARCHAR(80) CHARACTER SET ascii COLLATE ascii_bin NULL,  -- deposit: "userid:key"
  created_ms  BIGINT NOT NULL,
  UNIQUE KEY transfer_packet (kind, packet_id, seq),
  UNIQUE KEY transfer_request (kind, request_key),
  KEY transfer_debit (debit_id, created_ms, id, amount_fen),
  KEY transfer_credit (credit_id, created_ms, id, amount_fen),
  CONSTRAINT transfer_payer FOREIGN KEY (debit_id) REFERENCES account (id),
  CONSTRAINT transfer_receiver FOREIGN KEY (credit_id) REFERENCES account (id),
  CONSTRAINT transfer_above_zero CHECK (amount_fen > 0),
  CONSTRAINT transfer_not_to_itself CHECK (debit_id <> credit_id)
) ENGINE = InnoDB;

INSERT INTO transfer_kept (id, kind, debit_id, credit_id, amount_fen, packet_id, seq, request_key, created_ms)
  SELECT id, kind, debit_id, credit_id, amount_fen, packet_id, seq, request_key, created_ms
  FROM transfer_before WHERE kind <> 'grab';

-- With the amount in the key, the statement and the audit's sums of what a user received read nothing else.
ALTER TABLE `grab`
  DROP KEY grab_received,
  ADD KEY grab_received (user_id, grabbed_ms, packet_id, amount_fen);

DROP TABLE user_year;

DROP TABLE transfer_before;
