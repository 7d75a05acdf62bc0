#!lua flags=allow-oom
-- Removes the name of a deleted user, and the sender's note, from a packet, whose rows in the tables have lost them
-- already. May be repeated. Runs out of memory, too: it frees memory.
--
-- KEYS[1] packet, KEYS[2] grabs, KEYS[3] order
-- ARGV[1] user id
-- ARGV[2] receiver_names by the tables
-- returns {LIVE_LOADED}, {LIVE_MISSING}, {LIVE_FINISHED}: every share is grabbed, nothing was changed. Processes keep
--   the list of such a packet in memory; it is about to be closed, and then removed from Redis instead
-- @include "codes"

local user = ARGV[1]
local packet = redis.call('HMGET', KEYS[1], 'sender', 'receiver', 'receiver_names', 'count', 'note')
if not packet[1] then
    return {LIVE_MISSING}
end
if redis.call('LLEN', KEYS[3]) >= tonumber(packet[4]) then
    return {LIVE_FINISHED}
end
if packet[1] == user then
    redis.call('HSET', KEYS[1], 'nickname', '')
    if packet[5] then
        redis.call('HSET', KEYS[1], 'note', '')
    end
end
if packet[2] == user then
    redis.call('HSET', KEYS[1], 'receiver_name', '')
end
if packet[3] then
    redis.call('HSET', KEYS[1], 'receiver_names', ARGV[2])
end
local share_no = redis.call('HGET', KEYS[2], user)
local entry = share_no and redis.call('LINDEX', KEYS[3], share_no)
local nameless = entry and string.match(entry, '^%d+,%d+,%d+%-%d+,')
if nameless then
    redis.call('LSET', KEYS[3], share_no, nameless)
end
return {LIVE_LOADED}
