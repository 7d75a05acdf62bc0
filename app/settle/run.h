/* The settle worker as a process: runs passes, expiry and recovery until a signal. */
#ifndef HB_SETTLE_RUN_H
#define HB_SETTLE_RUN_H

#include "live/stores.h"

/* A function that the worker calls about once a second while the stores are reachable. It must be quick. */
typedef void settle_extra(struct stores *stores, void *ctx);
/* Settles, expires and recovers until SIGTERM, SIGINT or SIGUSR1; the current batch is finished. SIGHUP restarts the
 * program (io/process.h). Retries while a store is unreachable. extra may be NULL; ctx is passed to it. ST_OK: stopped
 * by a signal · ST_INVALID, ST_NO_MEMORY: as settle_new. */
enum status settle_run(struct stores *stores, settle_extra *extra, void *ctx);

#endif
