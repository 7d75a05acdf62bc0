/* A receiver thanks the sender: MySQL first, then Redis, so that the packet's page shows it at once. When the process
 * dies in between, or Redis is away, the settle worker writes them to Redis (settle/tell.h). Thanks are no money: a
 * Redis that was restored from an older copy may lack some of them until the packet's page comes from MySQL. */
#ifndef HB_ACTS_THANKS_H
#define HB_ACTS_THANKS_H

#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "live/stores.h"

enum thanks_result {
    THANKS_SAID,     /* now or before */
    THANKS_OTHER,    /* the share has another text; nothing was changed */
    THANKS_NO_SHARE, /* the user has no share of this packet, or has given it back */
    THANKS_UNSETTLED /* the share is not settled yet: try again */
};

/* Says thanks for the user's share, once. text: clean, THANKS_GRAPHEMES_MAX. a: memory for rows. ST_OK: see *result ·
 * ST_NOT_FOUND: no such packet · ST_UNAVAILABLE, ST_CONFLICT: nothing was changed · ST_UNKNOWN: perhaps said, repeat
 * the call · ST_CORRUPT · ST_NO_MEMORY. */
enum status thanks_say(struct stores *stores, struct arena *a, uint64_t packet_id, uint64_t user_id, struct str text,
                       int64_t now_ms, enum thanks_result *result);

/* Writes the thanks for a share to Redis, if they are pending. ST_OK: also when Redis can't take them yet, or the
 * packet is damaged there, which is logged · ST_UNAVAILABLE · ST_NO_MEMORY. */
enum status thanks_tell(struct stores *stores, struct arena *a, uint64_t packet_id, uint32_t share_no, int64_t now_ms);

#endif
