-- Events that could not be settled: they can't be read, or contradict what the tables say. They are put here by the
-- transaction that moves the cursor past them, so none is lost, and wait for a person (docs/how-to/dead-letters.md).
-- While a packet has one that is not resolved, its later events follow: nothing is settled around a hole.
CREATE TABLE dead_letter (
  id           BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  partition_no SMALLINT UNSIGNED NOT NULL,
  event_id     VARCHAR(41) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  packet_id    BIGINT UNSIGNED NULL,     -- NULL: the event does not tell
  content      VARBINARY(4000) NOT NULL, -- fields and values as Redis had them, with a blank between
  reason       VARCHAR(160) NOT NULL,
  created_at   BIGINT NOT NULL,
  resolved_at  BIGINT NULL,
  resolution   ENUM ('replayed', 'dropped') NULL,
  UNIQUE KEY dead_letter_event (partition_no, event_id),
  KEY dead_letter_open (partition_no, resolved_at, packet_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
