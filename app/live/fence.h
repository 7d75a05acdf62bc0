/* The fence before a Redis process: grabs, new packets and ends of packets pass only where the settle worker has
 * compared the process with MySQL (settle/recover.h says why). */
#ifndef HB_LIVE_FENCE_H
#define HB_LIVE_FENCE_H

#include "base/config.h"
#include "live/live.h"

/* Holds the run_id of the server that is vouched for and the number of partitions: new packets, grabs and ends of
 * packets go to no other, and from nobody with another number (settle/recover.h says why). */
#define LIVE_CHECKED_KEY STR("hb:checked")
/* Lets the connection ask for it: it has to name our number of partitions, too. */
void live_vouched_by(struct redis *redis, const struct config *config);

/* Says in LIVE_CHECKED_KEY that this process of Redis may be trusted: voucher is redis_voucher. ST_OK, or as
 * live_grab_read. */
enum status live_vouch(const struct live *live, struct str voucher);

#endif
