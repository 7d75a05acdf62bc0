-- A packet's keys live and die together; one that is lost alone must not hand its shares out again, or end the packet
-- by a wrong count. grabbed: length of the list of grabs, users: size of their hash (nil: not looked at).
local function keys_agree(grabbed, users, grabbed_fen)
    return (users == nil or grabbed == users) and (grabbed == 0) == (tonumber(grabbed_fen) == 0)
end

-- Shuts a packet whose keys contradict each other: the settle worker builds it anew.
local function packet_shut(key)
    redis.call('HSET', key, 'state', 'busy')
    return {LIVE_BUSY}
end
