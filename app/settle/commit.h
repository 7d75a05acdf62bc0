/* What was read becomes rows and money, or dead letters. */
#ifndef HB_SETTLE_COMMIT_H
#define HB_SETTLE_COMMIT_H

#include "settle/settle.h"

/* Settles what was read. *settled: events; 0 also when another worker was faster or the partition stopped. */
enum status settle_commit(struct settle *s, struct settle_partition *p, uint64_t *settled);

#endif
