-- Amounts are 4 bytes a share, big-endian fen, in one string.
-- @include "digits"
local SHARE_BYTES = 4

-- The amount that stands behind the first `offset` bytes; nil when the string ends before.
local function bytes_fen(bytes, offset)
    local a, b, c, d = string.byte(bytes, offset + 1, offset + SHARE_BYTES)
    return d and ((a * 256 + b) * 256 + c) * 256 + d
end

-- The amount of share_no in the string at key; nil when there is no such share.
local function share_fen(key, share_no)
    local offset = share_no * SHARE_BYTES
    return bytes_fen(redis.call('GETRANGE', key, digits(offset), digits(offset + SHARE_BYTES - 1)), 0)
end
