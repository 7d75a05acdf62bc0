/* A packet as one visitor sees it, read from Redis with one function call: all that the packet page needs. Queue it,
 * run a redis_round, read the reply. */
#ifndef HB_LIVE_VIEW_H
#define HB_LIVE_VIEW_H

#include "base/arena.h"
#include "live/live.h"
#include "packet/view.h"

#define LIVE_ROWS_MAX 100

/* Queues a view. user_id: the visitor; 0: logged out. after: rows with share_no < after; PACKET_NO_SHARE: from the
 * newest. limit: most rows, ≤ LIVE_ROWS_MAX (asserted); 0: none. A logged-in visitor who may not see the list of an
 * open packet gets no rows either. */
void live_view_queue(const struct live *live, struct redis_call *call, uint64_t packet_id, uint64_t user_id,
                     uint32_t after, uint32_t limit);
/* The same, confirmed by the replicas (redis_queue_confirmed). */
void live_view_queue_confirmed(const struct live *live, struct redis_call *call, uint64_t packet_id, uint64_t user_id,
                               uint32_t after, uint32_t limit);
/* Reads the reply. Rows go into the arena; texts are slices of the reply, valid until the caller frees the call.
 * ST_OK · ST_NOT_FOUND: not in Redis, it may be in MySQL · ST_NO_MEMORY · else as live_grab_read. */
enum status live_view_read(const struct redis_call *call, struct arena *a, uint64_t packet_id, struct packet_view *out);

#endif
