-- The load. wrk -s wrk.lua URL -- KIND THREADS COOKIES PATHS ACCEPT CONNECTION DELAY_MS CONNECTIONS ANSWERS; the files
-- COOKIES and PATHS have one item a line.
--   every   each path with each cookie once; after that, requests that the server answers with an error
--   cycle   request n has cookie n and path n, and begins again after the last one
--   once    the same, from the first cookie to the last; the load ends with the last answer. One thread
-- A path that begins with `POST ` is posted without fields; `POST PATH BODY` with these fields, in which {n} becomes a
-- number unique in the run.
local kind, threads, cookies, items, next_request
local NUMBER = "%02d%010d"
local IDLE_MS, SIGINT = 3600 * 1000, 2
local ffi = require("ffi")
ffi.cdef("typedef struct { long s, us; } timeval; int gettimeofday(timeval *, void *);")
ffi.cdef("int getpid(void); int kill(int, int);")
local HEAD = "Host: 127.0.0.1\r\nConnection: %s\r\nAccept: %s\r\nCookie: "

local created = 0
local first_thread
function setup(thread)
    first_thread = first_thread or thread
    thread:set("id", created)
    created = created + 1
end

local function now_us()
    local time = ffi.new("timeval")
    ffi.C.gettimeofday(time, nil)
    return tonumber(time.s) * 1e6 + tonumber(time.us)
end

-- wrk asks for the delay before each request. After the last request each connection waits; when all do, every answer
-- is here, and wrk gets the signal to end. took_us: the time until then.
local function delay_of_once(count, connections)
    local asked, started_us = 0, nil
    return function()
        started_us = started_us or now_us()
        asked = asked + 1
        if asked <= count then
            return 0
        end
        if asked == count + connections then
            took_us = now_us() - started_us
            ffi.C.kill(ffi.C.getpid(), SIGINT)
        end
        return IDLE_MS
    end
end

local function lines(file)
    local list = {}
    for line in io.lines(file) do
        list[#list + 1] = line
    end
    return list
end

-- The request before and after the cookie.
local function item(line, accept, connection)
    local path, body = line:match("^POST (%S+) ?(.*)$")
    local head = (path and "POST " or "GET ") .. (path or line) .. " HTTP/1.1\r\n" .. HEAD:format(connection, accept)
    if not path then
        return { head, "\r\n\r\n" }
    end
    local type_line = body ~= "" and "\r\nContent-Type: application/x-www-form-urlencoded" or ""
    local length = #body:gsub("{n}", NUMBER:format(0, 0))
    return { head, type_line .. "\r\nContent-Length: " .. length .. "\r\n\r\n" .. body, body:find("{n}", 1, true) }
end

function init(args)
    kind, threads = args[1], tonumber(args[2])
    cookies, items = {}, {}
    for _, line in ipairs(lines(args[4])) do
        items[#items + 1] = item(line, args[5], args[6])
    end
    -- Each thread has a part of the cookies.
    for i, line in ipairs(lines(args[3])) do
        if kind ~= "every" or i % threads == id then
            cookies[#cookies + 1] = line
        end
    end
    -- wrk calls this function, if it exists, before each request and waits as many ms; the average is DELAY_MS.
    local delay_ms = tonumber(args[7])
    if delay_ms > 0 then
        delay = function() return math.random(0, 2 * delay_ms) end
    end
    next_request = kind == "every" and 0 or id * 7919
    if kind == "once" then
        next_request = -1 -- wrk tries request() before the load
        delay = delay_of_once(#cookies, tonumber(args[8]))
    end
    if args[9] ~= "" then
        local answers = io.open(args[9], "w")
        response = function(_, _, body) answers:write(body, "\n") end
    end
end

function request()
    local n = next_request
    next_request = n + 1
    if kind == "every" then
        local one = items[math.floor(n / #cookies) + 1]
        if not one then
            return "GET /exhausted HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        end
        return one[1] .. cookies[n % #cookies + 1] .. one[2]
    end
    local one = items[n % #items + 1]
    local tail = one[2]
    if one[3] then
        tail = tail:gsub("{n}", NUMBER:format(id, n))
    end
    return one[1] .. cookies[n % #cookies + 1] .. tail
end

function done(summary, latency)
    local e = summary.errors
    local us = first_thread:get("took_us") or summary.duration
    io.write(("\nRESULT {\"requests\":%d,\"us\":%d,\"bytes\":%d,\"p50\":%d,\"p99\":%d,\"p999\":%d,\"max\":%d,"
        .. "\"connect\":%d,\"read\":%d,\"write\":%d,\"status\":%d,\"timeout\":%d}\n"):format(summary.requests,
        us, summary.bytes, latency:percentile(50), latency:percentile(99), latency:percentile(99.9),
        latency.max, e.connect, e.read, e.write, e.status, e.timeout))
end
