#include "settle/publish.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/crash.h"
#include "base/log.h"
#include "live/event.h"
#include "live/keys.h"
#include "live/load.h"
#include "packet/id.h"
#include "redis/reply.h"
#include "settle/durable.h"
#include "settle/held.h"

enum {
    PUBLISH_QUEUE_MAX = 1024,
    MISSED_PAGE_EVENTS = 1000,
    LOADS_END_MS = LIVE_LOAD_WITHIN_MS + CLOCKS_DIFFER_MS /* after a send no load of its sender comes any more */
};

/* The status of the calls of a round, which are freed. */
static enum status calls_finish(struct redis_call *calls, size_t count)
{
    enum status st = ST_OK;
    for (size_t i = 0; i < count; i++) {
        if (st == ST_OK && calls[i].status != ST_OK)
            st = status_idempotent(calls[i].status);
        redis_call_free(&calls[i]);
    }
    return st;
}

static enum status round_finish(struct settle *s, struct redis_call *calls, size_t count)
{
    redis_round(s->stores->redis);
    return calls_finish(calls, count);
}

/* How long the keys of a closed packet stay: for the grace time, in which visitors may still view it. And as long as
 * the process that sent it may load it: when Redis had forgotten the packet, a late load would open it again. The id of
 * the packet has the time of the send, by that process's clock; Redis's clock may differ from this one. */
static int64_t keep_ms(const struct settle *s, uint64_t packet_id, int64_t now_ms)
{
    int64_t late_ms = id_ms(packet_id) + LOADS_END_MS - now_ms;
    late_ms = late_ms < LOADS_END_MS + CLOCKS_DIFFER_MS ? late_ms : LOADS_END_MS + CLOCKS_DIFFER_MS; /* a forged id */
    return late_ms > s->stores->config->packet_grace_ms ? late_ms : s->stores->config->packet_grace_ms;
}

/* Sets the time to live of the keys of closed packets. NX: a repeated call does not prolong it. */
static enum status publish_closed(struct settle *s, struct settle_partition *p, struct redis_call *calls)
{
    static const enum live_key own_keys[] = { LIVE_KEY_PACKET, LIVE_KEY_SHARES, LIVE_KEY_GRABS, LIVE_KEY_ORDER };
    const int64_t now_ms = clock_now_ms();
    while (p->closed_count > 0) {
        size_t queued = 0, sent = 0;
        for (; sent < p->closed_count && queued + 4 <= PUBLISH_QUEUE_MAX; sent++) {
            struct live_keys keys;
            char keep[STR_U64_MAX];
            live_keys(&keys, p->closed_ids[sent], s->stores->config->partitions);
            const struct str ms = str_u64(keep, (uint64_t)keep_ms(s, p->closed_ids[sent], now_ms));
            for (size_t i = 0; i < ARRAY_LEN(own_keys); i++) {
                const struct str args[] = { STR("PEXPIRE"), keys.key[own_keys[i]], ms, STR("NX") };
                redis_queue(s->stores->redis, &calls[queued++], args, 4);
            }
        }
        enum status st = round_finish(s, calls, queued);
        if (st != ST_OK)
            return st;
        p->closed_count -= sent;
        memmove(p->closed_ids, p->closed_ids + sent, p->closed_count * sizeof *p->closed_ids);
    }
    return ST_OK;
}

/* Reads how far the workers have settled. */
static enum status cursor_read(struct settle *s, const struct settle_partition *p, struct live_event_id *out)
{
    struct db_rows rows;
    enum status st = db_query(s->stores->db, s->arena, &rows,
                              "SELECT last_id FROM stream_cursor WHERE partition_no = ?", DB_PARAMS(DB_U64(p->no)));
    if (st != ST_OK)
        return st;
    return rows.count == 1 && live_event_id_parse(db_cell(&rows, 0, 0), out) ? ST_OK : ST_CORRUPT;
}

/* Handles a later position, which our SET has just replaced. Up to the cursor, another worker has published it, and it
 * is restored. Beyond the cursor no worker has settled: the tables are older than Redis, or an intruder in a pool has
 * written the position, and it stays replaced. */
