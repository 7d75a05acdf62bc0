-- What stays of a packet that must not come back: to grabs and views it is missing, and a load by its sender that comes
-- late finds the tombstone and does nothing. It stays longer than any load can be on its way.
local TOMBSTONE_MS = 86400000

local function tombstone_set(key)
    redis.call('HSET', key, 'tombstone', 1)
    redis.call('PEXPIRE', key, TOMBSTONE_MS)
end
