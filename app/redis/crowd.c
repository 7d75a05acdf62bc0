/* The command of a crowd:
 *
 *   FCALL name key-count keys… shared arguments… first own argument of each call… second own argument of each… */
#include "redis/crowd.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"
#include "io/metrics.h"
#include "redis/function.h"
#include "redis/redis_internal.h"

enum { CROWDS_FIRST = 16 };

struct redis_crowd {
    const struct redis_function *function;
    int fence;
    struct buf args;                     /* encoded, without the head "*N" and the own arguments */
    struct buf own[REDIS_CROWD_OWN_MAX]; /* the first, second … own argument of every caller, encoded */
    size_t own_count, arg_count;
    size_t key_at, key_len; /* place of the first key in args */
    struct redis_call call; /* of the FCALL */
    struct redis_call *callers[REDIS_CROWD_MAX];
    size_t caller_count;
};

static size_t args_bytes(const struct str *args, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += args[i].len + REDIS_ARG_HEAD_MAX;
    return bytes;
}

static bool bytes_reserve(struct buf *b, size_t bytes)
{
    if (buf_reserve(b, bytes))
        return true;
    b->failed = false; /* what was written before is intact */
    return false;
}

/* Appends arguments to c->args, and returns the place of the first one. The caller has reserved the bytes. */
static size_t args_append(struct redis_crowd *c, const struct str *args, size_t count)
{
    size_t first = 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = redis_write_arg(&c->args, args[i]);
        first = i == 0 ? at : first;
    }
    c->arg_count += count;
    return first;
}

static struct redis_crowd *crowd_find(struct redis *r, const struct redis_crowd_call *q)
{
    for (size_t i = 0; i < r->crowd_count; i++) {
        struct redis_crowd *c = &r->crowds[i];
        struct str key = { c->args.ptr + c->key_at, c->key_len };
        if (c->function == q->function && c->fence == q->fence && c->caller_count < REDIS_CROWD_MAX &&
            str_equal(key, q->keys[0]))
            return c;
    }
    return NULL;
}

/* The next unused crowd; its buffers are kept from an earlier round. NULL: no memory. */
static struct redis_crowd *crowd_take(struct redis *r)
{
    if (r->crowd_count == r->crowd_cap) {
        size_t cap = r->crowd_cap == 0 ? CROWDS_FIRST : 2 * r->crowd_cap;
        struct redis_crowd *grown = realloc(r->crowds, cap * sizeof *grown);
        if (grown == NULL)
            return NULL;
        for (; r->crowd_cap < cap; r->crowd_cap++) {
            struct redis_crowd *c = &grown[r->crowd_cap];
            *c = (struct redis_crowd){ .args = { .limit = REDIS_QUEUE_BYTES_MAX } };
            for (size_t k = 0; k < REDIS_CROWD_OWN_MAX; k++)
                c->own[k].limit = REDIS_QUEUE_BYTES_MAX;
        }
        r->crowds = grown;
    }
    return &r->crowds[r->crowd_count];
}

static struct redis_crowd *crowd_begin(struct redis *r, const struct redis_crowd_call *q)
{
    struct redis_crowd *c = crowd_take(r);
    char key_count[STR_U64_MAX];
    const struct str head[3] = { STR("FCALL"), redis_function_name(q->function), str_u64(key_count, q->key_count) };
    if (c == NULL)
        return NULL;
    buf_reset(&c->args);
    if (!bytes_reserve(&c->args, args_bytes(head, ARRAY_LEN(head)) + args_bytes(q->keys, q->key_count) +
                                     args_bytes(q->shared, q->shared_count)))
        return NULL;
    c->function = q->function;
    c->fence = q->fence;
    c->own_count = q->own_count;
    c->arg_count = c->caller_count = 0;
    c->call = (struct redis_call){ .status = ST_NO_MEMORY };
    (void)args_append(c, head, ARRAY_LEN(head));
    c->key_at = args_append(c, q->keys, q->key_count);
    c->key_len = q->keys[0].len;
    (void)args_append(c, q->shared, q->shared_count);
    r->crowd_count++;
    return c;
}

