#!lua
-- Closes the door of a packet before it is rebuilt; load opens it again.
--
-- KEYS[1] packet
-- returns {LIVE_BUSY}, {LIVE_MISSING}
-- @include "codes"

if redis.call('EXISTS', KEYS[1]) == 0 then
    return {LIVE_MISSING}
end
redis.call('HSET', KEYS[1], 'state', 'busy')
return {LIVE_BUSY}
