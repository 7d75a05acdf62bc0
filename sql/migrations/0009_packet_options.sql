-- What a sender may choose for a packet, and what can happen to it later. Only columns with defaults are added, so the
-- older program continues to run.
ALTER TABLE packet
  ADD COLUMN share_min_fen  BIGINT NOT NULL DEFAULT 1,         -- the smallest share: the draw depends on it
  ADD COLUMN opens_ms       BIGINT NULL,                       -- NULL: can be opened from the beginning
  ADD COLUMN phrase_hash    VARBINARY(32) NULL,                -- keyed hash of the passphrase; NULL: there is none
  ADD COLUMN phrase_sealed  VARBINARY(400) NULL,               -- the passphrase, encrypted: its sender sees it again
  ADD COLUMN cover          VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
  ADD COLUMN receiver_count INT UNSIGNED NOT NULL DEFAULT 0,   -- users who may open it; 0: everybody, or receiver_id
  ADD COLUMN ended_ms       BIGINT NULL,                       -- when the sender ended it early
  ADD COLUMN returned_count INT UNSIGNED NOT NULL DEFAULT 0,   -- shares given back into the packet
  ADD COLUMN returned_fen   BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN thanks_count   INT UNSIGNED NOT NULL DEFAULT 0;

-- A share that was given back is one more share.
ALTER TABLE packet
  DROP CONSTRAINT packet_sums,
  ADD CONSTRAINT packet_sums_returned
    CHECK (grabbed_fen + refund_fen <= amount_fen + returned_fen AND grabbed_count <= count + returned_count);
