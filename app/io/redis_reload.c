/* A Redis that was restarted, or had its scripts flushed, knows none of them: they are loaded when it says so. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "io/redis_internal.h"

static bool call_lacks_script(const struct pending *p)
{
    const redisReply *reply = p->call->reply;
    return p->script != NULL && reply != NULL && reply->type == REDIS_REPLY_ERROR &&
           strncmp(reply->str, "NOSCRIPT", strlen("NOSCRIPT")) == 0;
}

/* Loads each script that the list names, once, and learns what Redis calls it. False: not all could be sent. */
static bool scripts_load(struct redis *r, const struct pending *list, size_t count, int64_t deadline_ms)
{
    struct pending loads[REDIS_SCRIPTS_MAX];
    struct redis_call calls[REDIS_SCRIPTS_MAX] = { 0 };
    struct buf out = { .limit = REDIS_QUEUE_BYTES_MAX };
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        bool seen = false;
        for (size_t k = 0; k < n; k++)
            seen = seen || loads[k].script == list[i].script;
        if (seen)
            continue;
        assert(n < REDIS_SCRIPTS_MAX);
        const struct str load[] = { STR("SCRIPT"), STR("LOAD"), redis_script_text(list[i].script) };
        redis_command_append(&out, &loads[n], &calls[n], load, 3);
        loads[n++].script = list[i].script;
    }
    bool ok = !out.failed && redis_transfer(r, buf_view(&out), loads, n, deadline_ms);
    for (size_t k = 0; k < n; k++) {
        redis_script_learn(loads[k].script, redis_reply_str(calls[k].reply));
        redis_call_free(&calls[k]);
    }
    buf_free(&out);
    return ok;
}

/* An EVALSHA of the queue once more, with the name its script has by now. */
static void evalsha_append(struct buf *out, struct pending *p, const struct buf *queue)
{
    struct str hash = redis_script_hash(p->script);
    struct str command = { queue->ptr + p->start, p->end - p->start };
    assert(p->hash_at > 0 && p->hash_at + hash.len < command.len);
    p->start = out->len;
    buf_bytes(out, command.ptr, p->hash_at);
    buf_str(out, hash);
    buf_bytes(out, command.ptr + p->hash_at + hash.len, command.len - p->hash_at - hash.len);
    p->end = out->len;
}

void redis_scripts_reload(struct redis *r, int64_t deadline_ms)
{
    size_t lacking = 0;
    for (size_t i = 0; i < r->count; i++)
        lacking += call_lacks_script(&r->pending[i]);
    struct pending *again = lacking == 0 ? NULL : calloc(lacking, sizeof *again);
    if (again == NULL)
        return;
    for (size_t i = 0, n = 0; i < r->count; i++)
        if (call_lacks_script(&r->pending[i]))
            again[n++] = r->pending[i];
    struct buf out = { .limit = REDIS_QUEUE_BYTES_MAX };
    bool loaded = scripts_load(r, again, lacking, deadline_ms);
    for (size_t i = 0; i < lacking; i++)
        evalsha_append(&out, &again[i], &r->out);
    if (loaded && !out.failed) {
        for (size_t i = 0; i < lacking; i++)
            redis_call_free(again[i].call);
        (void)redis_transfer(r, buf_view(&out), again, lacking, deadline_ms);
    }
    buf_free(&out);
    free(again);
}
