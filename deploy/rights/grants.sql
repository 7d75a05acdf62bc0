-- The rights of each role on the tables (docs/reference/rights.md). Run it after every `hongbao migrate`, as an
-- administrator, in the program's database: mariadb hongbao <grants.sql. It first revokes all earlier rights;
-- `hongbao setup` leaves out that line, and revokes only what is too much.
--
-- The ledger is append-only: no role that serves may change or delete a row of transfer or grab. Accounts and transfers are
-- written by routines alone (sql/migrations), which keep the rules of the ledger. UPDATE is granted by column.
-- INSERT … ON DUPLICATE KEY UPDATE needs UPDATE on the columns that it inserts.
REVOKE ALL PRIVILEGES, GRANT OPTION FROM 'hongbao_page'@'localhost', 'hongbao_auth'@'localhost', 'hongbao_sso'@'localhost', 'hongbao_card'@'localhost', 'hongbao_money'@'localhost', 'hongbao_settle'@'localhost', 'hongbao_audit'@'localhost', 'hongbao_support'@'localhost', 'hongbao_treasury'@'localhost', 'hongbao_backup'@'localhost';

-- The auth pool: users with the hashes of their passwords and recovery codes, passkeys and access tokens that are added,
-- invitations of users, which it also uses up for new users, the terms that users accept, logins by passkey, the wallets of new users, the deletion of an account with the money that it gives up, pending
-- withdrawals included, withdrawals that are asked for with the password, and who sent the packet that a visitor logs in for.
GRANT SELECT, INSERT (username, nickname, password_hash, created_ms), UPDATE (password_hash) ON user TO 'hongbao_auth'@'localhost';
GRANT SELECT ON username_retired TO 'hongbao_auth'@'localhost';
GRANT EXECUTE ON PROCEDURE user_delete TO 'hongbao_auth'@'localhost';
GRANT SELECT ON account TO 'hongbao_auth'@'localhost';
GRANT SELECT (id, user_id, channel_id, state, amount_fen, destination, request_key, hold_id, created_ms) ON withdrawal TO 'hongbao_auth'@'localhost';
GRANT SELECT (id, name, note, withdraws, withdraw_min_fen, withdraw_hint) ON channel TO 'hongbao_auth'@'localhost';
GRANT EXECUTE ON PROCEDURE withdrawal_hold TO 'hongbao_auth'@'localhost';
GRANT EXECUTE ON PROCEDURE durable_commit TO 'hongbao_auth'@'localhost';
GRANT SELECT (id, sender_id, sender_name, kind, greeting, cover, state, amount_fen, returned_fen, grabbed_fen) ON packet TO 'hongbao_auth'@'localhost';
GRANT SELECT, INSERT, UPDATE (sign_count, used_ms) ON passkey TO 'hongbao_auth'@'localhost';
GRANT SELECT, INSERT, DELETE ON token TO 'hongbao_auth'@'localhost';
GRANT SELECT, INSERT, DELETE ON recovery_code TO 'hongbao_auth'@'localhost';
GRANT SELECT, INSERT, DELETE ON login_link TO 'hongbao_auth'@'localhost';
GRANT EXECUTE ON PROCEDURE ledger_wallet TO 'hongbao_auth'@'localhost';
GRANT SELECT, INSERT (hash, seed, user_id, request_key, note, created_ms, expires_ms), UPDATE (revoked_ms, used_ms, used_by) ON invitation TO 'hongbao_auth'@'localhost';
GRANT SELECT, INSERT ON user_terms TO 'hongbao_auth'@'localhost';
GRANT SELECT (issuer, user_id, linked_ms, proof_session), DELETE ON subject TO 'hongbao_auth'@'localhost';
GRANT SELECT, INSERT, UPDATE (user_id, session, expires_ms) ON subject_permit TO 'hongbao_auth'@'localhost';
GRANT SELECT ON site TO 'hongbao_auth'@'localhost';
GRANT SELECT ON schema_migration TO 'hongbao_auth'@'localhost';

