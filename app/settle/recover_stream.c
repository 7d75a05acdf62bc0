#include "settle/recover_stream.h"

#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/crash.h"
#include "base/log.h"
#include "io/metrics.h"
#include "live/event.h"
#include "live/fence.h"
#include "live/keys.h"
#include "live/live.h"
#include "live/shut.h"
#include "live/stream.h"
#include "redis/fence.h"
#include "redis/reply.h"
#include "settle/away.h"
#include "settle/cursor.h"
#include "settle/fault.h"
#include "settle/partition.h"
#include "settle/site.h"
#include "settle/trimmed.h"
#include "settle/write.h"

enum {
    SHUT_PACKETS_MAX = LIVE_BATCH_MAX, /* packets of one query and of one round */
    MARGIN_MS = 86400000,      /* a closed packet may be open in Redis until this time after its expiry: clocks differ,
                             loads are late */
    FUTURE_INTERVAL_MS = 1000, /* between two checks of a cursor that MariaDB's clock has passed */
    ARENA_CHUNK_BYTES = 65536
};
static const size_t ARENA_LIMIT_BYTES = (size_t)64 << 20;

/* live_shut, live_tombstone_all or live_remove_all. */
typedef enum status shut_fn(const struct live *live, const uint64_t *packet_ids, size_t count);

/* Packets of one state, by their expiry. */
struct walk {
    enum packet_state state;
    int64_t from_ms, until_ms; /* from_ms ≤ expiry < until_ms */
    shut_fn *shut;
};

/* Calls shut for all packets of the walk in the partition. *done: incremented by their number. */
static enum status packets_each(struct settle *s, struct db *db, uint32_t partition, struct walk walk, uint64_t *done)
{
    uint64_t after = 0;
    size_t count = SHUT_PACKETS_MAX;
    enum status st = ST_OK;
    while (st == ST_OK && count == SHUT_PACKETS_MAX) {
        struct db_rows rows;
        uint64_t ids[SHUT_PACKETS_MAX];
        struct arena *a = arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES);
        if (a == NULL)
            return ST_NO_MEMORY;
        st = db_query(db, a, &rows,
                      "SELECT id, expires_ms FROM packet WHERE state = ? AND expires_ms >= ? AND expires_ms < ?"
                      " AND (expires_ms > ? OR id > ?) AND id % ? = ? ORDER BY expires_ms, id LIMIT ?",
                      DB_PARAMS(DB_TEXT(packet_state_name(walk.state)), DB_I64(walk.from_ms), DB_I64(walk.until_ms),
                                DB_I64(walk.from_ms), DB_U64(after), DB_I64(s->stores->config->partitions),
                                DB_U64(partition), DB_I64(SHUT_PACKETS_MAX)));
        count = st == ST_OK ? rows.count : 0;
        for (size_t i = 0; i < count; i++)
            ids[i] = after = db_cell_u64(&rows, i, 0);
        if (count > 0) {
            walk.from_ms = db_cell_i64(&rows, count - 1, 1);
            st = walk.shut(&s->stores->live, ids, count);
        }
        *done += count;
        arena_free(a);
    }
    return st;
}

/* Shuts the partition's packets: grabs are answered busy until each packet is rebuilt. A packet that MySQL has closed
 * may be open in an older copy of Redis, even long after its expiry in MySQL: if it was ended early, that copy has the
 * original, later expiry. Such a packet is deleted, and its pages come from MySQL; a tombstone stops a late load.
 * copy_ms: Redis may lack what happened after this time. */
static enum status partition_shut(struct settle *s, struct db *db, uint32_t partition, int64_t copy_ms)
{
    int64_t late_ms = clock_now_ms() - MARGIN_MS;
    const struct walk walks[] = {
        { PACKET_FUNDING, 0, INT64_MAX, live_shut },
        { PACKET_OPEN, 0, INT64_MAX, live_shut },
        { PACKET_CLOSED, late_ms, INT64_MAX, live_tombstone_all },
        { PACKET_CLOSED, copy_ms - MARGIN_MS, late_ms, live_remove_all },
    };
    uint64_t shut = 0, removed = 0;
    enum status st = ST_OK;
    for (size_t i = 0; st == ST_OK && i < ARRAY_LEN(walks); i++)
        st = packets_each(s, db, partition, walks[i], walks[i].state == PACKET_CLOSED ? &removed : &shut);
    log_warn("packets shut", "partition=%u packets=%llu removed=%llu status=%s", partition, (unsigned long long)shut,
             (unsigned long long)removed, status_name(st));
    return st;
}

