/* Grabs that wait behind a dead letter. The published position passes them, so Redis is told beside it, for each packet
 * with a letter, from which share on its grabs are not settled. Shares are settled in order, so that is the number of
 * settled shares. Pages show such a grab as not settled until its letter is (docs/how-to/dead-letters.md). */
#ifndef HB_SETTLE_HELD_H
#define HB_SETTLE_HELD_H

#include "base/arena.h"
#include "base/status.h"
#include "io/db.h"
#include "live/live.h"

/* Tells Redis, for every packet that a letter of the partition names, what waits now; nothing, when all its letters are
 * resolved. Waits for the lock of the partition's cursor when there is a letter, so the last one to tell Redis has read
 * the newest tables. Can be repeated.
 * ST_OK · ST_UNAVAILABLE: a store is away, or the lock was not to be had · ST_CORRUPT · ST_NO_MEMORY. */
enum status held_publish(struct db *db, const struct live *live, struct arena *a, uint32_t partition);

#endif
