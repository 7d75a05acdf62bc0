/* The watch: while the site runs, the settle worker finds within about a minute what an attacker could plant with the
 * rights of a role: transfers that nobody asked for, accounts of a wrong kind, open packets without their money,
 * accounts and sessions without a user, and access tokens and leases of instance numbers that last too long. It reads
 * by key and in steps of about AUDIT_WATCH_STEP_MS a second; with millions of rows a walk takes longer, but no more of
 * each second. The audit of single packets (audit/sample.h) and `hongbao audit` check the rest. */
#ifndef HB_AUDIT_WATCH_H
#define HB_AUDIT_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "audit/audit.h"
#include "live/stores.h"

enum {
    AUDIT_WATCH_LOOK_MS = 10 * 1000, /* from one look at new transfers to the next */
    AUDIT_WATCH_WALK_MS = 60 * 1000, /* from the start of one walk over the rest to the next, if it is not longer */
    AUDIT_WATCH_STEP_MS = 50,
    AUDIT_WATCH_FIRST_TRANSFERS = 20000 /* of these the first look begins; older ones are left to `hongbao audit` */
};

/* Begins as all zeros. */
struct audit_watch {
    /* A look checks the transfers after `from`: those since the look before the last one. So each is read twice, and
     * one that is committed after a look that has seen later ids is read once. */
    uint64_t from, seen; /* ids */
    uint64_t at, to;     /* the look under way; to is 0: none is */
    bool looked;
    int64_t look_due_ms, walk_due_ms; /* monotonic */
    /* the walk */
    unsigned part;                 /* of those in audit_watch.c; 0: none is under way */
    bool incomplete;               /* a part could not be read */
    bool walked;                   /* a walk has ended */
    uint64_t last[2];              /* key of the last row */
    char cursor[AUDIT_CURSOR_MAX]; /* of the sessions */
    struct audit audit;            /* of the last step */
};

/* One step, about once a second. Violations go to the log and to hongbao_audit_sampled_violations_total, again in each
 * walk as long as they last; hongbao_audit_walks_total counts complete walks. A part that a store refuses is left out
 * until the next walk, and the log says so. ST_OK · any other status is a store's: the next step tries again. */
enum status audit_watch_run(struct audit_watch *w, struct stores *stores, int64_t monotonic_ms);

#endif