struct repair {
    struct settle *s;
    struct settle_partition *p;
    struct arena *arena;
    bool confirmed; /* the transaction before this one found the gap, too, and was committed */
    /* set by each transaction anew */
    bool compared;    /* the cursor's row was locked and equal to our copy, so the stream was compared */
    bool lost;        /* the stream is empty, but Redis shows its events as settled: the tables are older */
    bool gap;         /* the stream lacks the cursor's entry, and not only that one */
    bool trimmed;     /* events were trimmed before they were settled */
    bool accepted;    /* settlement may go on although the cursor's entry is missing */
    uint64_t letters; /* dead letters made of trimmed events */
};

/* Reads the published position: at most the cursor, unless the tables are older than Redis. */
static enum status position_read(struct repair *r, struct live_event_id *out)
{
    char key[LIVE_KEY_MAX];
    struct redis_call call;
    const struct str get[] = { STR("GET"), live_settled_key(key, r->p->no) };
    enum status st = redis_do(r->s->stores->redis, &call, get, 2);
    *out = LIVE_EVENT_NONE;
    if (st == ST_OK)
        (void)live_event_id_parse(redis_reply_str(call.reply), out);
    redis_call_free(&call);
    return st == ST_INVALID ? ST_OK : status_idempotent(st); /* not a text, so no worker has written it */
}

/* Reads the stream. *first: the entry at the cursor or behind it; LIVE_EVENT_NONE: there is none. */
static enum status stream_read(struct repair *r, struct str events_key, struct live_event_id *last,
                               struct live_event_id *first)
{
    char from[LIVE_EVENT_ID_MAX];
    struct redis_call calls[2] = { 0 };
    const struct str info[] = { STR("XINFO"), STR("STREAM"), events_key };
    const struct str range[] = { STR("XRANGE"), events_key,   live_event_id_text(from, r->p->last),
                                 STR("+"),      STR("COUNT"), STR("2") };
    redis_queue_confirmed(r->s->stores->redis, &calls[0], info, 3);
    redis_queue_confirmed(r->s->stores->redis, &calls[1], range, 6);
    redis_round(r->s->stores->redis);
    enum status st = calls[1].status;
    if (st == ST_OK)
        st = live_stream_last_id(&calls[0], last);
    if (st == ST_OK) {
        struct live_event event = { 0 };
        const redisReply *entry = redis_reply_at(calls[1].reply, 0);
        if (entry != NULL)
            (void)live_entry_first(entry, &event);
        *first = event.id;
    }
    redis_call_free(&calls[0]);
    redis_call_free(&calls[1]);
    return status_idempotent(st);
}

/* Finds how old the data in Redis are: the time of the newest event. A copy without an event is older than all events;
 * but a Redis that has no fence either was emptied, and has no open packet. */
static enum status copy_age_read(struct repair *r, struct live_event_id last, int64_t *copy_ms)
{
    char key[LIVE_KEY_MAX];
    struct redis_call call;
    const struct str get[] = { STR("GET"), live_fence_key(key, r->p->no) };
    *copy_ms = (int64_t)last.ms;
    if (!live_event_id_equal(last, LIVE_EVENT_NONE))
        return ST_OK;
    enum status st = redis_do(r->s->stores->redis, &call, get, 2);
    if (st == ST_OK && redis_reply_str(call.reply).ptr == NULL)
        *copy_ms = clock_now_ms();
    redis_call_free(&call);
    return status_idempotent(st);
}

/* Makes dead letters of the grabs that the stream has lost. When the stream is empty, the cursor moves to the stream's
 * last id; events of packets that were sent meanwhile come after it. */
