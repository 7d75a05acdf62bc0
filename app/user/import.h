/* Importing a file of people (docs/how-to/users.md): CSV with the columns username, nickname and, where wanted, link
 * (yes or no). Makes users without a password, each with an empty wallet, and login links for those who have no other
 * way in.
 *
 * The first pass checks every row, and a wrong one stops the import before anything is done. The second pass makes the
 * users, USER_IMPORT_BATCH_ROWS in one transaction. A user who is there already stays as he or she is. So an import
 * that was stopped is repeated, and makes what is missing. In memory are one batch, and what text_set.h needs for each
 * row. */
#ifndef HB_USER_IMPORT_H
#define HB_USER_IMPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"
#include "base/str.h"
#include "live/stores.h"
#include "user/login_link.h"

enum { USER_IMPORT_ROWS_MAX = 1000000, USER_IMPORT_BATCH_ROWS = 500, USER_IMPORT_SHOWN_MAX = 50 };

/* A user to whom a login link was given. */
struct user_invited {
    struct str username, nickname;
    const struct login_link *link;
};

struct user_import {
    FILE *stream;    /* of a regular file, open for reading */
    bool links;      /* make links */
    int64_t link_ms; /* how long they last */
    /* Prints the first USER_IMPORT_SHOWN_MAX wrong rows, and in the second pass as many users who are left as they
     * are. */
    void (*tell)(void *ctx, uint64_t line, struct str what);
    /* After each batch of a pass; rows: so far. May be NULL. */
    void (*progress)(void *ctx, bool checking, uint64_t rows);
    /* Keeps a link that is stored now. ST_UNAVAILABLE: it can't; the import stops. */
    enum status (*keep)(void *ctx, const struct user_invited *invited, int64_t expires_ms);
    void *ctx;
    /* out, also after an error: */
    uint64_t rows, faults; /* all rows, and wrong ones */
    uint64_t present;      /* users who were there before the pass */
    uint64_t differing;    /* those with another nickname */
    uint64_t made;         /* users that the second pass made */
    uint64_t linked;       /* links: that are to be made, or that the second pass made */
    uint64_t stopped_line; /* with an error: a batch or a row begins there; 0: none */
    const char *why;       /* with ST_INVALID: what is wrong, in static storage; NULL: rows are wrong */
};

/* The first pass. Nothing is changed. ST_INVALID: a row is wrong, or the file · else as db_query; ST_UNAVAILABLE also
 * when the file can't be read. */
enum status user_import_check(struct user_import *im, struct stores *stores);
/* The second pass, after user_import_check. ST_INVALID: something has changed since the first pass · ST_EXISTS: names
 * of the batch were registered meanwhile, several times in a row · else as db_transaction. The batches before are
 * made. */
enum status user_import_make(struct user_import *im, struct stores *stores);

#endif
