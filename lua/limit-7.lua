#!lua
-- Takes one from each of up to seven limits, or from none of them when one has nothing left; or gives back what was
-- taken. Each limit counts one subject by the generic cell rate algorithm (GCRA): stored is only the time at which the
-- limit is full again, for each of its tiers. A key expires when it is full.
--
-- KEYS[1] KEYS[2] KEYS[3] KEYS[4] KEYS[5] KEYS[6] KEYS[7] the limits of the subjects
-- ARGV[1] 1 or more: take so many, -1: give one back
-- ARGV[2…8] the tiers of each limit, "at_once every_us" of each with blanks between; empty: the key is not used
-- returns {0, 0}: done, or {number of the limit that has nothing left, milliseconds until it has}
-- @include "digits"

local keys = {KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]}
local rates = {ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8]}
local take = tonumber(ARGV[1])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

-- The stored times of a limit and the last of them after the call; and for how long the call has to wait.
local function count(key, rate)
    local stored, full, last, wait = {}, {}, now, 0
    local text = redis.pcall('GET', key)
    for at in string.gmatch(type(text) == 'string' and text or '', '%d+') do -- a key of another type counts nothing
        stored[#stored + 1] = tonumber(at)
    end
    for at_once, every in string.gmatch(rate, '(%d+) (%d+)') do
        local empty = now + at_once * every
        -- Never later than an empty limit allows, also after Redis's clock was set back or the setting was changed.
        local from = math.min(math.max(stored[#full + 1] or 0, now), empty)
        local at = math.max(from + take * every, now)
        full[#full + 1] = digits(at)
        last = math.max(last, at)
        wait = math.max(wait, at - empty)
    end
    return table.concat(full, ' '), last, wait
end

local texts, ends, refused, longest = {}, {}, 0, 0
for i = 1, #keys do
    if rates[i] ~= '' then
        local wait
        texts[i], ends[i], wait = count(keys[i], rates[i])
        if wait > longest then
            refused, longest = i, wait
        end
    end
end
if refused > 0 then
    return {refused, math.ceil(longest / 1000)}
end
for i, text in pairs(texts) do
    if ends[i] > now then
        redis.call('SET', keys[i], text, 'PX', digits(math.ceil((ends[i] - now) / 1000)))
    else
        redis.call('DEL', keys[i])
    end
end
return {0, 0}
