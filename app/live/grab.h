/* A grab: one user takes the next share of a packet. */
#ifndef HB_LIVE_GRAB_H
#define HB_LIVE_GRAB_H

#include "live/live.h"

/* One grab. nickname: as of now, stored with the grab. Unavailable, and not sent, while the fence is shut. */
void live_grab_queue(const struct live *live, struct redis_call *call, uint64_t packet_id, uint64_t user_id,
                     struct str nickname);
struct live_grab {
    enum live_code code;
    uint32_t share_no; /* GRABBED and ALREADY only, as the amount */
    int64_t amount_fen;
    uint32_t count; /* EMPTY only */
};
/* ST_OK: the script answered, see code (GRABBED ALREADY MISSING NOT_FOR_YOU EMPTY EXPIRED BUSY) ·
 * ST_UNAVAILABLE: nothing happened · ST_CONFLICT: Redis refused (out of memory …), nothing happened ·
 * ST_UNKNOWN: may have happened, the packet page knows · ST_CORRUPT: Redis answered nonsense (logged). */
enum status live_grab_read(const struct redis_call *call, struct live_grab *out);

#endif
