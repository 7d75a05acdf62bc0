/* The settle worker: turns the events of Redis into rows and money in MySQL, each event exactly once.
 *
 * Use: settle_new once, then settle_pass in a loop (settle/run.h does that for the process).
 *
 * The cursor of each partition (its offset in the stream, table stream_cursor) moves in the same transaction as the
 * money. After a crash the next worker reads and writes the same batch again: its transaction was never committed. A
 * worker whose batch is outdated finds that the cursor has moved and drops the batch. The unique keys of grab and
 * transfer are the second protection.
 *
 * An entry that can't be read, or with an event that contradicts the tables, becomes a dead letter
 * (settle/dead_letter.h), and the partition continues; so does a grab whose entry was trimmed before it was settled
 * (settle/trimmed.h). A failure that no single entry causes (an unreadable stream, inconsistent tables) stops the
 * partition; it retries after a back-off.
 *
 * Trimming keeps the entry at the cursor, so every read starts with an entry that both stores have. If the stream lacks
 * that entry, one of the stores has lost data: settle/recover.h says what is done then. */
#ifndef HB_SETTLE_SETTLE_H
#define HB_SETTLE_SETTLE_H

#include <stdint.h>

#include "base/status.h"
#include "live/stores.h"
#include "settle/partition.h"

enum { SETTLE_DB_TIMEOUT_S = 10 }; /* for connect, read and write; replaces the configured timeout */

/* Makes a worker. stores is borrowed; its database timeout becomes SETTLE_DB_TIMEOUT_S. The caller frees *out with
 * settle_free. ST_INVALID: partitions is not 1 … CONFIG_PARTITIONS_MAX · ST_NO_MEMORY. */
enum status settle_new(struct stores *stores, struct settle **out);
void settle_free(struct settle *s); /* NULL is fine */

/* One pass over all partitions: reads, settles and publishes one batch of each. *events: number of settled events.
 * ST_OK even if a partition is stopped, locked by another worker, or away (settle/away.h) · ST_UNAVAILABLE: MySQL or
 * every Redis server is unreachable, try again · ST_INVALID: as settle_cursor_load. */
enum status settle_pass(struct settle *s, uint64_t *events);

#endif
