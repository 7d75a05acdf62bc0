/* Held shares: grabs that are not settled because a dead letter is before them. Redis shows grabs before the published
 * position as settled, and that position is after the held ones. So for each packet with a letter, Redis also keeps the
 * first share that is not settled. Shares are settled in order, so this is the number of settled shares. Pages show a
 * held grab as not settled (docs/how-to/dead-letters.md). */
#ifndef HB_SETTLE_HELD_H
#define HB_SETTLE_HELD_H

#include "base/arena.h"
#include "base/status.h"
#include "live/live.h"
#include "mysql/db.h"

/* Publishes the held shares of every packet of the partition that has a letter, or none if all its letters are
 * resolved. If there is a letter, waits for the lock of the partition's cursor, so that the last writer has read the
 * newest tables. Idempotent. ST_OK · ST_UNAVAILABLE: a store is unreachable, or the lock was not granted · ST_CORRUPT ·
 * ST_NO_MEMORY. */
enum status held_publish(struct db *db, const struct live *live, struct arena *a, uint32_t partition);

#endif
