/* Ends packets whose time is over. */
#ifndef HB_LIVE_CLOSE_H
#define HB_LIVE_CLOSE_H

#include "live/live.h"

/* What became of a packet that was to be closed. Unavailable, and not sent, while the fence is shut: an older copy of a
 * packet has fewer grabs, and its event would tell their count. */
struct live_close {
    enum status status;  /* ST_OK: see code; else as live_grab_read */
    enum live_code code; /* CLOSED (event appended), ALREADY, FINISHED, NOT_YET, BUSY, MISSING */
    uint32_t grabbed_count;
    int64_t grabbed_fen;
    int64_t rest_fen;
};
/* At most LIVE_BATCH_MAX in one round, each with its own answer in out. */
void live_close_all(const struct live *live, const uint64_t *packet_ids, size_t count, struct live_close *out);

#endif
