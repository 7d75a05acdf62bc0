/* Recovery: makes Redis and MySQL consistent after one of them has lost data. Every rule is idempotent and may run in
 * several workers at once.
 *
 * - A packet in state funding that Redis has: is marked open.
 * - A packet that is open in MySQL, missing in Redis and not expired: is rebuilt in Redis from its seed and its settled
 *   grabs. So is a packet in state funding that is ended, or was not sent in these seconds (LIVE_LOAD_WITHIN_MS); first
 *   a tombstone keeps out its sender's process.
 * - An expired packet without an unsettled event in Redis: the rest is refunded to the sender directly.
 * - A stream that lacks its cursor's entry: the packets of the partition are shut. If Redis has lost data, a stream
 *   anchor sets the stream's last id to the cursor. If the tables are older than Redis, the remaining events are
 *   settled or become dead letters. If events were trimmed that Redis does not say to be settled, their grabs become
 *   dead letters (settle/trimmed.h). Then every packet without a dead letter is rebuilt and opened.
 *
 * While a loss is not detected, there must be no grab: a share could be given out that is settled for another user. So
 * each partition in a Redis process has a fence (live/fence.h). A worker that connects to a new run_id compares each
 * stream with its cursor (recover_fences) and then opens this partition's fence: it writes the run_id and the number of
 * partitions to live_fence_key. So the loss of one of several servers shuts only its own partitions. Processes
 * configured with another number of partitions grab and load nothing. A restored copy of Redis holds the run_id of an
 * older process, so its fences are shut. Events read from the old process are not settled after the compare:
 * settle_write verifies the connection under the lock of the cursor, and the compare takes the same lock.
 *
 * A packet is rebuilt or refunded only under the lock of its partition's cursor and only if the stream has no unsettled
 * event of it. A closed packet is never rebuilt. */
#ifndef HB_SETTLE_RECOVER_H
#define HB_SETTLE_RECOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "redis/fence.h"
#include "settle/partition.h"
#include "settle/recover_packet.h"

/* How many packets were changed. */
uint64_t recover_worked(const struct recover_done *done);

/* A walk over packets in the order of their expiry: the last one that was checked; zeros at its start. */
struct recover_walk {
    int64_t expires_ms;
    uint64_t packet_id;
};

/* State of recovery in one worker: the walks, and the fence. Start with { .full_walk = true }. */
struct recover {
    bool full_walk;    /* the walk over open packets runs without a pause: at start, after a restart of Redis, after a
                       stream was repaired; false again at its end */
    bool funding_more; /* the walk over packets in state funding has changed some, and is not at its end: more than
                          a thousand a second are sent, or the worker was away */
    struct recover_walk open, funding; /* over packets in this state */
    bool skipped;                      /* packets whose partition was away: the walk starts again once it is not */
    char opened[CONFIG_PARTITIONS_MAX][REDIS_FENCE_TEXT_MAX]; /* of each partition, the text with which this worker has
                                                                 opened its fence; empty: none */
};

/* Starts the walk again, without a pause. */
void recover_restart(struct recover *r);

/* Checks the next thousand packets in state funding, and the next thousand open ones; after the last it begins again.
 * Call it once a second; while full_walk or funding_more is set, at once again. Skips packets whose partition is away
 * (settle/away.h). A key of another type in place of a packet is removed. ST_OK · ST_UNAVAILABLE: MySQL or every Redis
 * server is unreachable · ST_NO_MEMORY. */
enum status recover_pass(struct recover *r, struct settle *s, int64_t now_ms, struct recover_done *done);

#endif
