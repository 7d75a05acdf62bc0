#include "live/event.h"
#include "redis/reply.h"

#include <stdio.h>

bool live_event_id_parse(struct str text, struct live_event_id *out)
{
    struct str seq;
    struct str ms = str_cut(text, '-', &seq);
    struct live_event_id id;
    if (!str_to_u64(ms, &id.ms) || !str_to_u64(seq, &id.seq))
        return false;
    *out = id;
    return true;
}

bool live_event_id_equal(struct live_event_id a, struct live_event_id b)
{
    return a.ms == b.ms && a.seq == b.seq;
}

int live_event_id_compare(struct live_event_id a, struct live_event_id b)
{
    if (a.ms != b.ms)
        return a.ms < b.ms ? -1 : 1;
    return a.seq < b.seq ? -1 : a.seq > b.seq;
}

struct str live_event_id_text(char *out, struct live_event_id id)
{
    int len = snprintf(out, LIVE_EVENT_ID_MAX, "%llu-%llu", (unsigned long long)id.ms, (unsigned long long)id.seq);
    return (struct str){ out, (size_t)len };
}

/* Cuts a decimal number and its comma off *rest. */
static bool number_cut(struct str *rest, uint64_t *out)
{
    struct str after;
    struct str digits = str_cut(*rest, ',', &after);
    *rest = after;
    return str_to_u64(digits, out);
}

static bool share_no_cut(struct str *rest, uint32_t *out)
{
    uint64_t n;
    if (!number_cut(rest, &n) || n >= PACKET_NO_SHARE)
        return false;
    *out = (uint32_t)n;
    return true;
}

static bool fen_cut(struct str *rest, int64_t *out)
{
    uint64_t n;
    if (!number_cut(rest, &n) || n > INT64_MAX)
        return false;
    *out = (int64_t)n;
    return true;
}

bool live_order_entry_parse(struct str text, struct live_order_entry *out)
{
    struct str rest = text;
    if (!number_cut(&rest, &out->user_id) || !fen_cut(&rest, &out->amount_fen) || out->amount_fen < 1)
        return false;
    struct str id = str_cut(rest, ',', &rest);
    out->nickname = badge_parse(rest, &out->face);
    return rest.ptr != NULL && live_event_id_parse(id, &out->event);
}

static bool grab_parse(struct str rest, struct live_event *out)
{
    if (!number_cut(&rest, &out->packet_id) || !share_no_cut(&rest, &out->share_no) ||
        !number_cut(&rest, &out->user_id) || !fen_cut(&rest, &out->amount_fen) || out->amount_fen < 1)
        return false;
    out->type = LIVE_EVENT_GRAB;
    out->nickname = badge_parse(rest, NULL);
    return rest.ptr != NULL;
}

static bool close_parse(struct str rest, struct live_event *out)
{
    if (!number_cut(&rest, &out->packet_id) || !share_no_cut(&rest, &out->grabbed_count) ||
        !fen_cut(&rest, &out->grabbed_fen) || !fen_cut(&rest, &out->rest_fen))
        return false;
    out->type = LIVE_EVENT_CLOSE;
    return rest.ptr == NULL;
}

bool live_event_parse(struct live_event_id id, struct str field, struct str value, struct live_event *out)
{
    struct live_event e = { .id = id };
    if (!(str_equal(field, STR("g")) && grab_parse(value, &e)) &&
        !(str_equal(field, STR("c")) && close_parse(value, &e)))
        return false;
    *out = e;
    return true;
}

bool live_entry_fits(const struct live_event *first, const struct live_event *e, size_t count)
{
    return e->packet_id == first->packet_id && (e->type == LIVE_EVENT_GRAB || count == 1);
}

size_t live_entry_events(const redisReply *entry)
{
    const redisReply *fields = redis_reply_at(entry, 1);
    return fields == NULL || fields->type != REDIS_REPLY_ARRAY ? 0 : fields->elements / 2;
}

/* Calls live_event_parse for every event of an entry. all: has room for all events; NULL: stores only the first one. */
static enum status entry_parse(const redisReply *entry, struct live_event *first, struct live_event *all)
{
    size_t count = live_entry_events(entry);
    const redisReply *fields = redis_reply_at(entry, 1);
    *first = (struct live_event){ .id = LIVE_EVENT_NONE };
    if (!live_event_id_parse(redis_reply_str(redis_reply_at(entry, 0)), &first->id))
        return ST_CORRUPT;
    if (count == 0 || fields->elements % 2 != 0)
        return ST_CORRUPT;
    for (size_t i = 0; i < count; i++) {
        struct live_event e, *out = i == 0 ? first : all != NULL ? &all[i] : &e;
        struct str field = redis_reply_str(redis_reply_at(fields, 2 * i));
        struct str value = redis_reply_str(redis_reply_at(fields, 2 * i + 1));
        if (!live_event_parse(first->id, field, value, out) || !live_entry_fits(first, out, count))
            return ST_CORRUPT;
    }
    return ST_OK;
}

enum status live_entry_first(const redisReply *entry, struct live_event *out)
{
    return entry_parse(entry, out, NULL);
}

enum status live_entry_read(const redisReply *entry, struct live_event *out, size_t *count)
{
    enum status st = entry_parse(entry, out, out);
    *count = st == ST_OK ? live_entry_events(entry) : 0;
    return st;
}