static enum status trimmed_keep(struct repair *r, struct db *db, struct live_event_id cursor)
{
    char key[LIVE_KEY_MAX], text[LIVE_EVENT_ID_MAX];
    struct trimmed_range range = { .cursor = cursor };
    enum status st = stream_read(r, live_events_key(key, r->p->no), &range.last, &range.first);
    if (st == ST_OK)
        st = trimmed_letters_write(r->s, db, r->p->no, &range, &r->letters);
    if (st == ST_OK && live_event_id_equal(range.first, LIVE_EVENT_NONE)) {
        st = db_exec(db, NULL, "UPDATE stream_cursor SET last_id = ? WHERE partition_no = ?",
                     DB_PARAMS(DB_TEXT(live_event_id_text(text, range.last)), DB_U64(r->p->no)));
        r->p->cursor_loaded = false;
    }
    log_error("events were trimmed before they were settled", "partition=%u letters=%llu status=%s", r->p->no,
              (unsigned long long)r->letters, status_name(st));
    r->p->held_due = true;
    return st;
}

/* Shuts the packets of a stream whose last entry is `last`, and lets settlement go on behind the gap. */
static enum status gap_close(struct repair *r, struct db *db, struct live_event_id cursor, struct live_event_id last)
{
    int64_t copy_ms;
    bool behind = live_event_id_compare(last, cursor) < 0;
    metrics_add(METRIC_RECOVERED_STREAM, 1);
    log_error("stream lacks its cursor's entry", "partition=%u behind=%d", r->p->no, behind);
    r->s->stream_repaired = true;
    enum status st = copy_age_read(r, last, &copy_ms);
    if (st == ST_OK)
        st = partition_shut(r->s, db, r->p->no, copy_ms);
    crash_point("recover-after-doors");
    if (st == ST_OK && r->trimmed)
        st = trimmed_keep(r, db, cursor);
    if (st == ST_OK && behind) {
        st = live_stream_anchor(&r->s->stores->live, r->p->no, cursor);
        crash_point("recover-after-mark");
        return st;
    }
    r->accepted = st == ST_OK; /* settle the events after the gap; contradicting ones become dead letters */
    return st;
}

/* Compares the stream with the cursor, and closes a gap that is confirmed. */
static enum status stream_body(struct db *db, void *ctx)
{
    struct repair *r = ctx;
    char key[LIVE_KEY_MAX];
    struct str events_key = live_events_key(key, r->p->no);
    struct live_event_id cursor, last, first, position;
    r->compared = r->lost = r->gap = r->trimmed = r->accepted = false;
    r->letters = 0;
    enum status st = settle_cursor_lock(db, r->arena, r->p->no, &cursor);
    if (st == ST_NOT_FOUND)
        return ST_OK; /* another worker has the partition: the next pass tries again */
    if (st != ST_OK)
        return st;
    if (!live_event_id_equal(cursor, r->p->last)) {
        /* another worker moved the cursor; settle_read loads it, and what was not published */
        r->p->cursor_loaded = false;
        return ST_OK;
    }
    st = settle_cursor_touch(db, r->p->no);
    if (st != ST_OK)
        return st;
    r->compared = true;
    st = position_read(r, &position);
    if (st != ST_OK || (live_event_id_equal(cursor, LIVE_EVENT_NONE) && live_event_id_equal(position, LIVE_EVENT_NONE)))
        return st; /* nothing is settled, so nothing can be lost */
    st = stream_read(r, events_key, &last, &first);
    if (st == ST_INVALID || st == ST_CORRUPT)
        return partition_shut(r->s, db, r->p->no, clock_now_ms()); /* not a stream: settle_read stops the partition */
    if (st != ST_OK || live_event_id_equal(first, cursor))
        return st;
    int order = live_event_id_compare(last, cursor);
    r->accepted = order == 0; /* only the cursor's own entry was trimmed: nothing is lost */
    r->trimmed = order > 0 && live_event_id_compare(position, cursor) <= 0;
    r->lost = order > 0 && !r->trimmed && live_event_id_equal(first, LIVE_EVENT_NONE);
    r->gap = order != 0 && !r->lost;
    return r->gap && r->confirmed ? gap_close(r, db, cursor, last) : ST_OK;
}

/* A worker at another node of Galera has its own lock of the cursor: it may have moved the cursor and trimmed the
 * stream after this transaction began, and only the COMMIT of one of the two succeeds. So the finding of a transaction
 * is only valid once it is committed, and a gap is closed in a second transaction. */
