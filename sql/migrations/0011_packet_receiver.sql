-- The users for whom a packet is meant: the receiver of an exclusive packet, or several named receivers. The expiry is
-- repeated here, so that what waits for a user is found without reading what is over, however much that is.
CREATE TABLE packet_receiver (
  packet_id  BIGINT UNSIGNED NOT NULL,
  user_id    BIGINT UNSIGNED NOT NULL,
  name       VARCHAR(64) NOT NULL,     -- nickname when the packet was sent
  expires_ms BIGINT NOT NULL,          -- of the packet
  PRIMARY KEY (packet_id, user_id),
  KEY packet_receiver_waiting (user_id, expires_ms, packet_id),
  CONSTRAINT packet_receiver_packet FOREIGN KEY (packet_id) REFERENCES packet (id),
  CONSTRAINT packet_receiver_user FOREIGN KEY (user_id) REFERENCES user (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- What waits already. Packets that are over wait for nobody.
INSERT INTO packet_receiver (packet_id, user_id, name, expires_ms)
SELECT id, receiver_id, COALESCE(receiver_name, ''), expires_ms FROM packet
WHERE kind = 'exclusive' AND receiver_id IS NOT NULL AND state IN ('funding', 'open');
