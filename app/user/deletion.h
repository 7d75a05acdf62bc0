/* Deleting an account. It takes two steps:
 *
 * 1. deletion_begin, in the auth pool, with the password: one transaction removes the names and the password hash from
 *    the user's row, reserves the username, and ends the user's open packets (user_delete in sql/migrations). From then
 *    on nobody logs in as the user, sends as the user, or names the user as a receiver.
 * 2. deletion_pass, in the settle worker, about once a second: ends sessions, access tokens and passkeys, and removes
 *    the name from the user's packets and grabs in both stores. When the packets are closed, all grabs are settled and
 *    no withdrawal is pending, what is left in the wallet goes to the channel forfeited, or to the bank of demo money
 *    (docs/explanation/money.md), and the row says deleted.
 *
 * The ledger stays: accounts, transfers, grabs and packets keep the user's id. user.deleting_ms and user.deleted_ms
 * tell the step. Each part of the second step may be repeated, so a crash loses nothing. A grab of a request that was
 * under way for longer than DELETION_WAIT_MS credits a deleted user's wallet: for DELETION_WATCH_MS, passes look for
 * such money and remove it and the name again. */
#ifndef HB_USER_DELETION_H
#define HB_USER_DELETION_H

#include <stdbool.h>
#include <stdint.h>

#include "acts/erase.h"
#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"
#include "live/stores.h"

enum {
    DELETION_WAIT_MS = 10 * 1000,            /* longer than a request takes */
    DELETION_WATCH_MS = 24 * 60 * 60 * 1000, /* how long it is watched after the deletion */
    DELETION_USERS_MAX = 5                   /* of one pass */
};

/* The money that a deletion gives up: the wallet, the rest of the packets that it ends, and pending withdrawals that
 * are not paid. */
struct deletion_money {
    int64_t balance_fen, packets_fen, withdrawals_fen;
    uint64_t packet_count;     /* open */
    uint64_t withdrawal_count; /* pending */
};

enum deletion_result {
    DELETION_BEGUN,          /* now or before */
    DELETION_OTHER_PASSWORD, /* it was changed meanwhile */
    DELETION_MONEY_LEFT      /* there is money, and give_up is false */
};

/* The user's balance, the rest of the packets that are not closed, and what withdrawals hold. ST_CORRUPT: no wallet ·
 * else as db_query. */
enum status deletion_money_find(struct db *db, struct arena *a, uint64_t user_id, struct deletion_money *out);

/* *begun: the deletion has begun already. Such a request is a repeat; the user has no password any more. Returns as
 * db_query. */
enum status deletion_is_begun(struct db *db, struct arena *a, uint64_t user_id, bool *begun);

/* Begins the deletion. username: folded. hash: of the password, which the caller has verified. ST_OK: see *result ·
 * ST_UNKNOWN: perhaps begun, repeat the call · ST_UNAVAILABLE, ST_CONFLICT, ST_NO_MEMORY: nothing was changed. */
enum status deletion_begin(struct stores *stores, struct arena *a, uint64_t user_id, struct str username,
                           struct str hash, bool give_up, enum deletion_result *result);

/* True when the username belonged to a user who is deleted. Call it in the transaction that has inserted a user with
 * this name: the row of the name decides who is first. */
enum status username_is_retired(struct db *db, struct arena *a, const struct keys *keys, struct str username,
                                bool *retired);

/* The same for several names, one query for all of them. retired: one for each name. lock: the rows stay locked, as
 * username_is_retired locks them. */
enum status usernames_retired(struct db *db, struct arena *a, const struct keys *keys, const struct str *usernames,
                              size_t count, bool lock, bool *retired);

/* Kept by the worker between passes: the walk of a user with more rows than one pass reads, one user at a time. Begins
 * with zeros; a worker that starts again loses it, and walks from the beginning. */
struct deletion_walk {
    uint64_t user_id; /* 0: of nobody */
    bool settled;     /* when it began */
    struct erase_walk names;
};

/* One pass of the second step. ST_OK · else the status of a store: the next pass continues. */
enum status deletion_pass(struct deletion_walk *walk, struct stores *stores, int64_t now_ms);

#endif
