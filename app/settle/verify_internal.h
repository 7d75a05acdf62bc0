/* Verifies the events of a batch against the rows of their packets. Only for rows.c. */
#ifndef HB_SETTLE_VERIFY_INTERNAL_H
#define HB_SETTLE_VERIFY_INTERNAL_H

#include "settle/rows_internal.h"

/* The columns of a packet that are read, of a table with the alias p; from column VERIFY_COLUMN on. */
#define VERIFY_COLUMNS                                                                                                 \
    "p.receiver_id, p.receiver_count, p.opens_ms, p.expires_ms, p.ended_ms, p.split, p.amount_fen, p.count,"           \
    " p.share_min_fen, p.share_max_fen, p.seed"

/* Checks that the events belong to the partition, and sets k->now_ms: the time of the worker's clock or, when ids are
 * in its future and it may be wrong, of MariaDB's. Call it before settle_batch_group. ST_CORRUPT with the fault set, or
 * as db_query. */
enum status verify_begin(struct settle_rows *k, struct db *db);

/* Verifies all events of packets that are found and not closed; settle_packet_check refuses the others. rows: of the
 * packets, with VERIFY_COLUMNS from first_column on. ST_CORRUPT with the fault set: an event contradicts the tables;
 * else as db_query. */
enum status verify_batch(struct settle_rows *k, struct db *db, const struct db_rows *rows, size_t first_column);

#endif
