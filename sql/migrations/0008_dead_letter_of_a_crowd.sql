-- An event of Redis may hold the grabs of a whole crowd: its dead letter needs room for all of them. Letters that exist
-- stay as they are. An older worker must not run beside processes that write such events.
ALTER TABLE dead_letter MODIFY content BLOB NOT NULL;
