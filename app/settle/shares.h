/* The shares of packets as they were drawn when they were sent. The worker compares what an event says with them, and
 * most batches concern the packets of the batches before: so the shares of packets are kept, up to a limit. */
#ifndef HB_SETTLE_SHARES_H
#define HB_SETTLE_SHARES_H

#include <stdint.h>

#include "base/status.h"
#include "packet/packet.h"

enum {
    SHARES_SLOTS = 16384, /* packets at most */
    SHARES_MAX = 2 << 20  /* shares of all of them: 16 MiB; then all are forgotten */
};

struct shares;

/* NULL: out of memory. */
struct shares *shares_new(void);
void shares_free(struct shares *s); /* NULL is fine */

/* *out: the p->count shares of a packet, by its draw alone; valid until the next call. Read of p are the id and what
 * split_packet reads. ST_INVALID: as split_packet · ST_NO_MEMORY. */
enum status shares_drawn(struct shares *s, const struct packet *p, const int64_t **out);

#endif
