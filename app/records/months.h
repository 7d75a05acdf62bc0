/* The months of a year on a page: the bars of a chart. */
#ifndef HB_RECORDS_MONTHS_H
#define HB_RECORDS_MONTHS_H

#include "base/clock.h"
#include "web/exchange.h"

/* Adds page-only members to the twelve objects of a list of months: name, and bar { top, height, most: of the largest
 * amount }, in hundredths of the chart's height; absent for an amount of 0. Returns the largest amount. */
int64_t months_chart_model(struct exchange *x, struct model *m, const struct value *months,
                           const int64_t fen[MONTHS_PER_YEAR]);

/* part / whole in hundredths, 0 … 100; at least 2 for a part above 0, so that it is visible. */
int64_t chart_part(int64_t part_fen, int64_t whole_fen);

#endif
