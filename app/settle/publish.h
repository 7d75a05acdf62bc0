/* What Redis is told of a settled batch. */
#ifndef HB_SETTLE_PUBLISH_H
#define HB_SETTLE_PUBLISH_H

#include "settle/settle.h"

/* Tells Redis: time to live of closed packets, what waits behind dead letters, position, trimmed stream; in this
 * order. */
enum status settle_publish(struct settle *s, struct settle_partition *p);
/* Packets that are closed now: the next settle_publish tells of them. */
enum status settle_closed_add(struct settle_partition *p, const uint64_t *ids, size_t count);
/* The same for packets whose events are settled but not published: a worker died in between. */
enum status settle_unpublished(struct settle *s, struct settle_partition *p);

#endif