-- The sso pool: logins by an issuer. It makes users without a password, with their wallets, and reads no password hash.
GRANT SELECT (id, username, nickname, face, created_ms, disabled_ms, deleting_ms, deleted_ms), INSERT (username, nickname, password_hash, created_ms) ON user TO 'hongbao_sso'@'localhost';
GRANT SELECT ON username_retired TO 'hongbao_sso'@'localhost';
GRANT EXECUTE ON PROCEDURE ledger_wallet TO 'hongbao_sso'@'localhost';
GRANT SELECT, INSERT (issuer, subject, user_id, linked_ms), UPDATE (proof_session, logout_jti) ON subject TO 'hongbao_sso'@'localhost';
GRANT SELECT (user_id, session, expires_ms), DELETE ON subject_permit TO 'hongbao_sso'@'localhost';
GRANT SELECT (user_id, version) ON user_terms TO 'hongbao_sso'@'localhost';
GRANT SELECT ON site TO 'hongbao_sso'@'localhost';
GRANT SELECT ON schema_migration TO 'hongbao_sso'@'localhost';

-- The page pool: revoking access tokens and passkeys, sending, shares that are given back, reading. It reads no password hashes.
GRANT SELECT (id, username, nickname, face, created_ms, disabled_ms, deleting_ms), UPDATE (nickname, face) ON user TO 'hongbao_page'@'localhost';
GRANT SELECT, DELETE, UPDATE (used_ms) ON token TO 'hongbao_page'@'localhost';
GRANT SELECT, DELETE ON passkey TO 'hongbao_page'@'localhost';
GRANT SELECT (user_id) ON recovery_code TO 'hongbao_page'@'localhost';
GRANT SELECT ON user_terms TO 'hongbao_page'@'localhost';
GRANT SELECT (issuer, user_id, linked_ms) ON subject TO 'hongbao_page'@'localhost';
GRANT SELECT (user_id, hash), INSERT, DELETE ON picture TO 'hongbao_page'@'localhost';
GRANT SELECT (user_id, hash, created_ms), INSERT, DELETE ON cover TO 'hongbao_page'@'localhost';
GRANT SELECT ON account TO 'hongbao_page'@'localhost';
GRANT SELECT ON transfer TO 'hongbao_page'@'localhost';
GRANT SELECT (transfer_id, channel_id, memo, reference, reverses) ON external_transfer TO 'hongbao_page'@'localhost';
GRANT SELECT (id, name, note, withdraws, topup_url) ON channel TO 'hongbao_page'@'localhost';
GRANT SELECT (id, user_id, hold_id, end_id, channel_id, amount_fen, destination, reason, state, created_ms, ended_ms) ON withdrawal TO 'hongbao_page'@'localhost';
GRANT SELECT ON topup TO 'hongbao_page'@'localhost';
GRANT SELECT ON topup_payment TO 'hongbao_page'@'localhost';
GRANT EXECUTE ON PROCEDURE topup_open TO 'hongbao_page'@'localhost';
GRANT EXECUTE ON PROCEDURE packet_send TO 'hongbao_page'@'localhost';
GRANT EXECUTE ON PROCEDURE packet_send_with TO 'hongbao_page'@'localhost';
GRANT EXECUTE ON PROCEDURE ledger_send TO 'hongbao_page'@'localhost';
GRANT EXECUTE ON PROCEDURE ledger_return TO 'hongbao_page'@'localhost';
GRANT EXECUTE ON PROCEDURE durable_commit TO 'hongbao_page'@'localhost';
GRANT SELECT, INSERT, UPDATE (state, expires_ms, ended_ms, thanks_count, returned_count, returned_fen, best_share_no) ON packet TO 'hongbao_page'@'localhost';
GRANT SELECT, INSERT ON packet_receiver TO 'hongbao_page'@'localhost';
GRANT SELECT ON `grab` TO 'hongbao_page'@'localhost';
GRANT SELECT, INSERT, UPDATE (applied_ms) ON thanks TO 'hongbao_page'@'localhost';
GRANT SELECT, INSERT, UPDATE (applied_ms) ON share_return TO 'hongbao_page'@'localhost';
GRANT SELECT, INSERT, UPDATE (user_id, year, month, sent_count, sent_fen, received_count, received_fen) ON user_month TO 'hongbao_page'@'localhost';
GRANT SELECT, UPDATE (holder, until_ms) ON instance_lease TO 'hongbao_page'@'localhost';
GRANT SELECT ON site TO 'hongbao_page'@'localhost';
GRANT SELECT ON schema_migration TO 'hongbao_page'@'localhost';
GRANT SELECT (id, resolved_ms) ON dead_letter TO 'hongbao_page'@'localhost';

