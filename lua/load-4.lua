#!lua
-- Writes a packet: a new one, or a rebuild from MySQL with its settled grabs. A new packet is written only if there is
-- neither the packet nor a tombstone (the load may be delayed), and only for some seconds, which are its sender's: the
-- rebuild of a packet that was never seen here waits until they are over. A rebuild replaces a packet that is busy or
-- has a tombstone. A rebuild with many grabs takes several calls; the state stays busy until the last one, and an
-- interrupted rebuild can be repeated.
--
-- KEYS[1] packet, KEYS[2] shares, KEYS[3] grabs, KEYS[4] order
-- ARGV[1] state after the last call: open or closed
-- ARGV[2] first: share_no of the first grab in this call; 0 starts from the beginning
-- ARGV[3] more: 1 when further calls follow, else 0
-- ARGV[4] 1 for a rebuild, 0 for a new packet
-- ARGV[5] shares, 4 bytes each; empty when first > 0
-- ARGV[6] until when, in ms by this clock, a new packet is its sender's; empty: it has been here before
-- ARGV[7] number of arguments that describe the packet
-- ARGV[8…] these: names and values of its fields in the hash
-- ARGV[…] settled grabs in share order, each `user,fen,ms-seq,nickname`
-- returns {LIVE_LOADED}, {LIVE_EXISTS}, {LIVE_EXPIRED}: a new packet that comes too late, {LIVE_NOT_YET}: a rebuild
--   that comes too early, {LIVE_BAD}: the arguments contradict each other or the keys
-- @include "codes"
-- @include "clock"
-- @include "share"

local final_state, first, more = ARGV[1], tonumber(ARGV[2]), ARGV[3] == '1'
local rebuild = ARGV[4] == '1'
local shares = ARGV[5]
local sender_until = tonumber(ARGV[6])
local FIELDS_AT = 8
local GRABS_AT = FIELDS_AT + tonumber(ARGV[7])

local state = redis.call('HGET', KEYS[1], 'state')
local exists = state or redis.call('EXISTS', KEYS[1]) == 1
if state and state ~= 'busy' or not rebuild and exists then
    return {LIVE_EXISTS}
end
if sender_until and not exists and rebuild ~= (now_ms() > sender_until) then
    return {rebuild and LIVE_NOT_YET or LIVE_EXPIRED}
end

if first == 0 then
    if #shares == 0 or #shares % SHARE_BYTES ~= 0 then
        return {LIVE_BAD}
    end
elseif not state or redis.call('LLEN', KEYS[4]) ~= first then
    return {LIVE_BAD}
end

local order, grabs, grabbed_fen = {}, {}, 0
for i = GRABS_AT, #ARGV do
    local share_no = first + i - GRABS_AT
    local user, fen = string.match(ARGV[i], '^(%d+),(%d+),%d+%-%d+,')
    local want
    if first == 0 then
        want = bytes_fen(shares, share_no * SHARE_BYTES)
    else
        want = share_fen(KEYS[2], share_no)
    end
    if not want or want ~= tonumber(fen) then
        return {LIVE_BAD}
    end
    grabbed_fen = grabbed_fen + want
    order[#order + 1] = ARGV[i]
    grabs[#grabs + 1] = user
    grabs[#grabs + 1] = share_no
end

if first == 0 then
    redis.call('DEL', KEYS[1], KEYS[2], KEYS[3], KEYS[4]) -- also removes a time to live
    -- Redis searches a small hash from its first field on, so those that a grab needs come first.
    redis.call('HSET', KEYS[1], 'state', 'busy', 'grabbed_fen', 0, 'count', digits(#shares / SHARE_BYTES),
        unpack(ARGV, FIELDS_AT, GRABS_AT - 1))
    redis.call('SET', KEYS[2], shares)
end
if #order > 0 then
    redis.call('RPUSH', KEYS[4], unpack(order))
    redis.call('HSET', KEYS[3], unpack(grabs))
    redis.call('HINCRBY', KEYS[1], 'grabbed_fen', grabbed_fen)
end
if not more then
    redis.call('HSET', KEYS[1], 'state', final_state)
end
return {LIVE_LOADED}
