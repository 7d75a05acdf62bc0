/* Posting the withdrawals that a file of the bank names: CSV with the columns id and reference. As an import
 * (money/import.h): a wrong row stops it before anything is done, and a file that was stopped is repeated. */
#ifndef HB_MONEY_POST_FILE_H
#define HB_MONEY_POST_FILE_H

#include <stdint.h>
#include <stdio.h>

#include "base/status.h"
#include "ledger/external.h"
#include "mysql/db.h"

enum { POST_ROWS_MAX = 100000, POST_FAULTS_SHOWN = 50 };

struct post_file {
    FILE *file; /* a regular file, open for reading */
    struct external_author author;
    void (*fault)(void *ctx, uint64_t line, struct str why); /* for the first POST_FAULTS_SHOWN wrong rows */
    void *ctx;
    /* out, also after an error: */
    uint64_t rows, faults;
    int64_t sum_fen;       /* of all rows */
    uint64_t before;       /* rows that were posted before, with the same reference */
    uint64_t made;         /* rows that post_file_make posted */
    uint64_t stopped_line; /* with an error: its row begins there; 0: none */
    const char *why;       /* with ST_INVALID: what is wrong, in static storage; NULL: rows are wrong */
};

/* The first pass: sets rows, faults, sum_fen and before. ST_INVALID: a row is wrong, or the file · else as
 * withdrawal_find. Nothing is changed. */
enum status post_file_check(struct post_file *p, struct db *db);
/* The second pass, after post_file_check: sets made and before. The errors of withdrawal_end: the rows above
 * stopped_line are posted. */
enum status post_file_make(struct post_file *p, struct db *db);

#endif
