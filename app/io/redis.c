/* The queue and the rounds. A command is encoded into the output buffer when it is queued. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/security_event.h"
#include "io/redis_internal.h"
#include "io/redis_reply.h"
#include "io/redis_script.h"

enum {
    QUEUE_BYTES_KEPT = 1 << 20, /* a larger buffer is freed after the round */
    PENDING_CAP_FIRST = 64,
    HASH_ARG = 1 /* index in EVALSHA HASH KEYS … */
};

struct redis *redis_new(const struct config *config)
{
    struct redis *r = calloc(1, sizeof *r);
    if (r == NULL)
        return NULL;
    r->config = config;
    r->out.limit = REDIS_QUEUE_BYTES_MAX;
    return r;
}

void redis_free(struct redis *r)
{
    if (r == NULL)
        return;
    for (size_t i = 0; i < r->count; i++)
        r->pending[i].call->status = ST_UNAVAILABLE;
    redis_crowds_free(r);
    redis_close(r);
    redis_call_free(&r->fence_reply);
    buf_free(&r->out);
    free(r->pending);
    free(r);
}

/* ---- queueing ---- */

static bool pending_reserve(struct redis *r)
{
    if (r->count < r->cap)
        return true;
    size_t cap = r->cap == 0 ? PENDING_CAP_FIRST : r->cap * 2;
    struct pending *grown = r->count == REDIS_QUEUE_MAX ? NULL : realloc(r->pending, cap * sizeof *grown);
    if (grown == NULL)
        return false;
    r->pending = grown;
    r->cap = cap;
    return true;
}

struct pending *redis_pending_add(struct redis *r, struct redis_call *call, size_t bytes, size_t args)
{
    *call = (struct redis_call){ .status = ST_NO_MEMORY };
    if (args > REDIS_ARGS_MAX || !pending_reserve(r))
        return NULL;
    if (!buf_reserve(&r->out, bytes)) {
        r->out.failed = false; /* the commands queued before are intact */
        return NULL;
    }
    struct pending *p = &r->pending[r->count++];
    *p = (struct pending){ .call = call, .target = REDIS_ANY, .start = r->out.len };
    redis_write_head(&r->out, args);
    call->status = ST_UNKNOWN;
    return p;
}

/* Queues one command whose arguments are in three lists (for a script: head, keys, args). */
static void command_queue(struct redis *r, struct redis_call *call, struct redis_script *script,
                          enum redis_target target, const struct str *const lists[3], const size_t counts[3])
{
    size_t args = 0, bytes = REDIS_ARG_HEAD_MAX;
    for (size_t l = 0; l < 3; l++) {
        args += counts[l];
        for (size_t i = 0; i < counts[l]; i++)
            bytes += lists[l][i].len + REDIS_ARG_HEAD_MAX;
    }
    struct pending *p = redis_pending_add(r, call, bytes, args);
    if (p == NULL)
        return;
    p->script = script;
    p->target = target;
    for (size_t l = 0; l < 3; l++)
        for (size_t i = 0; i < counts[l]; i++) {
            size_t at = redis_write_arg(&r->out, lists[l][i]);
            if (script != NULL && l == 0 && i == HASH_ARG)
                p->hash_offset = at - p->start;
        }
    p->end = r->out.len;
    assert(!r->out.failed && p->end - p->start <= bytes);
}

void redis_queue(struct redis *r, struct redis_call *call, const struct str *args, size_t count)
{
    assert(count > 0);
    const struct str *lists[3] = { args, NULL, NULL };
    const size_t counts[3] = { count, 0, 0 };
    command_queue(r, call, NULL, REDIS_ANY, lists, counts);
}

void redis_queue_script(struct redis *r, struct redis_call *call, struct redis_script *script, enum redis_target target,
                        const struct str *keys, size_t key_count, const struct str *args, size_t arg_count)
{
    assert(key_count == redis_script_key_count(script));
    char key_count_text[STR_U64_MAX];
    const struct str head[3] = { STR("EVALSHA"), redis_script_hash(script), str_u64(key_count_text, key_count) };
    const struct str *lists[3] = { head, keys, args };
    const size_t counts[3] = { 3, key_count, arg_count };
    command_queue(r, call, script, target, lists, counts);
}

