/* What another process has committed may still be lost: InnoDB shows a commit to others before its log is on the disk,
 * and when MariaDB dies in between, the rows are as they were before. Redis must not be ahead of the tables. So before
 * the worker changes Redis because of a row that another process has written, it waits for the disk. A process that has
 * the answer to its own COMMIT need not wait. */
#ifndef HB_SETTLE_DURABLE_H
#define HB_SETTLE_DURABLE_H

#include "base/status.h"
#include "settle/partition.h"

/* Commits a change of its own. The log is written in order, so everything that this worker has read until now is on the
 * disk, too. Not within a transaction. ST_OK: no partition is unflushed any more · ST_NOT_FOUND: other workers have
 * locked every cursor, or there are none: try again · ST_UNAVAILABLE · ST_NO_MEMORY. */
enum status settle_durable(struct settle *s);

#endif
