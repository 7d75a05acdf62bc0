/* The parts of an import of users: reading batches (import.c), checking and making one (import_batch.c). */
#ifndef HB_USER_IMPORT_INTERNAL_H
#define HB_USER_IMPORT_INTERNAL_H

#include "base/text_set.h"
#include "user/import.h"

struct user_row {
    struct str username, nickname;
    uint64_t line;
    bool wants_link;
    struct str fault; /* empty: none */
    /* of the user who is there: */
    uint64_t user_id; /* 0: there is none */
    bool differs;     /* with another nickname */
    bool has_way;     /* a password, a passkey or a recovery code; or is disabled */
};

/* A batch of rows; all of it is in the arena. */
struct user_batch {
    struct user_import *import;
    struct stores *stores;
    struct arena *arena;
    struct text_set *names; /* of the file so far; NULL in the second pass */
    struct user_row *rows;  /* USER_IMPORT_BATCH_ROWS */
    size_t count;
};

/* Gives each row without a fault its user, or a fault. The same errors as db_query. */
enum status user_batch_check(struct user_batch *b);
/* Whether the row gets a link, once its user is there. */
bool user_row_is_linked(const struct user_batch *b, const struct user_row *row);
/* Makes the users who are missing, and the links; counts them in the import. ST_EXISTS: a name was registered since the
 * check: check again. Else as db_transaction. */
enum status user_batch_make(struct user_batch *b);

#endif
