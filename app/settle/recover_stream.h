/* Streams that do not go on where their cursor stands, because one of the two stores has lost something; and the fence
 * that keeps grabs away from a Redis process until its streams were compared. settle/recover.h tells the rules. */
#ifndef HB_SETTLE_RECOVER_STREAM_H
#define HB_SETTLE_RECOVER_STREAM_H

#include "settle/recover.h"
#include "settle/settle.h"

/* Repairs the streams in which the last pass found a gap: finds out which store has lost something, shuts the packets
 * of the partition where grabs may be lost, and lets settlement go on. Does nothing when there is no gap. ST_OK also
 * when another worker is at it; ST_UNAVAILABLE: a store can't be reached. */
enum status recover_gaps(struct settle *s);

/* Opens the fence, when that has not been done since Redis started: compares every partition's stream with its cursor
 * first, and closes the doors where it does not go on. Asks nothing when the connection leads to the process that was
 * checked last. *checked: the fence is open; false: another worker is at a partition, try again soon.
 * ST_UNAVAILABLE: a store is away. ST_INVALID: as settle_refresh. */
enum status recover_fence(struct recover *r, struct settle *s, bool *checked);

#endif
