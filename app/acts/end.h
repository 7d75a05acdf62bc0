/* A sender ends a packet early: the rest goes back at once. */
#ifndef HB_ACTS_END_H
#define HB_ACTS_END_H

#include "live/stores.h"
#include "packet/packet.h"

enum end_result {
    END_DONE,      /* the packet is ended, by this call or before: nobody can take a share any more */
    END_NOT_SENDER /* the user is not its sender; nothing was changed */
};

struct end_packet {
    enum end_result result;
    enum packet_state state; /* with END_DONE: the state after the call, PACKET_FINISHED or PACKET_EXPIRED */
};

/* Ends the packet for its sender. MySQL first: the end becomes the packet's expiry. Then the close function refuses
 * further grabs and appends the close event; settling that refunds the rest, as after an expiry. When the process dies
 * in between, the settle worker finds the packet by its expiry and closes it. Does nothing to a packet that is
 * finished, expired or ended already, so it may be repeated.
 *
 * a: memory for the row. ST_OK: see out · ST_NOT_FOUND: no such packet · ST_UNAVAILABLE, ST_CONFLICT, ST_NO_MEMORY:
 * nothing was changed · ST_UNKNOWN: the end may be recorded already, repeat the call · ST_CORRUPT. */
enum status end_packet(struct stores *stores, struct arena *a, uint64_t packet_id, uint64_t user_id, int64_t now_ms,
                       struct end_packet *out);

#endif
