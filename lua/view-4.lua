#!lua flags=no-writes
-- Reads a packet as one visitor sees it: all that a page needs. O(rows returned).
--
-- KEYS[1] packet, KEYS[2] grabs, KEYS[3] order, KEYS[4] settled
-- ARGV[1] user id, empty when logged out
-- ARGV[2] after: only rows with share_no < after; empty: from the newest
-- ARGV[3] limit: most rows; none for a user who may not see them
-- returns {LIVE_MISSING} or {LIVE_VIEW, now_ms, settled id or false, count of grabs, last entry once finished or false,
--   my share_no or false, my entry or false, share_no of the first row, {entries in share order},
--   {sender, nickname, kind, split, count, amount, greeting, receiver, receiver_name, expires_ms, created_ms, state,
--   commitment, seed, best, grabbed_fen, close_event (empty: not closed), held (share_no of the first grab held behind
--   a dead letter; empty or false: none)}, true once it is finished and closed in MySQL, else false, false: it has no
--   options, or {the values of OPTIONS, false for each that it lacks}, and with thanks: what I thanked with or false,
--   {what the receiver of each row thanked with, or false}; then the entry of the best share when all are taken and the
--   rows are the newest and lack it, else false; an entry is `user,fen,ms-seq,nickname`; true is 1 and false nil in the
--   reply
-- OPTIONS is made from the table of app/packet/members.h.
-- @include "codes"
-- @include "clock"
-- @include "consistency"
-- @include "digits"
-- @include "options"

-- The names of the fields for the thanks of these shares.
local function thanks_fields(first, last)
    local fields = {}
    for share_no = first, last do
        fields[#fields + 1] = 'thanks:' .. digits(share_no)
    end
    return fields
end

local user, after, limit = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])

local packet = redis.call('HMGET', KEYS[1], 'sender', 'nickname', 'kind', 'split', 'count', 'amount', 'greeting',
    'receiver', 'receiver_name', 'expires_ms', 'created_ms', 'state', 'commitment', 'seed', 'best', 'grabbed_fen',
    'close_event', 'held', 'options')
if not packet[1] then
    return {LIVE_MISSING}
end

local grabbed = redis.call('LLEN', KEYS[3])
local my_share, my_entry = false, false
if packet[12] == 'open' and not keys_agree(grabbed, redis.call('HLEN', KEYS[2]), packet[16]) then
    packet[12] = 'busy' -- the next grab shuts it
elseif user ~= '' and grabbed > 0 then
    my_share = redis.call('HGET', KEYS[2], user)
    if my_share then
        my_entry = redis.call('LINDEX', KEYS[3], my_share)
    end
end

-- Who is neither the sender nor has a share does not see who has opened it, as long as it is open: no rows are read.
-- With options it may have ended before its time.
local now = now_ms()
if user ~= '' and user ~= packet[1] and not my_share and packet[12] == 'open' and packet[19] ~= '1'
    and grabbed < tonumber(packet[5]) and now < tonumber(packet[10]) then
    limit = 0
end

local stop = math.min(after or grabbed, grabbed)
local start = math.max(stop - limit, 0)
local rows = {}
if stop > start then
    rows = redis.call('LRANGE', KEYS[3], start, stop - 1)
end
-- The time of the last grab is finished_ms of the packet.
local last = grabbed >= tonumber(packet[5]) and redis.call('LINDEX', KEYS[3], -1)
local best = last and stop == grabbed and stop > start and tonumber(packet[15])
local best_entry = best and best < start and redis.call('LINDEX', KEYS[3], packet[15])
-- The settle worker sets a time to live on a closed packet before it publishes the position.
local closed = last and redis.call('PTTL', KEYS[1]) >= 0
-- Most packets have no options: one field tells it.
local has_options = table.remove(packet, 19) == '1'
local options = has_options and redis.call('HMGET', KEYS[1], unpack(OPTIONS))
local my_thanks, thanks = false, false
if has_options and redis.call('HGET', KEYS[1], 'thanks_count') then
    my_thanks = my_share and redis.call('HGET', KEYS[1], 'thanks:' .. my_share)
    thanks = stop > start and redis.call('HMGET', KEYS[1], unpack(thanks_fields(start, stop - 1)))
end

return {LIVE_VIEW, now, redis.call('GET', KEYS[4]), grabbed, last, my_share, my_entry, start, rows, packet,
    closed, options, my_thanks, thanks, best_entry}
