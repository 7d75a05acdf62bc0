/* The answer to a COMMIT is lost: what registering and depositing make of it. The linker puts a db_transaction of this
 * test in front of the real one. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/random.h"
#include "ledger/ledger.h"
#include "test_user_fixture.h"
#include "user/store.h"
#include "wallet/deposit.h"

static struct services *app;
static struct arena *arena;
static uint64_t made[16];
static size_t made_len;

/* What happens to the coming transactions; after them all is well again. */
enum fate { FATE_SOUND, FATE_ANSWER_LOST, FATE_COMMIT_LOST, FATE_AWAY };
static enum fate fates[4];
static size_t fates_left;

typedef enum status transaction_fn(struct db *db, enum status (*body)(struct db *db, void *ctx), void *ctx);
transaction_fn __real_db_transaction;
transaction_fn __wrap_db_transaction;

struct undone {
    enum status (*body)(struct db *db, void *ctx);
    void *ctx;
};

static enum status undone_body(struct db *db, void *ctx)
{
    const struct undone *u = ctx;
    enum status st = u->body(db, u->ctx);
    return st == ST_OK ? ST_CORRUPT : st; /* anything but ST_OK rolls back */
}

enum status __wrap_db_transaction(struct db *db, enum status (*body)(struct db *db, void *ctx), void *ctx)
{
    enum fate fate = fates_left > 0 ? fates[--fates_left] : FATE_SOUND;
    enum status st;
    if (fate == FATE_AWAY)
        return ST_UNAVAILABLE;
    if (fate == FATE_COMMIT_LOST) {
        st = __real_db_transaction(db, undone_body, &(struct undone){ body, ctx });
        return st == ST_CORRUPT ? ST_UNKNOWN : st;
    }
    st = __real_db_transaction(db, body, ctx);
    return fate == FATE_ANSWER_LOST && st == ST_OK ? ST_UNKNOWN : st;
}

static void transactions_meet(enum fate first, enum fate second, enum fate third)
{
    fates[2] = first;
    fates[1] = second;
    fates[0] = third;
    fates_left = 3;
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
    fates_left = 0;
    accounts_forget(app, made, made_len);
    arena_free(arena);
    site_close(app);
    return 0;
}

static struct user fresh_user(void)
{
    struct str name = arena_printf(arena, "c%016" PRIx64, random_u64());
    /* Salted hashes never repeat; a random text does as well here. */
    return (struct user){ .username = name,
                          .nickname = name,
                          .password_hash = arena_printf(arena, "hash-of-%.*s", STR_ARG(name)) };
}

static enum status inserted(struct user *user)
{
    enum status st = user_insert(app->stores.db, arena, user, clock_now_ms());
    if (st == ST_OK) {
        assert_true(made_len < ARRAY_LEN(made));
        made[made_len++] = user->id;
    }
    return st;
}

static int64_t balance_of(uint64_t id)
{
    int64_t fen = -1;
    assert_int_equal(ledger_balance(app->stores.db, arena, id, &fen), ST_OK);
    return fen;
}

static void a_registration_whose_answer_was_lost_is_found(void **state)
{
    (void)state;
    struct user user = fresh_user(), found;
    transactions_meet(FATE_ANSWER_LOST, FATE_SOUND, FATE_SOUND);
    assert_int_equal(inserted(&user), ST_OK);
    fates_left = 0;
    assert_int_equal(user_find_by_name(app->stores.db, arena, user.username, &found), ST_OK);
    assert_int_equal(found.id, user.id);
    assert_int_equal(balance_of(user.id), 0);
}

static void a_registration_that_may_not_have_happened_is_unknown(void **state)
{
    (void)state;
    struct user user = fresh_user(), found;
    transactions_meet(FATE_COMMIT_LOST, FATE_SOUND, FATE_SOUND);
    assert_int_equal(inserted(&user), ST_UNKNOWN);
    fates_left = 0;
    assert_int_equal(user_find_by_name(app->stores.db, arena, user.username, &found), ST_NOT_FOUND);
}

static struct deposit deposit_of(uint64_t user_id)
{
    return (struct deposit){ .user_id = user_id, .amount_fen = 700, .request_key = STR("lost") };
}

static void a_deposit_is_made_once_wherever_the_connection_broke(void **state)
{
    (void)state;
    static const enum fate broken[] = { FATE_ANSWER_LOST, FATE_COMMIT_LOST };
    for (size_t i = 0; i < 2; i++) {
        struct user user = fresh_user();
        assert_int_equal(inserted(&user), ST_OK);
        struct deposit d = deposit_of(user.id);
        transactions_meet(broken[i], FATE_SOUND, FATE_SOUND);
        assert_int_equal(deposit_make(app->stores.db, arena, &d, clock_now_ms()), ST_OK);
        fates_left = 0;
        assert_int_equal(d.amount_fen, 700);
        assert_int_equal(d.balance_fen, 700);
        assert_int_equal(balance_of(user.id), 700);
    }
}

static void a_deposit_is_decided_when_the_database_is_back(void **state)
{
    (void)state;
    static const enum fate broken[] = { FATE_ANSWER_LOST, FATE_COMMIT_LOST };
    for (size_t i = 0; i < 2; i++) {
        struct user user = fresh_user();
        assert_int_equal(inserted(&user), ST_OK);
        struct deposit d = deposit_of(user.id);
        transactions_meet(broken[i], FATE_AWAY, FATE_SOUND);
        assert_int_equal(deposit_make(app->stores.db, arena, &d, clock_now_ms()), ST_OK);
        assert_int_equal(d.balance_fen, 700);
        assert_int_equal(balance_of(user.id), 700);
    }
}

static void a_deposit_that_cannot_be_decided_is_unknown_and_safe_to_repeat(void **state)
{
    (void)state;
    static const enum fate broken[] = { FATE_ANSWER_LOST, FATE_COMMIT_LOST };
    for (size_t i = 0; i < 2; i++) {
        struct user user = fresh_user();
        assert_int_equal(inserted(&user), ST_OK);
        struct deposit d = deposit_of(user.id);
        transactions_meet(broken[i], FATE_AWAY, FATE_AWAY);
        assert_int_equal(deposit_make(app->stores.db, arena, &d, clock_now_ms()), ST_UNKNOWN);
        assert_int_equal(deposit_make(app->stores.db, arena, &d, clock_now_ms()), ST_OK);
        assert_int_equal(balance_of(user.id), 700);
    }
}

static void a_deposit_that_never_began_is_not_called_unknown(void **state)
{
    (void)state;
    struct user user = fresh_user();
    assert_int_equal(inserted(&user), ST_OK);
    struct deposit d = deposit_of(user.id);
    transactions_meet(FATE_AWAY, FATE_SOUND, FATE_SOUND);
    assert_int_equal(deposit_make(app->stores.db, arena, &d, clock_now_ms()), ST_UNAVAILABLE);
    fates_left = 0;
    assert_int_equal(balance_of(user.id), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_registration_whose_answer_was_lost_is_found),
        cmocka_unit_test(a_registration_that_may_not_have_happened_is_unknown),
        cmocka_unit_test(a_deposit_is_made_once_wherever_the_connection_broke),
        cmocka_unit_test(a_deposit_is_decided_when_the_database_is_back),
        cmocka_unit_test(a_deposit_that_cannot_be_decided_is_unknown_and_safe_to_repeat),
        cmocka_unit_test(a_deposit_that_never_began_is_not_called_unknown),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
