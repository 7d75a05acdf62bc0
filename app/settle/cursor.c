#include "settle/cursor.h"
#include "base/clock.h"
#include "base/log.h"
#include "live/event.h"
#include "live/stores.h"
#include "settle/publish.h"

enum { CHECK_CHUNK_BYTES = 4096, MISMATCH_LOG_INTERVAL_MS = 5000 };

/* Reads the number of partitions for which the tables were made: the number of cursors, which are numbered from 0. 0:
 * there are no cursors. */
static enum status cursors_count(struct db *db, struct arena *a, int64_t *count)
{
    struct db_rows rows;
    enum status st = db_query(
        db, a, &rows, "SELECT GREATEST(COUNT(*), COALESCE(MAX(partition_no) + 1, 0)) FROM stream_cursor", NULL, 0);
    if (st == ST_OK)
        *count = db_cell_i64(&rows, 0, 0);
    return st;
}

static void mismatch_log(int64_t tables, int64_t configured)
{
    log_error("the tables were made for another number of partitions", "tables=%lld configured=%lld", (long long)tables,
              (long long)configured);
}

/* Creates all cursors in one statement: their number is the only record of the number of partitions. */
static enum status cursors_make(struct settle *s)
{
    struct buf sql = BUF_EMPTY;
    buf_cstr(&sql, "INSERT INTO stream_cursor (partition_no) VALUES (0)");
    for (uint32_t i = 1; i < s->partition_count; i++)
        buf_printf(&sql, ", (%u)", i);
    enum status st = db_exec_buf(s->stores->db, NULL, &sql);
    buf_free(&sql);
    return st == ST_EXISTS ? ST_OK : st; /* another worker was faster */
}

enum status settle_restore_check(struct settle *s)
{
    struct db_rows rows;
    enum status st =
        db_query(s->stores->db, s->arena, &rows, "SELECT COALESCE(MIN(version), 0) FROM schema_migration", NULL, 0);
    if (st != ST_OK || db_cell_u64(&rows, 0, 0) > 0)
        return st;
    if (clock_monotonic_ms() >= s->mismatch_log_due_ms) {
        log_error("a restore was interrupted: repeat it with --replace", NULL);
        s->mismatch_log_due_ms = clock_monotonic_ms() + MISMATCH_LOG_INTERVAL_MS;
    }
    return ST_INVALID;
}

static enum status cursors_match(struct settle *s)
{
    int64_t count = 0;
    enum status st = settle_restore_check(s);
    if (st == ST_OK)
        st = cursors_count(s->stores->db, s->arena, &count);
    if (st == ST_OK && count == 0) {
        st = cursors_make(s);
        if (st == ST_OK)
            st = cursors_count(s->stores->db, s->arena, &count);
    }
    if (st != ST_OK)
        return st;
    s->partitions_match = count == s->partition_count;
    if (s->partitions_match)
        return ST_OK;
    if (clock_monotonic_ms() >= s->mismatch_log_due_ms) {
        mismatch_log(count, s->partition_count);
        s->mismatch_log_due_ms = clock_monotonic_ms() + MISMATCH_LOG_INTERVAL_MS;
    }
    return ST_INVALID;
}

enum status settle_partitions_check(struct stores *stores)
{
    int64_t count = 0;
    struct arena *a = arena_new(CHECK_CHUNK_BYTES, CHECK_CHUNK_BYTES);
    if (a == NULL)
        return ST_NO_MEMORY;
    bool known = cursors_count(stores->db, a, &count) == ST_OK;
    arena_free(a);
    if (!known || count == 0 || count == stores->config->partitions)
        return ST_OK;
    mismatch_log(count, stores->config->partitions);
    return ST_INVALID;
}

enum status settle_cursor_load(struct settle *s, struct settle_partition *p)
{
    struct db_rows rows;
    arena_reset(s->arena);
    enum status st = s->partitions_match ? ST_OK : cursors_match(s);
    if (st == ST_OK)
        st = db_query(s->stores->db, s->arena, &rows, "SELECT last_id FROM stream_cursor WHERE partition_no = ?",
                      DB_PARAMS(DB_U64(p->no)));
    if (st != ST_OK)
        return st;
    const struct live_event_id before = p->last;
    p->unflushed = true;
    p->read_on = db_connections(s->stores->db);
    if (rows.count != 1 || !live_event_id_parse(db_cell(&rows, 0, 0), &p->last))
        return ST_CORRUPT;
    if (!live_event_id_equal(p->last, before))
        p->gap_accepted = false; /* the gap was accepted behind another entry */
    st = settle_publish_queue_missed(s, p);
    p->cursor_loaded = st == ST_OK;
    p->held_due = true;
    p->published = LIVE_EVENT_NONE;
    return st;
}
