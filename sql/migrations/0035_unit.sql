-- additive: yes
-- The unit of money: the settings `unit` and `unit_decimals` (app/live/site_settings.h). All amounts before this file
-- are of CNY in fen. `hongbao migrate` writes another unit after this file, as long as there are no amounts, and then
-- says in schema_migration that this file is not additive: an older program would show and read all amounts as fen.
ALTER TABLE site
  ADD COLUMN unit VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'CNY',
  ADD COLUMN unit_decimals TINYINT UNSIGNED NOT NULL DEFAULT 2;
