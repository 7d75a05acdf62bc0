/* Whether the stores would take a write now: a small one is tried, because a store may answer every read and refuse
 * each grab and each send (a replica, no memory, no replicas, a disk that is full, read_only, tables locked by a
 * backup). */
#ifndef HB_SITE_WRITE_PROBE_H
#define HB_SITE_WRITE_PROBE_H

#include <stdbool.h>

#include "web/exchange.h"

enum { WRITE_PROBE_TEXT_MAX = 200 };

struct write_probe {
    bool redis_refuses, mysql_refuses;
    char redis[WRITE_PROBE_TEXT_MAX]; /* why, or which part; without quotation marks. Empty: all is fine */
    char mysql[WRITE_PROBE_TEXT_MAX];
};

/* What the pool of this process writes in Redis: keys of packets, or only counts of limits. */
enum write_probe_kind { WRITE_PROBE_PACKETS, WRITE_PROBE_LIMITS };

/* The result of a try in this process that is at most a second old. May block: up to the timeouts of both stores. */
const struct write_probe *write_probe_take(struct exchange *x, enum write_probe_kind kind);
/* Forgets the last result: the next call tries again at once. For tests. */
void write_probe_forget(void);

#endif
