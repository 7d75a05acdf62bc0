/* The command of a crowd:
 *
 *   EVALSHA hash key-count keys… shared arguments… own arguments of the first call, of the second … */
#include "io/redis_crowd.h"

#include <assert.h>
#include <stdlib.h>

#include "io/redis_internal.h"
#include "io/redis_script.h"

enum { ARG_HEAD_MAX = 32 };

struct redis_crowd {
    struct redis_script *script;
    enum redis_target target;
    struct buf args; /* the encoded arguments, without the head "*N" */
    size_t arg_count;
    size_t hash_at, key_at, key_len; /* places of the hash and of the first key in args */
    struct redis_call call;          /* of the EVALSHA */
    struct redis_call *callers[REDIS_CROWD_MAX];
    size_t caller_count;
};

static bool args_reserve(struct buf *b, const struct str *args, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += args[i].len + ARG_HEAD_MAX;
    if (buf_reserve(b, bytes))
        return true;
    b->failed = false; /* what was written before is intact */
    return false;
}

/* Appends arguments; returns the place of the first one. The caller has reserved the bytes. */
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
        if (c->script == q->script && c->target == q->target && c->caller_count < REDIS_CROWD_MAX &&
            str_equal(key, q->keys[0]))
            return c;
    }
    return NULL;
}

/* The next unused crowd; its buffer is kept from an earlier round. NULL: no memory. */
static struct redis_crowd *crowd_take(struct redis *r)
{
    if (r->crowd_count == r->crowd_cap) {
        size_t cap = r->crowd_cap == 0 ? 16 : 2 * r->crowd_cap;
        struct redis_crowd *grown = realloc(r->crowds, cap * sizeof *grown);
        if (grown == NULL)
            return NULL;
        for (size_t i = r->crowd_cap; i < cap; i++)
            grown[i] = (struct redis_crowd){ .args = { .limit = REDIS_QUEUE_BYTES_MAX } };
        r->crowds = grown;
        r->crowd_cap = cap;
    }
    return &r->crowds[r->crowd_count];
}

static struct redis_crowd *crowd_begin(struct redis *r, const struct redis_crowd_call *q)
{
    struct redis_crowd *c = crowd_take(r);
    char key_count[STR_U64_MAX];
    const struct str head[3] = { STR("EVALSHA"), redis_script_hash(q->script), str_u64(key_count, q->key_count) };
    if (c == NULL || !args_reserve(&c->args, head, 3))
        return NULL;
    c->script = q->script;
    c->target = q->target;
    c->arg_count = 0;
    c->caller_count = 0;
    c->call = (struct redis_call){ .status = ST_NO_MEMORY };
    (void)args_append(c, head, 1);
    c->hash_at = args_append(c, head + 1, 1);
    (void)args_append(c, head + 2, 1);
    if (!args_reserve(&c->args, q->keys, q->key_count)) {
        buf_reset(&c->args);
        return NULL;
    }
    c->key_at = args_append(c, q->keys, q->key_count);
    c->key_len = q->keys[0].len;
    if (!args_reserve(&c->args, q->shared, q->shared_count)) {
        buf_reset(&c->args);
        return NULL;
    }
    (void)args_append(c, q->shared, q->shared_count);
    r->crowd_count++;
    return c;
}

void redis_queue_crowd(struct redis *r, struct redis_call *call, const struct redis_crowd_call *q)
{
    assert(q->key_count > 0 && q->key_count == redis_script_key_count(q->script));
    struct redis_crowd *c = crowd_find(r, q);
    *call = (struct redis_call){ .status = ST_NO_MEMORY };
    if (c == NULL)
        c = crowd_begin(r, q);
    if (c == NULL || !args_reserve(&c->args, q->own, q->own_count))
        return;
    (void)args_append(c, q->own, q->own_count);
    c->callers[c->caller_count++] = call;
    call->status = ST_UNKNOWN;
}

void redis_crowds_queue(struct redis *r)
{
    for (size_t i = 0; i < r->crowd_count; i++) {
        struct redis_crowd *c = &r->crowds[i];
        struct pending *p =
            c->caller_count == 0 ? NULL : redis_pending_add(r, &c->call, c->args.len + ARG_HEAD_MAX, c->arg_count);
        if (p == NULL)
            continue;
        p->script = c->script;
        p->target = c->target;
        p->hash_offset = r->out.len - p->start + c->hash_at;
        buf_str(&r->out, buf_view(&c->args));
        p->end = r->out.len;
    }
}

/* Gives each caller its element of the reply. A reply of another form goes to the first caller, which logs it. */
static void crowd_answer(struct redis_crowd *c)
{
    redisReply *reply = c->call.reply;
    bool fits = c->call.status == ST_OK && reply != NULL && reply->type == REDIS_REPLY_ARRAY &&
                reply->elements == c->caller_count;
    for (size_t i = 0; i < c->caller_count; i++) {
        *c->callers[i] = (struct redis_call){ .status = c->call.status };
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
    c->caller_count = 0;
    buf_reset(&c->args);
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
    for (size_t i = 0; i < r->crowd_cap; i++)
        buf_free(&r->crowds[i].args);
    free(r->crowds);
}
