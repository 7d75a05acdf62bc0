/* Packet ids with an instance number leased from MySQL. The table instance_lease has one row per number; a process
 * takes the number whose lease expired longest ago. During the lease no other process uses the number. All ids have a
 * time before the end of the lease, and the next holder's ids start at that time, so ids are unique even when the
 * clocks of two machines disagree. Most callers only need packet_id_next. */
#ifndef HB_PACKET_ID_LEASE_H
#define HB_PACKET_ID_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "mysql/db.h"
#include "packet/id.h"

enum { ID_LEASE_MS = 60000, ID_LEASE_RENEW_MS = 20000 };

struct id_lease {
    struct id_gen gen;
    uint64_t holder;  /* random, constant for the life of the process */
    int64_t until_ms; /* end of the lease */
    bool held;
};

/* Initialises without taking a lease. holder: random, not 0 (asserted). */
void id_lease_init(struct id_lease *l, uint64_t holder);

/* Makes the next id. Takes a lease when none is held. Renews it when at most ID_LEASE_RENEW_MS are left or it has
 * expired; while the lease lasts, a failed renewal is retried with the next id. Takes another number when this one
 * meanwhile has another holder, or when the clock was set back further than ID_AHEAD_MS_MAX.
 * ST_UNAVAILABLE: no lease, because MySQL is unreachable or no number is free · ST_CONFLICT: as db_transaction ·
 * ST_NO_MEMORY · ST_CORRUPT. */
enum status id_lease_next(struct id_lease *l, struct db *db, int64_t now_ms, uint64_t *out_id);

/* id_lease_next with the lease of the process, a global that is initialised at the first call; a forked child takes
 * one of its own. Not thread-safe. */
enum status packet_id_next(struct db *db, int64_t now_ms, uint64_t *out_id);

#endif
