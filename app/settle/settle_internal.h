/* State changes of a partition, shared by the files of this folder. */
#ifndef HB_SETTLE_SETTLE_INTERNAL_H
#define HB_SETTLE_SETTLE_INTERNAL_H

#include "settle/settle.h"

/* Frees the batch that was read. */
void settle_partition_clear(struct settle_partition *p);
/* Call after a committed batch: ends the stop and its back-off, and doubles batch_max up to the configured size. */
void settle_partition_resume(struct settle *s, struct settle_partition *p);
/* Batches have their full size again: the search for an event that contradicts is over. Recovery then looks at the
 * packets that it skipped during the search. Does nothing without a search. */
void settle_search_end(struct settle *s, struct settle_partition *p);

#endif
