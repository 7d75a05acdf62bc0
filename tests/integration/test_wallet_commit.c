/* Registering and depositing when the reply to COMMIT is lost. The linker replaces db_transaction by the wrapper
 * below. */
#include <inttypes.h>

#include "base/clock.h"
#include "base/random.h"
#include "support/test.h"
#include "test_wallet_app.h"
#include "user/store.h"
#include "wallet/deposit.h"

/* The faults of the next transactions; later ones succeed. REPLY_LOST: committed, reply lost. COMMIT_LOST: rolled
 * back, reply lost. UNREACHABLE: MySQL does not answer. */
enum fault { FAULT_NONE, FAULT_REPLY_LOST, FAULT_COMMIT_LOST, FAULT_UNREACHABLE };
static enum fault faults[4];
static size_t faults_left;

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
    enum fault fault = faults_left > 0 ? faults[--faults_left] : FAULT_NONE;
    enum status st;
    if (fault == FAULT_UNREACHABLE)
        return ST_UNAVAILABLE;
    if (fault == FAULT_COMMIT_LOST) {
        st = __real_db_transaction(db, rollback_body, &(struct rollback){ body, ctx });
        return st == ST_CORRUPT ? ST_UNKNOWN : st;
    }
    st = __real_db_transaction(db, body, ctx);
    return fault == FAULT_REPLY_LOST && st == ST_OK ? ST_UNKNOWN : st;
}

static void faults_plan(enum fault first, enum fault second, enum fault third)
{
    faults[2] = first;
    faults[1] = second;
    faults[0] = third;
    faults_left = 3;
}

static struct user fresh_user(void)
{
    struct str name = arena_printf(arena, "c%016" PRIx64, random_u64());
    /* A unique text, as a salted hash would be. */
    return (struct user){ .username = name,
                          .nickname = name,
                          .password_hash = arena_printf(arena, "hash-of-%.*s", STR_ARG(name)) };
}

static enum status inserted(struct user *user)
{
    enum status st = user_insert(app->stores.db, arena, &app->stores.config->keys, user, clock_now_ms());
    if (st == ST_OK)
        (void)account_kept(user->id);
    return st;
}

TEST(a_registration_whose_commit_reply_was_lost_is_found_or_unknown)
{
    struct user user = fresh_user(), lost = fresh_user(), found;
    faults_plan(FAULT_REPLY_LOST, FAULT_NONE, FAULT_NONE);
    assert_int_equal(inserted(&user), ST_OK);
    faults_plan(FAULT_COMMIT_LOST, FAULT_NONE, FAULT_NONE);
    assert_int_equal(inserted(&lost), ST_UNKNOWN); /* it may not have happened */
    faults_left = 0;
    assert_int_equal(user_find_by_name(app->stores.db, arena, user.username, &found), ST_OK);
    assert_ints({ found.id, user.id }, { balance_of(user.id), 0 });
    assert_int_equal(user_find_by_name(app->stores.db, arena, lost.username, &found), ST_NOT_FOUND);
}

/* Decided by a look at the tables, at once or when the database answers again; else unknown, and safe to repeat. One
 * that never began is unavailable, not unknown. */
TEST(a_deposit_is_made_once_after_a_lost_commit_or_reply)
{
    static const struct {
        enum fault first, second, third;
        enum status status;
    } cases[] = {
        { FAULT_REPLY_LOST, FAULT_NONE, FAULT_NONE, ST_OK },
        { FAULT_COMMIT_LOST, FAULT_NONE, FAULT_NONE, ST_OK },
        { FAULT_REPLY_LOST, FAULT_UNREACHABLE, FAULT_NONE, ST_OK },
        { FAULT_COMMIT_LOST, FAULT_UNREACHABLE, FAULT_NONE, ST_OK },
        { FAULT_REPLY_LOST, FAULT_UNREACHABLE, FAULT_UNREACHABLE, ST_UNKNOWN },
        { FAULT_COMMIT_LOST, FAULT_UNREACHABLE, FAULT_UNREACHABLE, ST_UNKNOWN },
        { FAULT_UNREACHABLE, FAULT_NONE, FAULT_NONE, ST_UNAVAILABLE },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct user user = fresh_user();
        assert_int_equal(inserted(&user), ST_OK);
        struct deposit d = { .user_id = user.id, .amount_fen = 700, .request_key = STR("lost") };
        faults_plan(cases[i].first, cases[i].second, cases[i].third);
        enum status st = deposit_make(app->stores.db, arena, &d, clock_now_ms());
        if (st != cases[i].status)
            fail_msg("case %zu: status %d", i, (int)st);
        if (st == ST_UNKNOWN)
            assert_int_equal(deposit_make(app->stores.db, arena, &d, clock_now_ms()), ST_OK);
        faults_left = 0;
        assert_int_equal(balance_of(user.id), st == ST_UNAVAILABLE ? 0 : 700);
        if (st != ST_UNAVAILABLE)
            assert_int_equal(d.balance_fen, 700);
        assert_int_equal(d.amount_fen, 700);
    }
}

static int teardown(void **state)
{
    faults_left = 0;
    return wallet_teardown(state);
}

TESTS(app_setup, teardown)
