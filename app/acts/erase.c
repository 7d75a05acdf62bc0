#include "acts/erase.h"

#include "base/array.h"
#include "base/buf.h"
#include "base/crash.h"
#include "live/erase.h"
#include "live/keys.h"
#include "live/shut.h"
#include "live/stream.h"
#include "packet/receivers.h"
#include "packet/store.h"

/* Redis keeps nothing of a closed packet after its grace time (or twenty minutes: keep_ms in settle/publish.c). The
 * margin allows for differing clocks and late settling. */
enum { GONE_MARGIN_MS = 60 * 60 * 1000 };

/* ---- names ---- */

/* The columns of each query of SIDES. LEFT: work is left here, now or later: the name is there, or a packet of the user
 * is open. NAMED: the name is there and can be erased now. */
enum { ROW_PACKET, ROW_MS, ROW_LEFT, ROW_NAMED, ROW_CLOSED, ROW_CLOSED_MS };
#define OF_PACKET "p.state = 'closed', COALESCE(p.closed_ms, 0) "

/* The places that may have the name of a user. Each query reads in the order of a key, so a walk reads no row twice.
 * Exclusive packets of older programs name their receiver in the row of the packet only. */
static const char *const SIDES[] = {
    "SELECT p.id, p.created_ms, p.sender_name <> '' OR p.state <> 'closed',"
    " p.sender_name <> '' AND p.state <> 'funding', " OF_PACKET "FROM packet AS p FORCE INDEX (packet_sent)"
    " WHERE p.sender_id = ? AND p.created_ms >= ? AND (p.created_ms > ? OR p.id > ?)"
    " ORDER BY p.created_ms, p.id LIMIT ?",
    "SELECT p.id, 0, COALESCE(p.receiver_name, '') <> '', COALESCE(p.receiver_name, '') <> '' AND p.state <> 'funding'"
    ", " OF_PACKET "FROM packet AS p FORCE INDEX (packet_receiver)"
    " WHERE p.receiver_id = ? AND 0 >= ? AND (0 > ? OR p.id > ?) ORDER BY p.id LIMIT ?",
    "SELECT r.packet_id, r.expires_ms, r.name <> '', r.name <> '' AND p.state <> 'funding', " OF_PACKET
    "FROM packet_receiver AS r FORCE INDEX (packet_receiver_waiting) STRAIGHT_JOIN packet AS p ON p.id = r.packet_id"
    " WHERE r.user_id = ? AND r.expires_ms >= ? AND (r.expires_ms > ? OR r.packet_id > ?)"
    " ORDER BY r.expires_ms, r.packet_id LIMIT ?",
    "SELECT g.packet_id, g.grabbed_ms, g.nickname <> '', g.nickname <> '', " OF_PACKET
    "FROM `grab` AS g FORCE INDEX (grab_received) STRAIGHT_JOIN packet AS p ON p.id = g.packet_id"
    " WHERE g.user_id = ? AND g.grabbed_ms >= ? AND (g.grabbed_ms > ? OR g.packet_id > ?)"
    " ORDER BY g.grabbed_ms, g.packet_id LIMIT ?",
};

static enum status side_read(struct stores *stores, struct arena *a, uint64_t user_id, const struct erase_walk *walk,
                             size_t rows_max, struct db_rows *rows)
{
    return db_query(
        stores->db, a, rows, SIDES[walk->side],
        DB_PARAMS(DB_U64(user_id), DB_I64(walk->ms), DB_I64(walk->ms), DB_U64(walk->packet_id), DB_U64(rows_max)));
}

static enum status rows_erase(struct db *db, uint64_t user_id, struct str packets)
{
    return db_exec(db, NULL, "CALL user_erase(?, ?)", DB_PARAMS(DB_U64(user_id), DB_TEXT(packets)));
}

struct task {
    struct stores *stores;
    struct arena *arena;
    uint64_t user_id, packet_id;
};

/* Erases the name from one packet that Redis may have. ST_INVALID: it can't be erased yet. */
static enum status packet_body(struct db *db, void *ctx)
{
    const struct task *t = ctx;
    struct packet p;
    enum live_code code = LIVE_LOADED;
    struct str list = arena_printf(t->arena, "[%llu]", (unsigned long long)t->packet_id);
    enum status st = list.ptr == NULL ? ST_NO_MEMORY : packet_find_locked(db, t->arena, t->packet_id, &p);
    if (st == ST_OK)
        st = rows_erase(db, t->user_id, list);
    if (st == ST_OK)
        st = receivers_find(db, t->arena, &p);
    crash_point("erase-before-redis");
    if (st != ST_OK)
        return st;
    if (p.state == PACKET_CLOSED)
        st = status_idempotent(live_tombstone(&t->stores->live, p.id));
    else
        st = status_idempotent(live_erase(&t->stores->live, &p, t->user_id, &code));
    if (st == ST_OK && code == LIVE_FINISHED)
        st = ST_INVALID;
    crash_point("erase-before-commit");
    return st;
}

struct pass {
    struct stores *stores;
    struct arena *arena;
    uint64_t user_id;
    int64_t gone_ms; /* Redis has nothing left of a packet that was closed before this time */
    size_t live_count, old_count;
    struct buf old; /* packets that only the tables have: [packet, … */
};

/* Erases the name from the packet of a row, or notes the packet for later. *full: the pass has no room for this packet;
 * the next pass begins with it. */
