/* The state of Redis for a monitor: its memory, and whether acknowledged writes are on disk. */
#ifndef HB_SITE_REDIS_STATE_H
#define HB_SITE_REDIS_STATE_H

#include "base/buf.h"
#include "site/redis_memory.h"

struct redis_state {
    struct redis_memory memory;
    bool evicts;     /* maxmemory_policy is not noeviction: Redis may remove packets to make room */
    bool aof;        /* appendonly is on */
    bool write_ok;   /* the last write to the append-only file, with its fsync, succeeded */
    bool rewrite_ok; /* the last rewrite of this file succeeded */
    int64_t aof_bytes;
    int64_t start_s; /* seconds since it started */
};

/* Reads the reply to INFO. False: a line is missing. Pure. */
bool redis_state_parse(struct str info, struct redis_state *out);
/* Reads the state from Redis, in a cluster from every primary: the worst state of all counts, and the sizes of the
 * files are added. ST_OK · the status of the call · ST_CORRUPT. */
enum status redis_state_read(struct redis *r, struct redis_state *out);
/* Appends the gauges for Prometheus. */
void redis_state_print(const struct redis_state *s, struct buf *out);

#endif
