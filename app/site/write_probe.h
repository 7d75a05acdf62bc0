/* Whether the stores would accept a write now. It tries a small one, because a store may answer every read and still
 * refuse each grab and each send (a replica, no memory, no replicas, a disk that is full, read_only, tables locked by a
 * backup). */
#ifndef HB_SITE_WRITE_PROBE_H
#define HB_SITE_WRITE_PROBE_H

#include <stdbool.h>

#include "web/exchange.h"

enum { WRITE_PROBE_TEXT_MAX = 200 };

struct write_probe {
    bool redis_refuses, mysql_refuses;
    /* the reason, or the part concerned; without quotation marks. Empty: writes work */
    char redis[WRITE_PROBE_TEXT_MAX];
    char mysql[WRITE_PROBE_TEXT_MAX];
};

/* What is tried: a write of this process's pool in Redis (keys of packets, or only counts of limits), and a deletion of
 * no row in MySQL; for a pool that may delete no row, only whether the server there is read-only. */
enum write_probe_kind {
    WRITE_PROBE_PACKETS,
    WRITE_PROBE_LIMITS,
    WRITE_PROBE_LIMITS_ALONE, /* no deletion */
    WRITE_PROBE_NOTHING       /* no deletion, and nothing in Redis */
};

/* The result of a try in this process that is at most a second old. May block: up to the timeouts of both stores. */
const struct write_probe *write_probe_take(struct exchange *x, enum write_probe_kind kind);
/* Forgets the last result: the next call tries again at once. For tests. */
void write_probe_forget(void);

#endif
