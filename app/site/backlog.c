#include "site/backlog.h"

#include "live/event.h"
#include "live/keys.h"
#include "redis/reply.h"

enum { US_PER_MS = 1000, MS_PER_S = 1000 };

/* The commands for one partition, and the length and published position of its stream. */
struct partition {
    struct redis_call length, settled, next;
    char start[LIVE_EVENT_ID_MAX + 1]; /* where to read the next entry: "(" and the position */
    int64_t entries;
};

static bool time_read(const struct redis_call *call, int64_t *ms)
{
    int64_t s, us;
    if (call->status != ST_OK || !redis_reply_i64(redis_reply_at(call->reply, 0), &s) ||
        !redis_reply_i64(redis_reply_at(call->reply, 1), &us))
        return false;
    *ms = s * MS_PER_S + us / US_PER_MS;
    return true;
}

/* The first round reads the length of each stream, and how far it is settled. */
static enum status positions_read(struct redis *r, struct partition *parts, uint32_t count, int64_t *now_ms)
{
    char key[LIVE_KEY_MAX];
    struct redis_call time;
    const struct str ask_time[] = { STR("TIME") };
    for (uint32_t i = 0; i < count; i++) {
        const struct str length[] = { STR("XLEN"), live_events_key(key, i) };
        redis_queue(r, &parts[i].length, length, 2);
        const struct str settled[] = { STR("GET"), live_settled_key(key, i) };
        redis_queue(r, &parts[i].settled, settled, 2);
    }
    redis_queue(r, &time, ask_time, 1);
    redis_round(r);
    enum status st = time.status;
    if (st == ST_OK && !time_read(&time, now_ms))
        st = ST_CORRUPT;
    redis_call_free(&time);
    for (uint32_t i = 0; st == ST_OK && i < count; i++) {
        struct partition *p = &parts[i];
        struct live_event_id position = LIVE_EVENT_NONE;
        if (p->length.status != ST_OK || p->settled.status != ST_OK)
            st = p->length.status != ST_OK ? p->length.status : p->settled.status;
        else if (!redis_reply_i64(p->length.reply, &p->entries) ||
                 (!redis_reply_is_nil(p->settled.reply) &&
                  !live_event_id_parse(redis_reply_str(p->settled.reply), &position)))
            st = ST_CORRUPT;
        p->start[0] = '(';
        (void)live_event_id_text(p->start + 1, position);
    }
    return st;
}

/* The second round reads the first entry after each position. The id of an entry begins with its time. */
static enum status oldest_read(struct redis *r, struct partition *parts, uint32_t count, int64_t now_ms,
                               int64_t *oldest_ms)
{
    char key[LIVE_KEY_MAX];
    for (uint32_t i = 0; i < count; i++) {
        const struct str next[] = {
            STR("XRANGE"), live_events_key(key, i), str_from(parts[i].start), STR("+"), STR("COUNT"), STR("1")
        };
        redis_queue(r, &parts[i].next, next, 6);
    }
    redis_round(r);
    enum status st = ST_OK;
    *oldest_ms = 0;
    for (uint32_t i = 0; st == ST_OK && i < count; i++) {
        st = parts[i].next.status;
        const redisReply *entry = redis_reply_at(parts[i].next.reply, 0);
        struct live_event_id id;
        if (st != ST_OK || entry == NULL)
            continue;
        if (!live_event_id_parse(redis_reply_str(redis_reply_at(entry, 0)), &id))
            st = ST_CORRUPT;
        else if (now_ms - (int64_t)id.ms > *oldest_ms)
            *oldest_ms = now_ms - (int64_t)id.ms;
    }
    return st;
}

/* The stream keeps the entry at the cursor, which is settled: it is not counted. */
static int64_t waiting(const struct partition *p)
{
    return p->entries > 0 && !redis_reply_is_nil(p->settled.reply) ? p->entries - 1 : p->entries;
}

enum status backlog_read(const struct stores *stores, struct arena *a, struct backlog *out)
{
    const uint32_t count = (uint32_t)stores->config->partitions;
    struct partition *parts = arena_array(a, count, sizeof *parts);
    int64_t now_ms = 0;
    *out = (struct backlog){ 0 };
    if (parts == NULL)
        return ST_NO_MEMORY;
    for (uint32_t i = 0; i < count; i++)
        parts[i] = (struct partition){ 0 };
    enum status st = positions_read(stores->redis, parts, count, &now_ms);
    if (st == ST_OK)
        st = oldest_read(stores->redis, parts, count, now_ms, &out->oldest_ms);
    for (uint32_t i = 0; i < count; i++) {
        if (st == ST_OK)
            out->entries[i] = waiting(&parts[i]);
        redis_call_free(&parts[i].length);
        redis_call_free(&parts[i].settled);
        redis_call_free(&parts[i].next);
    }
    return status_idempotent(st);
}
