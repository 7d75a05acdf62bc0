/* Transactions whose reply to COMMIT is lost: the linker replaces db_transaction by the wrapper below (hb_wrap). */
#ifndef HB_TEST_LOST_COMMIT_H
#define HB_TEST_LOST_COMMIT_H

#include "mysql/db.h"

/* What is lost in the next transactions; later ones succeed. LOST_REPLY: committed, reply lost. LOST_COMMIT: rolled
 * back, reply lost. LOST_SERVER: MySQL does not answer. */
enum lost { LOST_NOTHING, LOST_REPLY, LOST_COMMIT, LOST_SERVER };
static enum lost losses[4];
static size_t losses_left;

typedef enum status transaction_fn(struct db *db, enum status (*body)(struct db *db, void *ctx), void *ctx);
transaction_fn __real_db_transaction;
transaction_fn __wrap_db_transaction;

struct rollback {
    enum status (*body)(struct db *db, void *ctx);
    void *ctx;
};

static enum status rollback_body(struct db *db, void *ctx)
{
    const struct rollback *u = ctx;
    enum status st = u->body(db, u->ctx);
    return st == ST_OK ? ST_CORRUPT : st; /* every status except ST_OK rolls back */
}

enum status __wrap_db_transaction(struct db *db, enum status (*body)(struct db *db, void *ctx), void *ctx)
{
    enum lost loss = losses_left > 0 ? losses[--losses_left] : LOST_NOTHING;
    enum status st;
    if (loss == LOST_SERVER)
        return ST_UNAVAILABLE;
    if (loss == LOST_COMMIT) {
        st = __real_db_transaction(db, rollback_body, &(struct rollback){ body, ctx });
        return st == ST_CORRUPT ? ST_UNKNOWN : st;
    }
    st = __real_db_transaction(db, body, ctx);
    return loss == LOST_REPLY && st == ST_OK ? ST_UNKNOWN : st;
}

static void losses_plan(enum lost first, enum lost second, enum lost third)
{
    losses[2] = first;
    losses[1] = second;
    losses[0] = third;
    losses_left = 3;
}

/* What a call that moves money answers when it is made once after each of them. */
static const struct lost_commit {
    enum lost first, second, third;
    enum status status;
} LOST_COMMITS[] = {
    { LOST_REPLY, LOST_NOTHING, LOST_NOTHING, ST_OK },
    { LOST_COMMIT, LOST_NOTHING, LOST_NOTHING, ST_OK },
    { LOST_REPLY, LOST_SERVER, LOST_NOTHING, ST_OK },
    { LOST_COMMIT, LOST_SERVER, LOST_NOTHING, ST_OK },
    { LOST_REPLY, LOST_SERVER, LOST_SERVER, ST_UNKNOWN },
    { LOST_COMMIT, LOST_SERVER, LOST_SERVER, ST_UNKNOWN },
    { LOST_SERVER, LOST_NOTHING, LOST_NOTHING, ST_UNAVAILABLE },
};

#endif
