/* FastCGI programs in C as they are usually written: a process takes one request at a time and waits for each store.
 * They use the site's own functions for ids, sessions and keys, so that only the way of serving differs. Run by
 * spawn-fcgi and multiwatch with any number of processes. HB_CONFIG: the configuration of the instance. */
#ifndef HB_TESTS_BLOCKING_H
#define HB_TESTS_BLOCKING_H

#include <fcgiapp.h>
#include <hiredis/hiredis.h>
#include <stdint.h>

#include "base/config.h"
#include "base/public_id.h"
#include "live/live.h"
#include "user/session.h"

struct blocking {
    struct config config;
    struct public_id_key id_key;
    redisContext *redis; /* kept; NULL after an error */
};

/* The outcome of a grab. */
struct blocking_grab {
    enum live_code code; /* LIVE_BAD: the store failed */
    long long share_no, fen, left_count;
};

/* Answers POST /p/ID/open until the process ends, with the outcome that grab returns; the session comes from Redis.
 * Returns the exit status. name: for errors on stderr. */
int blocking_serve(struct blocking *b, const char *name,
                   struct blocking_grab (*grab)(struct blocking *b, uint64_t packet_id, const struct session *session));

#endif
