-- The load. wrk -s wrk.lua URL -- KIND THREADS COOKIES PATHS ACCEPT CONNECTION DELAY_MS; both files: one item a line.
--   every   each path with each cookie once; after that, requests that the server answers with an error
--   cycle   request n has cookie n and path n, and begins again after the last one
-- A path that begins with `POST ` is posted without fields; `POST PATH BODY` with these fields, in which {n} becomes a
-- number unique in the run.
local kind, threads, cookies, items, next_request
local NUMBER = "%02d%010d"
local HEAD = "Host: 127.0.0.1\r\nConnection: %s\r\nAccept: %s\r\nCookie: "

local created = 0
function setup(thread)
    thread:set("id", created)
    created = created + 1
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
    io.write(("\nRESULT {\"requests\":%d,\"us\":%d,\"bytes\":%d,\"p50\":%d,\"p99\":%d,\"p999\":%d,\"max\":%d,"
        .. "\"connect\":%d,\"read\":%d,\"write\":%d,\"status\":%d,\"timeout\":%d}\n"):format(summary.requests,
        summary.duration, summary.bytes, latency:percentile(50), latency:percentile(99), latency:percentile(99.9),
        latency.max, e.connect, e.read, e.write, e.status, e.timeout))
end