static enum status repair_run(struct repair *r)
{
    enum status st = ST_OK;
    do {
        r->confirmed = r->gap;
        r->arena = arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES);
        if (r->arena == NULL)
            return ST_NO_MEMORY;
        st = db_transaction(r->s->stores->db, stream_body, r);
        arena_free(r->arena);
    } while (st == ST_OK && r->gap && !r->confirmed);
    if (st == ST_OK && r->accepted)
        r->p->gap_accepted = true;
    if (st == ST_OK)
        metrics_add(METRIC_DEAD_LETTERS, r->letters);
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

/* ---- a cursor in the future ---- */

/* Begins the stream anew: somebody has appended an entry with an id in the future, the cursor had to pass it, and new
 * ids can't be lower. Packets are shut meanwhile, and recovery rebuilds them from the tables. */
static enum status stream_renew(struct repair *r, struct db *db, struct str events_key, struct live_event_id cursor)
{
    char key[LIVE_KEY_MAX];
    struct redis_call call;
    struct live_event_id last = LIVE_EVENT_NONE, first;
    log_error("stream made anew, its ids were in the future", "partition=%u", r->p->no);
    r->s->stream_repaired = true; /* the packets are rebuilt, whatever fails below */
    enum status st = partition_shut(r->s, db, r->p->no, clock_now_ms());
    if (st == ST_OK) /* a grab may have been appended before its packet was shut: settle it first */
        st = stream_read(r, events_key, &last, &first);
    if (st != ST_OK || !live_event_id_equal(last, cursor))
        return st;
    st = db_exec(db, NULL,
                 "UPDATE stream_cursor SET last_id = '0-0', updated_ms = updated_ms + 1 WHERE partition_no = ?",
                 DB_PARAMS(DB_U64(r->p->no)));
    if (st != ST_OK)
        return st;
    const struct str del[] = { STR("DEL"), events_key, live_settled_key(key, r->p->no) };
    st = status_idempotent(redis_do(r->s->stores->redis, &call, del, 3));
    redis_call_free(&call);
    metrics_add(METRIC_RECOVERED_STREAM, 1);
    r->p->cursor_loaded = false;
    return st;
}

static enum status future_body(struct db *db, void *ctx)
{
    struct repair *r = ctx;
    char key[LIVE_KEY_MAX];
    struct str events_key = live_events_key(key, r->p->no);
    struct live_event_id cursor, last, first;
    int64_t db_ms;
    enum status st = settle_cursor_lock(db, r->arena, r->p->no, &cursor);
    if (st == ST_NOT_FOUND)
        return ST_OK;
    if (st == ST_OK)
        st = db_clock_ms(db, r->arena, &db_ms);
    if (st != ST_OK)
        return st;
    if (!settle_id_is_future(cursor, db_ms)) { /* MariaDB's clock has reached the id, so this clock is wrong */
        r->p->future_due_ms = clock_monotonic_ms() + FUTURE_INTERVAL_MS;
        return ST_OK;
    }
    st = stream_read(r, events_key, &last, &first);
    if (st != ST_OK || !live_event_id_equal(last, cursor))
        return st; /* events wait, or there is a gap */
    return stream_renew(r, db, events_key, cursor);
}

static bool cursor_is_future(const struct settle_partition *p)
{
    return p->cursor_loaded && settle_id_is_future(p->last, clock_now_ms()) && clock_monotonic_ms() >= p->future_due_ms;
}

static enum status future_repair(struct settle *s, struct settle_partition *p)
{
    struct repair r = { .s = s, .p = p, .arena = arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES) };
    if (r.arena == NULL)
        return ST_NO_MEMORY;
    enum status st = db_transaction(s->stores->db, future_body, &r);
    arena_free(r.arena);
    return st;
}

enum status recover_gaps(struct settle *s)
{
    enum status st = ST_OK;
    for (uint32_t i = 0; st == ST_OK && i < s->partition_count; i++) {
        if (cursor_is_future(&s->partitions[i]) && !s->partitions[i].away)
            st = settle_away_take(s, i, status_retry(future_repair(s, &s->partitions[i])));
        if (st != ST_OK || !s->partitions[i].gap)
            continue;
        s->partitions[i].gap = false;
        st = settle_away_take(s, i, gap_repair(s, &s->partitions[i]));
        s->pass_due = true;
    }
    return status_retry(st);
}

/* ---- the fences of a new Redis process ---- */

