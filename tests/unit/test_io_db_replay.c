/* A transaction whose COMMIT went unanswered: which outcomes of its replays decide. The linker puts a db_transaction of
 * this test in the place of the real one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above. */
#include <cmocka.h>

#include "io/db.h"

static const enum status *outcomes; /* of the coming transactions */
static int runs;

enum status __wrap_db_transaction(struct db *db, enum status (*body)(struct db *db, void *ctx), void *ctx);
enum status __wrap_db_transaction(struct db *db, enum status (*body)(struct db *db, void *ctx), void *ctx)
{
    (void)db;
    (void)body;
    (void)ctx;
    return outcomes[runs++];
}

static enum status never_called(struct db *db, void *ctx)
{
    (void)db;
    (void)ctx;
    fail();
    return ST_OK;
}

/* Replays with these outcomes; all_runs: how many of them are needed. */
static enum status replayed(const enum status *given, int all_runs)
{
    outcomes = given;
    runs = 0;
    enum status st = db_transaction_replay(NULL, never_called, NULL);
    assert_int_equal(runs, all_runs);
    return st;
}

#define REPLAYED(...)                                                                                                  \
    replayed((const enum status[]){ __VA_ARGS__ }, sizeof((const enum status[]){ __VA_ARGS__ }) / sizeof(enum status))

static void an_answered_transaction_runs_once(void **state)
{
    (void)state;
    for (enum status st = ST_OK; st < ST_COUNT; st++)
        if (st != ST_UNKNOWN)
            assert_int_equal(REPLAYED(st), st);
}

static void the_unique_key_and_a_refusal_decide(void **state)
{
    (void)state;
    assert_int_equal(REPLAYED(ST_UNKNOWN, ST_OK), ST_OK);
    assert_int_equal(REPLAYED(ST_UNKNOWN, ST_EXISTS), ST_EXISTS);
    assert_int_equal(REPLAYED(ST_UNKNOWN, ST_INVALID), ST_INVALID);
    assert_int_equal(REPLAYED(ST_UNKNOWN, ST_NOT_FOUND), ST_NOT_FOUND);
    assert_int_equal(REPLAYED(ST_UNKNOWN, ST_UNKNOWN, ST_EXISTS), ST_EXISTS);
    assert_int_equal(REPLAYED(ST_UNKNOWN, ST_UNAVAILABLE, ST_OK), ST_OK);
}

static void a_replay_that_did_nothing_leaves_it_unknown(void **state)
{
    (void)state;
    assert_int_equal(REPLAYED(ST_UNKNOWN, ST_UNKNOWN, ST_UNKNOWN), ST_UNKNOWN);
    assert_int_equal(REPLAYED(ST_UNKNOWN, ST_UNAVAILABLE, ST_UNAVAILABLE), ST_UNKNOWN);
    assert_int_equal(REPLAYED(ST_UNKNOWN, ST_CONFLICT, ST_NO_MEMORY), ST_UNKNOWN);
    assert_int_equal(REPLAYED(ST_UNKNOWN, ST_CORRUPT, ST_CORRUPT), ST_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answered_transaction_runs_once),
        cmocka_unit_test(the_unique_key_and_a_refusal_decide),
        cmocka_unit_test(a_replay_that_did_nothing_leaves_it_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
