/* Repairs streams that lack their cursor's entry because a store has lost data, and opens the fences of a Redis process
 * after its streams were compared. settle/recover.h has the rules. */
#ifndef HB_SETTLE_RECOVER_STREAM_H
#define HB_SETTLE_RECOVER_STREAM_H

#include "settle/partition.h"
#include "settle/recover.h"

/* Repairs the streams in which the last pass found a gap: determines which store has lost data, shuts the packets of
 * the partition if grabs may be lost, and lets settlement resume. A stream whose cursor is in the future is made anew
 * once all its events are settled, and its packets are shut. Does nothing without either. ST_OK also if another worker
 * has the partition · ST_UNAVAILABLE: a store is unreachable. */
enum status recover_gaps(struct settle *s);

/* Opens the fence of every partition: compares its stream with its cursor, shuts its packets if there is a gap, then
 * writes the key of the fence. Sends nothing for a fence that this worker has opened in the same Redis process. *open:
 * every fence is open; false: another worker has a partition, or some servers of a cluster are unreachable, try again
 * soon. ST_OK · ST_UNAVAILABLE: MySQL or every Redis server is unreachable · ST_INVALID: as settle_cursor_load ·
 * ST_NO_MEMORY. */
enum status recover_fences(struct recover *r, struct settle *s, bool *open);

#endif
