/* Closes packets after their expiry, or after their sender has ended them, which sets the expiry (acts/end.h). The
 * close function appends a close event to the stream, after all grabs; settling this event refunds the rest. */
#ifndef HB_SETTLE_EXPIRE_H
#define HB_SETTLE_EXPIRE_H

#include <stdint.h>

#include "base/status.h"
#include "settle/partition.h"
#include "settle/recover.h"

/* Position of the walk over the due packets, by (expires_ms, packet_id), the longest due first. The walk continues past
 * a packet that can't be closed yet. All zero: from the start. */
struct expire {
    int64_t expires_ms;
    uint64_t packet_id;
};

/* Closes at most LIVE_BATCH_MAX due packets; the next call continues after them. *closed: incremented for each newly
 * closed packet. Packets that are missing or busy in Redis go to recover_packet, which counts in done.
 * ST_UNAVAILABLE: a store is unreachable, the packets stay due · ST_NO_MEMORY. */
enum status expire_pass(struct expire *e, struct settle *s, int64_t now_ms, uint64_t *closed,
                        struct recover_done *done);

#endif