-- The card pool draws pictures of packets, and serves pictures of users. It may not read a seed, from which the shares
-- follow before they are opened, nor a passphrase (only whether a packet has one), nor the owner of a picture.
GRANT SELECT (hash, bytes) ON picture TO 'hongbao_card'@'localhost';
GRANT SELECT (hash, bytes) ON cover TO 'hongbao_card'@'localhost';
GRANT SELECT (id, kind, sender_name, receiver_name, greeting, cover, opens_ms) ON packet TO 'hongbao_card'@'localhost';
GRANT EXECUTE ON FUNCTION packet_needs_phrase TO 'hongbao_card'@'localhost';
GRANT SELECT ON site TO 'hongbao_card'@'localhost';
GRANT SELECT ON schema_migration TO 'hongbao_card'@'localhost';

-- The money pool: programs of the operator, each with a service token. It writes no table: every routine that it may call
-- takes the hash of the token, except durable_commit, and it can't read these hashes.
GRANT SELECT (id, name, scopes, channel_id, day_max_fen, addresses, created_ms, used_ms) ON service TO 'hongbao_money'@'localhost';
GRANT EXECUTE ON FUNCTION service_of TO 'hongbao_money'@'localhost';
GRANT EXECUTE ON PROCEDURE service_used TO 'hongbao_money'@'localhost';
GRANT EXECUTE ON PROCEDURE service_external TO 'hongbao_money'@'localhost';
GRANT EXECUTE ON PROCEDURE service_withdrawal_end TO 'hongbao_money'@'localhost';
GRANT SELECT (id, username, deleting_ms) ON user TO 'hongbao_money'@'localhost';
GRANT SELECT ON channel TO 'hongbao_money'@'localhost';
GRANT SELECT (id, balance_fen) ON account TO 'hongbao_money'@'localhost';
GRANT SELECT (id, kind, debit_id, credit_id, amount_fen, created_ms) ON transfer TO 'hongbao_money'@'localhost';
GRANT SELECT ON external_transfer TO 'hongbao_money'@'localhost';
GRANT SELECT ON withdrawal TO 'hongbao_money'@'localhost';
GRANT SELECT (id, user_id, channel_id, amount_fen, created_ms, expires_ms) ON topup TO 'hongbao_money'@'localhost';
GRANT SELECT ON topup_payment TO 'hongbao_money'@'localhost';
GRANT EXECUTE ON PROCEDURE service_topup_paid TO 'hongbao_money'@'localhost';
GRANT EXECUTE ON PROCEDURE durable_commit TO 'hongbao_money'@'localhost';
GRANT SELECT ON site TO 'hongbao_money'@'localhost';
GRANT SELECT ON schema_migration TO 'hongbao_money'@'localhost';

