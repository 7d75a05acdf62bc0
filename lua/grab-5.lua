#!lua
-- One user takes the next share of a packet. O(1) in the number of shares and of packets.
--
-- KEYS[1] packet, KEYS[2] shares, KEYS[3] grabs, KEYS[4] order, KEYS[5] events
-- ARGV[1] packet id, ARGV[2] user id, ARGV[3] nickname
-- returns {LIVE_GRABBED | LIVE_ALREADY, share_no, fen}: a repeat returns the same share and amount, always;
--   {LIVE_EMPTY, count}, {LIVE_MISSING}, {LIVE_NOT_FOR_YOU}, {LIVE_EXPIRED}, {LIVE_BUSY}: shut, or a key is lost
-- @include "codes"
-- @include "clock"
-- @include "digits"
-- @include "share"
-- @include "consistency"

local packet_id, user, nickname = ARGV[1], ARGV[2], ARGV[3]

local packet = redis.call('HMGET', KEYS[1], 'state', 'receiver', 'count', 'expires_ms', 'grabbed_fen')
local state, receiver, count, expires_ms = packet[1], packet[2], tonumber(packet[3]), tonumber(packet[4])
if not state then
    return {LIVE_MISSING}
end
local share_no = redis.call('LLEN', KEYS[4])
if state == 'open' and not keys_agree(share_no, redis.call('HLEN', KEYS[3]), packet[5]) then
    return packet_shut(KEYS[1])
end

local mine = redis.call('HGET', KEYS[3], user)
if mine then
    local fen = share_fen(KEYS[2], tonumber(mine))
    if not fen then
        return packet_shut(KEYS[1])
    end
    return {LIVE_ALREADY, tonumber(mine), fen}
end
if receiver ~= '' and receiver ~= user then
    return {LIVE_NOT_FOR_YOU}
end
if share_no >= count then
    return {LIVE_EMPTY, count}
end
if state == 'closed' or now_ms() >= expires_ms then
    return {LIVE_EXPIRED}
end
if state ~= 'open' then
    return {LIVE_BUSY}
end
local fen = share_fen(KEYS[2], share_no)
if not fen then
    return packet_shut(KEYS[1])
end

-- The event comes first: its id, the time of the grab, is stored in the order list, too.
local share_text, fen_text = digits(share_no), digits(fen)
local event_id = redis.call('XADD', KEYS[5], '*', 'g',
    packet_id .. ',' .. share_text .. ',' .. user .. ',' .. fen_text .. ',' .. nickname)
redis.call('RPUSH', KEYS[4], user .. ',' .. fen_text .. ',' .. event_id .. ',' .. nickname)
redis.call('HSET', KEYS[3], user, share_text)
redis.call('HINCRBY', KEYS[1], 'grabbed_fen', fen_text)
return {LIVE_GRABBED, share_no, fen}