bool redis_queued(const struct redis *r)
{
    return r->count > 0 || r->crowd_count > 0;
}

/* ---- rounds ---- */

/* Removes the fenced commands from the queue: ST_UNAVAILABLE. The first one of a connection is logged. */
static void fenced_drop(struct redis *r)
{
    size_t kept = 0, len = 0;
    for (size_t i = 0; i < r->count; i++) {
        struct pending p = r->pending[i];
        size_t bytes = p.end - p.start;
        if (p.target == REDIS_FENCED) {
            p.call->status = ST_UNAVAILABLE;
            if (!r->fence_refusal_logged)
                security_event_log(SECURITY_FENCE_REFUSED, "store=redis");
            r->fence_refusal_logged = true;
            continue;
        }
        memmove(r->out.ptr + len, r->out.ptr + p.start, bytes);
        p.start = len;
        p.end = len += bytes;
        r->pending[kept++] = p;
    }
    r->count = kept;
    r->out.len = len;
}

/* While the fence is shut: drops the fenced commands and adds a read of the key to the round. */
static void fence_queue(struct redis *r)
{
    const struct str get[] = { STR("GET"), r->fence_key };
    fenced_drop(r);
    if (r->fence_key.len > 0)
        redis_queue(r, &r->fence_reply, get, 2);
}

static void fence_read(struct redis *r)
{
    struct str text = redis_reply_str(r->fence_reply.reply);
    r->fence_open = r->fence_reply.status == ST_OK && r->run_id[0] != '\0' && str_equal(text, redis_fence_text(r));
    redis_call_free(&r->fence_reply);
    r->fence_reply.status = ST_UNAVAILABLE;
}

void redis_round(struct redis *r)
{
    if (!redis_queued(r))
        return;
    redis_crowds_queue(r);
    if (r->count == 0) { /* no memory for any crowd */
        redis_crowds_answer(r);
        return;
    }
    int64_t deadline_ms = clock_monotonic_ms() + r->config->redis_timeout_ms;
    bool ready = redis_connection_ensure(r, deadline_ms), check_fence = ready && !r->fence_open;
    if (check_fence)
        fence_queue(r);
    if (!ready) {
        for (size_t i = 0; i < r->count; i++)
            r->pending[i].call->status = ST_UNAVAILABLE;
    } else if (redis_transfer(r, buf_view(&r->out), r->pending, r->count, deadline_ms)) {
        redis_scripts_reload(r, deadline_ms);
        r->last_used_ms = clock_monotonic_ms();
    }
    if (check_fence)
        fence_read(r);
    redis_crowds_answer(r);
    r->count = 0;
    if (r->out.cap > QUEUE_BYTES_KEPT)
        buf_free(&r->out);
    else
        buf_reset(&r->out);
}

void redis_fence_set(struct redis *r, struct str key, int64_t number)
{
    r->fence_key = key;
    r->fence_number = number;
    r->fence_open = false;
    redis_fence_write(r);
}

bool redis_fence_is_open(const struct redis *r)
{
    return r->fence_open;
}

struct str redis_fence_text(const struct redis *r)
{
    return str_from(r->fence_text);
}

uint64_t redis_connection(const struct redis *r)
{
    return r->context == NULL ? 0 : r->connection;
}

enum status redis_do(struct redis *r, struct redis_call *call, const struct str *args, size_t count)
{
    redis_queue(r, call, args, count);
    redis_round(r);
    return call->status;
}

enum status redis_ping(struct redis *r)
{
    struct redis_call call;
    enum status st = redis_do(r, &call, &STR("PING"), 1);
    redis_call_free(&call);
    return st;
}

enum status redis_do_script(struct redis *r, struct redis_call *call, struct redis_script *script,
                            const struct str *keys, size_t key_count, const struct str *args, size_t arg_count)
{
    redis_queue_script(r, call, script, REDIS_ANY, keys, key_count, args, arg_count);
    redis_round(r);
    return call->status;
}

void redis_call_free(struct redis_call *call)
{
    if (call->reply != NULL)
        freeReplyObject(call->reply);
    call->reply = NULL;
}
