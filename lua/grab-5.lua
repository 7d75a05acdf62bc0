#!lua
-- A crowd opens a packet: each of its users takes the next share. O(1) in the number of shares and of packets.
--
-- KEYS[1] packet, KEYS[2] shares, KEYS[3] grabs, KEYS[4] order, KEYS[5] events
-- ARGV[1] packet id
-- ARGV[2…] the user id of each grab, then the nickname of each grab, then the hashes of the phrase that each user typed
--   (empty: none), one behind the other, as this version and earlier ones make them, then where each typed it: 8 bytes
--   for the address and 8 for its network (empty: not counted)
-- returns one answer per grab: {LIVE_GRABBED, share_no, fen, left} |
--   {LIVE_ALREADY, share_no, fen, left, 1 when it was given back, else 0}: a repeat returns the same share and
--   amount, always; left: the shares that can still be taken after this grab; {LIVE_EMPTY, count}, {LIVE_MISSING},
--   {LIVE_NOT_FOR_YOU}, {LIVE_EXPIRED}, {LIVE_NOT_YET, opens_ms}, {LIVE_WRONG_PHRASE, tries left},
--   {LIVE_TRIED_OUT, ms until the next try; 0: never}, {LIVE_BUSY}: shut, or a key is lost. Users with a share are
--   told so; all others get the first refusal in this order: not for you, empty or expired, not yet, phrase. A phrase
--   that is missing is asked for and does not count
-- @include "codes"
-- @include "clock"
-- @include "digits"
-- @include "share"
-- @include "consistency"
-- @include "guesses"

