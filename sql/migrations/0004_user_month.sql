-- Totals of a calendar month in the service's time zone: the chart of the records page, which must not read a year's
-- rows to draw it. zone_month is the migrator's (docs/how-to/migrations.md).
CREATE TABLE user_month (
  user_id         BIGINT UNSIGNED NOT NULL,
  year            SMALLINT UNSIGNED NOT NULL,
  month           TINYINT UNSIGNED NOT NULL,  -- 1 … 12
  sent_count      INT UNSIGNED NOT NULL DEFAULT 0,
  sent_amount     BIGINT NOT NULL DEFAULT 0,
  received_count  INT UNSIGNED NOT NULL DEFAULT 0,
  received_amount BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (user_id, year, month)
) ENGINE = InnoDB;

INSERT INTO user_month (user_id, year, month, sent_count, sent_amount)
  SELECT user_id, month_no DIV 100, month_no MOD 100, COUNT(*), SUM(amount)
  FROM (SELECT sender_id AS user_id, amount, (SELECT z.month_no FROM zone_month AS z WHERE z.from_ms <= created_at
                                              ORDER BY z.from_ms DESC LIMIT 1) AS month_no FROM packet) AS p
  GROUP BY user_id, month_no;

INSERT INTO user_month (user_id, year, month, received_count, received_amount)
  SELECT user_id, month_no DIV 100, month_no MOD 100, COUNT(*), SUM(amount)
  FROM (SELECT user_id, amount, (SELECT z.month_no FROM zone_month AS z WHERE z.from_ms <= grabbed_at
                                 ORDER BY z.from_ms DESC LIMIT 1) AS month_no FROM `grab`) AS g
  GROUP BY user_id, month_no
  ON DUPLICATE KEY UPDATE received_count = VALUES(received_count), received_amount = VALUES(received_amount);
