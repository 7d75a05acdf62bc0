-- additive: yes
-- The identity of the site, which Redis and the backups have, too (app/live/site.h): tables and a Redis that do not
-- belong together are not served. The settle worker raises the generation.
CREATE TABLE site (
  one        TINYINT UNSIGNED NOT NULL PRIMARY KEY, -- always 1: there is one row
  id         CHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  generation BIGINT UNSIGNED NOT NULL,              -- 0: no worker has compared the stores yet
  created_ms BIGINT NOT NULL,
  CONSTRAINT site_one CHECK (one = 1)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

INSERT INTO site (one, id, generation, created_ms)
  VALUES (1, LEFT(SHA2(CONCAT(UUID(), RAND(), NOW(6)), 256), 32), 0, FLOOR(UNIX_TIMESTAMP(NOW(3)) * 1000));
