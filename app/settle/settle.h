/* The settle worker: turns the events of Redis into rows and money in MySQL, each event exactly once.
 *
 * Use: settle_new once, then settle_pass in a loop (settle/run.h does that for the process).
 *
 * The cursor of each partition (its offset in the stream, table stream_cursor) moves in the same transaction as the
 * money. After a crash the next worker reads and writes the same batch again: its transaction was never committed. A
 * worker whose batch is outdated finds that the cursor has moved and drops the batch. The unique keys of grab and
 * transfer are the second protection.
 *
 * An entry that can't be read, or with an event that contradicts the tables, becomes a dead letter
 * (settle/dead_letter.h), and the partition continues; so does a grab whose entry was trimmed before it was settled
 * (settle/trimmed.h). A failure that no single entry causes (an unreadable stream, inconsistent tables) stops the
 * partition; it retries after a back-off.
 *
 * Trimming keeps the entry at the cursor, so every read starts with an entry that both stores have. If the stream lacks
 * that entry, one of the stores has lost data: settle/recover.h says what is done then. */
#ifndef HB_SETTLE_SETTLE_H
#define HB_SETTLE_SETTLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "live/event.h"
#include "live/stores.h"
#include "settle/batch.h"
#include "settle/shares.h"

enum {
    SETTLE_DB_TIMEOUT_S = 10, /* for connect, read and write; replaces the configured timeout */
    SETTLE_PARTITIONS_MAX = 100,
    SETTLE_BACKOFF_MS_MIN = 1000, /* first back-off of a stopped partition; doubles up to the maximum */
    SETTLE_BACKOFF_MS_MAX = 60000
};

struct settle_partition {
    uint32_t no;
    uint32_t batch_max;     /* entries of the next batch; halved or cut while a contradicting event is searched */
    uint32_t entry_events;  /* events per entry in the last batch, rounded up; at least 1 */
    uint32_t entries_asked; /* of the last read */
    bool behind;            /* the last read left events in the stream: read a larger batch */
    bool cursor_loaded;     /* last was read from MySQL */
    bool gap;               /* the stream lacks the cursor's entry: recover_gaps is due */
    bool gap_accepted;      /* recovery has shut the packets: settle the events after the gap */
    bool stopped;           /* by a failure that no single entry causes */
    bool away;              /* its Redis server does not answer or is not confirmed (settle/away.h) */
    bool held_due;          /* publish held shares before the position (settle/held.h): Redis may lack some */
    int64_t retry_ms;       /* monotonic time; stopped until then */
    int64_t future_due_ms;  /* monotonic: a cursor in the future is looked at then (settle/recover_stream.h) */
    int64_t backoff_ms;
    struct live_event_id last;      /* our copy of the cursor */
    struct live_event_id published; /* the position in Redis */
    /* the batch that was read, until it is committed */
    struct redis_call call;
    struct live_event *events;
    size_t event_count;
    const redisReply **entries; /* of each event: its raw entry, in call's reply */
    const redisReply *damaged;  /* the first entry, if it can't be read; the rest of the batch is ignored then */
    struct live_event_id damaged_id;
    uint64_t *closed_ids; /* closed packets whose live keys have no time to live yet */
    size_t closed_count;
};

/* Of settle/site.h. */
struct settle_site {
    bool agrees;
    uint64_t redis_connections, db_connections; /* when the stores were last compared */
    int64_t compare_due_ms, raise_due_ms;       /* monotonic */
    bool fences_shut; /* since the last comparison that failed: recover_fences opens them anew */
};

struct settle {
    struct stores *stores;
    struct arena *arena;   /* of the current batch */
    struct shares *shares; /* drawn shares of the packets of the last batches */
    uint32_t partition_count;
    bool pass_due;               /* the last pass cut a batch or repaired a stream: run the next one at once */
    bool partitions_match;       /* the tables were made for partition_count partitions (verified) */
    int64_t mismatch_log_due_ms; /* monotonic: time of the next log line about a mismatch */
    struct settle_site site;     /* whether both stores belong together */
    bool stream_repaired;        /* recovery must check all packets: a stream was repaired or packets were skipped */
    struct settle_partition partitions[SETTLE_PARTITIONS_MAX];
};

/* Makes a worker. stores is borrowed; its database timeout becomes SETTLE_DB_TIMEOUT_S. The caller frees *out with
 * settle_free. ST_INVALID: partitions is not 1 … SETTLE_PARTITIONS_MAX · ST_NO_MEMORY. */
enum status settle_new(struct stores *stores, struct settle **out);
void settle_free(struct settle *s); /* NULL is fine */

/* One pass over all partitions: reads, settles and publishes one batch of each. *events: number of settled events.
 * ST_OK even if a partition is stopped, locked by another worker, or away (settle/away.h) · ST_UNAVAILABLE: MySQL or
 * every Redis server is unreachable, try again · ST_INVALID: as settle_cursor_load. */
enum status settle_pass(struct settle *s, uint64_t *events);

/* True while batches are smaller than configured because a contradicting event is searched. */
bool settle_is_searching(const struct settle *s, const struct settle_partition *p);
/* Stops a partition for its back-off time, logs why and counts it. */
void settle_stop(struct settle_partition *p, const struct settle_fault *fault);

#endif
