#!lua
-- The classic grab script with remaining counters, as countless articles and repositories have it. Written by us after
-- that common shape, with nothing added that would make it slow:
--   1 HEXISTS        has this user grabbed already?
--   2 GET, GET       how many shares and how much money are left?
--   3 double average the amount: uniform in 1 … 2 · rest / left - 1; the last one takes the rest
--   4 DECR, DECRBY   take the share and its money out of the counters
--   5 HSETNX         the user's amount: the mark that stops a second grab
--   6 RPUSH          the record that the list page shows (and a job stores later)
--
-- KEYS[1] shares left, KEYS[2] fen left, KEYS[3] users, KEYS[4] records
-- ARGV[1] user id, ARGV[2] time in ms, ARGV[3] the client's random number
-- returns {1, fen} grabbed, {2, fen} has grabbed before, {0} empty
local user = ARGV[1]
if redis.call('HEXISTS', KEYS[3], user) == 1 then
    return {2, tonumber(redis.call('HGET', KEYS[3], user))}
end
local left = tonumber(redis.call('GET', KEYS[1]) or '0')
if left <= 0 then
    return {0}
end
local rest = tonumber(redis.call('GET', KEYS[2]))
local fen = rest
if left > 1 then
    fen = 1 + tonumber(ARGV[3]) % (math.floor(2 * rest / left) - 1)
end
redis.call('DECR', KEYS[1])
redis.call('DECRBY', KEYS[2], fen)
redis.call('HSETNX', KEYS[3], user, fen)
redis.call('RPUSH', KEYS[4], user .. ',' .. fen .. ',' .. ARGV[2])
return {1, fen}
