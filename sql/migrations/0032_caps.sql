-- additive: yes
-- Caps: how much a user may send in one day of the site (docs/explanation/money.md). They come as the option caps of a
-- send, which the older program does not set: it sends without a cap. A send without caps and without a note has no
-- options, as before, so nothing is added to it.
--
-- The truth is the ledger. packet_send (0028) has the lock on the sender's wallet, so no other send of the same user is
-- between the count and the end of the statement. Every read takes a lock, as there: it sees the newest rows.

-- 31003: the sends of the day would have more than p_fen. 31004: there are p_count of them. 0: no such cap. The packet
-- p_id is of now; the others count by the time of their transfer, from p_from to before p_to.
CREATE OR REPLACE FUNCTION packet_caps(
  p_id BIGINT UNSIGNED, p_fen BIGINT, p_count BIGINT, p_from BIGINT, p_to BIGINT) RETURNS BOOLEAN
  DETERMINISTIC READS SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE sender BIGINT UNSIGNED;
  DECLARE fen, sent_fen, sent_count BIGINT DEFAULT 0;
  SELECT sender_id, amount_fen INTO sender, fen FROM packet WHERE id = p_id LOCK IN SHARE MODE;
  SELECT COALESCE(SUM(amount_fen), 0), COUNT(*) INTO sent_fen, sent_count
    FROM transfer FORCE INDEX (transfer_debit)
    WHERE debit_id = sender AND created_ms >= p_from AND created_ms < p_to AND kind = 'send' AND packet_id <> p_id
    LOCK IN SHARE MODE;
  IF p_count > 0 AND sent_count >= p_count THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31004, MESSAGE_TEXT = 'the sender has sent the packets of the day';
  END IF;
  IF p_fen > 0 AND sent_fen + fen > p_fen THEN
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31003, MESSAGE_TEXT = 'the sender would send more than in a day';
  END IF;
  RETURN TRUE;
END;

-- As 0029 has it, with caps: {"fen": …, "count": …, "from_ms": …, "to_ms": …}, which are no property of the packet.
CREATE OR REPLACE FUNCTION packet_options(p_id BIGINT UNSIGNED, p_options TEXT CHARACTER SET utf8mb4) RETURNS BOOLEAN
  DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE within BOOLEAN DEFAULT TRUE;
  IF JSON_EXISTS(p_options, '$.caps') THEN
    SET within = packet_caps(p_id, JSON_VALUE(p_options, '$.caps.fen'), JSON_VALUE(p_options, '$.caps.count'),
      JSON_VALUE(p_options, '$.caps.from_ms'), JSON_VALUE(p_options, '$.caps.to_ms'));
  END IF;
  IF JSON_EXISTS(p_options, '$.note') THEN
    UPDATE packet SET note = COALESCE(JSON_VALUE(p_options, '$.note'), note) WHERE id = p_id;
  END IF;
  RETURN TRUE;
END;
