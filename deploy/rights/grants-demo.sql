-- Demo money: run it after grants.sql, and only where `demo = on` (docs/reference/rights.md). `hongbao demo` runs with
-- the role auth.
GRANT EXECUTE ON PROCEDURE ledger_deposit TO 'hongbao_page'@'localhost';
GRANT EXECUTE ON PROCEDURE ledger_demo TO 'hongbao_auth'@'localhost';
