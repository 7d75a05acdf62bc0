#include "io/db_repeat.h"

enum { TRIES_MAX = 3 };

/* True when the status of a replay decides whether the transaction took effect: it was committed, or refused. */
static bool is_decisive(enum status st)
{
    return st == ST_OK || st == ST_EXISTS || st == ST_INVALID || st == ST_NOT_FOUND;
}

enum status db_transaction_repeat(struct db *db, enum status (*body)(struct db *db, void *ctx), void *ctx)
{
    enum status st = db_transaction(db, body, ctx);
    if (st != ST_UNKNOWN)
        return st;
    for (int tries = 1; tries < TRIES_MAX && !is_decisive(st); tries++)
        st = db_transaction(db, body, ctx);
    return is_decisive(st) ? st : ST_UNKNOWN;
}
