-- additive: yes
-- user_erase names its keys. MariaDB 11.8 counts another cost for a key than 10.11: it found the user's share by the
-- first part of the primary key, so it read all shares of each packet.

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
