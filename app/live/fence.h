/* The fence before a Redis process: grabs, new packets and ends of packets pass only where the settle worker has
 * compared the process with MySQL (settle/recover.h says why). */
#ifndef HB_LIVE_FENCE_H
#define HB_LIVE_FENCE_H

#include "base/config.h"
#include "live/live.h"

/* Holds the run_id of the process that was compared, a blank and the number of partitions it was compared for. */
#define LIVE_FENCE_KEY STR("hb:fence")
/* Puts the fence before the connection's server; it opens for our own number of partitions only. */
void live_fence_set(struct redis *redis, const struct config *config);

/* Opens the fence for every process that is connected to this server: text is what redis_fence_text says of it. ST_OK,
 * or as live_grab_read. */
enum status live_fence_open(const struct live *live, struct str text);

#endif
