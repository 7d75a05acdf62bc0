-- additive: yes
-- The setting `timezone`, by which the months of user_month begin (app/live/site.h). `hongbao migrate` writes it after
-- this migration.
ALTER TABLE site ADD COLUMN timezone VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '';
