/* The watch of the settle worker: which rows a look and a walk read, in steps. test_rights.c shows that it finds what a
 * role could plant. */
#include "audit/watch.h"
#include "io/metrics.h"
#include "support/stores_do.h"
#include "support/test.h"
#include "test_world.h"

enum { STEPS_MAX = 1000 };

static struct audit_watch *watch_new(void)
{
    struct audit_watch *watch = calloc(1, sizeof *watch);
    assert_non_null(watch);
    return watch;
}

/* Runs steps at this time until nothing is under way; returns the number of violations. */
static uint64_t watch_at(struct audit_watch *watch, int64_t ms)
{
    uint64_t before = metrics_get(METRIC_AUDIT_VIOLATED);
    for (int i = 0; i < STEPS_MAX; i++) {
        assert_int_equal(audit_watch_run(watch, &w->settler->stores, ms), ST_OK);
        if (watch->part == 0 && watch->to == 0)
            return metrics_get(METRIC_AUDIT_VIOLATED) - before;
    }
    fail_msg("the watch does not end");
    return 0;
}

/* Plants a deposit with this unused id; without a request key, no form asked for it. */
static void deposit_plant(uint64_t transfer_id, const char *key)
{
    const struct db_param user = DB_U64(w->users[0]);
    sql_do_with(w->app->stores.db,
                "INSERT INTO transfer (id, kind, debit_id, credit_id, amount_fen, request_key, created_ms)"
                " VALUES (?, 'deposit', 1, ?, 5, CONCAT(?, ':', ?), 1)",
                DB_PARAMS(DB_U64(transfer_id), user, user, key == NULL ? DB_NULL : DB_TEXT(str_from(key))));
}

FAULTY_WORLD_TEST(a_site_at_work_has_no_violations, 4)
{
    struct audit_watch *watch = watch_new();
    uint64_t walks = metrics_get(METRIC_AUDIT_WALKS);
    uint64_t open = world_send(w, 0, PACKET_LUCKY, 900, 3, HOUR_MS, -1);
    uint64_t finished = world_even(w, 300, 3);
    (void)world_send(w, 2, PACKET_EVEN, 100, 1, 0, -1);
    world_grab_all(w, finished, 1, 3);
    world_grab(w, open, 1);
    world_drain(w);
    world_grab(w, open, 2); /* waits for the worker */
    assert_int_equal(watch_at(watch, 0), 0);
    assert_int_equal(metrics_get(METRIC_AUDIT_WALKS), walks + 1);
    free(watch);
}

FAULTY_WORLD_TEST(looks_and_walks_have_their_intervals, 1)
{
    struct audit_watch *watch = watch_new();
    assert_int_equal(watch_at(watch, 0), 0);
    deposit_plant(1000000, NULL);
    assert_int_equal(watch_at(watch, AUDIT_WATCH_LOOK_MS - 1), 0);
    assert_int_equal(watch_at(watch, AUDIT_WATCH_LOOK_MS), 1);
    world_sql(w, "SET foreign_key_checks = 0");
    world_sql(w, "INSERT INTO account (id, kind) VALUES (4, 'wallet')");
    world_sql(w, "SET foreign_key_checks = 1");
    assert_int_equal(watch_at(watch, AUDIT_WATCH_WALK_MS - 1), 1); /* the deposit, for the second and last time */
    assert_int_equal(watch_at(watch, AUDIT_WATCH_WALK_MS), 1);     /* the account; again in each walk */
    assert_int_equal(watch_at(watch, 2 * AUDIT_WATCH_WALK_MS), 1);
    free(watch);
}

/* Ids are not committed in ascending order. */
FAULTY_WORLD_TEST(a_transfer_that_is_committed_late_is_found, 1)
{
    struct audit_watch *watch = watch_new();
    assert_int_equal(watch_at(watch, 0), 0);
    deposit_plant(2000001, "x");
    assert_int_equal(watch_at(watch, AUDIT_WATCH_LOOK_MS), 0);
    deposit_plant(2000000, NULL);
    assert_int_equal(watch_at(watch, 2 * AUDIT_WATCH_LOOK_MS), 1);
    assert_int_equal(watch_at(watch, 3 * AUDIT_WATCH_LOOK_MS), 0);
    free(watch);
}

/* More rows than one query reads: the last one of each list is found, too. */
FAULTY_WORLD_TEST(a_walk_reads_every_row, 600)
{
    enum { PACKETS = 410 };
    struct audit_watch *watch = watch_new();
    uint64_t last = 0;
    for (int i = 0; i < PACKETS; i++)
        last = world_even(w, 3, 3);
    world_drain(w);
    world_sql(w, "UPDATE packet SET expires_ms = (SELECT x FROM (SELECT MAX(expires_ms) AS x FROM packet) AS m)");
    assert_int_equal(watch_at(watch, 0), 0);
    sql_do_with(w->app->stores.db, "UPDATE account SET balance_fen = 2 WHERE id = ?", DB_PARAMS(DB_U64(last)));
    world_sql(w, "INSERT INTO account (id, kind) VALUES (18000000000000000000, 'escrow')");
    for (int i = 0; i < PACKETS; i++)
        (void)world_redisf(w, last, "SET hb:session:%d %llu,1,1,x,x PX 600000", i, (unsigned long long)w->users[i]);
    assert_int_equal(watch_at(watch, AUDIT_WATCH_WALK_MS), 2);
    free(watch);
}

/* The first look leaves older transfers than AUDIT_WATCH_FIRST_TRANSFERS to `hongbao audit`. */
FAULTY_WORLD_TEST(the_first_look_begins_with_the_newest_transfers, 1)
{
    struct audit_watch *watch = watch_new();
    deposit_plant(3000000, NULL);
    deposit_plant(3000000 + AUDIT_WATCH_FIRST_TRANSFERS, NULL);
    assert_int_equal(watch_at(watch, 0), 1);
    free(watch);
}

TESTS(NULL, NULL)
