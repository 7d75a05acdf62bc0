/* The settle worker: what happened in Redis becomes rows and money in MySQL, exactly once.
 *
 * The position in each partition's stream is kept in MySQL (stream_cursor), in the same transaction as the money it
 * stands for. A crash anywhere replays the batch into a transaction that never committed; a worker that comes late
 * finds the position moved and drops what it read. The unique keys of grab and transfer are the second lock.
 *
 * An event that can't be read, or that contradicts what is settled, becomes a dead letter (settle/dead_letter.h) and
 * the partition flows on. Trouble that is no single event's fault (a stream that can't be read, events trimmed unseen,
 * tables that answer nonsense) stops the partition, which tries again by itself.
 *
 * Trimming keeps the entry the cursor stands on. So every read begins at an entry both stores know, and a stream that
 * does not have it tells at once that one of the stores lost data (settle/recover.h goes on from there). */
#ifndef HB_SETTLE_SETTLE_H
#define HB_SETTLE_SETTLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "live/event.h"
#include "live/stores.h"
#include "settle/batch.h"

enum {
    SETTLE_DB_TIMEOUT_S = 10, /* connect, read and write, instead of the configured one */
    SETTLE_PARTITIONS_MAX = 100,
    SETTLE_BACKOFF_MS_MIN = 1000, /* of a stopped partition; doubles up to … */
    SETTLE_BACKOFF_MS_MAX = 60000
};

struct settle_partition {
    uint32_t no;
    uint32_t batch_max; /* events of the next batch; shrinks to find the one that contradicts */
    bool cursor_loaded; /* last is what MySQL said when we looked */
    bool gap;           /* the stream does not have the cursor's entry: recover_gaps is due */
    bool gap_known;     /* the packets are shut: events after a lost stretch may be settled */
    bool stopped;       /* by what a dead letter does not help */
    bool held_due;      /* there may be letters that Redis was not told of (settle/held.h): before the position */
    int64_t retry_ms;   /* monotonic time; stopped until then */
    int64_t backoff_ms;
    struct live_event_id last;      /* our copy of the cursor */
    struct live_event_id published; /* what Redis was told */
    /* the batch that was read */
    struct redis_call call;
    uint64_t connection; /* it came over */
    struct live_event *events;
    size_t event_count;
    redisReply *const *entries; /* of events, in call's reply */
    const redisReply *damaged;  /* the first entry can't be read: nothing else of the batch counts */
    struct live_event_id damaged_id;
    uint64_t *closed_ids; /* packets this batch closed: their live keys get their time to live */
    size_t closed_count;
};

struct settle {
    struct stores *stores;
    struct arena *arena; /* of the batch under way */
    uint32_t partition_count;
    bool pass_due;           /* the last pass cut a batch in two, or mended a stream: the next one is due at once */
    bool partitions_match;   /* the cursors are those of so many partitions */
    int64_t mismatch_log_ms; /* monotonic: when it is said again that they are not */
    bool stream_repaired;    /* packets are shut until recovery has looked at all of them: a stream lost something, or
                              recovery has passed them by during a search */
    struct settle_partition partitions[SETTLE_PARTITIONS_MAX];
};

/* stores is borrowed; its database connection gets SETTLE_DB_TIMEOUT_S. ST_INVALID: there are too many partitions. */
enum status settle_new(struct stores *stores, struct settle **out);
void settle_free(struct settle *s); /* NULL is fine */

/* One pass over all partitions: read, settle and publish what there is. *events: how many were settled.
 * ST_OK also when a partition is stopped or another worker has it; ST_UNAVAILABLE: a store is away, try again;
 * ST_INVALID: as settle_refresh. */
enum status settle_pass(struct settle *s, uint64_t *events);

/* True while batches are smaller than configured, to find an event that contradicts. */
bool settle_is_searching(const struct settle *s, const struct settle_partition *p);
/* Stops a partition for its back-off time, logs why and counts it. */
void settle_stop(struct settle_partition *p, const struct settle_fault *fault);

#endif
