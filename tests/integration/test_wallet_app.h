/* The services of a group of tests about money, and the accounts that they made: TESTS(…, wallet_teardown). */
#ifndef HB_TEST_WALLET_APP_H
#define HB_TEST_WALLET_APP_H

#include "test_user_app.h"

static uint64_t accounts[64];
static size_t account_count;

/* Registers an account whose transfers are deleted at the end. */
static inline uint64_t account_kept(uint64_t id)
{
    assert_true(account_count < ARRAY_LEN(accounts));
    return accounts[account_count++] = id;
}

static inline int64_t balance_of(uint64_t id)
{
    int64_t fen = -1;
    assert_int_equal(ledger_balance(app->stores.db, arena, id, &fen), ST_OK);
    return fen;
}

static inline int wallet_teardown(void **state)
{
    accounts_forget(app, accounts, account_count);
    return app_teardown(state);
}

#endif
