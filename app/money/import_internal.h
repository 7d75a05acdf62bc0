/* The parts of an import: reading batches (import.c) and checking one (import_check.c). */
#ifndef HB_MONEY_IMPORT_INTERNAL_H
#define HB_MONEY_IMPORT_INTERNAL_H

#include "base/text_set.h"
#include "money/import.h"
#include "money/payment.h"
#include "money/user_sums.h"

struct import_row {
    struct payment payment;
    uint64_t line;
    struct str fault; /* empty: none */
};

/* A batch of rows; all of it is in the arena. */
struct import_batch {
    struct import *import;
    struct db *db;
    struct arena *arena;
    struct text_set *references; /* of the file so far; NULL in the second pass */
    struct user_sums paid;       /* of debits: by each user, of the file so far; in the second pass of this batch */
    struct import_row *rows;     /* IMPORT_BATCH_ROWS */
    size_t count;
    struct external_row *moves; /* of each row that has no fault */
};

/* Gives each row a user and a fault, or none; in moves, repeated says whether it was made before. The same errors as
 * db_query. */
enum status import_batch_check(struct import_batch *b);

#endif
