/* What against.c asks about a missing row (against_hint.c). */
#ifndef HB_MONEY_AGAINST_INTERNAL_H
#define HB_MONEY_AGAINST_INTERNAL_H

#include "base/text_set.h"
#include "money/against.h"

/* Looks what is known about a row that is missing here. taken: the withdrawals and orders of earlier rows; it adds
 * the ones of this row, so that no two rows get the same. The same errors as db_query. */
enum status against_hint(struct db *db, struct arena *a, uint64_t channel_id, const struct listed *row,
                         struct text_set *taken, struct difference_hint *out);

#endif
