-- One name for one thing, in the tables as in the program, in Redis and in JSON: money ends in _fen, an instant in
-- milliseconds in _ms, and the number of a packet's shares is its count. Only names change, no row is touched.
-- The program before does not know these names: stop the pools and the worker first (docs/how-to/migrations.md).
ALTER TABLE user RENAME COLUMN created_at TO created_ms;

ALTER TABLE account
  DROP CONSTRAINT account_not_negative,
  RENAME COLUMN balance TO balance_fen,
  ADD CONSTRAINT account_not_negative CHECK (kind = 'bank' OR balance_fen >= 0);

ALTER TABLE transfer
  DROP CONSTRAINT transfer_positive,
  RENAME COLUMN amount TO amount_fen,
  RENAME COLUMN created_at TO created_ms,
  ADD CONSTRAINT transfer_positive CHECK (amount_fen > 0);

ALTER TABLE packet
  DROP CONSTRAINT packet_sums,
  RENAME COLUMN amount TO amount_fen,
  RENAME COLUMN share_count TO count,
  RENAME COLUMN share_max TO share_max_fen,
  RENAME COLUMN grabbed_amount TO grabbed_fen,
  RENAME COLUMN refund_amount TO refund_fen,
  RENAME COLUMN created_at TO created_ms,
  RENAME COLUMN expires_at TO expires_ms,
  RENAME COLUMN finished_at TO finished_ms,
  RENAME COLUMN closed_at TO closed_ms,
  ADD CONSTRAINT packet_sums CHECK (grabbed_fen + refund_fen <= amount_fen AND grabbed_count <= count);

ALTER TABLE `grab`
  DROP CONSTRAINT grab_positive,
  RENAME COLUMN amount TO amount_fen,
  RENAME COLUMN grabbed_at TO grabbed_ms,
  ADD CONSTRAINT grab_positive CHECK (amount_fen > 0);

ALTER TABLE user_year
  RENAME COLUMN sent_amount TO sent_fen,
  RENAME COLUMN received_amount TO received_fen;

ALTER TABLE user_month
  RENAME COLUMN sent_amount TO sent_fen,
  RENAME COLUMN received_amount TO received_fen;

ALTER TABLE stream_cursor RENAME COLUMN updated_at TO updated_ms;

ALTER TABLE instance_lease RENAME COLUMN leased_until TO until_ms;

ALTER TABLE dead_letter
  RENAME COLUMN created_at TO created_ms,
  RENAME COLUMN resolved_at TO resolved_ms;
