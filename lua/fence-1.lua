#!lua flags=allow-oom
-- Opens the fence of a partition: its stream in this Redis process was compared with its cursor, so it may get grabs.
-- Runs out of memory, too: settling and expiry wait for it, and only these free memory.
--
-- KEYS[1] fence
-- ARGV[1] run_id of the process, a blank and the number of partitions
-- returns {LIVE_LOADED}
-- @include "codes"

redis.call('SET', KEYS[1], ARGV[1])
return {LIVE_LOADED}
