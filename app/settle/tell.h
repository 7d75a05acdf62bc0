/* Writes to Redis what it lacks: returns and thanks whose process died between the two stores, or whose packet was not
 * in Redis yet. They are the rows without applied_ms. The walk skips a row whose packet is not in Redis, and comes back
 * to it after all other rows, so other rows never wait for such rows. No clock decides which rows are due, because
 * clocks of other machines may be wrong. So a row that its own process is just writing may be written twice: the second
 * write changes nothing. */
#ifndef HB_SETTLE_TELL_H
#define HB_SETTLE_TELL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "settle/partition.h"

enum { TELL_ROWS_MAX = 500 }; /* rows of each table in one pass */

/* Position of a walk over the pending rows of a table, oldest first. All zero: from the start. */
struct tell_walk {
    int64_t ms;
    uint64_t packet_id;
    uint32_t share_no;
};

struct tell {
    struct tell_walk returns, thanks;
};

/* Writes at most TELL_ROWS_MAX pending rows of each table; the next call continues after them. Call it once a second.
 * ST_OK: also when packets can't take them yet, are away (settle/away.h), or are damaged, which is logged ·
 * ST_UNAVAILABLE · ST_NO_MEMORY. */
enum status tell_pass(struct tell *t, struct settle *s, int64_t now_ms);

/* Whether the last pass has left rows for the next one. */
bool tell_is_walking(const struct tell *t);

#endif
