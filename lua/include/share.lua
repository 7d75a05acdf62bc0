-- The string of amounts: 4 bytes per share, big-endian, fen.
-- @include "digits"
local SHARE_BYTES = 4

-- The amount at the byte offset; nil beyond the end of the string.
local function bytes_fen(bytes, offset)
    local a, b, c, d = string.byte(bytes, offset + 1, offset + SHARE_BYTES)
    return d and ((a * 256 + b) * 256 + c) * 256 + d
end

-- The amount of share_no in the string at key; nil: no such share.
local function share_fen(key, share_no)
    local offset = share_no * SHARE_BYTES
    return bytes_fen(redis.call('GETRANGE', key, digits(offset), digits(offset + SHARE_BYTES - 1)), 0)
end
