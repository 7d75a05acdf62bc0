-- The rights of each role on the tables (docs/reference/rights.md). Run it after every `hongbao migrate`, as an
-- administrator, in the program's database: mariadb hongbao <grants.sql. It first revokes all earlier rights.
--
-- The ledger is append-only: no role that serves may change or delete a row of transfer or grab. UPDATE is granted by
-- column. INSERT … ON DUPLICATE KEY UPDATE needs UPDATE on the columns that it inserts.
REVOKE ALL PRIVILEGES, GRANT OPTION FROM 'hongbao_web'@'localhost', 'hongbao_settle'@'localhost', 'hongbao_audit'@'localhost';

-- The pools: users and their access tokens, deposits, sending, shares that are given back, reading.
GRANT SELECT, INSERT, DELETE, UPDATE (used_ms) ON token TO 'hongbao_web'@'localhost';
GRANT SELECT, INSERT, UPDATE (password_hash) ON user TO 'hongbao_web'@'localhost';
GRANT SELECT, INSERT, UPDATE (balance_fen) ON account TO 'hongbao_web'@'localhost';
GRANT SELECT, INSERT ON transfer TO 'hongbao_web'@'localhost';
GRANT SELECT, INSERT, UPDATE (state, expires_ms, ended_ms, thanks_count, returned_count, returned_fen, best_share_no) ON packet TO 'hongbao_web'@'localhost';
GRANT SELECT, INSERT ON packet_receiver TO 'hongbao_web'@'localhost';
GRANT SELECT ON `grab` TO 'hongbao_web'@'localhost';
GRANT SELECT, INSERT, UPDATE (applied_ms) ON thanks TO 'hongbao_web'@'localhost';
GRANT SELECT, INSERT, UPDATE (applied_ms) ON share_return TO 'hongbao_web'@'localhost';
GRANT SELECT, INSERT, UPDATE (user_id, year, month, sent_count, sent_fen, received_count, received_fen) ON user_month TO 'hongbao_web'@'localhost';
GRANT SELECT, UPDATE (holder, until_ms) ON instance_lease TO 'hongbao_web'@'localhost';
GRANT SELECT ON schema_migration TO 'hongbao_web'@'localhost';
GRANT SELECT (id, resolved_ms) ON dead_letter TO 'hongbao_web'@'localhost';

-- The settle worker: grabs, refunds, balances, totals. It reads no passwords.
GRANT SELECT, UPDATE (balance_fen) ON account TO 'hongbao_settle'@'localhost';
GRANT SELECT, INSERT ON transfer TO 'hongbao_settle'@'localhost';
GRANT SELECT, UPDATE (state, grabbed_count, grabbed_fen, refund_fen, finished_ms, closed_ms) ON packet TO 'hongbao_settle'@'localhost';
GRANT SELECT ON packet_receiver TO 'hongbao_settle'@'localhost';
GRANT SELECT, INSERT ON `grab` TO 'hongbao_settle'@'localhost';
GRANT SELECT, UPDATE (applied_ms) ON thanks TO 'hongbao_settle'@'localhost';
GRANT SELECT, UPDATE (applied_ms) ON share_return TO 'hongbao_settle'@'localhost';
GRANT SELECT, INSERT, UPDATE (user_id, year, month, received_count, received_fen, best_count) ON user_month TO 'hongbao_settle'@'localhost';
GRANT SELECT, INSERT, UPDATE (partition_no, last_id, updated_ms) ON stream_cursor TO 'hongbao_settle'@'localhost';
GRANT SELECT, INSERT, UPDATE (resolved_ms, resolution) ON dead_letter TO 'hongbao_settle'@'localhost';
GRANT SELECT ON schema_migration TO 'hongbao_settle'@'localhost';

-- The audit only reads; no usernames or passwords.
GRANT SELECT ON account TO 'hongbao_audit'@'localhost';
GRANT SELECT ON transfer TO 'hongbao_audit'@'localhost';
GRANT SELECT ON packet TO 'hongbao_audit'@'localhost';
GRANT SELECT ON packet_receiver TO 'hongbao_audit'@'localhost';
GRANT SELECT ON `grab` TO 'hongbao_audit'@'localhost';
GRANT SELECT ON share_return TO 'hongbao_audit'@'localhost';
GRANT SELECT ON user_month TO 'hongbao_audit'@'localhost';
GRANT SELECT ON stream_cursor TO 'hongbao_audit'@'localhost';
GRANT SELECT ON dead_letter TO 'hongbao_audit'@'localhost';
