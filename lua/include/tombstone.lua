-- A tombstone marks a packet that must not come back. Grabs and views treat the packet as missing, and a delayed load
-- of a new packet does nothing. Its time to live is longer than the longest possible delay of a load.
local TOMBSTONE_MS = 86400000

local function tombstone_set(key)
    redis.call('HSET', key, 'tombstone', 1)
    redis.call('PEXPIRE', key, TOMBSTONE_MS)
end
