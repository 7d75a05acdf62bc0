#!lua flags=allow-oom
-- An entry that stands for the cursor of a stream that has lost its end: ids never go below it again, and the next read
-- finds its beginning. Out of memory, too, as fence.
--
-- KEYS[1] events
-- ARGV[1] cursor, `ms-seq`
-- returns {LIVE_LOADED}, {LIVE_EXISTS}: the stream is at the cursor or behind it by now
-- @include "codes"

local added = redis.pcall('XADD', KEYS[1], ARGV[1], 'r', '1')
if type(added) == 'table' and added.err then
    return {LIVE_EXISTS}
end
return {LIVE_LOADED}
