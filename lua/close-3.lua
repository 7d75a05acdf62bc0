#!lua flags=allow-oom
-- Closes a packet whose expiry has passed or that its sender has ended, and appends the close event. The events of all
-- its grabs come before in the same stream, so they are settled first. Runs out of memory, too: expiry frees memory and
-- refunds the rest.
--
-- KEYS[1] packet, KEYS[2] order, KEYS[3] events
-- ARGV[1] packet id
-- ARGV[2] ended_ms by the tables: its sender ended it then, and that became its expiry; empty: not ended
-- returns {LIVE_CLOSED, grabbed_count, grabbed_fen, rest_fen}, {LIVE_ALREADY}, {LIVE_FINISHED}: every share is grabbed,
--   {LIVE_NOT_YET}, {LIVE_BUSY}, {LIVE_MISSING}
-- @include "codes"
-- @include "clock"
-- @include "consistency"

local packet = redis.call('HMGET', KEYS[1], 'state', 'count', 'amount', 'grabbed_fen', 'expires_ms', 'ended_ms')
local state, count, amount, grabbed_fen = packet[1], tonumber(packet[2]), tonumber(packet[3]), tonumber(packet[4])
if not state then
    return {LIVE_MISSING}
end
if state == 'busy' then
    return {LIVE_BUSY}
end
local grabbed_count = redis.call('LLEN', KEYS[2])
if state == 'open' and not keys_agree(grabbed_count, nil, grabbed_fen) then
    return packet_shut(KEYS[1])
end
-- The tables have decided the end, so it counts whatever the clock here says.
local ended = ARGV[2] ~= ''
if ended and packet[6] ~= ARGV[2] then
    redis.call('HSET', KEYS[1], 'expires_ms', ARGV[2], 'ended_ms', ARGV[2], 'options', '1')
end
if grabbed_count >= count then
    return {LIVE_FINISHED}
end
if state == 'closed' then
    return {LIVE_ALREADY}
end
if not ended and now_ms() < tonumber(packet[5]) then
    return {LIVE_NOT_YET}
end

local rest_fen = amount - grabbed_fen
local event_id = redis.call('XADD', KEYS[3], '*', 'c',
    ARGV[1] .. ',' .. grabbed_count .. ',' .. grabbed_fen .. ',' .. rest_fen)
redis.call('HSET', KEYS[1], 'state', 'closed', 'close_event', event_id)
return {LIVE_CLOSED, grabbed_count, grabbed_fen, rest_fen}
