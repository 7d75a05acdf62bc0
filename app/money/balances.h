/* What every user has, page by page. */
#ifndef HB_MONEY_BALANCES_H
#define HB_MONEY_BALANCES_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "mysql/db.h"
#include "user/store.h"

struct balance {
    struct user_state user;
    int64_t fen;
};

struct balances {
    int64_t min_fen; /* in: who has less is left out */
    /* in: gets the next rows, by user id; an error ends the reading. */
    enum status (*page)(void *ctx, const struct balance *rows, size_t count);
    void *ctx;
    /* out: */
    uint64_t users;      /* how many rows there were */
    int64_t sum_fen;     /* of these rows */
    int64_t wallets_fen; /* of all wallets */
};

/* Reads all of it in one snapshot; in memory is one page, in the arena, which is reset. ST_CORRUPT: a wallet has no
 * user, so the rows are not all · ST_CONFLICT: a migration has changed a table meanwhile · else as db_query. */
enum status balances_read(struct db *db, struct arena *a, struct balances *b);

#endif
