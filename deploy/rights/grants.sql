-- What each role may do with the tables (docs/reference/rights.md). After every `hongbao migrate`, by an administrator
-- who has chosen the database: mariadb hongbao <grants.sql. What is not here is not allowed, whatever was before.
--
-- The ledger is only ever added to: nobody who serves may change or delete a row of transfer or grab. Of the tables that
-- do change, the columns that may are named. INSERT … ON DUPLICATE KEY UPDATE asks for UPDATE on what it inserts.
REVOKE ALL PRIVILEGES, GRANT OPTION FROM 'hongbao_web'@'localhost', 'hongbao_settle'@'localhost', 'hongbao_audit'@'localhost';

-- The pools: people, their money, sending, reading.
GRANT SELECT, INSERT, UPDATE (password_hash) ON user TO 'hongbao_web'@'localhost';
GRANT SELECT, INSERT, UPDATE (balance_fen) ON account TO 'hongbao_web'@'localhost';
GRANT SELECT, INSERT ON transfer TO 'hongbao_web'@'localhost';
GRANT SELECT, INSERT, UPDATE (state) ON packet TO 'hongbao_web'@'localhost';
GRANT SELECT ON `grab` TO 'hongbao_web'@'localhost';
GRANT SELECT, INSERT, UPDATE (user_id, year, sent_count, sent_fen) ON user_year TO 'hongbao_web'@'localhost';
GRANT SELECT, INSERT, UPDATE (user_id, year, month, sent_count, sent_fen) ON user_month TO 'hongbao_web'@'localhost';
GRANT SELECT, UPDATE (holder, until_ms) ON instance_lease TO 'hongbao_web'@'localhost';
GRANT SELECT ON schema_migration TO 'hongbao_web'@'localhost';
GRANT SELECT (id, resolved_ms) ON dead_letter TO 'hongbao_web'@'localhost';

-- The settle worker: grabs and refunds become rows and money. It knows no password.
GRANT SELECT, UPDATE (balance_fen) ON account TO 'hongbao_settle'@'localhost';
GRANT SELECT, INSERT ON transfer TO 'hongbao_settle'@'localhost';
GRANT SELECT, UPDATE (state, grabbed_count, grabbed_fen, refund_fen, finished_ms, closed_ms) ON packet TO 'hongbao_settle'@'localhost';
GRANT SELECT, INSERT ON `grab` TO 'hongbao_settle'@'localhost';
GRANT SELECT, INSERT, UPDATE (user_id, year, received_count, received_fen, best_count) ON user_year TO 'hongbao_settle'@'localhost';
GRANT SELECT, INSERT, UPDATE (user_id, year, month, received_count, received_fen) ON user_month TO 'hongbao_settle'@'localhost';
GRANT SELECT, INSERT, UPDATE (partition_no, last_id, updated_ms) ON stream_cursor TO 'hongbao_settle'@'localhost';
GRANT SELECT, INSERT, UPDATE (resolved_ms, resolution) ON dead_letter TO 'hongbao_settle'@'localhost';
GRANT SELECT ON schema_migration TO 'hongbao_settle'@'localhost';

-- The audit only reads, and no user names or passwords.
GRANT SELECT ON account TO 'hongbao_audit'@'localhost';
GRANT SELECT ON transfer TO 'hongbao_audit'@'localhost';
GRANT SELECT ON packet TO 'hongbao_audit'@'localhost';
GRANT SELECT ON `grab` TO 'hongbao_audit'@'localhost';
GRANT SELECT ON user_year TO 'hongbao_audit'@'localhost';
GRANT SELECT ON user_month TO 'hongbao_audit'@'localhost';
GRANT SELECT ON stream_cursor TO 'hongbao_audit'@'localhost';
GRANT SELECT ON dead_letter TO 'hongbao_audit'@'localhost';
