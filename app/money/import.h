/* Importing a file of credits or debits (docs/how-to/money.md): CSV with the columns username, amount, reference and,
 * where wanted, memo.
 *
 * The first pass checks every row, and a wrong one stops the import before anything is done. The second pass makes the
 * transfers, IMPORT_BATCH_ROWS in one statement. A batch is made whole or not at all, and a row that was made before
 * stays as it is: so an import that was stopped is repeated, and makes what is missing. In memory are one batch,
 * what text_set.h needs for each row, and what user_sums.h needs for each user of debits. */
#ifndef HB_MONEY_IMPORT_H
#define HB_MONEY_IMPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "money/payment_file.h"
#include "mysql/db.h"

enum { IMPORT_ROWS_MAX = 1000000, IMPORT_BATCH_ROWS = EXTERNAL_ROWS_MAX };

struct import {
    struct payment_file file;
    enum transfer_kind kind; /* TRANSFER_CREDIT or TRANSFER_DEBIT */
    uint64_t channel_id;
    struct str channel; /* its name, for the log */
    /* After each batch of a pass; rows: so far. May be NULL. */
    void (*progress)(void *ctx, bool checking, uint64_t rows);
    int64_t repeated_fen; /* out: the sum of the repeated rows */
};

/* The first pass: sets rows, sum_fen, faults, repeated and repeated_fen. ST_INVALID: a row is wrong, or the file · else
 * as db_query; ST_UNAVAILABLE also when the file can't be read. Nothing is changed. */
enum status import_check(struct import *im, struct db *db);

/* The second pass, after import_check: sets repeated, repeated_fen and made. ST_INVALID, ST_EXISTS, ST_NOT_FOUND:
 * something has changed since the first pass · else as external_move. The batches before that one are made. */
enum status import_make(struct import *im, struct db *db);

#endif
