-- POST /p/ID/open inside nginx, by its Lua module: kept cosockets to Redis, and a small RESP client.
-- It does not check the MAC of the id: that is less work than the site does. bench: set by lua.conf.in.
local ffi = require "ffi"

ffi.cdef [[
unsigned char *SHA256(const unsigned char *text, size_t length, unsigned char *out);
unsigned char *ngx_hex_dump(unsigned char *out, const unsigned char *bytes, size_t length);
]]

local HASH_BYTES, KEPT_MS, KEPT_COUNT = 32, 60000, 128
local DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
local hash, hex = ffi.new("unsigned char[?]", HASH_BYTES), ffi.new("unsigned char[?]", 2 * HASH_BYTES)
local two, thirty_two = ffi.new("uint64_t", 2), ffi.new("uint64_t", 32)

local value_of = {}
for i = 1, #DIGITS do
    value_of[DIGITS:byte(i)] = i - 1
    value_of[DIGITS:upper():byte(i)] = i - 1
end

local M = {}

-- The first half of 128 bits in base 32, after two zero bits: decimal text and partition.
local function packet_id(text)
    local id = ffi.new("uint64_t", 0)
    for i = 1, 13 do
        local value = value_of[text:byte(i)]
        if not value then
            return nil
        end
        id = id * thirty_two + value
    end
    local last = value_of[text:byte(14)]
    if not last then
        return nil
    end
    id = id * two + math.floor(last / 16)
    return tostring(id):sub(1, -4), tonumber(id % bench.partitions)
end

local function command(...)
    local parts = { "*", select("#", ...), "\r\n" }
    for i = 1, select("#", ...) do
        local arg = select(i, ...)
        local n = #parts
        parts[n + 1], parts[n + 2], parts[n + 3], parts[n + 4], parts[n + 5] = "$", #arg, "\r\n", arg, "\r\n"
    end
    return parts
end

-- A reply: text, number, list; nil for null, or nil and an error.
local function reply(redis)
    local line, failure = redis:receive()
    if not line then
        return nil, failure
    end
    local kind, rest = line:byte(), line:sub(2)
    if kind == 36 then -- $
        local length = tonumber(rest)
        if length < 0 then
            return nil
        end
        local text
        text, failure = redis:receive(length + 2)
        return text and text:sub(1, -3), failure
    elseif kind == 58 then -- :
        return tonumber(rest)
    elseif kind == 42 then -- *
        local list = {}
        for i = 1, tonumber(rest) do
            list[i], failure = reply(redis)
            if failure then
                return nil, failure
            end
        end
        return list
    elseif kind == 43 then -- +
        return rest
    end
    return nil, rest
end

local function ask(redis, ...)
    local sent, failure = redis:send(command(...))
    if not sent then
        return nil, failure
    end
    return reply(redis)
end

local function redis_open()
    local redis = ngx.socket.tcp()
    redis:settimeout(800)
    if not redis:connect("unix:" .. bench.redis_socket) then
        return nil
    end
    if redis:getreusedtimes() == 0 and not ask(redis, "AUTH", bench.redis_user, bench.redis_password) then
        return nil
    end
    return redis
end

local function answer(status, body)
    ngx.status = status
    ngx.header["Content-Type"] = "application/json"
    ngx.header["Cache-Control"] = "no-store"
    ngx.header["Vary"] = "Accept, Accept-Language, Cookie"
    ngx.header["Content-Length"] = #body
    ngx.print(body)
end

local function problem(status, name)
    answer(status, '{"type":"urn:hongbao:problem:' .. name .. '","status":' .. status .. "}\n")
end

local function same_origin()
    local site = ngx.var.http_sec_fetch_site
    if site and site ~= "" then
        return site == "same-origin" or site == "none"
    end
    local origin = ngx.var.http_origin
    if not origin or origin == "" then
        return true
    end
    local host = origin:match("://(.*)$")
    return host ~= nil and host:lower() == (ngx.var.http_host or ""):lower()
end

local function session_key(token)
    if not token or #token ~= 43 or not ngx.re.find(token, "^[A-Za-z0-9_-]+$", "jo") then
        return nil
    end
    ffi.C.SHA256(token, #token, hash)
    ffi.C.ngx_hex_dump(hex, hash, HASH_BYTES)
    return "hb:session:" .. ffi.string(hex, 2 * HASH_BYTES)
end

-- User id and nickname of a valid session.
local function session_read(value)
    local m = value and ngx.re.match(value, [[^v2,(\d+),(\d+),(\d+),([^,]+),(.+)$]], "josu")
    if not m then
        return nil
    end
    local now_ms = ngx.now() * 1000
    if now_ms - tonumber(m[2]) >= bench.session_absolute_ms or now_ms - tonumber(m[3]) >= bench.session_idle_ms then
        return nil
    end
    return m[1], m[5]
end

local PROBLEMS = { [1] = { 404, "not-found" }, [4] = { 403, "not-for-you" }, [5] = { 410, "empty" },
    [6] = { 410, "expired" }, [7] = { 503, "busy" } }

local function grab(redis, user, nickname)
    local id, partition = packet_id(ngx.var.packet)
    if not id then
        return problem(404, "not-found")
    end
    local slot = string.format("hb:{p%02d}:", partition)
    local answers = ask(redis, "FCALL", bench.grab_function, "5", slot .. "packet:" .. id, slot .. "shares:" .. id,
        slot .. "grabs:" .. id, slot .. "order:" .. id, slot .. "events", id, user, nickname, "", "")
    local result = answers and answers[1] -- of a crowd of one
    local code = result and result[1]
    if code == 2 or code == 3 then
        return answer(200, '{"result":"' .. (code == 2 and "grabbed" or "already") .. '","share_no":' .. result[2] ..
            ',"amount_fen":' .. result[3] .. ',"left_count":' .. result[4] .. "}\n")
    end
    local why = PROBLEMS[code] or { 503, "unknown" }
    return problem(why[1], why[2])
end

function M.open()
    ngx.req.read_body()
    if ngx.req.get_method() ~= "POST" then
        return problem(405, "method-not-allowed")
    end
    if not same_origin() then
        return problem(403, "cross-origin")
    end
    local key = session_key(ngx.var.cookie_sid)
    if not key then
        return problem(401, "unauthorized")
    end
    local redis = redis_open()
    if not redis then
        return problem(503, "busy")
    end
    local value, failure = ask(redis, "GET", key)
    if failure then
        return problem(503, "busy")
    end
    local user, nickname = session_read(value)
    if user then
        grab(redis, user, nickname)
    else
        problem(401, "unauthorized")
    end
    redis:setkeepalive(KEPT_MS, KEPT_COUNT)
end

return M
