/* The settle worker compares the stores before it settles anything, marks every partition of Redis as one of the site,
 * and raises the generation (live/site.h). */
#ifndef HB_SETTLE_SITE_H
#define HB_SETTLE_SITE_H

#include "live/site.h"
#include "settle/partition.h"

/* What the row of the tables and the marks of Redis say about their site. */
struct settle_site_look {
    enum site_verdict verdict; /* the worst verdict; SITE_UNKNOWN: no partition has answered */
    struct site_mark row;
    bool marked;                          /* every partition that answered has a mark */
    bool answered[CONFIG_PARTITIONS_MAX]; /* by partition */
};

/* Compares the marks of all partitions with the row, and the streams with the cursors: a stream that was settled and
 * trimmed beyond its cursor shows that the tables are older. Changes nothing. Redis is read
 * first. count: of the partitions, ≤ CONFIG_PARTITIONS_MAX. ST_OK, also when tables or Redis are missing ·
 * ST_NOT_FOUND: the tables are of a version that had no identity, or a restore was interrupted · ST_UNAVAILABLE: MySQL
 * does not answer · ST_NO_MEMORY. */
enum status settle_site_look(struct redis *redis, struct db *db, uint32_t count, struct settle_site_look *out);

/* Whether Redis has a mark of a site in the partition, or events, or settled ones. False also when it does not
 * answer. */
bool settle_site_has_data(struct redis *redis, uint32_t partition);

/* Compares tables and Redis when a connection to one of them is new, marks partitions without a mark, and raises the
 * generation when it is due. ST_OK: they belong together; partitions that do not answer are compared later ·
 * ST_CONFLICT (logged): they do not belong together; nothing was changed, except that marks say when the tables are
 * older · ST_INVALID (logged): a restore was interrupted · ST_UNAVAILABLE · ST_NO_MEMORY. */
enum status settle_site_confirm(struct settle *s);

/* Raises the generation now, unless another worker does, a partition does not answer, or the stores do not belong
 * together. A worker also raises it at its start and its end, so that an earlier copy of a store is recognized as
 * older. */
void settle_site_raise(struct settle *s);

/* Whether the partition belongs to this site, or has no mark, on the server that is connected now. */
bool settle_site_partition_fits(struct settle *s, uint32_t partition);

#endif
