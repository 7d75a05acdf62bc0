-- The first element of every script reply. The same as enum live_code in app/live/live.h (a tidy test compares).
local LIVE_BAD = 0
local LIVE_MISSING = 1
local LIVE_GRABBED = 2
local LIVE_ALREADY = 3
local LIVE_NOT_FOR_YOU = 4
local LIVE_EMPTY = 5
local LIVE_EXPIRED = 6
local LIVE_BUSY = 7
local LIVE_LOADED = 8
local LIVE_EXISTS = 9
local LIVE_CLOSED = 10
local LIVE_NOT_YET = 11
local LIVE_FINISHED = 12
local LIVE_VIEW = 13
local LIVE_WRONG_PHRASE = 14
local LIVE_TRIED_OUT = 15
