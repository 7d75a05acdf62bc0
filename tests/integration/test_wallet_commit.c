/* Registering and depositing when the reply to COMMIT is lost. The linker replaces db_transaction by the wrapper
 * below. */
#include <inttypes.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/random.h"
#include "ledger/ledger.h"
#include "support/test.h"
#include "test_user_fixture.h"
#include "user/store.h"
#include "wallet/deposit.h"

static struct services *app;
static struct arena *arena;
static uint64_t accounts[16];
static size_t account_count;

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
    return st == ST_OK ? ST_CORRUPT : st; /* anything but ST_OK rolls back */
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

static int setup(void **state)
{
    (void)state;
    app = site_open();
    arena = arena_new(64 << 10, 16 << 20);
    return app == NULL || arena == NULL;
}

static int teardown(void **state)
{
    (void)state;
    faults_left = 0;
    accounts_forget(app, accounts, account_count);
    arena_free(arena);
    site_close(app);
    return 0;
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
    if (st == ST_OK) {
        assert_true(account_count < ARRAY_LEN(accounts));
        accounts[account_count++] = user->id;
    }
    return st;
}

static int64_t balance_of(uint64_t id)
{
    int64_t fen = -1;
    assert_int_equal(ledger_balance(app->stores.db, arena, id, &fen), ST_OK);
    return fen;
}

TEST(a_registration_whose_commit_reply_was_lost_is_found)
{
    struct user user = fresh_user(), found;
    faults_plan(FAULT_REPLY_LOST, FAULT_NONE, FAULT_NONE);
    assert_int_equal(inserted(&user), ST_OK);
    faults_left = 0;
    assert_int_equal(user_find_by_name(app->stores.db, arena, user.username, &found), ST_OK);
    assert_int_equal(found.id, user.id);
    assert_int_equal(balance_of(user.id), 0);
}

TEST(a_registration_that_may_not_have_happened_is_unknown)
{
    struct user user = fresh_user(), found;
    faults_plan(FAULT_COMMIT_LOST, FAULT_NONE, FAULT_NONE);
    assert_int_equal(inserted(&user), ST_UNKNOWN);
    faults_left = 0;
    assert_int_equal(user_find_by_name(app->stores.db, arena, user.username, &found), ST_NOT_FOUND);
}

static struct deposit deposit_of(uint64_t user_id)
{
    return (struct deposit){ .user_id = user_id, .amount_fen = 700, .request_key = STR("lost") };
}

/* Decided by a look at the tables, at once or when the database answers again; else unknown, and safe to repeat. */
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
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct user user = fresh_user();
        assert_int_equal(inserted(&user), ST_OK);
        struct deposit d = deposit_of(user.id);
        faults_plan(cases[i].first, cases[i].second, cases[i].third);
        enum status st = deposit_make(app->stores.db, arena, &d, clock_now_ms());
        if (st != cases[i].status)
            fail_msg("case %zu: status %d", i, (int)st);
        if (st == ST_UNKNOWN)
            assert_int_equal(deposit_make(app->stores.db, arena, &d, clock_now_ms()), ST_OK);
        faults_left = 0;
        assert_int_equal(d.amount_fen, 700);
        assert_int_equal(d.balance_fen, 700);
        assert_int_equal(balance_of(user.id), 700);
    }
}

TEST(a_deposit_that_never_began_is_unavailable_not_unknown)
{
    struct user user = fresh_user();
    assert_int_equal(inserted(&user), ST_OK);
    struct deposit d = deposit_of(user.id);
    faults_plan(FAULT_UNREACHABLE, FAULT_NONE, FAULT_NONE);
    assert_int_equal(deposit_make(app->stores.db, arena, &d, clock_now_ms()), ST_UNAVAILABLE);
    faults_left = 0;
    assert_int_equal(balance_of(user.id), 0);
}

TESTS(setup, teardown)
