/* Where settlement stands in each partition, and whether the tables were made for as many partitions as configured. */
#ifndef HB_SETTLE_CURSOR_H
#define HB_SETTLE_CURSOR_H

#include "live/stores.h"
#include "settle/settle.h"

/* Reads the cursor; makes those of all partitions when there is none yet. ST_INVALID (logged): the tables were made for
 * another number of partitions. Nothing may be settled then and no fence opened: packets would be looked for where they
 * are not, and be built anew without what is promised. */
enum status settle_refresh(struct settle *s, struct settle_partition *p);

/* Says whether the tables are there for that many partitions, as far as they can be asked. Writes nothing. ST_INVALID:
 * no (logged). */
enum status settle_check(struct stores *stores);

#endif
