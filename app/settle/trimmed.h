/* Grabs whose events were trimmed from a stream before they were settled. The worker trims nothing of the kind, but
 * whoever may append to a stream may trim it. Redis has each grab a second time, in the packet's list of grabs. */
#ifndef HB_SETTLE_TRIMMED_H
#define HB_SETTLE_TRIMMED_H

#include "settle/settle.h"

/* Writes a dead letter for each entry that a partition's stream lacks between the cursor and first, the entry that
 * follows it now; LIVE_EVENT_NONE: none does. An entry with a letter gets no second one. Call it inside a transaction
 * that has locked the partition's cursor, while the partition's packets are shut. *letters: how many were written.
 * ST_OK · ST_UNAVAILABLE: a store is unreachable · ST_NO_MEMORY. */
enum status trimmed_letters_write(struct settle *s, struct db *db, uint32_t partition, struct live_event_id cursor,
                                  struct live_event_id first, uint64_t *letters);

#endif
