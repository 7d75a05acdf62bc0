/* The shares of packets as they were drawn at the send. The worker compares events with them, and most batches are
 * about the packets of earlier batches, so the shares are kept, up to a limit. */
#ifndef HB_SETTLE_SHARES_H
#define HB_SETTLE_SHARES_H

#include <stdint.h>

#include "base/status.h"
#include "packet/packet.h"

enum {
    SHARES_SLOTS = 16384, /* packets at most */
    SHARES_MAX = 2 << 20  /* shares of all packets: 16 MiB; when there are more, all are forgotten */
};

struct shares;

/* NULL: out of memory. */
struct shares *shares_new(void);
void shares_free(struct shares *s); /* NULL is fine */

/* *out: the p->count shares of a packet's draw; valid until the next call. Reads from p the id and what split_packet
 * reads. ST_INVALID: as split_packet · ST_NO_MEMORY. */
enum status shares_drawn(struct shares *s, const struct packet *p, const int64_t **out);

#endif
