/* What the files of settlement share. */
#ifndef HB_SETTLE_SETTLE_INTERNAL_H
#define HB_SETTLE_SETTLE_INTERNAL_H

#include "settle/settle.h"

/* Drops what was read. */
void settle_partition_forget(struct settle_partition *p);
/* A batch was written: the partition is no longer stopped, and its batches grow again. */
void settle_partition_go_on(const struct settle *s, struct settle_partition *p);

#endif
