#!lua flags=allow-oom
-- Shuts a packet before a rebuild, which opens it again. A packet that is not in Redis gets a tombstone, so that it
-- can't be loaded as a new one: it may have had grabs that are lost. Runs out of memory, too: recovery needs it before
-- settling can free memory.
--
-- KEYS[1] packet
-- returns {LIVE_BUSY}, {LIVE_MISSING}
-- @include "codes"
-- @include "consistency"
-- @include "tombstone"

if redis.call('HEXISTS', KEYS[1], 'state') == 0 then
    tombstone_set(KEYS[1])
    return {LIVE_MISSING}
end
return packet_shut(KEYS[1])
