/* The stream of a partition as a whole; its events are in live/event.h. */
#ifndef HB_LIVE_STREAM_H
#define HB_LIVE_STREAM_H

#include "live/event.h"
#include "live/live.h"

/* The newest id a stream has ever had, from the answer to XINFO STREAM; LIVE_EVENT_NONE when there is no stream.
 * ST_CORRUPT: no such answer; else as the call. */
enum status live_stream_last_id(const struct redis_call *info, struct live_event_id *out);

/* Adds an entry with the id of the cursor to a stream that has lost its end. ST_CONFLICT: it went on meanwhile; else as
 * live_grab_read. */
enum status live_stream_anchor(const struct live *live, uint32_t partition, struct live_event_id cursor);

#endif
