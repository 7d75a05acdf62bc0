/* Publishes the result of a settled batch to Redis. */
#ifndef HB_SETTLE_PUBLISH_H
#define HB_SETTLE_PUBLISH_H

#include "settle/partition.h"

/* Sends what is due, in this order: times to live of the keys of closed packets, held shares, the position, the trim of
 * the stream; the last two not while the stream has a gap at the cursor. Does nothing if nothing has changed. ST_OK
 * also if Redis is out of memory (the next pass repeats it) · ST_UNAVAILABLE: a store is unreachable · ST_NO_MEMORY. */
enum status settle_publish(struct settle *s, struct settle_partition *p);
/* Reads the positions in Redis, which an intruder in a pool can overwrite. The next settle_publish repeats each
 * position that differs from what this worker has published and that no other worker can have reached. Call it once a
 * second. ST_OK also if Redis does not answer · ST_CORRUPT: there is no valid cursor · ST_UNAVAILABLE · ST_NO_MEMORY.
 */
enum status settle_positions_look(struct settle *s);
/* Queues closed packets for the next settle_publish. ids is copied. ST_NO_MEMORY. */
enum status settle_publish_queue_closed(struct settle_partition *p, const uint64_t *ids, size_t count);
/* Queues the closed packets of events that are settled but not published, because a worker died in between. p->last
 * must be set. ST_OK · ST_UNAVAILABLE · ST_NO_MEMORY. */
enum status settle_publish_queue_missed(struct settle *s, struct settle_partition *p);

#endif
