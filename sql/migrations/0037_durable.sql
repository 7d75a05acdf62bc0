-- additive: yes
-- What a process has read may still be lost: InnoDB shows a commit to other connections before its log is on the disk.
-- The log is written in order, so a process that commits a change of its own knows that whatever it has read before is
-- on the disk, too (app/mysql/db_durable.h). This table is for such changes alone.
--
-- A change is a row that is inserted and deleted again in one statement, so the table does not grow. No row is shared:
-- calls wait for nobody, an intruder who leaves one open holds up nobody, and nodes of Galera, whose ids differ
-- (wsrep_auto_increment_control), never refuse each other's. One row stays for ever: InnoDB locks an empty table as a
-- whole for a session that has switched off its checks.
CREATE TABLE durable (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

INSERT INTO durable (id) VALUES (1);

-- As in 0019, a function does the work in one statement, and the roles call a procedure of the same name.
CREATE OR REPLACE FUNCTION durable_commit() RETURNS BOOLEAN
  DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER
BEGIN
  INSERT INTO durable (id) VALUES (NULL);
  DELETE FROM durable WHERE id = LAST_INSERT_ID();
  RETURN TRUE;
END;

CREATE OR REPLACE PROCEDURE durable_commit()
  SQL SECURITY DEFINER
BEGIN
  DECLARE done BOOLEAN DEFAULT durable_commit();
END;