local TRIES_MAX = 10 -- wrong phrases of a user; counted in the packet's hash
local size = (#ARGV - 1) / 4
local crowd = size > 1 -- what only a crowd needs is not made for a grab alone

local function answer_all(answer)
    local answers = {}
    for i = 1, size do
        answers[i] = answer
    end
    return answers
end

local packet = redis.call('HMGET', KEYS[1], 'state', 'grabbed_fen', 'count', 'receiver', 'expires_ms',
    'conditions')
local state, count, receiver = packet[1], tonumber(packet[3]), packet[4]
if not state then
    return answer_all({LIVE_MISSING})
end
-- Most packets have no such conditions. tries: the wrong phrases of each user; wrong: the users who typed one now.
local opens_ms, receivers, phrase, tries, wrong, guesses
if packet[6] == '1' then
    local fields = {'opens_ms', 'receivers', 'phrase_hash', GUESSES_EVERYWHERE}
    for i = 1, size do
        fields[4 + i] = 'tries:' .. ARGV[1 + i]
    end
    local conditions = redis.call('HMGET', KEYS[1], unpack(fields))
    opens_ms, receivers, phrase = conditions[1], conditions[2], conditions[3]
    tries, wrong, guesses = {}, {}, guesses_begin(conditions[4])
    for i = 1, size do
        tries[ARGV[1 + i]] = tonumber(conditions[4 + i] or 0)
    end
end
local grabbed = redis.call('LLEN', KEYS[4])
if state == 'open' and not keys_agree(grabbed, redis.call('HLEN', KEYS[3]), packet[2]) then
    return answer_all(packet_shut(KEYS[1]))
end

-- The answer to a user who could have a share; nil: they get the next one.
local refusal
local now = grabbed < count and now_ms()
local left = count - grabbed -- shares that can be taken; counts down with each winner
if grabbed >= count then
    refusal = {LIVE_EMPTY, count}
elseif state == 'closed' or now >= tonumber(packet[5]) then
    refusal, left = {LIVE_EXPIRED}, 0
elseif opens_ms and now < tonumber(opens_ms) then
    refusal = {LIVE_NOT_YET, tonumber(opens_ms)}
elseif state ~= 'open' then
    refusal = {LIVE_BUSY}
end

-- The shares that the crowd could take follow each other.
local next_bytes = ''
if not refusal then
    next_bytes = redis.call('GETRANGE', KEYS[2], digits(grabbed * SHARE_BYTES),
        digits((grabbed + size) * SHARE_BYTES - 1))
end

-- Every answer is known before the first write.
local share_of_user = redis.call('HMGET', KEYS[3], unpack(ARGV, 2, 1 + size))
local answers, winners, sum_fen = {}, 0, 0
local taken, events, order, hash -- of a crowd: its new shares by user; arguments of XADD, RPUSH and HSET
local share_text, user_fen, event, nickname -- of the newest winner
if crowd then
    taken, events, order, hash = {}, {}, {}, {}
end
for i = 1, size do
    local user, typed, source = ARGV[1 + i], ARGV[1 + 2 * size + i], ARGV[1 + 3 * size + i]
    local share_no = tonumber(share_of_user[i] or crowd and taken[user] or nil)
    if share_no then
        local fen
        if share_no < grabbed then
            fen = share_fen(KEYS[2], share_no)
        else
            fen = bytes_fen(next_bytes, (share_no - grabbed) * SHARE_BYTES)
        end
        if not fen then
            return answer_all(packet_shut(KEYS[1]))
        end
        local returned = redis.call('HGET', KEYS[1], 'returned_shares')
        local is_returned = returned and string.find(',' .. returned .. ',', ',' .. digits(share_no) .. ',', 1, true)
        answers[i] = {LIVE_ALREADY, share_no, fen, left, is_returned and 1 or 0}
    elseif receiver ~= '' and receiver ~= user or receivers and
        not string.find(receivers, ',' .. user .. ',', 1, true) then
        answers[i] = {LIVE_NOT_FOR_YOU}
    elseif refusal then
        answers[i] = refusal
    elseif phrase and tries[user] >= TRIES_MAX then
        answers[i] = {LIVE_TRIED_OUT, 0}
    elseif phrase and typed ~= '' and guesses_pause_ms(KEYS[1], guesses, source, now) > 0 then
        answers[i] = {LIVE_TRIED_OUT, guesses_pause_ms(KEYS[1], guesses, source, now)}
    elseif phrase and not phrase_is_among(phrase, typed) then
        if typed ~= '' then
            tries[user] = tries[user] + 1
            wrong[user] = true
            guesses_add(KEYS[1], guesses, source, now)
        end
        answers[i] = {LIVE_WRONG_PHRASE, TRIES_MAX - tries[user]}
    else
        share_no = grabbed + winners
        local fen = bytes_fen(next_bytes, winners * SHARE_BYTES)
        if not fen then
            return answer_all(packet_shut(KEYS[1]))
        end
        if phrase then
            guesses_take(KEYS[1], guesses, source)
        end
        left = left - 1
        answers[i] = {LIVE_GRABBED, share_no, fen, left}
        share_text, user_fen, nickname = digits(share_no), user .. ',' .. digits(fen) .. ',', ARGV[1 + size + i]
        event = ARGV[1] .. ',' .. share_text .. ',' .. user_fen .. nickname
        winners = winners + 1
        sum_fen = sum_fen + fen
        if crowd then
            taken[user] = share_text
            events[2 * winners - 1], events[2 * winners] = 'g', event
            order[2 * winners - 1], order[2 * winners] = user_fen, nickname
            hash[2 * winners - 1], hash[2 * winners] = user, share_text
        end
        if left == 0 then
            refusal = {LIVE_EMPTY, count}
        end
    end
end
if phrase then
    for user in pairs(wrong) do
        redis.call('HSET', KEYS[1], 'tries:' .. user, digits(tries[user]))
    end
    guesses_write(KEYS[1], guesses)
end
if winners == 0 then
    return answers
end

-- The entry comes first: its id, the time of the grabs, is stored in the order list, too.
if crowd then
    local id = redis.call('XADD', KEYS[5], '*', unpack(events)) .. ','
    for n = 1, winners do
        order[n] = order[2 * n - 1] .. id .. order[2 * n]
    end
    redis.call('RPUSH', KEYS[4], unpack(order, 1, winners))
    redis.call('HSET', KEYS[3], unpack(hash))
else
    local id = redis.call('XADD', KEYS[5], '*', 'g', event)
    redis.call('RPUSH', KEYS[4], user_fen .. id .. ',' .. nickname)
    redis.call('HSET', KEYS[3], ARGV[2], share_text)
end
redis.call('HINCRBY', KEYS[1], 'grabbed_fen', digits(sum_fen))
return answers
