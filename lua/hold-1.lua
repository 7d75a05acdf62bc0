#!lua flags=allow-oom
-- Sets the first share from which the grabs of a packet are held behind a dead letter, or none. Runs out of memory,
-- too: the position is published next, and without `held` it would mark these grabs as settled.
--
-- KEYS[1] packet
-- ARGV[1] share_no; empty: none is held
-- returns {LIVE_LOADED}, {LIVE_MISSING}
-- @include "codes"

if redis.call('HEXISTS', KEYS[1], 'state') == 0 then
    return {LIVE_MISSING}
end
redis.call('HSET', KEYS[1], 'held', ARGV[1])
return {LIVE_LOADED}
