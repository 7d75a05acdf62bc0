/* The fence before a Redis process. Grabs, loads of new packets and closes are sent only to a process that the settle
 * worker has compared with MySQL (settle/recover.h tells why). A process calls live_fence_set once; the settle worker
 * opens the fence with live_fence_open. */
#ifndef HB_LIVE_FENCE_H
#define HB_LIVE_FENCE_H

#include "base/config.h"
#include "live/live.h"

/* Its value: the run_id of the compared process, a blank, the number of partitions used in the comparison. */
#define LIVE_FENCE_KEY STR("hb:fence")
/* Sets the fence on the connection, for config's number of partitions (io/redis.h). */
void live_fence_set(struct redis *redis, const struct config *config);

/* Opens the fence for all processes that are connected to this server. text: its redis_fence_text. ST_OK, or as
 * live_grab_read. */
enum status live_fence_open(const struct live *live, struct str text);

#endif
