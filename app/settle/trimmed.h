/* Grabs whose events were trimmed from a stream before they were settled. The worker never trims such events, but a
 * user of Redis who may append to a stream may also trim it. Redis has each grab a second time, in the packet's list of
 * grabs. */
#ifndef HB_SETTLE_TRIMMED_H
#define HB_SETTLE_TRIMMED_H

#include "settle/partition.h"

/* The entries that a stream lacks: those behind the cursor, before first, and up to last. */
struct trimmed_range {
    struct live_event_id cursor;
    struct live_event_id first; /* the entry that follows the cursor now; LIVE_EVENT_NONE: none does */
    struct live_event_id last;  /* the last id that the stream has given */
};

/* Writes a dead letter for each of these entries, by the lists of grabs of the packets that are not closed. An entry
 * with a letter gets no second one. Call it inside a transaction that has locked the partition's cursor, after the
 * partition's packets were shut. *letters: how many were written. ST_OK · ST_UNAVAILABLE: a store is unreachable ·
 * ST_NO_MEMORY. */
enum status trimmed_letters_write(struct settle *s, struct db *db, uint32_t partition,
                                  const struct trimmed_range *range, uint64_t *letters);

#endif
