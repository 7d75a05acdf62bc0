#include "live/fence.h"

#include "base/array.h"
#include "live/keys.h"
#include "live/live_internal.h"
#include "redis/reply.h"

_Static_assert(LIVE_KEY_MAX <= REDIS_FENCE_KEY_MAX, "room for the key of a fence");

void live_fences_set(struct redis *redis, const struct config *config)
{
    redis_fences_set(redis, live_fence_key, (uint32_t)config->partitions);
}

enum status live_fence_open(const struct live *live, uint32_t partition, struct str text)
{
    char key[LIVE_KEY_MAX];
    enum live_code code;
    return live_key_set(live, live->fence, "fence", live_fence_key(key, partition), text, &code);
}

/* Behind run_id and number of partitions; empty: yuan, or the fence is shut. */
static struct str unit_of(struct str text)
{
    struct str rest;
    (void)str_cut(text, ' ', &rest);
    (void)str_cut(str_or_empty(rest), ' ', &rest);
    return str_or_empty(rest);
}

enum status live_unit_check(struct redis *redis)
{
    char key[LIVE_KEY_MAX], own[REDIS_FENCE_TEXT_MAX];
    struct redis_call call;
    const struct str get[] = { STR("GET"), live_fence_key(key, 0) };
    if (redis_fence_text(redis, 0, own) != ST_OK)
        return ST_UNAVAILABLE;
    enum status st = redis_do(redis, &call, get, ARRAY_LEN(get));
    const struct str there = st == ST_OK ? str_or_empty(redis_reply_str(call.reply)) : STR("");
    if (st != ST_OK)
        st = ST_UNAVAILABLE;
    else if (str_find(there, STR(" ")) == there.len)
        st = ST_NOT_FOUND;
    else if (!str_equal(unit_of(there), unit_of(str_from(own))))
        st = ST_CONFLICT;
    redis_call_free(&call);
    return st;
}

enum status live_older_fence_open(const struct live *live, struct str text)
{
    enum live_code code;
    return live_key_set(live, live->fence, "fence", LIVE_OLDER_FENCE_KEY, text, &code);
}
