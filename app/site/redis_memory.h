/* Watches Redis's memory: a full Redis refuses sends, logins and grabs, so an operator must be warned long before. */
#ifndef HB_SITE_REDIS_MEMORY_H
#define HB_SITE_REDIS_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "redis/redis.h"

struct redis_memory {
    int64_t used_bytes;
    int64_t max_bytes; /* the setting maxmemory; 0: only the machine's memory limits Redis */
    size_t primary;    /* in a cluster: the number of the primary, from 0 */
};

/* How near Redis is to its limit. */
enum redis_memory_state {
    REDIS_MEMORY_FINE,
    REDIS_MEMORY_NO_LIMIT, /* maxmemory is not set */
    REDIS_MEMORY_HIGH,     /* from three quarters of the limit on */
    REDIS_MEMORY_FULL      /* from 95 % on: it refuses writes, or is about to */
};

/* Reads used_memory and maxmemory of the reply to INFO memory. False: one of them is missing. Pure. */
bool redis_memory_parse(struct str info, struct redis_memory *out);
enum redis_memory_state redis_memory_state(const struct redis_memory *m); /* pure */
/* True when m is nearer to its limit. Pure. */
bool redis_memory_is_tighter(const struct redis_memory *m, const struct redis_memory *than);
/* Reads the memory from Redis; in a cluster from the primary that is nearest to its limit. ST_OK · the status of the
 * call · ST_CORRUPT. */
enum status redis_memory_read(struct redis *r, struct redis_memory *out);

/* The watch of the settle worker. Zeroed at first. */
struct redis_memory_watch {
    int64_t due_ms; /* monotonic */
    enum redis_memory_state state;
    int64_t told_ms;
};
/* Checks every ten seconds. Logs when the state changes, and once a minute while memory is high or full. */
void redis_memory_watch(struct redis_memory_watch *w, struct redis *r, int64_t monotonic_ms);

#endif
