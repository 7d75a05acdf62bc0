#include "live/capped.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/array.h"
#include "redis/reply.h"

enum { TEXT_MAX = 64 };

static struct str key_text(char *out, uint64_t user_id)
{
    const int len = snprintf(out, TEXT_MAX, CAPPED_KEY_PREFIX "%" PRIu64, user_id);
    assert(len > 0 && len < TEXT_MAX);
    return (struct str){ out, (size_t)len };
}

void live_capped_queue(const struct live *live, struct redis_call *call, uint64_t user_id)
{
    char key[TEXT_MAX];
    const struct str get[] = { STR("GET"), key_text(key, user_id) };
    redis_queue(live->redis, call, get, ARRAY_LEN(get));
}

enum status live_capped_read(const struct redis_call *call, struct live_capped *out)
{
    struct str fen;
    uint64_t end, received;
    *out = (struct live_capped){ 0, 0 };
    if (call->status != ST_OK)
        return call->status;
    const struct str until = str_cut(str_or_empty(redis_reply_str(call->reply)), ' ', &fen);
    if (str_to_u64(until, &end) && str_to_u64(str_or_empty(fen), &received) && end <= INT64_MAX &&
        received <= INT64_MAX)
        *out = (struct live_capped){ (int64_t)end, (int64_t)received };
    return ST_OK;
}

void live_capped_set_queue(const struct live *live, struct redis_call *call, uint64_t user_id, struct live_capped flag,
                           int64_t now_ms)
{
    char key[TEXT_MAX], value[TEXT_MAX], ttl[TEXT_MAX];
    assert(flag.until_ms > now_ms);
    (void)snprintf(value, sizeof value, "%" PRId64 " %" PRId64, flag.until_ms, flag.fen);
    (void)snprintf(ttl, sizeof ttl, "%" PRId64, flag.until_ms - now_ms);
    const struct str set[] = { STR("SET"), key_text(key, user_id), str_from(value), STR("PX"), str_from(ttl) };
    redis_queue(live->redis, call, set, ARRAY_LEN(set));
}
