/* MySQL keeps the money, Redis decides the grab: when one of them lost something, this brings them together again.
 * Every rule looks first and can run any number of times, in any number of workers.
 *
 * - paid for (or open) in MySQL, not in Redis, not expired: loaded from its seed and its settled grabs;
 * - due, and Redis knows nothing that could still settle it: the rest goes back to the sender directly;
 * - a stream that does not go on where its cursor stands: the doors of the partition's packets are closed, the stream
 *   is made to go on behind the cursor, and every packet is built anew and opened. When the tables are older than Redis
 *   the events that are left are settled before, or become dead letters: then their packets stay shut.
 *
 * Between the start of a Redis that has lost something and the discovery there must be no grab, or a share would be
 * promised that is settled for somebody else. So there is a fence before every Redis process (live/fence.h): a worker
 * that meets a new run_id compares every stream with its cursor (recover_fence), and then opens the fence by writing
 * that run_id and the number of partitions under LIVE_FENCE_KEY; a process that is configured with another number grabs
 * and loads nothing. A copy that comes back names the process it was taken from, which no longer runs. What a worker
 * read from the old process can't be settled after the check of the new one: settling asks, under the lock of the
 * cursor, whether the connection it was read over still stands; the check takes the same lock.
 *
 * A packet is built or refunded only under the lock of its partition's cursor and only when no event of it waits in the
 * stream: what was promised is settled first. A closed packet never comes back. */
#ifndef HB_SETTLE_RECOVER_H
#define HB_SETTLE_RECOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "settle/settle.h"

struct recover_done {
    uint64_t loaded;   /* brought (back) into Redis */
    uint64_t opened;   /* was in Redis, MySQL now knows */
    uint64_t refunded; /* given back without an event */
    uint64_t faults;   /* packets that contradict; logged */
};

/* The walk over all packets that are not closed. */
struct recover {
    bool whole; /* all of them are to be looked at without a pause: at start, after Redis was restarted, after a stream
                   was mended; false again when the walk has come to its end */
    int64_t expires_ms;
    uint64_t packet_id;  /* where it stands */
    char fence_text[64]; /* of the Redis server that was checked last */
};

/* The walk begins again, without a pause. */
void recover_all_again(struct recover *r);

/* Looks at the packets that are being paid for and at the next thousand open ones. Cheap enough for once a second;
 * while whole is set it is to be called again soon. */
enum status recover_pass(struct recover *r, struct settle *s, int64_t now_ms, struct recover_done *done);

/* One packet: looks at both stores and does what the rules above say, or nothing. ST_OK also when it has to wait for
 * its events or a person, or contradicts itself (logged, counted in done). */
enum status recover_packet(struct settle *s, uint64_t packet_id, int64_t now_ms, struct recover_done *done);

#endif
