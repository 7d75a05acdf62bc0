#include "settle/read.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/crash.h"
#include "live/event.h"
#include "live/keys.h"
#include "settle/away.h"
#include "settle/cursor.h"
#include "settle/fault.h"

/* Events to read: the configured batch for a partition that is behind. A large batch costs less per grab, because it
 * changes each packet, wallet and month once; but it locks them longer. */
static uint32_t events_wanted(const struct settle *s, const struct settle_partition *p)
{
    const uint32_t batch = (uint32_t)s->stores->config->settle_batch;
    return p->behind || batch < SETTLE_PROMPT_EVENTS ? batch : SETTLE_PROMPT_EVENTS;
}

/* Entries to read: as many as hold the wanted events, if each has as many events as the last ones had; at most
 * batch_max. */
static uint32_t entries_wanted(const struct settle *s, const struct settle_partition *p)
{
    uint64_t wanted = (uint64_t)events_wanted(s, p) / p->entry_events + 1;
    return wanted < p->batch_max ? (uint32_t)wanted : p->batch_max;
}

uint32_t settle_read_group(const struct settle *s, uint32_t first, uint32_t count)
{
    uint32_t group = 0, events = 0;
    for (; group < count && group < SETTLE_READ_PARTITIONS_MAX; group++) {
        events += events_wanted(s, &s->partitions[first + group]);
        if (group > 0 && events > SETTLE_READ_EVENTS_MAX)
            break;
    }
    return group;
}

static void read_queue(struct settle *s, struct settle_partition *p)
{
    char key[LIVE_KEY_MAX], from[LIVE_EVENT_ID_MAX], count[STR_U64_MAX];
    p->entries_asked = entries_wanted(s, p) + 1; /* plus the cursor's entry */
    const struct str args[] = {
        STR("XRANGE"), live_events_key(key, p->no),     live_event_id_text(from, p->last), STR("+"),
        STR("COUNT"),  str_u64(count, p->entries_asked)
    };
    redis_queue_confirmed(s->stores->redis, &p->call, args, ARRAY_LEN(args));
}

static void damaged_set(struct settle_partition *p, const redisReply *entry, struct live_event_id id)
{
    if (live_event_id_compare(id, p->last) <= 0) { /* without an id the cursor can't move past the entry */
        settle_stop(p, &(struct settle_fault){ .kind = FAULT_NO_ID });
        return;
    }
    p->damaged = entry;
    p->damaged_id = id;
}

/* Makes room for the events of the entries from first to end. */
static enum status events_reserve(struct settle_partition *p, const redisReply *reply, size_t first, size_t end)
{
    size_t room = 1; /* one for the id of a damaged entry, which may hold no event */
    for (size_t i = first; i < end; i++)
        room += live_entry_events(reply->element[i]);
    p->events = calloc(room, sizeof *p->events);
    p->entries = calloc(room, sizeof *p->entries);
    return p->events == NULL || p->entries == NULL ? ST_NO_MEMORY : ST_OK;
}

/* Parses the entries from first on, until the batch is full, at most batch_max entries. The reply may hold one more,
 * because it was read with room for the cursor's entry, and a search needs a batch of exactly one entry. */
static enum status entries_parse(struct settle *s, struct settle_partition *p, const redisReply *reply, size_t first)
{
    size_t end = reply->elements - first > p->batch_max ? first + p->batch_max : reply->elements, i = first;
    struct live_event_id before = p->last;
    enum status st = events_reserve(p, reply, first, end);
    const uint32_t wanted = events_wanted(s, p);
    for (; st == ST_OK && i < end && p->event_count < wanted; i++) {
        size_t count;
        struct live_event *events = &p->events[p->event_count];
        if (live_entry_read(reply->element[i], events, &count) != ST_OK) {
            /* The entries before it are settled first. In the next batch it is the first one and becomes a dead
             * letter. */
            if (p->event_count == 0)
                damaged_set(p, reply->element[i], events[0].id);
            break;
        }
        for (size_t k = 0; k < count; k++) {
            events[k].follows = events[k].id.ms == before.ms;
            p->entries[p->event_count++] = reply->element[i];
        }
        before = events[0].id;
    }
    p->behind = i < reply->elements || reply->elements >= p->entries_asked;
    if (i > first)
        p->entry_events = (uint32_t)((p->event_count + i - first - 1) / (i - first));
    return st;
}

/* Parses the reply into p->events. Sets p->gap when the first entry is not the cursor's. */
static enum status read_events(struct settle *s, struct settle_partition *p)
{
    const redisReply *reply = p->call.reply;
    p->gap = false;
    if (p->call.status != ST_OK)
        return p->call.status;
    if (reply == NULL || reply->type != REDIS_REPLY_ARRAY)
        return ST_CORRUPT;
    size_t first = 0;
    struct live_event event;
    if (reply->elements > 0) {
        (void)live_entry_first(reply->element[0], &event); /* fails for the stream anchor, but sets its id */
        first = live_event_id_equal(event.id, p->last) && !live_event_id_equal(p->last, LIVE_EVENT_NONE) ? 1 : 0;
    }
    if (first == 0 && !live_event_id_equal(p->last, LIVE_EVENT_NONE) && !p->gap_accepted) {
        p->gap = true;
        return ST_OK;
    }
    if (reply->elements == first) {
        p->behind = false;
        settle_search_end(s, p);
        return ST_OK;
    }
    return entries_parse(s, p, reply, first);
}

enum status settle_read(struct settle *s, uint32_t first, uint32_t count)
{
    int64_t now_ms = clock_monotonic_ms();
    struct settle_partition *queued[SETTLE_READ_PARTITIONS_MAX];
    uint32_t queued_count = 0;
    enum status st = ST_OK;
    assert(count <= SETTLE_READ_PARTITIONS_MAX);
    for (uint32_t i = first; i < first + count; i++) {
        struct settle_partition *p = &s->partitions[i];
        settle_partition_clear(p);
        if ((p->stopped && now_ms < p->retry_ms) || p->away)
            continue;
        enum status loaded = p->cursor_loaded ? ST_OK : settle_cursor_load(s, p);
        if (loaded == ST_OK)
            queued[queued_count++] = p;
        else if (st == ST_OK)
            st = settle_away_take(s, i, loaded);
    }
    /* All reads are one round, over one connection. Loading a cursor has rounds of its own, so no read may be queued
     * before the last load. */
    for (uint32_t i = 0; i < queued_count; i++)
        read_queue(s, queued[i]);
    redis_round(s->stores->redis);
    for (uint32_t i = 0; i < queued_count; i++) {
        enum status read = read_events(s, queued[i]);
        if (read == ST_INVALID || read == ST_CORRUPT) { /* not a stream: stop this partition only */
            settle_stop(queued[i], &(struct settle_fault){ .kind = FAULT_STREAM });
            read = ST_OK;
        }
        if (st == ST_OK)
            st = settle_away_take(s, queued[i]->no, status_idempotent(read));
    }
    crash_point("settle-after-read");
    return st;
}
