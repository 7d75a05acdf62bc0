#include "site/redis_state.h"

#include <inttypes.h>

#include "redis/cluster.h"
#include "redis/reply.h"

/* The value of a line "\nname:value\r\n"; STR_NONE: there is no such line. */
static struct str line_value(struct str info, struct str mark)
{
    struct str rest, after = str_after(info, mark);
    return after.ptr == NULL ? STR_NONE : str_trim(str_cut(after, '\n', &rest));
}

bool redis_state_parse(struct str info, struct redis_state *out)
{
    struct str policy = line_value(info, STR("\nmaxmemory_policy:"));
    struct str aof = line_value(info, STR("\naof_enabled:"));
    struct str write = line_value(info, STR("\naof_last_write_status:"));
    struct str rewrite = line_value(info, STR("\naof_last_bgrewrite_status:"));
    *out = (struct redis_state){ .evicts = !str_equal(policy, STR("noeviction")),
                                 .aof = str_equal(aof, STR("1")),
                                 .write_ok = str_equal(write, STR("ok")),
                                 .rewrite_ok = str_equal(rewrite, STR("ok")) };
    if (!str_to_i64(line_value(info, STR("\naof_current_size:")), &out->aof_bytes))
        out->aof_bytes = 0; /* Redis has this line only with appendonly on */
    return policy.ptr != NULL && aof.ptr != NULL && write.ptr != NULL && rewrite.ptr != NULL &&
           str_to_i64(line_value(info, STR("\nuptime_in_seconds:")), &out->start_s) &&
           redis_memory_parse(info, &out->memory);
}

/* Combines the states of several servers: the worst counts. */
static void state_add(struct redis_state *all, const struct redis_state *one)
{
    all->evicts = all->evicts || one->evicts;
    all->aof = all->aof && one->aof;
    all->write_ok = all->write_ok && one->write_ok;
    all->rewrite_ok = all->rewrite_ok && one->rewrite_ok;
    all->aof_bytes += one->aof_bytes;
    all->start_s = one->start_s < all->start_s ? one->start_s : all->start_s;
    if (redis_memory_is_tighter(&one->memory, &all->memory))
        all->memory = one->memory;
}

enum status redis_state_read(struct redis *r, struct redis_state *out)
{
    const struct str args[] = { STR("INFO") };
    size_t count = redis_primaries(r);
    size_t answered = 0;
    enum status failed = ST_UNAVAILABLE;
    for (size_t i = 0; i < count; i++) {
        struct redis_call call;
        struct redis_state one;
        enum status st = status_idempotent(redis_do_at(r, &call, i, args, 1));
        if (st == ST_OK && !redis_state_parse(redis_reply_str(call.reply), &one))
            st = ST_CORRUPT;
        if (st == ST_OK && answered++ > 0)
            state_add(out, &one);
        else if (st == ST_OK)
            *out = one;
        else
            failed = st;
        redis_call_free(&call);
        if (st == ST_CORRUPT)
            return st;
    }
    return answered > 0 ? ST_OK : failed;
}

static void gauge_print(struct buf *out, const char *name, const char *help, int64_t value)
{
    buf_printf(out, "# HELP hongbao_redis_%s %s\n# TYPE hongbao_redis_%s gauge\nhongbao_redis_%s %" PRId64 "\n", name,
               help, name, name, value);
}

void redis_state_print(const struct redis_state *s, struct buf *out)
{
    gauge_print(out, "memory_used_bytes", "Memory that Redis uses.", s->memory.used_bytes);
    gauge_print(out, "memory_max_bytes", "Redis refuses writes beyond this; 0: no limit is set.", s->memory.max_bytes);
    gauge_print(out, "evicts", "1: Redis removes keys when its memory is full, so packets get lost.", s->evicts);
    gauge_print(out, "aof_enabled", "1: Redis writes what it acknowledges to its append-only file.", s->aof);
    gauge_print(out, "aof_write_ok", "1: the last write to this file, with its fsync, succeeded.", s->write_ok);
    gauge_print(out, "aof_rewrite_ok", "1: the last rewrite of this file succeeded.", s->rewrite_ok);
    gauge_print(out, "aof_size_bytes", "Size of this file.", s->aof_bytes);
    gauge_print(out, "uptime_seconds", "Time since Redis started.", s->start_s);
}
