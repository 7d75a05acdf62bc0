/* Closes packets whose expiry has passed, or that their senders have ended early. */
#ifndef HB_LIVE_CLOSE_H
#define HB_LIVE_CLOSE_H

#include "live/live.h"

/* A packet to close. */
struct live_closing {
    uint64_t packet_id;
    int64_t ended_ms; /* when its sender ended it, by its row: it is closed regardless of Redis's clock; 0: not ended */
};

/* The result for one packet. While the fence is shut the call is not sent (ST_UNAVAILABLE): an older copy of the data
 * may lack grabs, and the close event would contain a wrong count. */
struct live_close {
    enum status status;  /* ST_OK: see code; else as live_grab_read */
    enum live_code code; /* CLOSED (event appended), ALREADY, FINISHED, NOT_YET, BUSY, MISSING */
    uint32_t grabbed_count;
    int64_t grabbed_fen;
    int64_t rest_fen; /* to refund; the last three only with CLOSED */
};
/* Runs close-3.lua for each packet, in one round. count ≤ LIVE_BATCH_MAX (asserted); fills out[0 … count-1]. */
void live_close_all(const struct live *live, const struct live_closing *packets, size_t count, struct live_close *out);

#endif
