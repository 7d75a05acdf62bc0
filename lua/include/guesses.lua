-- The typed phrases of a packet that has one.
local HASH_BYTES = 32 -- PHRASE_HASH_BYTES

-- True when the hash is one of those of the typed phrase.
local function phrase_is_among(hash, typed)
    for i = 1, #typed, HASH_BYTES do
        if string.sub(typed, i, i + HASH_BYTES - 1) == hash then
            return true
        end
    end
    return false
end

-- Wrong phrases of all users together, counted in the packet's hash: of one address, of its network, and of everywhere.
-- LEVELS: how many of each are free, and the longest pause in ms. Each one above begins a pause, twice as long as the
-- one before, in which no phrase from there is looked at. Who opens the packet takes one of them away: people there
-- know the phrase. source: 8 bytes for the address and 8 for the network; empty: nothing is counted.
-- @include "digits"
local LEVELS = {{20, 600000}, {60, 600000}, {300, 15000}}
local FIRST_PAUSE_MS = 1000
local GUESSES_EVERYWHERE = 'guesses:3' -- once there was a wrong phrase, the packet has this field

-- What this call knows. everywhere: the value of that field; most packets have none, and nothing more is read then.
local function guesses_begin(everywhere)
    return {any = everywhere, fields = {}, sources = {}}
end

-- The three of a source: each {number, end of the pause in ms, whether it changed}.
local function guesses_of(packet, guesses, source)
    local found = guesses.sources[source]
    if found then
        return found
    end
    found = {}
    local fields = source == '' and {} or
        {'guesses:1' .. string.sub(source, 1, 8), 'guesses:2' .. string.sub(source, 9), GUESSES_EVERYWHERE}
    for level, field in ipairs(fields) do
        if not guesses.fields[field] then
            local stored = redis.call('HGET', packet, field) or '0,0'
            local number, until_ms = string.match(stored, '^(%d+),(%d+)$')
            guesses.fields[field] = {tonumber(number), tonumber(until_ms), false}
        end
        found[level] = guesses.fields[field]
    end
    guesses.sources[source] = found
    return found
end

local function guesses_pause_ms(packet, guesses, source, now)
    if not guesses.any then
        return 0
    end
    local pause = 0
    for _, guess in ipairs(guesses_of(packet, guesses, source)) do
        pause = math.max(pause, guess[2] - now)
    end
    return pause
end

-- A wrong phrase.
local function guesses_add(packet, guesses, source, now)
    guesses.any = true
    for level, guess in ipairs(guesses_of(packet, guesses, source)) do
        local free, pause_max = LEVELS[level][1], LEVELS[level][2]
        guess[1], guess[3] = guess[1] + 1, true
        if guess[1] >= free then
            guess[2] = now + math.min(FIRST_PAUSE_MS * 2 ^ math.min(guess[1] - free, 20), pause_max)
        end
    end
end

-- A right one.
local function guesses_take(packet, guesses, source)
    if not guesses.any then
        return
    end
    for _, guess in ipairs(guesses_of(packet, guesses, source)) do
        if guess[1] > 0 then
            guess[1], guess[3] = guess[1] - 1, true
        end
    end
end

local function guesses_write(packet, guesses)
    for field, guess in pairs(guesses.fields) do
        if guess[3] then
            redis.call('HSET', packet, field, digits(guess[1]) .. ',' .. digits(guess[2]))
        end
    end
end
