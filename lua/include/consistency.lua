-- Checks that no key of a packet is lost: as many grabs as users, and a sum only where there are grabs. Otherwise
-- shares would be given out twice, or the packet closed with a wrong count. grabbed: length of the order list; users:
-- size of the hash of users (nil: not checked).
local function keys_agree(grabbed, users, grabbed_fen)
    return (users == nil or grabbed == users) and (grabbed == 0) == (tonumber(grabbed_fen) == 0)
end

-- Shuts a packet, for example because its keys contradict each other; the settle worker rebuilds it.
local function packet_shut(key)
    redis.call('HSET', key, 'state', 'busy')
    return {LIVE_BUSY}
end
