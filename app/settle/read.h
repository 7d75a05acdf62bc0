/* Reads the events after the cursors from Redis. */
#ifndef HB_SETTLE_READ_H
#define HB_SETTLE_READ_H

#include "settle/partition.h"

enum {
    /* Streams and events that are read in one round. They bound the memory of the replies, and how long Redis works on
     * them. */
    SETTLE_READ_PARTITIONS_MAX = 8,
    SETTLE_READ_EVENTS_MAX = 8000,
    SETTLE_PROMPT_EVENTS = 1000 /* events of a batch while the worker keeps up: it locks wallets only briefly */
};

/* How many of these partitions, from the first one on, are read in one round: at least 1 of count > 0. */
uint32_t settle_read_group(const struct settle *s, uint32_t first, uint32_t count);

/* Reads the next events of the partitions first … first + count - 1 in one round. Skips a stopped partition before its
 * retry time. When the stream lacks the cursor's entry, sets the partition's gap and reads nothing: recover_gaps is
 * due. A stream that can't be read stops its partition (settle_stop). After an error the partitions of other Redis
 * servers are read all the same; only what the replicas confirm is read (redis_queue_confirmed). count ≤
 * SETTLE_READ_PARTITIONS_MAX (asserted). ST_OK: also when some partitions are away (settle/away.h) ·
 * ST_UNAVAILABLE: MySQL or every Redis server is unreachable · ST_INVALID: as settle_cursor_load · ST_NO_MEMORY. */
enum status settle_read(struct settle *s, uint32_t first, uint32_t count);

#endif
