/* Compares a grab or a close event that Redis has decided with the tables. The worker pays only events that agree with
 * the tables, because an intruder in a pool can append any event to a stream. The amount is the share that was drawn,
 * the user is a receiver, and the time is between opening and expiry. Only Redis knows who has taken the next share of
 * a packet for everybody.
 *
 * The time of an event is the time of its id, by Redis's clock. The ids of a stream never decrease: after the clock was
 * set back, or after an entry with an id in the future, the next entries have the time of the entry before
 * (live_event.follows), so they may be older. */
#ifndef HB_SETTLE_VERIFY_H
#define HB_SETTLE_VERIFY_H

#include <stdint.h>

#include "base/clock.h"
#include "live/event.h"
#include "settle/fault.h"

/* How far the id of an event and a worker's clock may differ. A worker that is further behind reads MariaDB's clock. */
enum { VERIFY_MARGIN_MS = CLOCKS_DIFFER_MS };

/* The conditions of opening a packet, from its row: who may open it, and when. */
struct verify_terms {
    uint64_t receiver_id; /* of an exclusive packet, else 0 */
    int64_t opens_ms;     /* 0: from the beginning */
    int64_t expires_ms;
    int64_t ended_ms; /* 0: not ended. Redis learns of an end later than the tables, and grants grabs until then */
};

/* The fault of a grab, or FAULT_NONE. Pure. Not checked: the amount, and the receivers of a packet for several. */
enum settle_fault_kind verify_grab(const struct verify_terms *t, const struct live_event *e, int64_t now_ms);
/* The same for a close event. */
enum settle_fault_kind verify_close(const struct verify_terms *t, const struct live_event *e, int64_t now_ms);

#endif
