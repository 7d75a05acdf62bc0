#!lua
-- The other classic: a lock around a list of amounts that were drawn before. Written by us after the common shape:
--   1 SET NX PX      the lock (needless inside a script, yet widely kept when the steps were moved into one)
--   2 HEXISTS        has this user grabbed already?
--   3 LPOP           the next amount
--   4 HSET           the user's amount
--   5 RPUSH          the record that the list page shows (and a job stores later)
--   6 DEL            the lock
--
-- KEYS[1] lock, KEYS[2] amounts, KEYS[3] users, KEYS[4] records
-- ARGV[1] user id, ARGV[2] time in ms, ARGV[3] the lock's token
-- returns {1, fen} grabbed, {2} has grabbed before, {0} empty, {3} locked
local user = ARGV[1]
if not redis.call('SET', KEYS[1], ARGV[3], 'NX', 'PX', 3000) then
    return {3}
end
if redis.call('HEXISTS', KEYS[3], user) == 1 then
    redis.call('DEL', KEYS[1])
    return {2}
end
local fen = redis.call('LPOP', KEYS[2])
if not fen then
    redis.call('DEL', KEYS[1])
    return {0}
end
redis.call('HSET', KEYS[3], user, fen)
redis.call('RPUSH', KEYS[4], user .. ',' .. fen .. ',' .. ARGV[2])
redis.call('DEL', KEYS[1])
return {1, tonumber(fen)}
