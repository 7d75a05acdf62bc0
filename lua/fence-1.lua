#!lua flags=allow-oom
-- Opens the fence before this Redis process: it was compared with the cursors, so grabs may reach it. Out of memory,
-- too: settling and expiry wait for it, and nothing else would make room again.
--
-- KEYS[1] fence
-- ARGV[1] run_id of the process, a blank and the number of partitions
-- returns {LIVE_LOADED}
-- @include "codes"

redis.call('SET', KEYS[1], ARGV[1])
return {LIVE_LOADED}
