/* A packet as Redis shows it to one visitor: what the packet page needs, in one call. */
#ifndef HB_LIVE_VIEW_H
#define HB_LIVE_VIEW_H

#include "base/arena.h"
#include "live/live.h"
#include "packet/view.h"

#define LIVE_ROWS_MAX 100

/* user_id 0: logged out. after: rows with share_no < after follow, PACKET_NO_SHARE: from the newest. limit ≤
 * LIVE_ROWS_MAX, 0: no rows. */
void live_view_queue(const struct live *live, struct redis_call *call, uint64_t packet_id, uint64_t user_id,
                     uint32_t after, uint32_t limit);
/* ST_OK, ST_NOT_FOUND (Redis does not know it: ask MySQL), ST_NO_MEMORY, else as live_grab_read. */
enum status live_view_read(const struct redis_call *call, struct arena *a, uint64_t packet_id, struct packet_view *out);

#endif