static enum status row_erase(struct pass *p, const struct db_rows *rows, size_t i, bool *full)
{
    struct task t = { p->stores, p->arena, p->user_id, db_cell_u64(rows, i, ROW_PACKET) };
    if (db_cell_u64(rows, i, ROW_CLOSED) != 0 && db_cell_i64(rows, i, ROW_CLOSED_MS) < p->gone_ms) {
        db_comma(&p->old, p->old_count++);
        buf_u64(&p->old, t.packet_id);
        return ST_OK;
    }
    *full = p->live_count++ == ERASE_LIVE_MAX;
    enum status st = *full ? ST_OK : db_transaction(p->stores->db, packet_body, &t);
    return st == ST_INVALID ? ST_OK : st; /* the next walk sees it closed */
}

/* Walks over the rows; stops early at a packet for which the pass has no room. */
static enum status rows_walk(struct pass *p, const struct db_rows *rows, struct erase_walk *walk, bool *full)
{
    enum status st = ST_OK;
    for (size_t i = 0; i < rows->count; i++) {
        if (db_cell_u64(rows, i, ROW_NAMED) != 0)
            st = row_erase(p, rows, i, full);
        if (st != ST_OK || *full)
            return st;
        walk->packet_id = db_cell_u64(rows, i, ROW_PACKET);
        walk->ms = db_cell_i64(rows, i, ROW_MS);
        walk->left = walk->left || db_cell_u64(rows, i, ROW_LEFT) != 0;
    }
    return ST_OK;
}

enum status erase_names(struct stores *stores, struct arena *a, uint64_t user_id, int64_t now_ms,
                        struct erase_walk *walk, bool *ended)
{
    struct pass p = { .stores = stores,
                      .arena = a,
                      .user_id = user_id,
                      .gone_ms = now_ms - stores->config->packet_grace_ms - GONE_MARGIN_MS,
                      .old = BUF_EMPTY };
    struct erase_walk at = *walk;
    size_t room = ERASE_ROWS_MAX;
    bool full = false;
    enum status st = ST_OK;
    buf_char(&p.old, '[');
    while (st == ST_OK && at.side < ARRAY_LEN(SIDES) && room > 0 && !full) {
        struct db_rows rows;
        st = side_read(stores, a, user_id, &at, room, &rows);
        if (st == ST_OK)
            st = rows_walk(&p, &rows, &at, &full);
        if (st == ST_OK && !full && rows.count < room)
            at = (struct erase_walk){ .side = at.side + 1, .left = at.left };
        room -= st == ST_OK ? rows.count : 0;
    }
    buf_char(&p.old, ']');
    if (st == ST_OK && p.old_count > 0)
        st = p.old.failed ? ST_NO_MEMORY : rows_erase(stores->db, user_id, buf_view(&p.old));
    buf_free(&p.old);
    *ended = st == ST_OK && at.side == ARRAY_LEN(SIDES);
    if (st == ST_OK)
        *walk = at;
    return status_retry(st);
}

/* ---- grabs that are not in the tables yet ---- */

/* The newest id of each partition's stream. */
static enum status last_ids_read(struct stores *stores, uint32_t partitions, struct live_event_id *out)
{
    struct redis_call calls[CONFIG_PARTITIONS_MAX];
    enum status st = ST_OK;
    for (uint32_t i = 0; i < partitions; i++) {
        char key[LIVE_KEY_MAX];
        const struct str info[] = { STR("XINFO"), STR("STREAM"), live_events_key(key, i) };
        redis_queue_confirmed(stores->redis, &calls[i], info, 3);
    }
    redis_round(stores->redis);
    for (uint32_t i = 0; i < partitions; i++) {
        if (st == ST_OK)
            st = live_stream_last_id(&calls[i], &out[i]);
        redis_call_free(&calls[i]);
    }
    return status_idempotent(st);
}

/* The cursors are read after the streams. */
static enum status cursors_passed(struct stores *stores, struct arena *a, const struct live_event_id *last,
                                  uint32_t partitions, int64_t since_ms, bool *passed)
{
    struct db_rows rows;
    enum status st = db_query(stores->db, a, &rows, "SELECT partition_no, last_id FROM stream_cursor", NULL, 0);
    *passed = st == ST_OK && rows.count == partitions;
    for (size_t i = 0; st == ST_OK && i < rows.count; i++) {
        struct live_event_id cursor;
        uint64_t no = db_cell_u64(&rows, i, 0);
        if (no >= partitions || !live_event_id_parse(db_cell(&rows, i, 1), &cursor))
            return ST_CORRUPT;
        *passed = *passed && (live_event_id_compare(cursor, last[no]) >= 0 || cursor.ms > (uint64_t)since_ms);
    }
    return st;
}

enum status erase_settled(struct stores *stores, struct arena *a, uint64_t user_id, int64_t since_ms, bool *settled)
{
    struct live_event_id last[CONFIG_PARTITIONS_MAX];
    struct db_rows rows;
    uint32_t partitions = (uint32_t)stores->config->partitions;
    *settled = false;
    enum status st = partitions > CONFIG_PARTITIONS_MAX ? ST_CORRUPT : last_ids_read(stores, partitions, last);
    if (st == ST_OK)
        st = cursors_passed(stores, a, last, partitions, since_ms, settled);
    if (st != ST_OK || !*settled)
        return status_retry(st);
    struct str pattern = arena_printf(a, "%%,%llu,%%", (unsigned long long)user_id);
    if (pattern.ptr == NULL)
        return ST_NO_MEMORY;
    st =
        db_query(stores->db, a, &rows, "SELECT 1 FROM dead_letter WHERE resolved_ms IS NULL AND content LIKE ? LIMIT 1",
                 DB_PARAMS(DB_TEXT(pattern)));
    *settled = st == ST_OK && rows.count == 0;
    return status_retry(st);
}
