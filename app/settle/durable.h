/* What another process has committed may still be lost (mysql/db_durable.h), and Redis must not be ahead of the tables.
 * So before the worker changes Redis because of a row that another process has written, it waits for the disk. */
#ifndef HB_SETTLE_DURABLE_H
#define HB_SETTLE_DURABLE_H

#include "base/status.h"
#include "settle/partition.h"

/* db_durable for rows that were read on this connection. ST_OK: no partition whose cursor was read on it is unflushed
 * any more · ST_UNAVAILABLE: the next pass reads the rows again. */
enum status settle_durable(struct settle *s, uint64_t connection);

#endif
