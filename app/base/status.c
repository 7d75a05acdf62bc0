#include "base/status.h"

const char *status_name(enum status st)
{
    switch (st) {
    case ST_OK: return "ok";
    case ST_INVALID: return "invalid";
    case ST_NOT_FOUND: return "not-found";
    case ST_EXISTS: return "exists";
    case ST_CONFLICT: return "conflict";
    case ST_UNAVAILABLE: return "unavailable";
    case ST_UNKNOWN: return "unknown";
    case ST_DENIED: return "denied";
    case ST_LIMITED: return "limited";
    case ST_NO_MEMORY: return "no-memory";
    case ST_CORRUPT: return "corrupt";
    case ST_COUNT: break;
    }
    return "no-such-status";
}

enum status status_idempotent(enum status st)
{
    return st == ST_UNKNOWN ? ST_UNAVAILABLE : st;
}

enum status status_retry(enum status st)
{
    return st == ST_CONFLICT ? ST_UNAVAILABLE : status_idempotent(st);
}
