-- Takes a share of a packet, as people usually write it: a list of the shares left, and who has one. KEYS: the list,
-- and a hash of user to "share_no,fen". ARGV: the user. Returns what the site's function does:
-- {code, share_no, fen, left}.
local GRABBED, ALREADY, EMPTY = 2, 3, 5

local had = redis.call("HGET", KEYS[2], ARGV[1])
if had then
    local share_no, fen = had:match("^(%d+),(%d+)$")
    return { ALREADY, tonumber(share_no), tonumber(fen), redis.call("LLEN", KEYS[1]) }
end
local fen = redis.call("LPOP", KEYS[1])
if not fen then
    return { EMPTY }
end
local share_no = redis.call("HLEN", KEYS[2])
redis.call("HSET", KEYS[2], ARGV[1], share_no .. "," .. fen)
return { GRABBED, share_no, tonumber(fen), redis.call("LLEN", KEYS[1]) }
