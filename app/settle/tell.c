#include "settle/tell.h"

#include "acts/give_back.h"
#include "acts/thanks.h"
#include "settle/away.h"
#include "settle/durable.h"

enum { ARENA_CHUNK_BYTES = 65536 };
static const size_t ARENA_LIMIT_BYTES = (size_t)16 << 20; /* memory of the list, and of each row */

/* Writes one pending row to Redis: give_back_tell or thanks_tell. */
typedef enum status tell_fn(struct stores *stores, struct arena *a, uint64_t packet_id, uint32_t share_no,
                            int64_t now_ms);

static enum status row_tell(struct settle *s, const struct tell_walk *row, tell_fn *tell, int64_t now_ms)
{
    if (settle_packet_is_away(s, row->packet_id))
        return ST_OK;
    struct arena *a = arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES);
    enum status st = a != NULL ? tell(s->stores, a, row->packet_id, row->share_no, now_ms) : ST_NO_MEMORY;
    arena_free(a);
    return settle_packet_away_take(s, row->packet_id, st);
}

/* sql: reads the pending rows after a position, whose members are its parameters in order. */
static enum status walk_pass(struct tell_walk *w, struct settle *s, const char *sql, tell_fn *tell, int64_t now_ms)
{
    struct db_rows rows = { 0 };
    struct arena *a = arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES);
    if (a == NULL)
        return ST_NO_MEMORY;
    enum status st = db_query(s->stores->db, a, &rows, sql,
                              DB_PARAMS(DB_I64(w->ms), DB_I64(w->ms), DB_U64(w->packet_id), DB_U64(w->packet_id),
                                        DB_U64(w->share_no), DB_I64(TELL_ROWS_MAX)));
    if (st == ST_OK && rows.count > 0)
        st = settle_durable(s, db_connections(s->stores->db));
    for (size_t i = 0; st == ST_OK && i < rows.count; i++) {
        const struct tell_walk row = { .ms = db_cell_i64(&rows, i, 0),
                                       .packet_id = db_cell_u64(&rows, i, 1),
                                       .share_no = (uint32_t)db_cell_u64(&rows, i, 2) };
        st = row_tell(s, &row, tell, now_ms);
        if (st == ST_OK)
            *w = row;
    }
    if (st == ST_OK && rows.count < TELL_ROWS_MAX)
        *w = (struct tell_walk){ 0 };
    arena_free(a);
    return status_retry(st);
}

enum status tell_pass(struct tell *t, struct settle *s, int64_t now_ms)
{
    enum status st = walk_pass(&t->returns, s,
                               "SELECT returned_ms, packet_id, share_no FROM share_return WHERE applied_ms IS NULL"
                               " AND returned_ms >= ? AND (returned_ms > ? OR packet_id > ?"
                               " OR (packet_id = ? AND share_no > ?))"
                               " ORDER BY returned_ms, packet_id, share_no LIMIT ?",
                               give_back_tell, now_ms);
    if (st == ST_OK)
        st = walk_pass(&t->thanks, s,
                       "SELECT created_ms, packet_id, share_no FROM thanks WHERE applied_ms IS NULL"
                       " AND created_ms >= ? AND (created_ms > ? OR packet_id > ? OR (packet_id = ? AND share_no > ?))"
                       " ORDER BY created_ms, packet_id, share_no LIMIT ?",
                       thanks_tell, now_ms);
    return st;
}

bool tell_is_walking(const struct tell *t)
{
    return t->returns.packet_id != 0 || t->thanks.packet_id != 0;
}
