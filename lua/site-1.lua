#!lua flags=allow-oom
-- Marks a partition as one of the site, raises the generation of its mark, or says in it that the tables are older. A
-- mark of another site, or of a later generation, stays. Runs out of memory, too: settling waits for it, and only
-- settling and expiry free memory.
--
-- KEYS[1] site
-- ARGV[1] id of the site, ARGV[2] generation, ARGV[3] '' or ' older'
-- returns {LIVE_LOADED}, {LIVE_EXISTS}: it has another mark
-- @include "codes"

local mark = redis.pcall('GET', KEYS[1]) -- a key of another type is no mark
local id, generation = string.match(type(mark) == 'string' and mark or '', '^(%x+) (%d+)')
if id and (id ~= ARGV[1] or tonumber(generation) > tonumber(ARGV[2])) then
    return {LIVE_EXISTS}
end
redis.call('SET', KEYS[1], ARGV[1] .. ' ' .. ARGV[2] .. ARGV[3])
return {LIVE_LOADED}
