/* Instance numbers are leased from MySQL, never configured: table instance_lease has one row per number, and a process
 * takes the one whose lease ran out longest ago. While it holds the lease nobody else makes ids with that number; ids
 * never carry a time past the lease's end, and the next holder starts there, so that even clocks that disagree can't
 * make one id twice. */
#ifndef HB_PACKET_ID_LEASE_H
#define HB_PACKET_ID_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "io/db.h"
#include "packet/id.h"

enum { ID_LEASE_MS = 60000, ID_LEASE_RENEW_MS = 20000 };

struct id_lease {
    struct id_gen gen;
    uint64_t holder; /* random, this process's for its life */
    int64_t until_ms;
    bool held;
};

/* A lease not yet taken. holder: random and never 0. */
void id_lease_init(struct id_lease *l, uint64_t holder);

/* The next id; takes a lease when none is held, renews it when less than ID_LEASE_RENEW_MS are left or it has run out,
 * takes another when the number meanwhile has another holder or the clock was put back too far for it. A renewal that
 * fails while the lease still runs is tried again with the next id.
 * ST_UNAVAILABLE: no lease could be had (database away, none free) · ST_CONFLICT: as db_transaction */
enum status id_lease_next(struct id_lease *l, struct db *db, int64_t now_ms, uint64_t *out_id);

/* The same with the one lease of this process, made at first use. (The one global of this file: a process has one
 * identity, and is single-threaded.) */
enum status packet_id_next(struct db *db, int64_t now_ms, uint64_t *out_id);

#endif
