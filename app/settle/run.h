/* The settle worker as a process: runs passes, expiry and recovery until a signal. */
#ifndef HB_SETTLE_RUN_H
#define HB_SETTLE_RUN_H

#include <stdbool.h>

#include "live/stores.h"

/* A function that the worker calls about once a second while the stores are reachable. It must be quick. False: its
 * first walk over the data is not complete. */
typedef bool settle_extra(struct stores *stores, void *ctx);

enum settle_end {
    SETTLE_UNTIL_SIGNAL, /* SIGTERM, SIGINT or SIGUSR1; the current batch is finished */
    SETTLE_UNTIL_IDLE    /* the same, or idle: every fence is open, and no event, packet or walk is left */
};

/* Settles, expires and recovers until the end. SIGHUP restarts the program (io/process.h). Retries while a store is
 * unreachable. extra may be NULL; ctx is passed to it. ST_OK: ended · ST_INVALID, ST_NO_MEMORY: as settle_new. */
enum status settle_run(struct stores *stores, enum settle_end end, settle_extra *extra, void *ctx);

#endif