-- The settle worker: grabs, refunds, balances, totals, and what is left of users who delete their account. It reads no
-- names and passwords; ids of users, because it looks for accounts and sessions of nobody; their faces, for packets
-- that it loads into Redis.
GRANT SELECT (id, face, disabled_ms, deleting_ms, deleted_ms) ON user TO 'hongbao_settle'@'localhost';
GRANT SELECT (id, user_id, hash, scopes, created_ms, expires_ms) ON token TO 'hongbao_settle'@'localhost';
GRANT SELECT (instance_no, until_ms) ON instance_lease TO 'hongbao_settle'@'localhost';
GRANT EXECUTE ON PROCEDURE user_erase TO 'hongbao_settle'@'localhost';
GRANT EXECUTE ON PROCEDURE user_deleted TO 'hongbao_settle'@'localhost';
GRANT SELECT ON account TO 'hongbao_settle'@'localhost';
GRANT SELECT ON transfer TO 'hongbao_settle'@'localhost';
GRANT SELECT ON channel TO 'hongbao_settle'@'localhost';
GRANT SELECT (transfer_id, channel_id, reference, author, reverses) ON external_transfer TO 'hongbao_settle'@'localhost';
GRANT SELECT ON withdrawal TO 'hongbao_settle'@'localhost';
GRANT SELECT ON topup TO 'hongbao_settle'@'localhost';
GRANT SELECT ON topup_payment TO 'hongbao_settle'@'localhost';
GRANT EXECUTE ON PROCEDURE ledger_settle TO 'hongbao_settle'@'localhost';
GRANT EXECUTE ON PROCEDURE ledger_refund TO 'hongbao_settle'@'localhost';
GRANT EXECUTE ON PROCEDURE durable_commit TO 'hongbao_settle'@'localhost';
GRANT SELECT, UPDATE (state, grabbed_count, grabbed_fen, refund_fen, finished_ms, closed_ms) ON packet TO 'hongbao_settle'@'localhost';
GRANT SELECT ON packet_receiver TO 'hongbao_settle'@'localhost';
GRANT SELECT, INSERT ON `grab` TO 'hongbao_settle'@'localhost';
GRANT SELECT, UPDATE (applied_ms) ON thanks TO 'hongbao_settle'@'localhost';
GRANT SELECT, UPDATE (applied_ms) ON share_return TO 'hongbao_settle'@'localhost';
GRANT SELECT, INSERT, UPDATE (user_id, year, month, received_count, received_fen, best_count) ON user_month TO 'hongbao_settle'@'localhost';
GRANT SELECT, INSERT, UPDATE (partition_no, last_id, updated_ms) ON stream_cursor TO 'hongbao_settle'@'localhost';
GRANT SELECT, INSERT, UPDATE (resolved_ms, resolution) ON dead_letter TO 'hongbao_settle'@'localhost';
GRANT SELECT, UPDATE (generation) ON site TO 'hongbao_settle'@'localhost';
GRANT SELECT ON schema_migration TO 'hongbao_settle'@'localhost';

-- The support (hongbao user, hongbao invitation): makes and revokes invitations, disables users, sets passwords without reading them, ends access tokens; finds the sender
-- of a packet, without its greeting, money or receivers.
GRANT SELECT (id, username, nickname, created_ms, disabled_ms, deleting_ms, deleted_ms), UPDATE (password_hash, disabled_ms) ON user TO 'hongbao_support'@'localhost';
GRANT SELECT (id, sender_id, state, count, grabbed_count, created_ms) ON packet TO 'hongbao_support'@'localhost';
GRANT SELECT, DELETE ON token TO 'hongbao_support'@'localhost';
GRANT SELECT (user_id), DELETE ON passkey TO 'hongbao_support'@'localhost';
GRANT SELECT (user_id), DELETE ON recovery_code TO 'hongbao_support'@'localhost';
GRANT SELECT (user_id, expires_ms), DELETE ON login_link TO 'hongbao_support'@'localhost';
GRANT SELECT (id, hash, seed, user_id, author, note, created_ms, expires_ms, revoked_ms, used_ms, used_by), INSERT (hash, seed, author, note, created_ms, expires_ms), UPDATE (revoked_ms) ON invitation TO 'hongbao_support'@'localhost';
GRANT SELECT ON site TO 'hongbao_support'@'localhost';

