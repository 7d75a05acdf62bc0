#include "live/grab.h"

#include "base/array.h"
#include "live/keys.h"
#include "live/live_internal.h"
#include "packet/packet.h"
#include "redis/crowd.h"
#include "redis/reply.h"

void live_grab_queue(const struct live *live, struct redis_call *call, uint64_t packet_id, uint64_t user_id,
                     struct str badge, const struct live_phrase *phrase)
{
    struct live_keys keys;
    live_keys(&keys, packet_id, live->partitions);
    const struct str function_keys[] = { keys.key[LIVE_KEY_PACKET], keys.key[LIVE_KEY_SHARES], keys.key[LIVE_KEY_GRABS],
                                         keys.key[LIVE_KEY_ORDER], keys.key[LIVE_KEY_EVENTS] };
    char packet_text[STR_U64_MAX], user_text[STR_U64_MAX];
    const struct str packet = str_u64(packet_text, packet_id);
    const struct live_phrase typed = phrase == NULL ? (struct live_phrase){ STR(""), STR("") } : *phrase;
    const struct str grab[] = { str_u64(user_text, user_id), badge, typed.hash, typed.source };
    redis_queue_crowd(live->redis, call,
                      &(struct redis_crowd_call){ .function = live->grab,
                                                  .fence = (int)packet_partition(packet_id, live->partitions),
                                                  .keys = function_keys,
                                                  .key_count = ARRAY_LEN(function_keys),
                                                  .shared = &packet,
                                                  .shared_count = 1,
                                                  .own = grab,
                                                  .own_count = ARRAY_LEN(grab) });
}

enum status live_grab_read(const struct redis_call *call, struct live_grab *out)
{
    *out = (struct live_grab){ .code = LIVE_BAD };
    enum status st = live_code_read(call, "grab", &out->code);
    if (st != ST_OK)
        return st;
    switch (out->code) {
    case LIVE_MISSING:
    case LIVE_NOT_FOR_YOU:
    case LIVE_EXPIRED:
    case LIVE_BUSY: return ST_OK;
    case LIVE_TRIED_OUT:
        if (!redis_reply_i64(redis_reply_at(call->reply, 1), &out->pause_ms) || out->pause_ms < 0)
            return live_reply_corrupt("grab");
        return ST_OK;
    case LIVE_WRONG_PHRASE:
        return live_reply_u32(call->reply, 1, &out->tries_left) ? ST_OK : live_reply_corrupt("grab");
    case LIVE_EMPTY:
        if (!live_reply_u32(call->reply, 1, &out->count) || out->count < 1)
            return live_reply_corrupt("grab");
        return ST_OK;
    case LIVE_NOT_YET:
        if (!redis_reply_i64(redis_reply_at(call->reply, 1), &out->opens_ms) || out->opens_ms < 1)
            return live_reply_corrupt("grab");
        return ST_OK;
    case LIVE_GRABBED:
    case LIVE_ALREADY: break;
    default: return live_reply_corrupt("grab");
    }
    if (!live_reply_u32(call->reply, 1, &out->share_no) ||
        !redis_reply_i64(redis_reply_at(call->reply, 2), &out->amount_fen) || out->amount_fen < 1 ||
        !live_reply_u32(call->reply, 3, &out->left_count))
        return live_reply_corrupt("grab");
    if (out->code != LIVE_ALREADY)
        return ST_OK;
    uint32_t returned;
    if (!live_reply_u32(call->reply, 4, &returned))
        return live_reply_corrupt("grab");
    out->returned = returned != 0;
    return ST_OK;
}
