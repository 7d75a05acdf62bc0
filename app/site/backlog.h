/* The backlog of the settle worker: events that are in Redis's streams and not settled yet. */
#ifndef HB_SITE_BACKLOG_H
#define HB_SITE_BACKLOG_H

#include "live/stores.h"

struct backlog {
    int64_t entries[CONFIG_PARTITIONS_MAX]; /* for each partition: entries of its stream that are not settled */
    int64_t oldest_ms;                      /* age of the oldest of them, by Redis's clock; 0: nothing waits */
};

/* Reads the backlog from Redis, in two rounds. ST_OK · ST_UNAVAILABLE · ST_NO_MEMORY · ST_CORRUPT: a malformed
 * reply. */
enum status backlog_read(const struct stores *stores, struct arena *a, struct backlog *out);

#endif
