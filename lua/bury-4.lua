#!lua flags=allow-oom
-- Deletes a packet for good: whoever would load it as a new one finds that it is gone.
--
-- KEYS[1] packet, KEYS[2] shares, KEYS[3] grabs, KEYS[4] order
-- returns {LIVE_CLOSED}
-- @include "codes"
-- @include "gone"

redis.call('DEL', KEYS[1], KEYS[2], KEYS[3], KEYS[4])
leave_gone(KEYS[1])
return {LIVE_CLOSED}
