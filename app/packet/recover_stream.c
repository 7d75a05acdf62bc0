/* A stream that does not go on where its cursor stands: one of the two stores has lost something. */
#include "packet/recover.h"

#include "base/crash.h"
#include "base/log.h"
#include "packet/settle_write.h"

enum {
    DOORS_MAX = 1000, /* packets of one query */
    ARENA_CHUNK_BYTES = 65536
};
static const size_t ARENA_LIMIT_BYTES = (size_t)64 << 20;

/* Grabs of this partition's packets are answered "busy" until each is built anew. */
static enum status doors_close(struct settle *s, struct arena *a, struct db *db, uint32_t partition)
{
    uint64_t after = 0, closed = 0;
    for (;;) {
        struct db_rows rows;
        enum status st = db_query(
            db, a, &rows,
            "SELECT id FROM packet WHERE state IN ('funding', 'open') AND id % ? = ? AND id > ?"
            " ORDER BY id LIMIT ?",
            DB_PARAMS(DB_I64(s->app->config->partitions), DB_U64(partition), DB_U64(after), DB_I64(DOORS_MAX)));
        for (size_t i = 0; st == ST_OK && i < rows.count; i++) {
            enum live_code code;
            after = db_cell_u64(&rows, i, 0);
            st = live_busy(&s->live, after, &code);
            closed += st == ST_OK && code == LIVE_BUSY;
        }
        if (st != ST_OK)
            return st;
        if (rows.count < DOORS_MAX)
            break;
    }
    log_warn("doors closed", "partition=%u packets=%llu", partition, (unsigned long long)closed);
    return ST_OK;
}

/* An entry that stands for the cursor: ids never go below it again, and the next read finds its beginning. */
static enum status stream_mark(struct settle *s, struct str events_key, struct live_event_id cursor)
{
    char id[LIVE_EVENT_ID_MAX];
    struct redis_call call = { 0 };
    const struct str add[] = { STR("XADD"), events_key, live_event_id_text(id, cursor), STR("r"), STR("1") };
    enum status st = redis_do(s->app->redis, &call, add, 5);
    redis_call_free(&call);
    crash_point("recover-after-mark");
    return st == ST_INVALID ? ST_CONFLICT : st; /* the stream went past it meanwhile: look again */
}

struct mending {
    struct settle *s;
    struct settle_partition *p;
    struct arena *arena;
    bool lost; /* events were trimmed or lost that MySQL never saw */
};

static enum status stream_look(struct mending *m, struct str events_key, struct live_event_id *last, bool *has_cursor,
                               bool *has_more)
{
    char from[LIVE_EVENT_ID_MAX];
    struct redis_call calls[2] = { 0 };
    const struct str info[] = { STR("XINFO"), STR("STREAM"), events_key };
    const struct str range[] = { STR("XRANGE"), events_key,   live_event_id_text(from, m->p->last),
                                 STR("+"),      STR("COUNT"), STR("2") };
    redis_queue(m->s->app->redis, &calls[0], info, 3);
    redis_queue(m->s->app->redis, &calls[1], range, 6);
    redis_round(m->s->app->redis);
    enum status st = calls[1].status;
    if (st == ST_OK)
        st = live_stream_last_id(&calls[0], last);
    if (st == ST_OK) {
        struct live_event event = { 0 };
        const redisReply *first = redis_reply_at(calls[1].reply, 0);
        if (first != NULL)
            (void)live_event_read(first, &event);
        *has_cursor = first != NULL && live_event_id_equal(event.id, m->p->last);
        *has_more = first != NULL && !*has_cursor;
    }
    redis_call_free(&calls[0]);
    redis_call_free(&calls[1]);
    return st;
}

static enum status stream_body(struct db *db, void *ctx)
{
    struct mending *m = ctx;
    char key[LIVE_KEY_MAX];
    struct str events_key = live_events_key(key, m->p->no);
    struct live_event_id cursor, last;
    bool has_cursor, has_more;
    enum status st = settle_cursor_lock(db, m->arena, m->p->no, &cursor);
    if (st == ST_NOT_FOUND)
        return ST_OK; /* another worker is at it: the next pass looks again */
    if (st != ST_OK)
        return st;
    if (!live_event_id_equal(cursor, m->p->last)) {
        m->p->last = m->p->published = cursor; /* we are late: another worker moved and trimmed */
        return ST_OK;
    }
    st = stream_look(m, events_key, &last, &has_cursor, &has_more);
    if (st != ST_OK || has_cursor)
        return st;
    int order = live_event_id_compare(last, cursor);
    if (order == 0) { /* someone trimmed the entry itself: nothing is lost */
        m->p->gap_known = true;
        return ST_OK;
    }
    if (order > 0 && !has_more) {
        m->lost = true;
        return ST_OK;
    }
    log_error("a stream does not go on at its cursor", "partition=%u behind=%d", m->p->no, order < 0);
    m->s->mended = true;
    st = doors_close(m->s, m->arena, db, m->p->no);
    crash_point("recover-after-doors");
    if (st == ST_OK && order < 0)
        return stream_mark(m->s, events_key, cursor);
    m->p->gap_known = st == ST_OK; /* what came after the lost stretch is settled where it does not contradict */
    return st;
}

enum status recover_stream(struct settle *s, struct settle_partition *p)
{
    struct mending m = { .s = s, .p = p };
    m.arena = arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES);
    if (m.arena == NULL)
        return ST_NO_MEMORY;
    enum status st = db_transaction(s->app->db, stream_body, &m);
    if (st == ST_OK && m.lost)
        settle_stop(p, &(struct settle_fault){ .message = "events were trimmed before they were settled" });
    arena_free(m.arena);
    return st == ST_CONFLICT || st == ST_UNKNOWN ? ST_UNAVAILABLE : st;
}
