/* Writes the rows of a batch, between the lock of the cursor and its move. Only for write.c. */
#ifndef HB_SETTLE_ROWS_INTERNAL_H
#define HB_SETTLE_ROWS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "live/event.h"
#include "mysql/db.h"
#include "settle/batch.h"
#include "settle/write.h"

struct settle_rows {
    struct arena *arena;
    struct settle_write *w;
    struct live_event *events; /* the events of w that are settled, without dead letters */
    size_t event_count;        /* > 0 */
    int64_t now_ms;            /* set by verify_begin */
    struct settle_batch batch;
    struct buf sql;    /* the caller frees it */
    bool drop_settled; /* drop grabs of the batch that are settled already */
};

/* Groups the events, checks them against the tables and writes grabs, refunds, balances, totals and packets. Inside a
 * transaction. Of w now_ms, partition,
 * partitions and shares are read; fault, closed_ids, closed_count and refunded_fen are set. ST_CORRUPT with
 * w->fault set: an event contradicts the tables; else as db_exec. */
enum status settle_rows_write(struct settle_rows *k, struct db *db);

#endif
