/* A short view of a packet in Redis, without rows, for acts and settlement. Reading it takes a round of its own. */
#ifndef HB_LIVE_SUMMARY_H
#define HB_LIVE_SUMMARY_H

#include "base/arena.h"
#include "live/live.h"

struct live_summary {
    bool whole;     /* Redis has the packet, and it is not shut: has_mine is then the truth */
    bool open;      /* shares are left, and grabs are not refused for a rebuild */
    bool has_mine;  /* the user has a share, perhaps not settled yet */
    int64_t now_ms; /* Redis's clock, which decides whether the packet is over */
};

/* user_id: the user of has_mine; 0: none. now_ms: our clock. When Redis does not have the packet, the summary has our
 * clock, and all else is false. a: memory for the view.
 * ST_OK · ST_UNAVAILABLE, ST_CONFLICT: try again · ST_CORRUPT · ST_NO_MEMORY. */
enum status live_summary_read(const struct live *live, struct arena *a, uint64_t packet_id, uint64_t user_id,
                              int64_t now_ms, struct live_summary *out);

#endif
