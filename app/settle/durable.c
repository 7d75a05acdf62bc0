#include "settle/durable.h"

#include "live/stores.h"
#include "settle/write.h"

/* Changes any cursor that no other worker has locked. */
static enum status durable_body(struct db *db, void *ctx)
{
    struct settle *s = ctx;
    struct db_rows rows;
    enum status st =
        db_find(db, s->arena, &rows,
                "SELECT partition_no FROM stream_cursor ORDER BY partition_no LIMIT 1 FOR UPDATE SKIP LOCKED", NULL, 0);
    return st == ST_OK ? settle_cursor_touch(db, (uint32_t)db_cell_u64(&rows, 0, 0)) : st;
}

enum status settle_durable(struct settle *s)
{
    enum status st = db_transaction(s->stores->db, durable_body, s);
    for (uint32_t i = 0; st == ST_OK && i < s->partition_count; i++)
        s->partitions[i].unflushed = false;
    return st == ST_NOT_FOUND ? st : status_retry(st);
}
