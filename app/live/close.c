#include "live/close.h"

#include <assert.h>

#include "live/keys.h"
#include "live/live_internal.h"
#include "packet/packet.h"
#include "redis/reply.h"

static enum status close_read(const struct redis_call *call, struct live_close *out)
{
    *out = (struct live_close){ .code = LIVE_BAD };
    enum status st = live_code_read(call, "close", &out->code);
    if (st != ST_OK || out->code != LIVE_CLOSED)
        return st;
    if (!live_reply_u32(call->reply, 1, &out->grabbed_count) ||
        !redis_reply_i64(redis_reply_at(call->reply, 2), &out->grabbed_fen) ||
        !redis_reply_i64(redis_reply_at(call->reply, 3), &out->rest_fen))
        return live_reply_corrupt("close");
    return ST_OK;
}

void live_close_all(const struct live *live, const struct live_closing *packets, size_t count, struct live_close *out)
{
    struct redis_call calls[LIVE_BATCH_MAX];
    assert(count <= LIVE_BATCH_MAX);
    for (size_t i = 0; i < count; i++) {
        struct live_keys keys;
        char packet_text[STR_U64_MAX], ended_text[STR_U64_MAX];
        live_keys(&keys, packets[i].packet_id, live->partitions);
        const struct str function_keys[] = { keys.key[LIVE_KEY_PACKET], keys.key[LIVE_KEY_ORDER],
                                             keys.key[LIVE_KEY_EVENTS] };
        const struct str args[] = { str_u64(packet_text, packets[i].packet_id),
                                    packets[i].ended_ms == 0 ? STR("")
                                                             : str_u64(ended_text, (uint64_t)packets[i].ended_ms) };
        redis_queue_function(live->redis, &calls[i], live->close,
                             (int)packet_partition(packets[i].packet_id, live->partitions), function_keys, 3, args, 2);
    }
    redis_round(live->redis);
    for (size_t i = 0; i < count; i++) {
        enum status st = close_read(&calls[i], &out[i]);
        out[i].status = st;
        redis_call_free(&calls[i]);
    }
}
