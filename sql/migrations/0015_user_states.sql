-- disabled_ms: when an operator disabled the user (`hongbao user disable`): no login, no access token. deleting_ms:
-- when the user asked for the deletion of the account (app/user/deletion.h): the names and the password are gone from
-- the row then. deleted_ms: when nothing of the user was left but the ledger. NULL: it has not happened. The older
-- program continues to run, and lets a disabled user log in.
ALTER TABLE user
  ADD COLUMN disabled_ms BIGINT NULL,
  ADD COLUMN deleting_ms BIGINT NULL,
  ADD COLUMN deleted_ms BIGINT NULL,
  ADD KEY user_deletion (deleted_ms, deleting_ms);
