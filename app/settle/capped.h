/* Marks users who have received as much as user_receive_day_fen allows in the day (live/capped.h). */
#ifndef HB_SETTLE_CAPPED_H
#define HB_SETTLE_CAPPED_H

#include "settle/settle.h"
#include "settle/write.h"

/* Call it after the batch was committed. Sums what its receivers have received in the day of now, by the grabs in the
 * tables, and writes the flags of those who have reached the cap. Without a cap it does nothing. When a store does not
 * answer, it logs that: the next share of such a user writes the flag. */
void settle_capped_mark(struct settle *s, const struct settle_write *w);

#endif
