/* The settle worker as a process: passes, and the chores between them, until a signal. */
#ifndef HB_SETTLE_RUN_H
#define HB_SETTLE_RUN_H

#include "live/stores.h"

/* What else the worker does about once a second, when the stores are there. Has to be quick. */
typedef void settle_extra(struct stores *stores, void *ctx);
/* Settles, expires and recovers until SIGTERM, SIGINT or SIGUSR1; a batch under way is finished. SIGHUP starts the
 * program anew (io/process.h). Waits for absent stores. ST_INVALID when it can't work at all (scripts missing). */
enum status settle_run(struct stores *stores, settle_extra *extra, void *ctx);

#endif
