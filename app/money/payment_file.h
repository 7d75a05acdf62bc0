/* A file of payments under way: what an import (import.h) and a file of the bank (post_file.h) have in common. */
#ifndef HB_MONEY_PAYMENT_FILE_H
#define HB_MONEY_PAYMENT_FILE_H

#include <stdint.h>
#include <stdio.h>

#include "base/str.h"
#include "ledger/external.h"

enum { FAULTS_SHOWN_MAX = 50 };

struct payment_file {
    FILE *stream; /* of a regular file, open for reading */
    struct external_author author;
    void (*fault)(void *ctx, uint64_t line, struct str why); /* prints the first FAULTS_SHOWN_MAX wrong rows */
    void *ctx;
    /* out, also after an error: */
    uint64_t rows, faults; /* all rows, known after the first pass; wrong ones */
    int64_t sum_fen;       /* of all rows */
    uint64_t repeated;     /* rows that were made before */
    uint64_t made;         /* rows that the second pass made */
    uint64_t stopped_line; /* with an error: where it stopped: a batch or a row begins there; 0: none */
    const char *why;       /* with ST_INVALID: what is wrong, in static storage; NULL: rows are wrong */
};

#endif
