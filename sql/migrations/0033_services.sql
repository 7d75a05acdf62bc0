-- additive: yes
-- Service tokens: programs of the operator move money by HTTP (docs/how-to/money-http.md). A service has one token,
-- scopes, one channel, and perhaps a limit of the money that it moves in a day. None of these changes; the operator
-- revokes the service and adds another one.
--
-- The pool money may execute service_external, service_withdrawal_end, service_of and service_used, with 0034 also
-- service_topup_paid, and none of the routines of 0030. It proves each call by the SHA-256 of the token that it was
-- given, and may not read this hash. So a pool that was taken over moves money only by the tokens that it has seen, in
-- their channels, up to their limits.
--
-- As in 0030, each function is one statement, and the roles call a procedure of the same name. Further errors: 31011,
-- there is no such token, or it is revoked. 31012: the token has another channel, or lacks the scope. 31013: the limit
-- of a day. The row of a service is locked after the row of a withdrawal, and before all other rows that 0030 names.

CREATE TABLE service (
  id          BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name        VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, -- as of a channel; never used again
  hash        BINARY(32) NOT NULL,                                        -- SHA-256 of the token
  scopes      SET ('credit', 'debit', 'read', 'withdraw', 'topup') NOT NULL,
  channel_id  BIGINT UNSIGNED NOT NULL,
  day_max_fen BIGINT NULL,                                                -- NULL: no limit
  addresses   VARCHAR(1000) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '', -- CIDRs, with blanks between
  author      VARCHAR(64) NOT NULL,                                       -- who added it
  created_ms  BIGINT NOT NULL,                                            -- these times are of the server's clock
  revoked_ms  BIGINT NULL,
  used_ms     BIGINT NULL,                                                -- to a minute
  UNIQUE KEY service_name (name),
  UNIQUE KEY service_hash (hash),
  CONSTRAINT service_channel FOREIGN KEY (channel_id) REFERENCES channel (id),
  CONSTRAINT service_limit CHECK (day_max_fen > 0),
  CONSTRAINT service_scopes CHECK (scopes <> '')
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- What a service has moved in an hour of the server's clock: credits, debits, paid top-ups, and withdrawals that it
-- posted or voided. The rows are kept: together they are what all these transfers moved.
CREATE TABLE service_hour (
  service_id BIGINT UNSIGNED NOT NULL,
  hour       INT UNSIGNED NOT NULL, -- since 1970
  moved_fen  BIGINT NOT NULL,
  PRIMARY KEY (service_id, hour),
  CONSTRAINT service_hour_service FOREIGN KEY (service_id) REFERENCES service (id),
  CONSTRAINT service_hour_positive CHECK (moved_fen > 0)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- The service of a token that is not revoked. NULL: there is none.
CREATE OR REPLACE FUNCTION service_of(p_hash BINARY(32)) RETURNS BIGINT UNSIGNED
  DETERMINISTIC READS SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE found BIGINT UNSIGNED;
  SELECT MAX(id) INTO found FROM service WHERE hash = p_hash AND revoked_ms IS NULL;
  RETURN found;
END;

-- Checks the token, and locks its service: calls of one token wait for each other, and a revocation for them. Returns
-- the id of the service.
CREATE OR REPLACE FUNCTION service_check(
  p_hash BINARY(32), p_scope VARCHAR(8) CHARACTER SET ascii COLLATE ascii_bin, p_channel BIGINT UNSIGNED)
  RETURNS BIGINT UNSIGNED
  DETERMINISTIC READS SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE found, via BIGINT UNSIGNED;
  DECLARE allowed INT DEFAULT 0;
  SELECT MAX(id), MAX(channel_id), MAX(FIND_IN_SET(p_scope, scopes) > 0) INTO found, via, allowed
    FROM service WHERE hash = p_hash AND revoked_ms IS NULL FOR UPDATE;
  IF found IS NULL THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31011, MESSAGE_TEXT = 'there is no such token';
  END IF;
  IF p_scope IS NULL OR COALESCE(allowed, 0) <> 1 OR NOT via <=> p_channel THEN -- FIND_IN_SET finds NULL in a SET
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31012, MESSAGE_TEXT = 'the token is not for this';
  END IF;
  RETURN found;
END;

-- Counts what a service has moved. Call it after the transfer, so that a repeat is a duplicate, and not over the limit.
-- The present hour and the 24 before it cover any 24 hours that end now.
CREATE OR REPLACE FUNCTION service_count(p_service BIGINT UNSIGNED, p_fen BIGINT) RETURNS BOOLEAN
  DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE moved DECIMAL(30) DEFAULT 0;
  DECLARE most BIGINT;
  DECLARE now_hour BIGINT DEFAULT FLOOR(UNIX_TIMESTAMP(SYSDATE()) / 3600);
  INSERT INTO service_hour (service_id, hour, moved_fen) VALUES (p_service, now_hour, p_fen)
    ON DUPLICATE KEY UPDATE moved_fen = moved_fen + p_fen;
  SELECT day_max_fen INTO most FROM service WHERE id = p_service LOCK IN SHARE MODE;
  SELECT SUM(moved_fen) INTO moved FROM service_hour
    WHERE service_id = p_service AND hour >= now_hour - 24 LOCK IN SHARE MODE;
  IF moved > most THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31013, MESSAGE_TEXT = 'the limit of a day';
  END IF;
  RETURN TRUE;
END;

-- The author of what a service moves. Without the lock the read would begin a snapshot, and
-- innodb_snapshot_isolation would refuse the accounts that another service or a user changes meanwhile (0020).
CREATE OR REPLACE FUNCTION service_author(p_service BIGINT UNSIGNED) RETURNS VARCHAR(64) CHARSET utf8mb4
  DETERMINISTIC READS SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE author VARCHAR(64) CHARACTER SET utf8mb4;
  SELECT CONCAT('service:', name) INTO author FROM service WHERE id = p_service LOCK IN SHARE MODE;
  RETURN author;
END;

-- The time of a pool; the server's, when they differ by more than ten minutes.
CREATE OR REPLACE FUNCTION service_time(p_ms BIGINT) RETURNS BIGINT
  DETERMINISTIC NO SQL SQL SECURITY DEFINER
BEGIN
  DECLARE now_ms BIGINT DEFAULT CAST(UNIX_TIMESTAMP(SYSDATE(3)) * 1000 AS SIGNED);
  RETURN IF(p_ms BETWEEN now_ms - 600000 AND now_ms + 600000, p_ms, now_ms);
END;

-- One credit or debit, as ledger_external.
CREATE OR REPLACE FUNCTION service_external(
  p_hash BINARY(32), p_kind VARCHAR(8) CHARACTER SET ascii COLLATE ascii_bin, p_channel BIGINT UNSIGNED,
  p_user BIGINT UNSIGNED, p_fen BIGINT, p_reference VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  p_memo VARCHAR(400) CHARACTER SET utf8mb4, p_now BIGINT) RETURNS BOOLEAN
  DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE caller BIGINT UNSIGNED DEFAULT service_check(p_hash, p_kind, p_channel);
  DECLARE done BOOLEAN;
  SET done = ledger_external(p_kind, p_channel, JSON_ARRAY(JSON_ARRAY(p_user, p_fen, p_reference, p_memo)),
    service_author(caller), 'http', service_time(p_now));
  RETURN service_count(caller, p_fen);
END;

-- Ends a withdrawal of the service's channel, as withdrawal_end.
CREATE OR REPLACE FUNCTION service_withdrawal_end(
  p_hash BINARY(32), p_id BIGINT UNSIGNED, p_post BOOLEAN,
  p_reference VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin, p_reason VARCHAR(200) CHARACTER SET utf8mb4,
  p_now BIGINT) RETURNS BOOLEAN
  DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE caller, via BIGINT UNSIGNED;
  DECLARE fen BIGINT;
  DECLARE done BOOLEAN;
  SELECT channel_id, amount_fen INTO via, fen FROM withdrawal WHERE id = p_id FOR UPDATE;
  SET caller = service_check(p_hash, 'withdraw', via);
  SET done = withdrawal_end(p_id, p_post, p_reference, p_reason, service_author(caller), 'http', service_time(p_now));
  RETURN service_count(caller, fen);
END;

-- Notes that a token is used, to a minute.
CREATE OR REPLACE FUNCTION service_used(p_hash BINARY(32)) RETURNS BOOLEAN
  DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE now_ms BIGINT DEFAULT CAST(UNIX_TIMESTAMP(SYSDATE(3)) * 1000 AS SIGNED);
  UPDATE service SET used_ms = now_ms
    WHERE hash = p_hash AND revoked_ms IS NULL AND COALESCE(used_ms, 0) <= now_ms - 60000;
  RETURN TRUE;
END;

-- A new service. p_name that is there, also of one that is revoked: a duplicate.
CREATE OR REPLACE FUNCTION service_add(
  p_name VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin, p_hash BINARY(32),
  p_scopes VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin, p_channel BIGINT UNSIGNED, p_day_max BIGINT,
  p_addresses VARCHAR(1000) CHARACTER SET ascii COLLATE ascii_bin, p_author VARCHAR(64) CHARACTER SET utf8mb4)
  RETURNS BOOLEAN
  DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE kind_of VARCHAR(8) DEFAULT channel_kind(p_channel);
  IF COALESCE(p_name, '') NOT REGEXP '^[a-z]' OR p_name REGEXP '[^a-z0-9-]' OR COALESCE(p_author, '') = '' THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31001, MESSAGE_TEXT = 'a name has small letters, digits and -';
  END IF;
  -- Nothing is paid into the channel forfeited, so only hongbao money credits from it: what it has.
  IF p_channel <= 2 THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31002, MESSAGE_TEXT = 'there is no such channel of an operator';
  END IF;
  INSERT INTO service (name, hash, scopes, channel_id, day_max_fen, addresses, author, created_ms)
    VALUES (p_name, p_hash, p_scopes, p_channel, p_day_max, COALESCE(p_addresses, ''), p_author,
      CAST(UNIX_TIMESTAMP(SYSDATE(3)) * 1000 AS SIGNED));
  RETURN TRUE;
END;

-- Ends the token of a service, once. It waits for a call that is running.
CREATE OR REPLACE FUNCTION service_revoke(p_name VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin) RETURNS BOOLEAN
  DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE found INT DEFAULT 0;
  SELECT COUNT(*) INTO found FROM service WHERE name = p_name FOR UPDATE;
  IF found <> 1 THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31002, MESSAGE_TEXT = 'there is no such service';
  END IF;
  UPDATE service SET revoked_ms = CAST(UNIX_TIMESTAMP(SYSDATE(3)) * 1000 AS SIGNED)
    WHERE name = p_name AND revoked_ms IS NULL;
  RETURN TRUE;
END;

-- ---- what the roles call ----

CREATE OR REPLACE PROCEDURE service_external(
  p_hash BINARY(32), p_kind VARCHAR(8) CHARACTER SET ascii COLLATE ascii_bin, p_channel BIGINT UNSIGNED,
  p_user BIGINT UNSIGNED, p_fen BIGINT, p_reference VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  p_memo VARCHAR(400) CHARACTER SET utf8mb4, p_now BIGINT)
  SQL SECURITY DEFINER
BEGIN
  DECLARE done BOOLEAN DEFAULT service_external(
    p_hash, p_kind, p_channel, p_user, p_fen, p_reference, p_memo, p_now);
END;

CREATE OR REPLACE PROCEDURE service_withdrawal_end(
  p_hash BINARY(32), p_id BIGINT UNSIGNED, p_post BOOLEAN,
  p_reference VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin, p_reason VARCHAR(200) CHARACTER SET utf8mb4,
  p_now BIGINT)
  SQL SECURITY DEFINER
BEGIN
  DECLARE done BOOLEAN DEFAULT service_withdrawal_end(p_hash, p_id, p_post, p_reference, p_reason, p_now);
END;

CREATE OR REPLACE PROCEDURE service_used(p_hash BINARY(32))
  SQL SECURITY DEFINER
BEGIN
  DECLARE done BOOLEAN DEFAULT service_used(p_hash);
END;

CREATE OR REPLACE PROCEDURE service_add(
  p_name VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin, p_hash BINARY(32),
  p_scopes VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin, p_channel BIGINT UNSIGNED, p_day_max BIGINT,
  p_addresses VARCHAR(1000) CHARACTER SET ascii COLLATE ascii_bin, p_author VARCHAR(64) CHARACTER SET utf8mb4)
  SQL SECURITY DEFINER
BEGIN
  DECLARE done BOOLEAN DEFAULT service_add(p_name, p_hash, p_scopes, p_channel, p_day_max, p_addresses, p_author);
END;

CREATE OR REPLACE PROCEDURE service_revoke(p_name VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin)
  SQL SECURITY DEFINER
BEGIN
  DECLARE done BOOLEAN DEFAULT service_revoke(p_name);
END;
