#include "settle/recover.h"

#include "acts/give_back.h"
#include "live/fence.h"
#include "live/keys.h"
#include "live/load.h"
#include "packet/returns.h"
#include "packet/store.h"
#include "redis/reply.h"
#include "settle/away.h"
#include "settle/durable.h"

enum { WALK_PACKETS_MAX = 1000 /* checked in one round */, ARENA_CHUNK_BYTES = 65536 };
static const size_t ARENA_LIMIT_BYTES = (size_t)64 << 20;

/* The packets of a walk, and which packets in state funding Redis has. */
struct walk {
    struct settle *s;
    struct arena *arena;
    int64_t now_ms;
    struct recover_done *done;
    uint64_t read_on; /* the connection, as db_connections counts, on which the rows were read */
    bool flushed;     /* MariaDB can't lose them (settle/durable.h) */
    uint64_t loaded[WALK_PACKETS_MAX];
    size_t loaded_count;
};

#define PACKETS                                                                                                        \
    "SELECT id, expires_ms, state, created_ms, COALESCE(ended_ms, 0),"                                                 \
    " (SELECT COUNT(*) FROM share_return WHERE packet_id = packet.id) FROM packet"
enum { ROW_ID, ROW_EXPIRES, ROW_STATE, ROW_CREATED, ROW_ENDED, ROW_RETURNS };

/* True while a packet in state funding that Redis lacks is left to its sender: it is not over, and was sent in these
 * seconds. A time far in the future says nothing: the clock of the sender's process was ahead, or this one is behind.
 * What is right does not depend on this: recover_packet keeps the sender out first. */
static bool is_left_to_sender(const struct walk *w, const struct db_rows *rows, size_t i)
{
    const int64_t age_ms = w->now_ms - db_cell_i64(rows, i, ROW_CREATED);
    const bool is_over = db_cell_i64(rows, i, ROW_ENDED) != 0 || db_cell_i64(rows, i, ROW_EXPIRES) <= w->now_ms;
    return !is_over && age_ms < LIVE_LOAD_WITHIN_MS && age_ms > -LIVE_LOAD_WITHIN_MS;
}

/* Recovers the packet of a row, if it needs it. call: the reply with its state and its returns in Redis. */
static enum status packet_check(struct walk *w, const struct db_rows *rows, size_t i, const struct redis_call *call)
{
    enum recover_state state;
    uint64_t packet_id = db_cell_u64(rows, i, ROW_ID);
    bool funding = str_equal(db_cell(rows, i, ROW_STATE), packet_state_name(PACKET_FUNDING));
    if (redis_reply_is_wrong_type(call->reply)) /* somebody planted the key: the error concerns this packet alone */
        return recover_packet(w->s, packet_id, w->now_ms, w->done);
    if (call->status != ST_OK)
        return status_idempotent(call->status);
    recover_state_read(redis_reply_at(call->reply, 0), &state);
    if (funding && state == RECOVER_OPEN)
        w->loaded[w->loaded_count++] = packet_id;
    if (funding && state == RECOVER_MISSING && is_left_to_sender(w, rows, i)) {
        w->done->left++;
        return ST_OK;
    }
    if (funding && state == RECOVER_MISSING && !w->flushed) { /* its send may just be committed */
        w->flushed = settle_durable(w->s, w->read_on) == ST_OK;
        if (!w->flushed)
            return ST_OK; /* the next walk reads it again */
    }
    if (state != RECOVER_OPEN)
        return recover_packet(w->s, packet_id, w->now_ms, w->done);
    if (returns_text_count(redis_reply_str(redis_reply_at(call->reply, 1))) >= db_cell_i64(rows, i, ROW_RETURNS))
        return ST_OK;
    /* an older copy of Redis: write each return and its mark again */
    return give_back_apply(w->s->stores, w->arena, packet_id, GIVE_BACK_ALL, w->now_ms);
}

/* Reads the state of every listed packet in Redis and recovers those that need it. rows: as PACKETS selects them. */
static enum status packets_check(struct walk *w, const struct db_rows *rows)
{
    struct settle *s = w->s;
    struct redis_call *calls = arena_array(w->arena, rows->count + 1, sizeof *calls);
    enum status st = calls == NULL ? ST_NO_MEMORY : ST_OK;
    for (size_t i = 0; st == ST_OK && i < rows->count; i++) {
        struct live_keys keys;
        live_keys(&keys, db_cell_u64(rows, i, ROW_ID), s->stores->config->partitions);
        const struct str hmget[] = { STR("HMGET"), keys.key[LIVE_KEY_PACKET], STR("state"), STR("returned_shares") };
        redis_queue(s->stores->redis, &calls[i], hmget, 4);
    }
    if (st == ST_OK && rows->count > 0)
        redis_round(s->stores->redis);
    for (size_t i = 0; calls != NULL && i < rows->count; i++) {
        uint64_t packet_id = db_cell_u64(rows, i, ROW_ID);
        if (st == ST_OK && !settle_packet_is_away(s, packet_id))
            st = settle_packet_away_take(s, packet_id, packet_check(w, rows, i, &calls[i]));
        redis_call_free(&calls[i]);
    }
    return st;
}

