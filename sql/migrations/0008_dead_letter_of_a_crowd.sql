-- An event of Redis may hold the grabs of a whole crowd: its dead letter needs room for all of them. Letters that exist
-- stay as they are. An older program reads and writes the wider column as before.
ALTER TABLE dead_letter MODIFY content BLOB NOT NULL;
