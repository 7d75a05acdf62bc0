#include "settle/read.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/crash.h"
#include "live/event.h"
#include "live/keys.h"
#include "settle/cursor.h"
#include "settle/fault.h"
#include "settle/settle_internal.h"

static void read_queue(struct settle *s, struct settle_partition *p)
{
    char key[LIVE_KEY_MAX], from[LIVE_EVENT_ID_MAX], count[16];
    int digits = snprintf(count, sizeof count, "%u", p->batch_max + 1); /* plus the cursor's entry */
    assert(digits > 0 && (size_t)digits < sizeof count);
    const struct str args[] = { STR("XRANGE"), live_events_key(key, p->no), live_event_id_text(from, p->last), STR("+"),
                                STR("COUNT"),  { count, (size_t)digits } };
    redis_queue(s->stores->redis, &p->call, args, ARRAY_LEN(args));
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
        (void)live_event_read(reply->element[0], &event); /* fails for the stream anchor, but sets its id */
        first = live_event_id_equal(event.id, p->last) && !live_event_id_equal(p->last, LIVE_EVENT_NONE) ? 1 : 0;
    }
    if (first == 0 && !live_event_id_equal(p->last, LIVE_EVENT_NONE) && !p->gap_accepted) {
        p->gap = true;
        return ST_OK;
    }
    if (reply->elements == first) {
        settle_search_end(s, p);
        return ST_OK;
    }
    /* Never more than batch_max: without the cursor's entry the reply holds one event more, and a search needs a batch
     * of one event. */
    size_t end = reply->elements - first > p->batch_max ? first + p->batch_max : reply->elements;
    p->events = calloc(end - first, sizeof *p->events);
    if (p->events == NULL)
        return ST_NO_MEMORY;
    p->entries = &reply->element[first];
    for (size_t i = first; i < end; i++) {
        if (live_event_read(reply->element[i], &event) != ST_OK) {
            /* The events before it are settled first. In the next batch it is the first entry and becomes a dead
             * letter. */
            if (p->event_count == 0)
                damaged_set(p, reply->element[i], event.id);
            break;
        }
        p->events[p->event_count++] = event;
    }
    return ST_OK;
}

enum status settle_read(struct settle *s, uint32_t first, uint32_t count)
{
    int64_t now_ms = clock_monotonic_ms();
    struct settle_partition *queued[SETTLE_READ_PARTITIONS_MAX];
    uint32_t queued_count = 0;
    enum status st = ST_OK;
    assert(count <= SETTLE_READ_PARTITIONS_MAX);
    for (uint32_t i = first; st == ST_OK && i < first + count; i++) {
        struct settle_partition *p = &s->partitions[i];
        settle_partition_clear(p);
        if (p->stopped && now_ms < p->retry_ms)
            continue;
        if (!p->cursor_loaded)
            st = settle_cursor_load(s, p);
        if (st == ST_OK)
            queued[queued_count++] = p;
    }
    /* All reads are one round, over one connection. Loading a cursor has rounds of its own, so no read may be queued
     * before the last load. */
    for (uint32_t i = 0; i < queued_count; i++)
        read_queue(s, queued[i]);
    redis_round(s->stores->redis);
    for (uint32_t i = 0; i < queued_count; i++) {
        queued[i]->connection = redis_connection(s->stores->redis);
        enum status read = read_events(s, queued[i]);
        if (read == ST_INVALID || read == ST_CORRUPT) { /* not a stream: stop this partition only */
            settle_stop(queued[i], &(struct settle_fault){ .kind = FAULT_STREAM });
            read = ST_OK;
        }
        if (st == ST_OK)
            st = status_idempotent(read);
    }
    crash_point("settle-after-read");
    return st;
}