/* Marks in the tables as open the packets that Redis has. This needs no lock of the cursor: a packet that Redis loses
 * from now on is rebuilt like any open packet. */
static enum status loaded_open(struct walk *w)
{
    uint64_t opened = 0;
    enum status st = ST_OK;
    if (w->loaded_count > 0)
        st = packets_mark_open(w->s->stores->db, w->loaded, w->loaded_count, &opened);
    w->done->opened += opened;
    return status_retry(st);
}

/* Checks the next packets in this state. more: false after the last one; then the walk is at its start again. */
static enum status walk_next(struct recover_walk *at, struct walk *w, enum packet_state state, bool *more)
{
    struct db_rows rows;
    enum status st = db_query(w->s->stores->db, w->arena, &rows,
                              PACKETS " WHERE state = ? AND expires_ms >= ? AND (expires_ms > ? OR id > ?)"
                                      " ORDER BY expires_ms, id LIMIT ?",
                              DB_PARAMS(DB_TEXT(packet_state_name(state)), DB_I64(at->expires_ms),
                                        DB_I64(at->expires_ms), DB_U64(at->packet_id), DB_I64(WALK_PACKETS_MAX)));
    w->loaded_count = 0;
    w->flushed = false;
    w->read_on = db_connections(w->s->stores->db);
    if (st == ST_OK)
        st = packets_check(w, &rows);
    if (st == ST_OK)
        st = loaded_open(w);
    if (st != ST_OK)
        return st;
    *more = rows.count == WALK_PACKETS_MAX;
    *at = *more ? (struct recover_walk){ .expires_ms = db_cell_i64(&rows, rows.count - 1, ROW_EXPIRES),
                                         .packet_id = db_cell_u64(&rows, rows.count - 1, ROW_ID) }
                : (struct recover_walk){ 0 };
    return ST_OK;
}

void recover_restart(struct recover *r)
{
    r->full_walk = true;
    r->open = (struct recover_walk){ 0 };
}

/* Reads the fences that this worker has opened. A Redis that was emptied while running has lost them, so its streams
 * must be compared again. */
static void fences_verify(struct recover *r, struct settle *s)
{
    struct redis_call calls[CONFIG_PARTITIONS_MAX];
    char key[LIVE_KEY_MAX];
    for (uint32_t i = 0; i < s->partition_count; i++) {
        const struct str get[] = { STR("GET"), live_fence_key(key, i) };
        redis_queue(s->stores->redis, &calls[i], get, 2);
    }
    redis_round(s->stores->redis);
    for (uint32_t i = 0; i < s->partition_count; i++) {
        if (calls[i].status == ST_OK && !str_equal(redis_reply_str(calls[i].reply), str_from(r->opened[i])))
            r->opened[i][0] = '\0';
        redis_call_free(&calls[i]);
    }
}

uint64_t recover_worked(const struct recover_done *done)
{
    return done->loaded + done->opened + done->refunded;
}

enum status recover_pass(struct recover *r, struct settle *s, int64_t now_ms, struct recover_done *done)
{
    struct arena *a = arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES);
    enum status st;
    bool more;
    if (a == NULL)
        return ST_NO_MEMORY;
    struct walk w = { .s = s, .arena = a, .now_ms = now_ms, .done = done };
    fences_verify(r, s);
    if (s->stream_repaired || (r->skipped && settle_away_count(s) == 0))
        recover_restart(r);
    s->stream_repaired = r->skipped = false;
    const uint64_t before = recover_worked(done);
    st = walk_next(&r->funding, &w, PACKET_FUNDING, &more);
    r->funding_more = st == ST_OK && more && recover_worked(done) > before;
    if (st == ST_OK)
        st = walk_next(&r->open, &w, PACKET_OPEN, &more);
    if (st == ST_OK && !more)
        r->full_walk = false;
    r->skipped = settle_away_count(s) > 0;
    arena_free(a);
    return st;
}
