/* The next events behind the cursors, from Redis. */
#ifndef HB_SETTLE_READ_H
#define HB_SETTLE_READ_H

#include "settle/settle.h"

enum { SETTLE_READ_PARTITIONS_MAX = 8 }; /* streams read in one round: bounds the memory of the replies */

/* Reads the next events of the partitions first … first + count - 1 in one round. A partition's gap is set when its
 * stream does not go on where the cursor stands: nothing is read then, and recover_gaps is due.
 * count ≤ SETTLE_READ_PARTITIONS_MAX. */
enum status settle_read(struct settle *s, uint32_t first, uint32_t count);

#endif
