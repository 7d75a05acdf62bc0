-- Thanks of receivers, one for each grab at most. Never changed, except for applied_ms: Redis was told then; NULL: not
-- yet. The older program continues to run.
CREATE TABLE thanks (
  packet_id  BIGINT UNSIGNED NOT NULL,
  share_no   INT UNSIGNED NOT NULL,
  user_id    BIGINT UNSIGNED NOT NULL,
  text       VARCHAR(400) NOT NULL,
  created_ms BIGINT NOT NULL,
  applied_ms BIGINT NULL,
  PRIMARY KEY (packet_id, share_no),
  KEY thanks_pending (applied_ms, created_ms),
  CONSTRAINT thanks_grab FOREIGN KEY (packet_id, share_no) REFERENCES `grab` (packet_id, share_no)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
