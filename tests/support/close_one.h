/* Closes a single packet (live/close.h): the program closes packets in batches. */
#ifndef HB_TESTS_SUPPORT_CLOSE_ONE_H
#define HB_TESTS_SUPPORT_CLOSE_ONE_H

#include "live/close.h"
#include "live/live.h"

/* live_close_all for one packet; returns out->status. */
static inline enum status close_one(const struct live *live, uint64_t packet_id, struct live_close *out)
{
    live_close_all(live, &(struct live_closing){ .packet_id = packet_id }, 1, out);
    return out->status;
}

#endif
