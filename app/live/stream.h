/* The stream of a partition: reading its newest id, and writing a stream anchor. Events: live/event.h. */
#ifndef HB_LIVE_STREAM_H
#define HB_LIVE_STREAM_H

#include "live/event.h"
#include "live/live.h"

/* Reads last-generated-id, the newest id a stream has ever had, from the reply to XINFO STREAM. LIVE_EVENT_NONE: no
 * stream. ST_CORRUPT: malformed reply; else the status of the call. */
enum status live_stream_last_id(const struct redis_call *info, struct live_event_id *out);

/* Appends a stream anchor: an entry with the id of the cursor, for a stream that has lost its newest entries.
 * ST_CONFLICT: the stream has reached or passed the cursor meanwhile; else as live_grab_read. */
enum status live_stream_anchor(const struct live *live, uint32_t partition, struct live_event_id cursor);

#endif
