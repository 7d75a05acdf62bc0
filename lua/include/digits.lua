-- An integer as text. Without it, `..` and redis.call format a number as floating point with 14 or 17 digits, which
-- takes as long as a small command.
local function digits(n)
    return string.format('%d', n)
end
