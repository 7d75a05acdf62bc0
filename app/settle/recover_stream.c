#include "settle/recover_stream.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/crash.h"
#include "base/log.h"
#include "io/redis_reply.h"
#include "live/event.h"
#include "live/fence.h"
#include "live/keys.h"
#include "live/live.h"
#include "live/shut.h"
#include "live/stream.h"
#include "settle/cursor.h"
#include "settle/fault.h"
#include "settle/settle.h"
#include "settle/write.h"

enum {
    DOORS_MAX = LIVE_BATCH_MAX, /* packets of one query and of one round */
    CLOSED_BACK_MS = 86400000,  /* a packet may be open longer by Redis's clock than by ours, or its load be late */
    ARENA_CHUNK_BYTES = 65536
};
static const size_t ARENA_LIMIT_BYTES = (size_t)64 << 20;

/* One of two ways to keep people out of all packets that a query lists. */
typedef enum status doors_fn(const struct live *live, const uint64_t *packet_ids, size_t count);

/* All packets of a partition in that state whose time ends at from_ms or later. */
static enum status doors_each(struct settle *s, struct db *db, uint32_t partition, enum packet_state state,
                              int64_t from_ms, doors_fn *close, uint64_t *done)
{
    uint64_t after = 0;
    size_t count = DOORS_MAX;
    enum status st = ST_OK;
    while (st == ST_OK && count == DOORS_MAX) {
        struct db_rows rows;
        uint64_t ids[DOORS_MAX];
        struct arena *a = arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES);
        if (a == NULL)
            return ST_NO_MEMORY;
        st = db_query(db, a, &rows,
                      "SELECT id, expires_ms FROM packet WHERE state = ? AND expires_ms >= ?"
                      " AND (expires_ms > ? OR id > ?) AND id % ? = ? ORDER BY expires_ms, id LIMIT ?",
                      DB_PARAMS(DB_TEXT(packet_state_name(state)), DB_I64(from_ms), DB_I64(from_ms), DB_U64(after),
                                DB_I64(s->stores->config->partitions), DB_U64(partition), DB_I64(DOORS_MAX)));
        count = st == ST_OK ? rows.count : 0;
        for (size_t i = 0; i < count; i++)
            ids[i] = after = db_cell_u64(&rows, i, 0);
        if (count > 0) {
            from_ms = db_cell_i64(&rows, count - 1, 1);
            st = close(&s->stores->live, ids, count);
        }
        *done += count;
        arena_free(a);
    }
    return st;
}

/* Grabs of this partition's packets are answered "busy" until each is built anew. A packet that is closed may be open
 * in what Redis came back with, and nobody builds it anew: it goes for good, and its pages come from MySQL. */
static enum status doors_close(struct settle *s, struct db *db, uint32_t partition)
{
    uint64_t shut = 0, removed = 0;
    enum status st = doors_each(s, db, partition, PACKET_FUNDING, 0, live_busy, &shut);
    if (st == ST_OK)
        st = doors_each(s, db, partition, PACKET_OPEN, 0, live_busy, &shut);
    if (st == ST_OK)
        st = doors_each(s, db, partition, PACKET_CLOSED, clock_now_ms() - CLOSED_BACK_MS, live_tombstone_all, &removed);
    log_warn("doors closed", "partition=%u packets=%llu closed=%llu status=%s", partition, (unsigned long long)shut,
             (unsigned long long)removed, status_name(st));
    return st;
}

struct repair {
    struct settle *s;
    struct settle_partition *p;
    struct arena *arena;
    bool looked; /* with the cursor's row locked, where we thought it stands */
    bool lost;   /* events were trimmed or lost that MySQL never saw */
};

/* The position that Redis was told: at most the cursor, unless the tables are older than Redis. */
static enum status position_look(struct repair *r, struct live_event_id *out)
{
    char key[LIVE_KEY_MAX];
    struct redis_call call;
    const struct str get[] = { STR("GET"), live_settled_key(key, r->p->no) };
    enum status st = redis_do(r->s->stores->redis, &call, get, 2);
    *out = LIVE_EVENT_NONE;
    if (st == ST_OK)
        (void)live_event_id_parse(redis_reply_str(call.reply), out);
    redis_call_free(&call);
    return status_idempotent(st);
}

static enum status stream_look(struct repair *r, struct str events_key, struct live_event_id *last, bool *has_cursor,
                               bool *has_more)
{
    char from[LIVE_EVENT_ID_MAX];
    struct redis_call calls[2] = { 0 };
    const struct str info[] = { STR("XINFO"), STR("STREAM"), events_key };
    const struct str range[] = { STR("XRANGE"), events_key,   live_event_id_text(from, r->p->last),
                                 STR("+"),      STR("COUNT"), STR("2") };
    redis_queue(r->s->stores->redis, &calls[0], info, 3);
    redis_queue(r->s->stores->redis, &calls[1], range, 6);
    redis_round(r->s->stores->redis);
    enum status st = calls[1].status;
    if (st == ST_OK)
        st = live_stream_last_id(&calls[0], last);
    if (st == ST_OK) {
        struct live_event event = { 0 };
        const redisReply *first = redis_reply_at(calls[1].reply, 0);
        if (first != NULL)
            (void)live_event_read(first, &event);
        *has_cursor = first != NULL && live_event_id_equal(event.id, r->p->last);
        *has_more = first != NULL && !*has_cursor;
    }
    redis_call_free(&calls[0]);
    redis_call_free(&calls[1]);
    return st;
}

