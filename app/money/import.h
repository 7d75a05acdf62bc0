/* Importing a file of credits or debits (docs/how-to/money.md): CSV with the columns username, amount, reference and,
 * where wanted, memo.
 *
 * The first pass checks every row, and a wrong one stops the import before anything is done. The second pass makes the
 * transfers, IMPORT_BATCH_ROWS in one statement. A batch is made whole or not at all, and a row that was made before
 * stays as it is: so an import that was stopped is repeated, and makes what is missing. In memory are one batch, and
 * what reference_set.h needs for each row. */
#ifndef HB_MONEY_IMPORT_H
#define HB_MONEY_IMPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"
#include "ledger/external.h"
#include "mysql/db.h"

enum { IMPORT_ROWS_MAX = 1000000, IMPORT_BATCH_ROWS = EXTERNAL_ROWS_MAX, IMPORT_FAULTS_SHOWN = 50 };

struct import {
    FILE *file;              /* a regular file, open for reading */
    enum transfer_kind kind; /* TRANSFER_CREDIT or TRANSFER_DEBIT */
    uint64_t channel_id;
    struct str channel; /* its name, for the log */
    struct external_author author;
    /* Prints the first IMPORT_FAULTS_SHOWN wrong rows. */
    void (*fault)(void *ctx, uint64_t line, struct str why);
    /* After each batch of a pass; rows: so far. May be NULL. */
    void (*progress)(void *ctx, bool checking, uint64_t rows);
    void *ctx;
    /* out, also after an error: */
    uint64_t rows;         /* of the file; known after the first pass */
    int64_t sum_fen;       /* of all rows */
    uint64_t faults;       /* wrong rows */
    uint64_t before;       /* rows that were made before */
    int64_t before_fen;    /* their sum */
    uint64_t made;         /* rows that import_make made */
    uint64_t stopped_line; /* with an error: where it stopped: a batch or a row begins there; 0: none */
    const char *why;       /* with ST_INVALID: what is wrong, in static storage; NULL: rows are wrong */
};

/* The first pass: sets rows, sum_fen, faults, before and before_fen. ST_INVALID: a row is wrong, or the file · else as
 * db_query; ST_UNAVAILABLE also when the file can't be read. Nothing is changed. */
enum status import_check(struct import *im, struct db *db);

/* The second pass, after import_check: sets before, before_fen and made. ST_INVALID, ST_EXISTS, ST_NOT_FOUND: something
 * has changed since the first pass · else as external_move. The batches before that one are made. */
enum status import_make(struct import *im, struct db *db);

#endif
