-- What stays of a packet that Redis must not know: to grabs and looks it is missing, and a load of its sender that was
-- on its way for long finds it and does nothing. Longer than any load can be on its way.
local GONE_MS = 86400000

local function leave_gone(key)
    redis.call('HSET', key, 'gone', 1)
    redis.call('PEXPIRE', key, GONE_MS)
end
