#include "mysql/db_repeat.h"

enum { TRIES_MAX = 3 };

/* True when the status of a replay decides whether the transaction took effect: it was committed, or refused. */
static bool is_decisive(enum status st)
{
    return st == ST_OK || st == ST_EXISTS || st == ST_INVALID || st == ST_NOT_FOUND || st == ST_LIMITED;
}

enum status db_repeat(struct db *db, enum status (*run)(struct db *db, void *ctx), void *ctx)
{
    enum status st = run(db, ctx);
    if (st != ST_UNKNOWN)
        return st;
    for (int tries = 1; tries < TRIES_MAX && !is_decisive(st); tries++)
        st = run(db, ctx);
    return is_decisive(st) ? st : ST_UNKNOWN;
}

struct transaction_run {
    enum status (*body)(struct db *db, void *ctx);
    void *ctx;
};

static enum status transaction_run(struct db *db, void *ctx)
{
    const struct transaction_run *t = ctx;
    return db_transaction(db, t->body, t->ctx);
}

enum status db_transaction_repeat(struct db *db, enum status (*body)(struct db *db, void *ctx), void *ctx)
{
    return db_repeat(db, transaction_run, &(struct transaction_run){ body, ctx });
}
