#!lua
-- Tells Redis that a share was given back, which the tables have decided: marks it, and when it went back into the
-- packet, adds it once more behind all shares. May be repeated. A closed packet gets no further share, only the mark.
--
-- KEYS[1] packet, KEYS[2] shares
-- ARGV[1] share_no
-- ARGV[2] position: the number of the new share; empty: the money went to the sender
-- ARGV[3] fen
-- ARGV[4] share_no of the packet's best share by the tables; empty: none
-- returns {LIVE_LOADED}: applied now or before, {LIVE_NOT_YET}: the share before the position is missing, {LIVE_BUSY},
--   {LIVE_MISSING}
-- @include "codes"
-- @include "digits"
-- @include "share"
-- @include "consistency"

local share_no, position, fen, best = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local packet = redis.call('HMGET', KEYS[1], 'state', 'count', 'returned_shares')
local state, count, returned = packet[1], tonumber(packet[2]), packet[3] or ''
if not state then
    return {LIVE_MISSING}
end
if state == 'busy' then
    return {LIVE_BUSY}
end
local adds = position and state == 'open' and position >= count
if adds and position > count then
    return {LIVE_NOT_YET}
end
-- The string of shares ends with the share before the position, and has the share that is given back.
if adds and (share_fen(KEYS[2], tonumber(share_no)) ~= fen or not share_fen(KEYS[2], count - 1)
        or share_fen(KEYS[2], count)) then
    return packet_shut(KEYS[1])
end

if adds then
    redis.call('APPEND', KEYS[2], string.char(math.floor(fen / 16777216), math.floor(fen / 65536) % 256,
        math.floor(fen / 256) % 256, fen % 256))
    redis.call('HINCRBY', KEYS[1], 'count', 1)
    redis.call('HINCRBY', KEYS[1], 'amount', digits(fen))
    redis.call('HINCRBY', KEYS[1], 'returned_count', 1)
    redis.call('HINCRBY', KEYS[1], 'returned_fen', digits(fen))
    redis.call('HSET', KEYS[1], 'best', best)
end
if not string.find(',' .. returned .. ',', ',' .. share_no .. ',', 1, true) then
    redis.call('HSET', KEYS[1], 'options', '1', 'returned_shares',
        returned == '' and share_no or returned .. ',' .. share_no)
end
return {LIVE_LOADED}
