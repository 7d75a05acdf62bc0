#!lua flags=allow-oom
-- Appends a stream anchor to a stream that has lost its newest entries: an entry with the id of the cursor. Later ids
-- are higher, and a read that starts at the cursor finds it. Runs out of memory, too: settling waits for it, and only
-- settling and expiry free memory.
--
-- KEYS[1] events
-- ARGV[1] cursor, `ms-seq`
-- returns {LIVE_LOADED}, {LIVE_EXISTS}: the newest id of the stream is not below the cursor
-- @include "codes"

local added = redis.pcall('XADD', KEYS[1], ARGV[1], 'r', '1')
if type(added) == 'table' and added.err then
    return {LIVE_EXISTS}
end
return {LIVE_LOADED}
