-- additive: yes
-- Whether a packet needs a passphrase, for the pool that draws its picture and may not read the hash. NULL: there is
-- no such packet.
CREATE OR REPLACE FUNCTION packet_needs_phrase(p_packet BIGINT UNSIGNED) RETURNS BOOLEAN
  NOT DETERMINISTIC READS SQL DATA SQL SECURITY DEFINER
  RETURN (SELECT phrase_hash IS NOT NULL FROM packet WHERE id = p_packet);
