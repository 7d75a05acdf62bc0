/* Repairs streams that lack their cursor's entry because a store has lost data, and opens the fence of a Redis process
 * after its streams were compared. settle/recover.h has the rules. */
#ifndef HB_SETTLE_RECOVER_STREAM_H
#define HB_SETTLE_RECOVER_STREAM_H

#include "settle/recover.h"
#include "settle/settle.h"

/* Repairs the streams in which the last pass found a gap: determines which store has lost data, shuts the packets of
 * the partition if grabs may be lost, and lets settlement resume. Does nothing without a gap. ST_OK also if another
 * worker has the partition · ST_UNAVAILABLE: a store is unreachable. */
enum status recover_gaps(struct settle *s);

/* Opens the fence of the connected Redis process: compares every partition's stream with its cursor, shuts the packets
 * of a partition with a gap, then writes the fence key. Sends nothing if this worker has already opened the fence of
 * this process. *open: the fence is open; false: another worker has a partition, try again soon. ST_OK ·
 * ST_UNAVAILABLE: a store is unreachable · ST_INVALID: as settle_cursor_load · ST_NO_MEMORY. */
enum status recover_fence(struct recover *r, struct settle *s, bool *open);

#endif
