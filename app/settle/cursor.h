/* The cursor of each partition in MySQL, and the check that the tables were made for the configured number of
 * partitions. settle_cursor_lock (settle/write.h) locks a cursor for a transaction. */
#ifndef HB_SETTLE_CURSOR_H
#define HB_SETTLE_CURSOR_H

#include "live/stores.h"
#include "settle/partition.h"

/* Reads the cursor of p into p->last and queues closed packets that were not published. Creates the cursors of all
 * partitions if there are none. ST_INVALID (logged): the tables were made for another number of partitions. Then
 * nothing may be settled and no fence opened: packets would be searched in the wrong partition and rebuilt without
 * their unsettled grabs. ST_INVALID also when a restore was interrupted: its tables lack rows. ST_CORRUPT: there is no
 * valid cursor · ST_UNAVAILABLE · ST_NO_MEMORY. */
enum status settle_cursor_load(struct settle *s, struct settle_partition *p);

/* A restore makes schema_migration with version 0 first, and replaces it when all other tables are there
 * (deploy/commands/restore.sh). ST_OK: none was interrupted · ST_INVALID (logged): one was, so tables are missing ·
 * else as db_query. */
enum status settle_restore_check(struct settle *s);

/* Compares the number of cursors with the configured number of partitions. Writes nothing. ST_OK: equal, no cursors
 * yet, or MySQL can't be read · ST_INVALID (logged): different · ST_NO_MEMORY. */
enum status settle_partitions_check(struct stores *stores);

#endif
