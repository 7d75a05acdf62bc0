/* The flag of a user who has received a lot in one day of the site: as much as the setting user_receive_day_fen, when
 * there is such a cap. A grab that Redis has decided is settled in any case, so the cap is checked before: the settle
 * worker writes the flag after it has settled shares (settle/capped.h), and the hot pool reads it before a grab.
 *
 * Key    hb:capped:USER
 * Value  END_MS FEN: the end of the day, and what the user had received in it. Both are compared by the reader, so a
 *        cap that the operator raises holds at once, and a clock that is behind lets nobody wait for longer.
 * TTL    until the end of the day */
#ifndef HB_LIVE_CAPPED_H
#define HB_LIVE_CAPPED_H

#include <stdint.h>

#include "base/status.h"
#include "live/live.h"
#include "redis/redis.h"

#define CAPPED_KEY_PREFIX "hb:capped:"

struct live_capped {
    int64_t until_ms; /* 0: there is no flag */
    int64_t fen;
};

/* Queues the reading of the user's flag. */
void live_capped_queue(const struct live *live, struct redis_call *call, uint64_t user_id);
/* Reads the reply. ST_OK: also without a flag, or with one that can't be read · else the status of the call. */
enum status live_capped_read(const struct redis_call *call, struct live_capped *out);
/* Queues the writing of the flag; now_ms is before its end. */
void live_capped_set_queue(const struct live *live, struct redis_call *call, uint64_t user_id, struct live_capped flag,
                           int64_t now_ms);

#endif
