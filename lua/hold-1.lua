#!lua flags=allow-oom
-- Says from which share on a packet's grabs wait behind a dead letter, or that none does. Out of memory, too: the
-- position, which would tell that they are settled, is published next.
--
-- KEYS[1] packet
-- ARGV[1] share_no, empty: none waits
-- returns {LIVE_LOADED}, {LIVE_MISSING}
-- @include "codes"

if redis.call('HEXISTS', KEYS[1], 'state') == 0 then
    return {LIVE_MISSING}
end
redis.call('HSET', KEYS[1], 'held', ARGV[1])
return {LIVE_LOADED}