static enum status partition_compare(struct settle *s, struct settle_partition *p, bool *compared)
{
    struct repair r = { .s = s, .p = p };
    enum status st = settle_cursor_load(s, p); /* another worker may have moved the cursor */
    if (st != ST_OK)
        return st;
    p->gap_accepted = false;
    st = repair_run(&r);
    *compared = r.compared;
    return st;
}

/* Reads the fence in a round, as a pool does. The replicas confirm everything that was written before. */
static enum status fence_read(struct settle *s, uint32_t partition)
{
    char key[LIVE_KEY_MAX];
    struct redis_call call;
    const struct str get[] = { STR("GET"), live_fence_key(key, partition) };
    redis_queue_fences(s->stores->redis);
    redis_queue_confirmed(s->stores->redis, &call, get, 2);
    redis_round(s->stores->redis);
    redis_call_free(&call);
    return call.status;
}

/* Opens the fence of one partition. text: the text for the server that has the partition, read before the compare: if
 * another process replaces the server meanwhile, text does not open the fence there. *opened: false: another worker has
 * the partition, or the server was replaced. */
static enum status partition_open(struct settle *s, struct settle_partition *p, struct str text, bool *opened,
                                  bool *unconfirmed)
{
    char now[REDIS_FENCE_TEXT_MAX];
    bool compared = false;
    *opened = false;
    enum status st = fence_read(s, p->no); /* a server that was cut off from its replicas gets no grabs */
    *unconfirmed = st == ST_UNKNOWN;
    if (st == ST_OK && !settle_site_partition_fits(s, p->no))
        st = ST_UNAVAILABLE;
    if (st == ST_OK)
        st = partition_compare(s, p, &compared);
    if (st == ST_OK && compared)
        st = live_fence_open(&s->stores->live, p->no, text);
    if (st == ST_OK && compared)
        st = fence_read(s, p->no);
    *opened = st == ST_OK && compared && redis_fence_is_open(s->stores->redis, p->no) &&
              redis_fence_text(s->stores->redis, p->no, now) == ST_OK && str_equal(str_from(now), text);
    return st;
}

/* Opens the fence of version 1.0, if all partitions are on one server and every fence is open. */
static enum status older_fence_open(const struct recover *r, struct settle *s)
{
    for (uint32_t i = 1; i < s->partition_count; i++)
        if (strcmp(r->opened[i], r->opened[0]) != 0)
            return ST_OK;
    return live_older_fence_open(&s->stores->live, str_from(r->opened[0]));
}

static void opened_log(struct recover *r, uint32_t opened)
{
    if (opened == 0)
        return;
    recover_restart(r);
    metrics_add(METRIC_RECOVERED_FENCE, opened);
    log_info("fences opened", "partitions=%u", opened);
}

enum status recover_fences(struct recover *r, struct settle *s, bool *open)
{
    char text[REDIS_FENCE_TEXT_MAX] = "", unfit[REDIS_FENCE_TEXT_MAX] = ""; /* text of the last server that failed */
    enum status failed = ST_OK;
    uint32_t open_count = 0, opened_now = 0;
    settle_away_begin(s);
    if (s->site.fences_shut)
        memset(r->opened, 0, sizeof r->opened);
    s->site.fences_shut = false;
    for (uint32_t i = 0; i < s->partition_count; i++) {
        bool opened = true, unconfirmed = false;
        enum status st = redis_fence_text(s->stores->redis, i, text);
        if (st == ST_OK && strcmp(text, r->opened[i]) != 0) {
            /* An attempt may take long, so there is only one for all partitions of a server. */
            st = strcmp(text, unfit) == 0 ? ST_UNAVAILABLE
                                          : partition_open(s, &s->partitions[i], str_from(text), &opened, &unconfirmed);
            if (unconfirmed)
                memcpy(unfit, text, sizeof text);
            opened = opened && st == ST_OK;
            if (opened)
                memcpy(r->opened[i], text, sizeof text);
            opened_now += opened;
        }
        open_count += st == ST_OK && opened;
        if (failed == ST_OK)
            failed = status_retry(st);
    }
    *open = open_count == s->partition_count;
    if (*open && opened_now > 0)
        failed = status_retry(older_fence_open(r, s));
    opened_log(r, opened_now);
    /* When one server of a cluster is lost, the partitions of the others are settled. */
    return failed == ST_UNAVAILABLE && open_count > 0 ? ST_OK : failed;
}
