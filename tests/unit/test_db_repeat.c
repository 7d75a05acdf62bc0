/* db_transaction_repeat: after a COMMIT with unknown outcome, which statuses of the replays decide. The linker replaces
 * db_transaction by the function of this test. */
#include "mysql/db.h"
#include "mysql/db_repeat.h"
#include "support/test.h"

static const enum status *outcomes; /* statuses of the next transactions */
static int runs;

enum status __wrap_db_transaction(struct db *db, enum status (*body)(struct db *db, void *ctx), void *ctx);
enum status __wrap_db_transaction(struct db *db, enum status (*body)(struct db *db, void *ctx), void *ctx)
{
    (void)db;
    (void)body;
    (void)ctx;
    return outcomes[runs++];
}

static enum status body_not_called(struct db *db, void *ctx)
{
    (void)db;
    (void)ctx;
    fail();
    return ST_OK;
}

/* Runs a replay whose transactions return the given statuses; runs_expected: how many are run. */
static enum status replayed(const enum status *given, int runs_expected)
{
    outcomes = given;
    runs = 0;
    enum status st = db_transaction_repeat(NULL, body_not_called, NULL);
    assert_int_equal(runs, runs_expected);
    return st;
}

#define REPLAYED(...)                                                                                                  \
    replayed((const enum status[]){ __VA_ARGS__ }, sizeof((const enum status[]){ __VA_ARGS__ }) / sizeof(enum status))

TEST(a_transaction_with_a_known_outcome_runs_once)
{
    for (enum status st = ST_OK; st < ST_COUNT; st++)
        if (st != ST_UNKNOWN)
            assert_int_equal(REPLAYED(st), st);
}

TEST(a_replay_that_commits_or_is_refused_decides_others_leave_it_unknown)
{
    assert_ints({ REPLAYED(ST_UNKNOWN, ST_OK), ST_OK }, { REPLAYED(ST_UNKNOWN, ST_EXISTS), ST_EXISTS },
                { REPLAYED(ST_UNKNOWN, ST_INVALID), ST_INVALID }, { REPLAYED(ST_UNKNOWN, ST_NOT_FOUND), ST_NOT_FOUND },
                { REPLAYED(ST_UNKNOWN, ST_LIMITED), ST_LIMITED },
                { REPLAYED(ST_UNKNOWN, ST_UNKNOWN, ST_EXISTS), ST_EXISTS },
                { REPLAYED(ST_UNKNOWN, ST_UNAVAILABLE, ST_OK), ST_OK },
                { REPLAYED(ST_UNKNOWN, ST_UNKNOWN, ST_UNKNOWN), ST_UNKNOWN },
                { REPLAYED(ST_UNKNOWN, ST_UNAVAILABLE, ST_UNAVAILABLE), ST_UNKNOWN },
                { REPLAYED(ST_UNKNOWN, ST_CONFLICT, ST_NO_MEMORY), ST_UNKNOWN },
                { REPLAYED(ST_UNKNOWN, ST_CORRUPT, ST_CORRUPT), ST_UNKNOWN });
}

TESTS(NULL, NULL)
