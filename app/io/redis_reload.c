/* After a restart or SCRIPT FLUSH the server has no scripts. They are loaded when it replies NOSCRIPT. */
#include <assert.h>
#include <stdlib.h>

#include "io/redis_internal.h"
#include "io/redis_reply.h"
#include "io/redis_script.h"

static bool call_needs_script(const struct pending *p)
{
    const redisReply *reply = p->call->reply;
    return p->script != NULL && reply != NULL && reply->type == REDIS_REPLY_ERROR &&
           str_starts((struct str){ reply->str, reply->len }, STR("NOSCRIPT"));
}

/* Loads each script of the list once and stores its hash. False: the transfer failed. */
static bool scripts_load(struct redis_node *node, const struct pending *list, size_t count, int64_t deadline_ms)
{
    struct pending loads[REDIS_SCRIPTS_MAX];
    struct redis_call calls[REDIS_SCRIPTS_MAX] = { 0 };
    struct buf out = { .limit = REDIS_QUEUE_BYTES_MAX };
    size_t len = 0;
    for (size_t i = 0; i < count; i++) {
        bool seen = false;
        for (size_t k = 0; k < len; k++)
            seen = seen || loads[k].script == list[i].script;
        if (seen)
            continue;
        assert(len < REDIS_SCRIPTS_MAX);
        const struct str load[] = { STR("SCRIPT"), STR("LOAD"), redis_script_text(list[i].script) };
        redis_command_append(&out, &loads[len], &calls[len], load, 3);
        loads[len++].script = list[i].script;
    }
    bool ok = !out.failed && redis_transfer_one(node, buf_view(&out), loads, len, deadline_ms);
    for (size_t k = 0; k < len; k++) {
        redis_script_hash_set(loads[k].script, redis_reply_str(calls[k].reply));
        redis_call_free(&calls[k]);
    }
    buf_free(&out);
    return ok;
}

/* Copies an EVALSHA, with the current hash of its script. p: its place in sent, replaced by that in out. */
static void evalsha_append(struct buf *out, struct pending *p, struct str sent)
{
    struct str hash = redis_script_hash(p->script);
    struct str command = { sent.ptr + p->start, p->end - p->start };
    assert(p->hash_offset > 0 && p->hash_offset + hash.len < command.len);
    p->start = out->len;
    buf_bytes(out, command.ptr, p->hash_offset);
    buf_str(out, hash);
    buf_bytes(out, command.ptr + p->hash_offset + hash.len, command.len - p->hash_offset - hash.len);
    p->end = out->len;
}

void redis_scripts_reload(const struct redis *r, const struct redis_flight *f, int64_t deadline_ms)
{
    const size_t first = f->asks; /* an ASKING, the calls, a WAIT */
    size_t end = first;
    for (size_t i = 0; i < f->count; i++)
        end += call_needs_script(&f->list[i]);
    struct pending *retries = end == first ? NULL : calloc(end + 1, sizeof *retries);
    if (retries == NULL)
        return;
    for (size_t i = 0, len = first; i < f->count; i++)
        if (call_needs_script(&f->list[i]))
            retries[len++] = f->list[i];
    struct buf out = { .limit = REDIS_QUEUE_BYTES_MAX };
    struct redis_call asking = { 0 };
    bool loaded = scripts_load(f->node, retries + first, end - first, deadline_ms);
    if (f->asks)
        redis_command_append(&out, &retries[0], &asking, &STR("ASKING"), 1);
    for (size_t i = first; i < end; i++)
        evalsha_append(&out, &retries[i], f->bytes);
    if (loaded && f->node->waits)
        redis_wait_append(r, f->node, &out, &retries[end]);
    if (loaded && !out.failed) {
        for (size_t i = first; i < end; i++)
            redis_call_free(retries[i].call);
        (void)redis_transfer_one(f->node, buf_view(&out), retries, end + f->node->waits, deadline_ms);
    }
    redis_call_free(&asking);
    buf_free(&out);
    free(retries);
}
