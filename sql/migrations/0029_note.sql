-- additive: yes
-- A sender's note to self. And a send has options as one JSON object, so that the next one is a line of packet_options
-- and needs neither a new parameter nor a new routine: an option that the object lacks keeps its default, so the older
-- program may send on. It calls packet_send.
ALTER TABLE packet
  ADD COLUMN note VARCHAR(400) NOT NULL DEFAULT '', ALGORITHM = INSTANT;

-- Sets the options of a packet that packet_send has just made. p_options: {"NAME": value, …}.
CREATE OR REPLACE FUNCTION packet_options(p_id BIGINT UNSIGNED, p_options TEXT CHARACTER SET utf8mb4) RETURNS BOOLEAN
  DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER
BEGIN
  UPDATE packet SET note = COALESCE(JSON_VALUE(p_options, '$.note'), note) WHERE id = p_id;
  RETURN TRUE;
END;

-- As packet_send (0028), with p_options, or NULL: none. What the role page calls. The one expression is one statement.
CREATE OR REPLACE PROCEDURE packet_send_with(
  p_id BIGINT UNSIGNED, p_sender BIGINT UNSIGNED, p_sender_name VARCHAR(64) CHARACTER SET utf8mb4,
  p_receiver BIGINT UNSIGNED, p_receiver_name VARCHAR(64) CHARACTER SET utf8mb4,
  p_kind VARCHAR(16) CHARACTER SET ascii, p_split VARCHAR(16) CHARACTER SET ascii, p_fen BIGINT, p_count INT UNSIGNED,
  p_share_max BIGINT, p_share_min BIGINT, p_best INT UNSIGNED, p_greeting VARCHAR(400) CHARACTER SET utf8mb4,
  p_seed BINARY(32), p_commitment BINARY(32), p_created BIGINT, p_expires BIGINT, p_opens BIGINT,
  p_key VARCHAR(64) CHARACTER SET ascii, p_phrase_hash VARBINARY(32), p_phrase_sealed VARBINARY(400),
  p_cover VARCHAR(40) CHARACTER SET ascii, p_receivers INT UNSIGNED, p_receiver_ids TEXT CHARACTER SET ascii,
  p_year SMALLINT UNSIGNED, p_month TINYINT UNSIGNED,
  p_options TEXT CHARACTER SET utf8mb4)
  SQL SECURITY DEFINER
BEGIN
  DECLARE done BOOLEAN DEFAULT packet_send(
    p_id, p_sender, p_sender_name, p_receiver, p_receiver_name, p_kind, p_split, p_fen, p_count, p_share_max,
    p_share_min, p_best, p_greeting, p_seed, p_commitment, p_created, p_expires, p_opens, p_key, p_phrase_hash,
    p_phrase_sealed, p_cover, p_receivers, p_receiver_ids, p_year, p_month)
    AND (p_options IS NULL OR packet_options(p_id, p_options));
END;

-- As 0023 has it. The note goes with the name of its sender.
CREATE OR REPLACE FUNCTION user_erase(p_user BIGINT UNSIGNED, p_packets LONGTEXT CHARACTER SET ascii) RETURNS BOOLEAN
  DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE found INT DEFAULT 0;
  SELECT COUNT(*) INTO found FROM user WHERE id = p_user AND deleting_ms IS NOT NULL;
  IF found <> 1 THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31002, MESSAGE_TEXT = 'the user is not being deleted';
  END IF;
  UPDATE JSON_TABLE(p_packets, '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$')) AS j
    STRAIGHT_JOIN packet AS p FORCE INDEX (PRIMARY) ON p.id = j.id
    SET p.sender_name = IF(p.sender_id = p_user, '', p.sender_name),
      p.note = IF(p.sender_id = p_user, '', p.note),
      p.receiver_name = IF(p.receiver_id = p_user, '', p.receiver_name)
    WHERE p.sender_id = p_user OR p.receiver_id = p_user;
  UPDATE JSON_TABLE(p_packets, '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$')) AS j
    STRAIGHT_JOIN packet_receiver AS r FORCE INDEX (PRIMARY) ON r.packet_id = j.id AND r.user_id = p_user
    SET r.name = '';
  UPDATE JSON_TABLE(p_packets, '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$')) AS j
    STRAIGHT_JOIN `grab` AS g FORCE INDEX (grab_once) ON g.packet_id = j.id AND g.user_id = p_user
    SET g.nickname = '';
  RETURN TRUE;
END;
