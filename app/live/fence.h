/* The fences before a Redis process, one for each partition. Grabs, loads of new packets and closes are sent only to a
 * Redis process that the settle worker has compared with MySQL (settle/recover.h says why). A process calls
 * live_fences_set once; the settle worker opens each fence with live_fence_open. Its key is live_fence_key
 * (live/keys.h); the value is the run_id of the compared process, a blank, and the number of partitions used in the
 * comparison; behind them the unit of money (redis/fence.h). */
#ifndef HB_LIVE_FENCE_H
#define HB_LIVE_FENCE_H

#include "config/config.h"
#include "live/live.h"
#include "redis/fence.h"

/* Sets the fences of config's partitions (redis/redis.h); the fence of a call is the number of its partition. */
void live_fences_set(struct redis *redis, const struct config *config);

/* Opens the fence of a partition for all processes that are connected to the server with this run_id. text: by
 * redis_fence_text. ST_OK, or as live_grab_read. */
enum status live_fence_open(const struct live *live, uint32_t partition, struct str text);

/* Compares the unit of money with the worker's, for a process that reads no tables. ST_OK: the first fence is open for
 * this unit · ST_CONFLICT: for another one · ST_NOT_FOUND: it is shut · ST_UNAVAILABLE: Redis does not answer. */
enum status live_unit_check(struct redis *redis);

/* Pools of version 1.0 know one fence for all partitions. They still run for some seconds of an upgrade, and after a
 * downgrade. So the worker opens this fence, too, when all partitions are on one server. */
#define LIVE_OLDER_FENCE_KEY STR("hb:fence")
enum status live_older_fence_open(const struct live *live, struct str text);

#endif
