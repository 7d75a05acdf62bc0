/* Posting the withdrawals that a file of the bank names: CSV with the columns id and reference. As an import
 * (money/import.h): a wrong row stops it before anything is done, and a file that was stopped is repeated. */
#ifndef HB_MONEY_POST_FILE_H
#define HB_MONEY_POST_FILE_H

#include "base/status.h"
#include "money/payment_file.h"
#include "mysql/db.h"

enum { POST_ROWS_MAX = 100000 };

/* The first pass: sets rows, faults, sum_fen and repeated. ST_INVALID: a row is wrong, or the file · else as
 * withdrawal_find. Nothing is changed. */
enum status post_file_check(struct payment_file *p, struct db *db);
/* The second pass, after post_file_check: sets made and repeated. The errors of withdrawal_end: the rows above
 * stopped_line are posted. */
enum status post_file_make(struct payment_file *p, struct db *db);

#endif
