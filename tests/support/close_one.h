/* The end of one packet (live/live.h): the program ends them by the batch, tests one at a time. */
#ifndef HB_TESTS_SUPPORT_CLOSE_ONE_H
#define HB_TESTS_SUPPORT_CLOSE_ONE_H

#include "live/close.h"
#include "live/live.h"

/* As live_close_all; returns out->status. */
static inline enum status close_one(const struct live *live, uint64_t packet_id, struct live_close *out)
{
    live_close_all(live, &packet_id, 1, out);
    return out->status;
}

#endif