-- The treasury (hongbao money, hongbao service): services, channels, credits, debits and reversals, the ends of withdrawals,
-- payments of orders, each by its routine.
-- It reads who has what, and no packets.
GRANT SELECT (id, username, nickname, created_ms, disabled_ms, deleting_ms, deleted_ms) ON user TO 'hongbao_treasury'@'localhost';
GRANT SELECT ON account TO 'hongbao_treasury'@'localhost';
GRANT SELECT ON transfer TO 'hongbao_treasury'@'localhost';
GRANT SELECT ON channel TO 'hongbao_treasury'@'localhost';
GRANT SELECT ON external_transfer TO 'hongbao_treasury'@'localhost';
GRANT SELECT ON withdrawal TO 'hongbao_treasury'@'localhost';
GRANT EXECUTE ON PROCEDURE channel_open TO 'hongbao_treasury'@'localhost';
GRANT EXECUTE ON PROCEDURE channel_note TO 'hongbao_treasury'@'localhost';
GRANT EXECUTE ON PROCEDURE channel_withdrawals TO 'hongbao_treasury'@'localhost';
GRANT EXECUTE ON PROCEDURE ledger_external TO 'hongbao_treasury'@'localhost';
GRANT EXECUTE ON PROCEDURE withdrawal_end TO 'hongbao_treasury'@'localhost';
GRANT EXECUTE ON PROCEDURE ledger_reverse TO 'hongbao_treasury'@'localhost';
GRANT SELECT ON topup TO 'hongbao_treasury'@'localhost';
GRANT SELECT ON topup_payment TO 'hongbao_treasury'@'localhost';
GRANT EXECUTE ON PROCEDURE channel_topup TO 'hongbao_treasury'@'localhost';
GRANT EXECUTE ON PROCEDURE topup_paid TO 'hongbao_treasury'@'localhost';
GRANT EXECUTE ON PROCEDURE durable_commit TO 'hongbao_treasury'@'localhost';
GRANT SELECT (id, name, scopes, channel_id, day_max_fen, addresses, author, created_ms, revoked_ms, used_ms) ON service TO 'hongbao_treasury'@'localhost';
GRANT EXECUTE ON PROCEDURE service_add TO 'hongbao_treasury'@'localhost';
GRANT EXECUTE ON PROCEDURE service_revoke TO 'hongbao_treasury'@'localhost';
GRANT SELECT ON site TO 'hongbao_treasury'@'localhost';
GRANT SELECT ON schema_migration TO 'hongbao_treasury'@'localhost';

-- The audit only reads; no usernames or passwords.
GRANT SELECT (id, created_ms, disabled_ms, deleting_ms, deleted_ms) ON user TO 'hongbao_audit'@'localhost';
GRANT SELECT ON account TO 'hongbao_audit'@'localhost';
GRANT SELECT (id, user_id, created_ms, expires_ms) ON token TO 'hongbao_audit'@'localhost';
GRANT SELECT (user_id, hash) ON picture TO 'hongbao_audit'@'localhost';
GRANT SELECT (user_id, hash) ON cover TO 'hongbao_audit'@'localhost';
GRANT SELECT (instance_no, until_ms) ON instance_lease TO 'hongbao_audit'@'localhost';
GRANT SELECT ON transfer TO 'hongbao_audit'@'localhost';
GRANT SELECT ON channel TO 'hongbao_audit'@'localhost';
GRANT SELECT ON external_transfer TO 'hongbao_audit'@'localhost';
GRANT SELECT ON withdrawal TO 'hongbao_audit'@'localhost';
GRANT SELECT ON topup TO 'hongbao_audit'@'localhost';
GRANT SELECT ON topup_payment TO 'hongbao_audit'@'localhost';
GRANT SELECT (id, name, scopes, channel_id, day_max_fen, created_ms, revoked_ms) ON service TO 'hongbao_audit'@'localhost';
GRANT SELECT ON service_hour TO 'hongbao_audit'@'localhost';
GRANT SELECT ON packet TO 'hongbao_audit'@'localhost';
GRANT SELECT ON packet_receiver TO 'hongbao_audit'@'localhost';
GRANT SELECT ON `grab` TO 'hongbao_audit'@'localhost';
GRANT SELECT ON share_return TO 'hongbao_audit'@'localhost';
GRANT SELECT ON thanks TO 'hongbao_audit'@'localhost';
GRANT SELECT ON user_month TO 'hongbao_audit'@'localhost';
GRANT SELECT ON stream_cursor TO 'hongbao_audit'@'localhost';
GRANT SELECT ON dead_letter TO 'hongbao_audit'@'localhost';
GRANT SELECT ON site TO 'hongbao_audit'@'localhost';
GRANT SELECT ON schema_migration TO 'hongbao_audit'@'localhost';

-- The backup (hongbao backup) reads all tables, and the routines, which MariaDB keeps in mysql.proc. (MySQL has the
-- privilege SHOW_ROUTINE instead: there grant it, and leave out the last line.)
GRANT SELECT ON * TO 'hongbao_backup'@'localhost';
GRANT SELECT ON mysql.proc TO 'hongbao_backup'@'localhost';
