/* Removes the name of a user who is being deleted from packets, in both stores. Each name that is still in the tables
 * is a task to do, so a crash loses none: the name of each packet is removed in one transaction, which locks the
 * packet's row as a rebuild does, and in Redis before its COMMIT. user/deletion.h says how an account is deleted. */
#ifndef HB_ACTS_ERASE_H
#define HB_ACTS_ERASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "live/stores.h"

enum {
    ERASE_LIVE_MAX = 20,  /* packets that Redis may have, in one call: each needs a transaction */
    ERASE_ROWS_MAX = 1000 /* rows of one call, with a name or without, so that each call is short */
};

/* A walk over all packets that may have the user's name: those sent, those meant for the user, those opened. Begins
 * with zeros. Only the caller keeps it; a lost one begins again. */
struct erase_walk {
    size_t side; /* what is walked over, in the order of its key … */
    int64_t ms;  /* … and the last row */
    uint64_t packet_id;
    bool left; /* a name was found, or a packet of the user that is not closed: walk once more */
};

/* Continues the walk: removes the name from the rows of the next packets, and from these packets in Redis: open ones
 * lose the name there, closed ones are removed, so that their pages come from the tables. Packets in state funding keep
 * the name for now: they are about to be opened. *ended: it was the walk's last part. ST_OK · ST_UNAVAILABLE: a part
 * may be done · ST_CORRUPT · ST_NO_MEMORY; after an error the walk is where it was. a: memory for rows. */
enum status erase_names(struct stores *stores, struct arena *a, uint64_t user_id, int64_t now_ms,
                        struct erase_walk *walk, bool *ended);

/* *settled: all grabs from before since_ms are in the tables, and no dead letter has a grab of this user. ST_OK ·
 * ST_UNAVAILABLE · ST_CORRUPT · ST_NO_MEMORY. */
enum status erase_settled(struct stores *stores, struct arena *a, uint64_t user_id, int64_t since_ms, bool *settled);

#endif
