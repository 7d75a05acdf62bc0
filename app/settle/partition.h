/* The state of the settle worker and of each partition, and how a partition changes from running to stopped and back.
 * All files of this folder work on it. */
#ifndef HB_SETTLE_PARTITION_H
#define HB_SETTLE_PARTITION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "live/event.h"
#include "live/stores.h"
#include "settle/fault.h"
#include "settle/shares.h"

enum {
    SETTLE_BACKOFF_MS_MIN = 1000, /* first back-off of a stopped partition; doubles up to the maximum */
    SETTLE_BACKOFF_MS_MAX = 60000
};

struct settle_partition {
    uint32_t no;
    uint32_t batch_max;     /* entries of the next batch; halved or cut while a contradicting event is searched */
    uint32_t entry_events;  /* events per entry in the last batch, rounded up; at least 1 */
    uint32_t entries_asked; /* entries requested by the last read */
    bool behind;            /* the last read left events in the stream: read a larger batch */
    bool cursor_loaded;     /* last was read from MySQL */
    bool unflushed;         /* last was read, not committed here: MariaDB may still lose it (settle/durable.h) */
    uint64_t read_on;       /* unflushed: the connection, as db_connections counts, on which last was read */
    bool gap;               /* the stream lacks the cursor's entry: recover_gaps is due */
    bool gap_accepted;      /* recovery has shut the packets: settle the events after the gap */
    bool stopped;           /* stopped after a failure that no single entry causes */
    bool away;              /* its Redis server does not answer or is not confirmed (settle/away.h) */
    bool held_due;          /* held shares must be published before the position (settle/held.h): Redis may lack some */
    int64_t retry_ms;       /* monotonic time; stopped until then */
    int64_t future_due_ms;  /* monotonic: when a cursor in the future is checked again (settle/recover_stream.h) */
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
    bool fences_shut; /* set while fences are shut since a comparison failed: recover_fences opens them anew */
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
    struct settle_partition partitions[CONFIG_PARTITIONS_MAX];
};

/* True while batches are smaller than configured because a contradicting event is searched. */
bool settle_is_searching(const struct settle *s, const struct settle_partition *p);
/* Stops a partition for its back-off time, logs why and counts it. */
void settle_stop(struct settle_partition *p, const struct settle_fault *fault);
/* Frees the batch that was read. */
void settle_partition_clear(struct settle_partition *p);
/* Call after a committed batch: ends the stop and its back-off, and doubles batch_max up to the configured size. */
void settle_partition_resume(struct settle *s, struct settle_partition *p);
/* Ends the search for an event that contradicts: batches have their full size again, and recovery checks the packets
 * that it skipped during the search. Does nothing without a search. */
void settle_search_end(struct settle *s, struct settle_partition *p);

#endif
