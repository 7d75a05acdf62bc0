#include "settle/expire.h"

#include "base/crash.h"
#include "base/log.h"
#include "live/close.h"
#include "live/live.h"
#include "settle/away.h"
#include "settle/durable.h"

enum { DUE_PACKETS_MAX = LIVE_BATCH_MAX, ARENA_CHUNK_BYTES = 65536 }; /* closed in one round */
static const size_t ARENA_LIMIT_BYTES = (size_t)16 << 20;

/* Reads the next due packets of one state after the position of the walk, by this clock or MariaDB's, whichever is
 * later: this one may be behind, and an end has the time of another one. Redis's clock decides. */
static enum status due_find(const struct expire *e, struct settle *s, struct arena *a, enum packet_state state,
                            int64_t now_ms, struct db_rows *rows)
{
    return db_query(s->stores->db, a, rows,
                    "SELECT id, expires_ms, COALESCE(ended_ms, 0) FROM packet WHERE state = ?"
                    " AND expires_ms <= GREATEST(?, CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED))"
                    " AND expires_ms >= ? AND (expires_ms > ? OR id > ?) ORDER BY expires_ms, id LIMIT ?",
                    DB_PARAMS(DB_TEXT(packet_state_name(state)), DB_I64(now_ms), DB_I64(e->expires_ms),
                              DB_I64(e->expires_ms), DB_U64(e->packet_id), DB_I64(DUE_PACKETS_MAX)));
}

/* Call it directly after due_find. Waits for the disk when one of the packets was ended: MariaDB may still lose the
 * end, and Redis would have closed a packet that has not expired. */
static enum status ends_flush(struct settle *s, const struct live_closing *due, size_t count)
{
    bool ended = false;
    for (size_t i = 0; i < count; i++)
        ended = ended || due[i].ended_ms != 0;
    return ended ? settle_durable(s, db_connections(s->stores->db)) : ST_OK;
}

/* Only an unreachable store ends the pass. An error of one packet is logged. */
static enum status reply_read(struct settle *s, uint64_t packet_id, const struct live_close *reply, int64_t now_ms,
                              uint64_t *closed, struct recover_done *done)
{
    /* after an unknown outcome the next pass repeats the call and gets ALREADY */
    enum status st = status_idempotent(reply->status);
    if (st == ST_CORRUPT || st == ST_INVALID) {
        log_error("packet not closed", "packet=%llu status=%s", (unsigned long long)packet_id, status_name(st));
        return ST_OK;
    }
    if (st != ST_OK)
        return st;
    if (reply->code == LIVE_CLOSED) {
        crash_point("expire-after-close");
        ++*closed;
    }
    if (reply->code == LIVE_MISSING || reply->code == LIVE_BUSY)
        return recover_packet(s, packet_id, now_ms, done);
    return ST_OK;
}

enum status expire_pass(struct expire *e, struct settle *s, int64_t now_ms, uint64_t *closed, struct recover_done *done)
{
    struct db_rows rows = { 0 };
    struct live_close replies[DUE_PACKETS_MAX];
    struct live_closing due[DUE_PACKETS_MAX];
    struct arena *a = arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES);
    if (a == NULL)
        return ST_NO_MEMORY;
    /* Recovery handles packets in state funding: it opens them or, after their expiry, refunds them. */
    enum status st = due_find(e, s, a, PACKET_OPEN, now_ms, &rows);
    for (size_t i = 0; st == ST_OK && i < rows.count; i++)
        due[i] = (struct live_closing){ .packet_id = db_cell_u64(&rows, i, 0), .ended_ms = db_cell_i64(&rows, i, 2) };
    if (st == ST_OK)
        st = ends_flush(s, due, rows.count);
    if (st == ST_OK && rows.count > 0)
        live_close_all(&s->stores->live, due, rows.count, replies);
    for (size_t i = 0; st == ST_OK && i < rows.count; i++) {
        st = settle_packet_away_take(s, due[i].packet_id,
                                     reply_read(s, due[i].packet_id, &replies[i], now_ms, closed, done));
        if (st == ST_OK)
            *e = (struct expire){ .packet_id = due[i].packet_id, .expires_ms = db_cell_i64(&rows, i, 1) };
    }
    if (st == ST_OK && rows.count < DUE_PACKETS_MAX)
        *e = (struct expire){ 0 };
    arena_free(a);
    return st;
}