static bool own_append(struct redis_crowd *c, const struct str *own)
{
    for (size_t k = 0; k < c->own_count; k++)
        if (!bytes_reserve(&c->own[k], args_bytes(&own[k], 1)))
            return false;
    for (size_t k = 0; k < c->own_count; k++)
        (void)redis_write_arg(&c->own[k], own[k]);
    c->arg_count += c->own_count;
    return true;
}

void redis_queue_crowd(struct redis *r, struct redis_call *call, const struct redis_crowd_call *q)
{
    assert(q->key_count > 0 && q->key_count == redis_function_key_count(q->function));
    assert(q->own_count <= REDIS_CROWD_OWN_MAX);
    struct redis_crowd *c = crowd_find(r, q);
    *call = (struct redis_call){ .status = ST_NO_MEMORY };
    if (c == NULL)
        c = crowd_begin(r, q);
    if (c == NULL)
        return;
    assert(c->own_count == q->own_count);
    if (!own_append(c, q->own))
        return;
    c->callers[c->caller_count++] = call;
    call->status = ST_UNKNOWN;
}

static void crowd_queue(struct redis *r, struct redis_crowd *c)
{
    size_t bytes = c->args.len + REDIS_ARG_HEAD_MAX;
    for (size_t k = 0; k < c->own_count; k++)
        bytes += c->own[k].len;
    struct pending *p = redis_pending_add(r, &c->call, bytes, c->arg_count);
    if (p == NULL)
        return;
    p->fence = c->fence;
    p->confirm = c->fence != REDIS_ANY;
    buf_str(&r->out, buf_view(&c->args));
    for (size_t k = 0; k < c->own_count; k++)
        buf_str(&r->out, buf_view(&c->own[k]));
    p->end = r->out.len;
    assert(!r->out.failed && p->end - p->start <= bytes);
}

void redis_crowds_queue(struct redis *r)
{
    for (size_t i = 0; i < r->crowd_count; i++)
        if (r->crowds[i].caller_count > 0)
            crowd_queue(r, &r->crowds[i]);
}

/* Gives each caller its element of the reply. A reply of another form goes to the first caller, which logs it. */
static void crowd_answer(struct redis_crowd *c)
{
    redisReply *reply = c->call.reply;
    bool fits = c->call.status == ST_OK && reply != NULL && reply->type == REDIS_REPLY_ARRAY &&
                reply->elements == c->caller_count;
    for (size_t i = 0; i < c->caller_count; i++) {
        *c->callers[i] = (struct redis_call){ .status = c->call.status, .confirmed = c->call.confirmed };
        if (!fits)
            continue;
        c->callers[i]->reply = reply->element[i];
        reply->element[i] = NULL;
    }
    if (!fits && c->caller_count > 0) {
        c->callers[0]->reply = reply;
        c->call.reply = NULL;
    }
    redis_call_free(&c->call);
    if (c->caller_count > 0)
        metrics_observe(HISTOGRAM_CROWD, (int64_t)c->caller_count);
    c->caller_count = 0;
    for (size_t k = 0; k < c->own_count; k++)
        buf_reset(&c->own[k]);
}

void redis_crowds_answer(struct redis *r)
{
    for (size_t i = 0; i < r->crowd_count; i++)
        crowd_answer(&r->crowds[i]);
    r->crowd_count = 0;
}

void redis_crowds_free(struct redis *r)
{
    for (size_t i = 0; i < r->crowd_count; i++)
        for (size_t k = 0; k < r->crowds[i].caller_count; k++)
            r->crowds[i].callers[k]->status = ST_UNAVAILABLE;
    for (size_t i = 0; i < r->crowd_cap; i++) {
        buf_free(&r->crowds[i].args);
        for (size_t k = 0; k < REDIS_CROWD_OWN_MAX; k++)
            buf_free(&r->crowds[i].own[k]);
    }
    free(r->crowds);
}
