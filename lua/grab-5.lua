#!lua
-- A crowd opens a packet: each of its users takes the next share. O(1) in the number of shares and of packets.
--
-- KEYS[1] packet, KEYS[2] shares, KEYS[3] grabs, KEYS[4] order, KEYS[5] events
-- ARGV[1] packet id, then for each grab: user id, nickname
-- returns one answer per grab: {LIVE_GRABBED | LIVE_ALREADY, share_no, fen}: a repeat returns the same share and
--   amount, always; {LIVE_EMPTY, count}, {LIVE_MISSING}, {LIVE_NOT_FOR_YOU}, {LIVE_EXPIRED}, {LIVE_BUSY}: shut, or a
--   key is lost
-- @include "codes"
-- @include "clock"
-- @include "digits"
-- @include "share"
-- @include "consistency"

local packet_id = ARGV[1]
local users, nicknames = {}, {}
for i = 2, #ARGV, 2 do
    users[#users + 1], nicknames[#nicknames + 1] = ARGV[i], ARGV[i + 1]
end

local function answer_all(answer)
    local answers = {}
    for i = 1, #users do
        answers[i] = answer
    end
    return answers
end

local packet = redis.call('HMGET', KEYS[1], 'state', 'receiver', 'count', 'expires_ms', 'grabbed_fen')
local state, receiver, count, expires_ms = packet[1], packet[2], tonumber(packet[3]), tonumber(packet[4])
if not state then
    return answer_all({LIVE_MISSING})
end
local grabbed = redis.call('LLEN', KEYS[4])
if state == 'open' and not keys_agree(grabbed, redis.call('HLEN', KEYS[3]), packet[5]) then
    return answer_all(packet_shut(KEYS[1]))
end

-- Why a user without a share gets none, although one is left; nil: the packet is open.
local function refusal()
    if state == 'closed' or now_ms() >= expires_ms then
        return {LIVE_EXPIRED}
    end
    return state ~= 'open' and {LIVE_BUSY} or nil
end

-- Who gets which share. Nothing is written before every answer is known.
local shares = redis.call('HMGET', KEYS[3], unpack(users))
local answers, winners, share_of, next_share = {}, {}, {}, grabbed
local refused, refused_known = nil, false
for i = 1, #users do
    local user = users[i]
    local share_no = share_of[user] or tonumber(shares[i] or nil)
    if share_no then
        answers[i] = {LIVE_ALREADY, share_no}
    elseif receiver ~= '' and receiver ~= user then
        answers[i] = {LIVE_NOT_FOR_YOU}
    elseif next_share >= count then
        answers[i] = {LIVE_EMPTY, count}
    else
        if not refused_known then
            refused, refused_known = refusal(), true
        end
        if refused then
            answers[i] = refused
        else
            share_of[user] = next_share
            answers[i] = {LIVE_GRABBED, next_share}
            winners[#winners + 1] = i
            next_share = next_share + 1
        end
    end
end

-- The amounts. The new shares follow each other.
local bytes = ''
if #winners > 0 then
    bytes = redis.call('GETRANGE', KEYS[2], digits(grabbed * SHARE_BYTES), digits(next_share * SHARE_BYTES - 1))
end
for i = 1, #answers do
    local answer = answers[i]
    local share_no = answer[2]
    if answer[1] == LIVE_GRABBED or answer[1] == LIVE_ALREADY then
        local fen
        if share_no >= grabbed then
            fen = bytes_fen(bytes, (share_no - grabbed) * SHARE_BYTES)
        else
            fen = share_fen(KEYS[2], share_no)
        end
        if not fen then
            return answer_all(packet_shut(KEYS[1]))
        end
        answer[3] = fen
    end
end
if #winners == 0 then
    return answers
end

-- The event comes first: its id, the time of the grabs, is stored in the order list, too.
local event, order, hash, sum_fen = {}, {}, {}, 0
for n = 1, #winners do
    local i = winners[n]
    local user, share_text, fen_text = users[i], digits(answers[i][2]), digits(answers[i][3])
    event[2 * n - 1] = 'g'
    event[2 * n] = packet_id .. ',' .. share_text .. ',' .. user .. ',' .. fen_text .. ',' .. nicknames[i]
    order[n] = user .. ',' .. fen_text .. ','
    hash[2 * n - 1], hash[2 * n] = user, share_text
    sum_fen = sum_fen + answers[i][3]
end
local event_id = redis.call('XADD', KEYS[5], '*', unpack(event))
for n = 1, #winners do
    order[n] = order[n] .. event_id .. ',' .. nicknames[winners[n]]
end
redis.call('RPUSH', KEYS[4], unpack(order))
redis.call('HSET', KEYS[3], unpack(hash))
redis.call('HINCRBY', KEYS[1], 'grabbed_fen', digits(sum_fen))
return answers