static enum status stream_body(struct db *db, void *ctx)
{
    struct repair *r = ctx;
    char key[LIVE_KEY_MAX];
    struct str events_key = live_events_key(key, r->p->no);
    struct live_event_id cursor, last;
    bool has_cursor, has_more;
    enum status st = settle_cursor_lock(db, r->arena, r->p->no, &cursor);
    if (st == ST_NOT_FOUND)
        return ST_OK; /* another worker is at it: the next pass looks again */
    if (st != ST_OK)
        return st;
    if (!live_event_id_equal(cursor, r->p->last)) {
        r->p->last = r->p->published = cursor; /* we are late: another worker moved and trimmed */
        r->p->held_due = true;
        return ST_OK;
    }
    r->looked = true;
    if (live_event_id_equal(cursor, LIVE_EVENT_NONE)) {
        struct live_event_id position;
        st = position_look(r, &position);
        if (st != ST_OK || live_event_id_equal(position, LIVE_EVENT_NONE))
            return st; /* nothing is settled, so nothing can be lost */
    }
    st = stream_look(r, events_key, &last, &has_cursor, &has_more);
    if (st == ST_INVALID || st == ST_CORRUPT)
        return doors_close(r->s, db, r->p->no); /* no stream: reading it says so */
    if (st != ST_OK || has_cursor)
        return st;
    int order = live_event_id_compare(last, cursor);
    if (order == 0) { /* someone trimmed the entry itself: nothing is lost */
        r->p->gap_known = true;
        return ST_OK;
    }
    if (order > 0 && !has_more) {
        r->lost = true;
        return ST_OK;
    }
    log_error("a stream does not go on at its cursor", "partition=%u behind=%d", r->p->no, order < 0);
    r->s->stream_repaired = true;
    st = doors_close(r->s, db, r->p->no);
    crash_point("recover-after-doors");
    if (st == ST_OK && order < 0) {
        st = live_stream_anchor(&r->s->stores->live, r->p->no, cursor);
        crash_point("recover-after-mark");
        return st;
    }
    r->p->gap_known = st == ST_OK; /* what came after the lost stretch is settled where it does not contradict */
    return st;
}

static enum status repair_run(struct repair *r)
{
    r->arena = arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES);
    if (r->arena == NULL)
        return ST_NO_MEMORY;
    enum status st = db_transaction(r->s->stores->db, stream_body, r);
    arena_free(r->arena);
    return st;
}

static enum status gap_repair(struct settle *s, struct settle_partition *p)
{
    struct repair r = { .s = s, .p = p };
    enum status st = repair_run(&r);
    if (st == ST_OK && r.lost)
        settle_stop(p, &(struct settle_fault){ .kind = FAULT_TRIMMED });
    return st;
}

enum status recover_gaps(struct settle *s)
{
    enum status st = ST_OK;
    for (uint32_t i = 0; st == ST_OK && i < s->partition_count; i++) {
        if (!s->partitions[i].gap)
            continue;
        s->partitions[i].gap = false;
        st = gap_repair(s, &s->partitions[i]);
        s->pass_due = true;
    }
    return status_retry(st);
}

/* ---- a Redis process that nobody has looked at yet ---- */

static enum status partition_check(struct settle *s, struct settle_partition *p, bool *looked)
{
    struct repair r = { .s = s, .p = p };
    enum status st = settle_refresh(s, p); /* ours may be the copy of a cursor that another worker has moved */
    if (st != ST_OK)
        return st;
    p->gap_known = false;
    st = repair_run(&r);
    *looked = r.looked;
    return st;
}

/* Connects, if need be, and reads the fence key. */
static enum status redis_look(struct settle *s)
{
    struct redis_call call;
    enum status st = redis_do(s->stores->redis, &call, &STR("PING"), 1);
    redis_call_free(&call);
    return st;
}

enum status recover_fence(struct recover *r, struct settle *s, bool *checked)
{
    char text[sizeof r->fence_text];
    struct str now = redis_fence_text(s->stores->redis);
    enum status st = ST_OK;
    *checked = now.len > 0 && str_equal(now, str_from(r->fence_text));
    if (*checked)
        return ST_OK;
    if (now.len == 0) {
        st = redis_look(s);
        now = redis_fence_text(s->stores->redis);
    }
    (void)snprintf(text, sizeof text, "%.*s", STR_ARG(now));
    bool looked = true;
    for (uint32_t i = 0; st == ST_OK && looked && i < s->partition_count; i++)
        st = partition_check(s, &s->partitions[i], &looked);
    /* The text names the process that was there before the first look. If another one took its place in between, the
     * text opens nothing. */
    if (st == ST_OK && looked)
        st = live_fence_open(&s->stores->live, str_from(text));
    if (st == ST_OK && looked)
        st = redis_look(s);
    *checked = st == ST_OK && looked && redis_fence_is_open(s->stores->redis) &&
               str_equal(redis_fence_text(s->stores->redis), str_from(text));
    if (*checked) {
        memcpy(r->fence_text, text, sizeof text);
        recover_all_again(r);
        log_info("fence opened", "redis=\"%s\"", text);
    }
    return status_retry(st);
}
