#include "live/stream.h"

#include "live/keys.h"
#include "live/live_internal.h"
#include "redis/reply.h"

enum status live_stream_last_id(const struct redis_call *info, struct live_event_id *out)
{
    *out = LIVE_EVENT_NONE;
    if (info->status == ST_INVALID) /* ERR no such key */
        return ST_OK;
    if (info->status != ST_OK)
        return info->status;
    for (size_t i = 0; i + 1 < info->reply->elements; i += 2)
        if (str_equal(redis_reply_str(redis_reply_at(info->reply, i)), STR("last-generated-id")))
            return live_event_id_parse(redis_reply_str(redis_reply_at(info->reply, i + 1)), out) ? ST_OK : ST_CORRUPT;
    return ST_CORRUPT;
}

enum status live_stream_anchor(const struct live *live, uint32_t partition, struct live_event_id cursor)
{
    char key[LIVE_KEY_MAX], id[LIVE_EVENT_ID_MAX];
    enum live_code code;
    enum status st = live_key_set(live, live->anchor, "anchor", live_events_key(key, partition),
                                  live_event_id_text(id, cursor), &code);
    return st == ST_OK && code != LIVE_LOADED ? ST_CONFLICT : st;
}
