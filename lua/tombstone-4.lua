#!lua flags=allow-oom
-- Deletes a packet for good: a load that comes late finds the tombstone and does nothing.
--
-- KEYS[1] packet, KEYS[2] shares, KEYS[3] grabs, KEYS[4] order
-- returns {LIVE_CLOSED}
-- @include "codes"
-- @include "tombstone"

redis.call('DEL', KEYS[1], KEYS[2], KEYS[3], KEYS[4])
tombstone_set(KEYS[1])
return {LIVE_CLOSED}
