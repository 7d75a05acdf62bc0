#!lua flags=allow-oom
-- Deletes a packet and leaves a tombstone: a delayed load of a new packet finds it and does nothing. Runs out of
-- memory, too: it frees memory.
--
-- KEYS[1] packet, KEYS[2] shares, KEYS[3] grabs, KEYS[4] order
-- returns {LIVE_CLOSED}
-- @include "codes"
-- @include "tombstone"

redis.call('DEL', KEYS[1], KEYS[2], KEYS[3], KEYS[4])
tombstone_set(KEYS[1])
return {LIVE_CLOSED}
