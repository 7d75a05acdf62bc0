#include "site/redis_memory.h"

#include <inttypes.h>

#include "base/log.h"
#include "redis/cluster.h"
#include "redis/reply.h"

enum { LOOK_MS = 10 * 1000, TELL_MS = 60 * 1000, HIGH_PERCENT = 75, FULL_PERCENT = 95, PERCENT = 100 };

static bool number_after(struct str info, struct str mark, int64_t *out)
{
    struct str rest;
    return str_to_i64(str_trim(str_cut(str_after(info, mark), '\n', &rest)), out) && *out >= 0;
}

bool redis_memory_parse(struct str info, struct redis_memory *out)
{
    return number_after(info, STR("\nused_memory:"), &out->used_bytes) &&
           number_after(info, STR("\nmaxmemory:"), &out->max_bytes);
}

enum redis_memory_state redis_memory_state(const struct redis_memory *m)
{
    if (m->max_bytes == 0)
        return REDIS_MEMORY_NO_LIMIT;
    int64_t percent = m->used_bytes / (m->max_bytes / PERCENT + 1);
    return percent >= FULL_PERCENT   ? REDIS_MEMORY_FULL
           : percent >= HIGH_PERCENT ? REDIS_MEMORY_HIGH
                                     : REDIS_MEMORY_FINE;
}

bool redis_memory_is_tighter(const struct redis_memory *m, const struct redis_memory *than)
{
    enum redis_memory_state a = redis_memory_state(m), b = redis_memory_state(than);
    return a != b ? a > b : m->max_bytes - m->used_bytes < than->max_bytes - than->used_bytes;
}

enum status redis_memory_read(struct redis *r, struct redis_memory *out)
{
    const struct str args[] = { STR("INFO"), STR("memory") };
    size_t count = redis_primaries(r);
    enum status st = count == 0 ? ST_UNAVAILABLE : ST_OK;
    for (size_t i = 0; st == ST_OK && i < count; i++) {
        struct redis_call call;
        struct redis_memory one = { .primary = i };
        st = redis_do_at(r, &call, i, args, 2);
        if (st == ST_OK && !redis_memory_parse(redis_reply_str(call.reply), &one))
            st = ST_CORRUPT;
        if (st == ST_OK && (i == 0 || redis_memory_is_tighter(&one, out)))
            *out = one;
        redis_call_free(&call);
    }
    return st;
}

static void state_log(const struct redis_memory *m, enum redis_memory_state state)
{
    switch (state) {
    case REDIS_MEMORY_FINE:
        log_info("redis memory is fine", "used_bytes=%" PRId64 " max_bytes=%" PRId64, m->used_bytes, m->max_bytes);
        break;
    case REDIS_MEMORY_NO_LIMIT: log_warn("redis has no maxmemory", "used_bytes=%" PRId64, m->used_bytes); break;
    case REDIS_MEMORY_HIGH:
        log_warn("redis memory is filling up", "used_bytes=%" PRId64 " max_bytes=%" PRId64, m->used_bytes,
                 m->max_bytes);
        break;
    case REDIS_MEMORY_FULL:
        log_error("redis memory is full", "used_bytes=%" PRId64 " max_bytes=%" PRId64, m->used_bytes, m->max_bytes);
    }
}

void redis_memory_watch(struct redis_memory_watch *w, struct redis *r, int64_t monotonic_ms)
{
    struct redis_memory m;
    if (monotonic_ms < w->due_ms || redis_memory_read(r, &m) != ST_OK)
        return;
    enum redis_memory_state state = redis_memory_state(&m);
    if (state != w->state || (state >= REDIS_MEMORY_HIGH && monotonic_ms - w->told_ms >= TELL_MS)) {
        state_log(&m, state);
        w->told_ms = monotonic_ms;
    }
    w->state = state;
    w->due_ms = monotonic_ms + LOOK_MS;
}
