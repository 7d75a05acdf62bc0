#!lua
-- Writes the thanks of a receiver, which the tables have already, into a field of the packet's hash. May be repeated.
--
-- KEYS[1] packet
-- ARGV[1] share_no
-- ARGV[2] text
-- ARGV[3] thanks_count of the packet by the tables
-- returns {LIVE_LOADED}, {LIVE_BUSY}: shut for a rebuild, which may have read the tables before, {LIVE_MISSING}
-- @include "codes"

local share_no, text, count = ARGV[1], ARGV[2], ARGV[3]
local packet = redis.call('HMGET', KEYS[1], 'state', 'thanks_count')
if not packet[1] then
    return {LIVE_MISSING}
end
if packet[1] == 'busy' then
    return {LIVE_BUSY}
end
-- Two processes may come here in another order than that of their transactions.
if tonumber(packet[2] or 0) > tonumber(count) then
    count = packet[2]
end
redis.call('HSET', KEYS[1], 'thanks:' .. share_no, text, 'thanks_count', count, 'options', '1')
return {LIVE_LOADED}
