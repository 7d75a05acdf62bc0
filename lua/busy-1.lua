#!lua flags=allow-oom
-- Closes the door of a packet before it is rebuilt; a load that rebuilds opens it again. A packet that is not there is
-- kept from being loaded as a new one: it may have been given out, and be lost. Out of memory, too, as vouch.
--
-- KEYS[1] packet
-- returns {LIVE_BUSY}, {LIVE_MISSING}
-- @include "codes"
-- @include "gone"

if redis.call('HEXISTS', KEYS[1], 'state') == 0 then
    leave_gone(KEYS[1])
    return {LIVE_MISSING}
end
redis.call('HSET', KEYS[1], 'state', 'busy')
return {LIVE_BUSY}
