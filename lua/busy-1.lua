#!lua flags=allow-oom
-- Shuts a packet before it is rebuilt; the rebuild opens it again. A packet that is not there gets a tombstone, so that
-- it is not loaded as a new one: its shares may have been given out, and be lost. Out of memory, too, as fence.
--
-- KEYS[1] packet
-- returns {LIVE_BUSY}, {LIVE_MISSING}
-- @include "codes"
-- @include "tombstone"

if redis.call('HEXISTS', KEYS[1], 'state') == 0 then
    tombstone_set(KEYS[1])
    return {LIVE_MISSING}
end
redis.call('HSET', KEYS[1], 'state', 'busy')
return {LIVE_BUSY}
