-- A whole number as text. Left to themselves, `..` and redis.call print a number as a fraction of 14 or 17 places,
-- which costs as much as a small command.
local function digits(n)
    return string.format('%d', n)
end