static enum status later_position_take(struct settle *s, const struct settle_partition *p, struct live_event_id later,
                                       struct redis_call *call)
{
    char settled[LIVE_KEY_MAX], id[LIVE_EVENT_ID_MAX];
    struct live_event_id cursor;
    enum status st = cursor_read(s, p, &cursor);
    const bool beyond = st == ST_OK && live_event_id_compare(later, cursor) > 0;
    if (beyond)
        log_warn("a position that no worker has reached is replaced", "partition=%u position=%.*s", p->no,
                 STR_ARG(live_event_id_text(id, later)));
    if (st != ST_OK || beyond)
        return st;
    const struct str restore[] = { STR("SET"), live_settled_key(settled, p->no), live_event_id_text(id, later) };
    redis_queue(s->stores->redis, call, restore, 3);
    return round_finish(s, call, 1);
}

static enum status publish_position(struct settle *s, struct settle_partition *p, struct redis_call *calls)
{
    char settled[LIVE_KEY_MAX], events[LIVE_KEY_MAX], id[LIVE_EVENT_ID_MAX];
    struct str last = live_event_id_text(id, p->last), settled_key = live_settled_key(settled, p->no),
               events_key = live_events_key(events, p->no);
    struct live_event_id before = LIVE_EVENT_NONE;
    const struct str set[] = { STR("SET"), settled_key, last, STR("GET") };
    const struct str trim[] = { STR("XTRIM"), events_key, STR("MINID"), STR("="), last };
    redis_queue(s->stores->redis, &calls[0], set, 4);
    redis_queue(s->stores->redis, &calls[1], trim, 5);
    redis_round(s->stores->redis);
    (void)live_event_id_parse(redis_reply_str(calls[0].reply), &before);
    const bool other_type = redis_reply_is_wrong_type(calls[0].reply);
    enum status st = calls_finish(calls, 2);
    if (other_type) { /* SET with GET does not replace a key of another type */
        redis_queue(s->stores->redis, &calls[0], set, 3);
        st = round_finish(s, calls, 1);
    } else if (st == ST_OK && live_event_id_compare(before, p->last) > 0) {
        st = later_position_take(s, p, before, &calls[0]);
    }
    return st;
}

enum status settle_publish(struct settle *s, struct settle_partition *p)
{
    if (!p->cursor_loaded || (live_event_id_equal(p->published, p->last) && p->closed_count == 0 && !p->held_due))
        return ST_OK;
    arena_reset(s->arena);
    struct redis_call *calls = arena_array(s->arena, PUBLISH_QUEUE_MAX, sizeof *calls);
    if (calls == NULL)
        return ST_NO_MEMORY;
    /* Closed packets first: after a crash the next worker finds them by the events after the published position. */
    enum status st = publish_closed(s, p, calls);
    /* Held shares before the position: by the position alone they would count as settled. */
    if (st == ST_OK && p->held_due) {
        st = held_publish(s->stores->db, &s->stores->live, s->arena, p->no);
        p->held_due = st != ST_OK;
    }
    if (p->gap || p->stopped) /* recovery compares the position in Redis with the cursor first */
        return st;
    if (st == ST_OK && !live_event_id_equal(p->last, LIVE_EVENT_NONE)) {
        crash_point("settle-before-trim");
        /* A stream that is trimmed beyond the cursor can't be settled any more. */
        if (p->unflushed && settle_durable(s, p->read_on) != ST_OK) {
            p->cursor_loaded = false; /* it may be lost: the next pass reads it again */
            return ST_OK;
        }
        st = publish_position(s, p, calls);
        crash_point("settle-after-trim");
    }
    if (st == ST_OK)
        p->published = p->last;
    /* ST_CONFLICT: Redis is out of memory and refused the position; the next pass repeats it. It is no error: the money
     * is settled, other partitions must go on, and trimmed streams and times to live free memory. ST_INVALID: a key is
     * not a stream; settle_read stops this partition. */
    return st == ST_CONFLICT || st == ST_INVALID ? ST_OK : st;
}

/* ---- what others have written ---- */

static enum status position_look(struct settle *s, struct settle_partition *p, const redisReply *reply)
{
    struct live_event_id at = LIVE_EVENT_NONE, cursor;
    (void)live_event_id_parse(redis_reply_str(reply), &at);
    if (live_event_id_equal(at, p->last))
        return ST_OK;
    enum status st = cursor_read(s, p, &cursor);
    const bool is_ours = st == ST_OK && live_event_id_equal(cursor, p->last); /* otherwise another worker publishes */
    if (is_ours)
        p->published = LIVE_EVENT_NONE;
    return st;
}

