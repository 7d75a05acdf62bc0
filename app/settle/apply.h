/* Applies the batch that settle_read has read to the tables: rows and money, or dead letters. */
#ifndef HB_SETTLE_APPLY_H
#define HB_SETTLE_APPLY_H

#include "settle/partition.h"

/* Applies the batch of p in one transaction or more, and frees it. A batch that contradicts the tables is cut until it
 * can be written. *settled: number of settled events, without dead letters; 0 if another worker was faster or the
 * partition was stopped. ST_OK · ST_UNAVAILABLE, ST_CONFLICT: nothing was written · ST_UNKNOWN: the cursor is read
 * again by the next pass · ST_NO_MEMORY. */
enum status settle_apply(struct settle *s, struct settle_partition *p, uint64_t *settled);

#endif
