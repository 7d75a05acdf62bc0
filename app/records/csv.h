/* The records of a user as a CSV file: all rows that the query asks for, read and written part by part. */
#ifndef HB_RECORDS_CSV_H
#define HB_RECORDS_CSV_H

#include "records/filter.h"

/* Rows of one part; the memory holds one part at a time. */
enum { RECORDS_CSV_PART_ROWS = 500 };

/* Answers with the records that the request asks for; without a year and a filter, the records of all years. The header
 * row, kinds and states are in the visitor's language, times in the service's zone, amounts in the unit:
 *   received   time, packet, kind, sender, greeting, share number, amount, given back, 手气最佳
 *   sent       time, packet, kind, greeting, amount, count, taken, state, refund, given back */
enum step records_csv(struct exchange *x, const struct records_request *request);

#endif