enum status settle_positions_look(struct settle *s)
{
    struct redis_call calls[CONFIG_PARTITIONS_MAX];
    char key[LIVE_KEY_MAX];
    enum status st = ST_OK;
    arena_reset(s->arena);
    for (uint32_t i = 0; i < s->partition_count; i++) {
        const struct str get[] = { STR("GET"), live_settled_key(key, i) };
        redis_queue(s->stores->redis, &calls[i], get, 2);
    }
    redis_round(s->stores->redis);
    for (uint32_t i = 0; i < s->partition_count; i++) {
        struct settle_partition *p = &s->partitions[i];
        const bool is_published = p->cursor_loaded && live_event_id_equal(p->published, p->last) &&
                                  !live_event_id_equal(p->last, LIVE_EVENT_NONE);
        if (st == ST_OK && is_published && (calls[i].status == ST_OK || redis_reply_is_wrong_type(calls[i].reply)))
            st = position_look(s, p, calls[i].reply);
        redis_call_free(&calls[i]);
    }
    return st;
}

/* ---- after a crash ---- */

enum status settle_publish_queue_closed(struct settle_partition *p, const uint64_t *ids, size_t count)
{
    if (count == 0)
        return ST_OK;
    uint64_t *grown = realloc(p->closed_ids, (p->closed_count + count) * sizeof *grown);
    if (grown == NULL)
        return ST_NO_MEMORY;
    memcpy(&grown[p->closed_count], ids, count * sizeof *ids);
    p->closed_ids = grown;
    p->closed_count += count;
    return ST_OK;
}

/* Queues the closed packets of the list. ids_text: packet ids, each followed by a comma. */
static enum status closed_find(struct settle *s, struct settle_partition *p, struct str ids_text)
{
    struct db_rows rows;
    struct str sql = arena_printf(s->arena, "SELECT id FROM packet WHERE state = 'closed' AND id IN (%.*s0)",
                                  STR_ARG(ids_text)); /* 0 ends the list: no packet has this id */
    if (sql.ptr == NULL)
        return ST_NO_MEMORY;
    enum status st = db_query(s->stores->db, s->arena, &rows, sql.ptr, NULL, 0);
    for (size_t i = 0; st == ST_OK && i < rows.count; i++) {
        uint64_t id = db_cell_u64(&rows, i, 0);
        st = settle_publish_queue_closed(p, &id, 1);
    }
    return st;
}

/* Handles one page of the events after *from, up to the cursor, and moves *from to its end. */
static enum status missed_page(struct settle *s, struct settle_partition *p, struct live_event_id *from, bool *more)
{
    char events[LIVE_KEY_MAX], first[LIVE_EVENT_ID_MAX + 1] = "(", last[LIVE_EVENT_ID_MAX], count[16];
    struct redis_call call;
    struct live_event event;
    struct buf ids = BUF_EMPTY;
    (void)live_event_id_text(first + 1, *from);
    (void)snprintf(count, sizeof count, "%d", MISSED_PAGE_EVENTS);
    const struct str range[] = { STR("XRANGE"),   live_events_key(events, p->no),
                                 str_from(first), live_event_id_text(last, p->last),
                                 STR("COUNT"),    str_from(count) };
    enum status st = redis_do(s->stores->redis, &call, range, ARRAY_LEN(range));
    size_t found = 0;
    bool moved = false;
    for (const redisReply *entry; st == ST_OK && (entry = redis_reply_at(call.reply, found)) != NULL; found++) {
        if (live_entry_first(entry, &event) == ST_OK) {
            buf_u64(&ids, event.packet_id);
            buf_char(&ids, ',');
        }
        if (live_event_id_compare(event.id, *from) > 0) {
            *from = event.id;
            moved = true;
        }
    }
    *more = moved && found == MISSED_PAGE_EVENTS;
    redis_call_free(&call);
    if (st == ST_OK)
        st = ids.failed ? ST_NO_MEMORY : closed_find(s, p, buf_view(&ids));
    buf_free(&ids);
    return st;
}

enum status settle_publish_queue_missed(struct settle *s, struct settle_partition *p)
{
    char settled[LIVE_KEY_MAX];
    struct redis_call call;
    struct live_event_id from = LIVE_EVENT_NONE;
    const struct str get[] = { STR("GET"), live_settled_key(settled, p->no) };
    enum status st = redis_do(s->stores->redis, &call, get, 2);
    if (st == ST_OK)
        (void)live_event_id_parse(redis_reply_str(call.reply), &from);
    redis_call_free(&call);
    bool more = live_event_id_compare(from, p->last) < 0;
    while (st == ST_OK && more) {
        arena_reset(s->arena);
        st = missed_page(s, p, &from, &more);
    }
    if (st == ST_INVALID) /* not a stream: settle_read stops the partition */
        return ST_OK;
    return status_retry(st);
}
