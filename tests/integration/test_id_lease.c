/* packet/id_lease on a real database: no two processes make ids with one instance number at the same time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "packet/id_lease.h"
#include "support/id_parts.h"
#include "test_packet_fixture.h"

static struct services *app;
static int64_t now;

/* Every test begins and ends with no lease running. Nobody else uses the database of the fixture meanwhile. */
static enum status leases_clear(void)
{
    return db_exec(app->stores.db, NULL, "UPDATE instance_lease SET holder = 0, until_ms = 0", NULL, 0);
}

static int setup(void **state)
{
    (void)state;
    app = packet_services_open();
    now = clock_now_ms();
    return app == NULL || leases_clear() != ST_OK;
}

static int teardown(void **state)
{
    (void)state;
    enum status st = leases_clear();
    packet_services_close(app);
    return st != ST_OK;
}

/* Leaves one number that can be had. */
static void only_instance(uint16_t instance)
{
    assert_int_equal(db_exec(app->stores.db, NULL,
                             "UPDATE instance_lease SET holder = 1, until_ms = ? WHERE instance_no <> ?",
                             DB_PARAMS(DB_I64(INT64_MAX), DB_U64(instance))),
                     ST_OK);
}

static int64_t leased_until(uint16_t instance)
{
    return sql_number(app, "SELECT until_ms FROM instance_lease WHERE instance_no = ?", instance);
}

static void the_first_id_takes_a_lease(void **state)
{
    (void)state;
    struct id_lease l;
    uint64_t id;
    id_lease_init(&l, 77);
    assert_int_equal(id_lease_next(&l, app->stores.db, now, &id), ST_OK);
    assert_int_equal(id_ms(id), now);
    assert_int_equal(leased_until(id_instance(id)), now + ID_LEASE_MS);
    assert_int_equal(sql_number(app, "SELECT holder FROM instance_lease WHERE instance_no = ?", id_instance(id)), 77);
}

static void two_holders_have_two_numbers(void **state)
{
    (void)state;
    struct id_lease a, b;
    uint64_t id_a, id_b;
    id_lease_init(&a, 1);
    id_lease_init(&b, 2);
    assert_int_equal(id_lease_next(&a, app->stores.db, now, &id_a), ST_OK);
    assert_int_equal(id_lease_next(&b, app->stores.db, now, &id_b), ST_OK);
    assert_int_not_equal(id_instance(id_a), id_instance(id_b));
}

static void a_busy_holder_keeps_its_number_by_renewing(void **state)
{
    (void)state;
    struct id_lease l;
    uint64_t id;
    id_lease_init(&l, 5);
    assert_int_equal(id_lease_next(&l, app->stores.db, now, &id), ST_OK);
    uint16_t instance = id_instance(id);
    assert_int_equal(id_lease_next(&l, app->stores.db, now + 1000, &id), ST_OK);
    assert_int_equal(leased_until(instance), now + ID_LEASE_MS); /* early: nothing to do */
    for (int64_t later = 0; later < 10 * ID_LEASE_MS; later += 15000) {
        assert_int_equal(id_lease_next(&l, app->stores.db, now + later, &id), ST_OK);
        assert_int_equal(id_instance(id), instance);
        assert_true(leased_until(instance) >= now + later + ID_LEASE_RENEW_MS);
    }
}

static void a_holder_that_slept_goes_on_when_nobody_took_its_number(void **state)
{
    (void)state;
    struct id_lease l;
    uint64_t first, second;
    id_lease_init(&l, 5);
    assert_int_equal(id_lease_next(&l, app->stores.db, now, &first), ST_OK);
    assert_int_equal(id_lease_next(&l, app->stores.db, now + 5 * ID_LEASE_MS, &second), ST_OK);
    assert_int_equal(id_instance(first), id_instance(second));
    assert_true(second > first);
}

static void a_number_whose_lease_ran_out_changes_hands_and_never_repeats_an_id(void **state)
{
    (void)state;
    struct id_lease old, new;
    uint64_t last, first, id;
    only_instance(9);
    id_lease_init(&old, 5);
    id_lease_init(&new, 6);
    assert_int_equal(id_lease_next(&old, app->stores.db, now, &last), ST_OK);
    assert_int_equal(id_instance(last), 9);
    /* While it runs nobody else gets one. */
    assert_int_equal(id_lease_next(&new, app->stores.db, now + ID_LEASE_MS - 1, &id), ST_UNAVAILABLE);
    assert_int_equal(id_lease_next(&new, app->stores.db, now + ID_LEASE_MS, &first), ST_OK);
    assert_int_equal(id_instance(first), 9);
    assert_true(id_ms(first) >= now + ID_LEASE_MS);
    /* The old one wakes up: its number is gone, and there is no other. */
    assert_int_equal(id_lease_next(&old, app->stores.db, now + ID_LEASE_MS + 5, &id), ST_UNAVAILABLE);
    assert_false(old.held);
}

static void a_holder_whose_clock_is_slow_can_not_outlive_its_lease(void **state)
{
    (void)state;
    struct id_lease old, new;
    uint64_t id, other;
    only_instance(4);
    id_lease_init(&old, 5);
    id_lease_init(&new, 6);
    assert_int_equal(id_lease_next(&old, app->stores.db, now, &id), ST_OK);
    assert_int_equal(id_lease_next(&new, app->stores.db, now + ID_LEASE_MS, &other), ST_OK);
    /* The old holder believes that half of its lease is left: what it makes lies before the lease's end … */
    assert_int_equal(id_lease_next(&old, app->stores.db, now + ID_LEASE_MS / 2, &id), ST_OK);
    assert_true(id_ms(id) < now + ID_LEASE_MS);
    /* … where the new one began. */
    assert_true(id_ms(other) >= now + ID_LEASE_MS);
}

static void a_clock_that_is_put_back_takes_another_number_and_goes_on(void **state)
{
    (void)state;
    const int64_t hour_ms = 3600000;
    struct id_lease l;
    uint64_t before, back, mended;
    id_lease_init(&l, 5);
    assert_int_equal(id_lease_next(&l, app->stores.db, now, &before), ST_OK);
    assert_int_equal(id_lease_next(&l, app->stores.db, now - hour_ms, &back), ST_OK);
    assert_int_not_equal(id_instance(back), id_instance(before));
    assert_int_equal(id_ms(back), now - hour_ms);
    assert_int_equal(id_lease_next(&l, app->stores.db, now, &mended), ST_OK);
    assert_true(mended != before && mended != back);
    /* The number of the future is nobody's until then. */
    only_instance(id_instance(before));
    id_lease_init(&l, 6);
    assert_int_equal(id_lease_next(&l, app->stores.db, now - hour_ms, &back), ST_UNAVAILABLE);
}

static void without_the_database_ids_flow_until_the_lease_ends(void **state)
{
    (void)state;
    struct id_lease l;
    struct config config = *app->stores.config;
    uint64_t id;
    id_lease_init(&l, 5);
    assert_int_equal(id_lease_next(&l, app->stores.db, now, &id), ST_OK);
    snprintf(config.mysql_socket, sizeof config.mysql_socket, "/nonexistent/mysql.sock");
    struct db *away = db_new(&config);
    assert_non_null(away);
    assert_int_equal(id_lease_next(&l, away, now + ID_LEASE_MS - 1, &id), ST_OK);
    assert_int_equal(id_lease_next(&l, away, now + ID_LEASE_MS, &id), ST_UNAVAILABLE);
    db_free(away);
    assert_int_equal(id_lease_next(&l, app->stores.db, now + ID_LEASE_MS, &id), ST_OK);
}

static void twenty_processes_lease_twenty_numbers(void **state)
{
    (void)state;
    enum { PROCESSES = 20 };
    int results[2];
    uint64_t ids[PROCESSES];
    assert_int_equal(pipe(results), 0);
    for (int i = 0; i < PROCESSES; i++) {
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            struct services *own = packet_services_open();
            uint64_t id = 0;
            bool fine = own != NULL && packet_id_next(own->stores.db, now, &id) == ST_OK &&
                        write(results[1], &id, sizeof id) == (ssize_t)sizeof id;
            _exit(fine ? 0 : 1);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = 0;
        assert_true(wait(&status) > 0);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        assert_int_equal(read(results[0], &ids[i], sizeof ids[i]), sizeof ids[i]);
        for (int j = 0; j < i; j++)
            assert_int_not_equal(id_instance(ids[i]), id_instance(ids[j]));
    }
    (void)close(results[0]);
    (void)close(results[1]);
}

#define LEASE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        LEASE_TEST(the_first_id_takes_a_lease),
        LEASE_TEST(two_holders_have_two_numbers),
        LEASE_TEST(a_busy_holder_keeps_its_number_by_renewing),
        LEASE_TEST(a_holder_that_slept_goes_on_when_nobody_took_its_number),
        LEASE_TEST(a_number_whose_lease_ran_out_changes_hands_and_never_repeats_an_id),
        LEASE_TEST(a_holder_whose_clock_is_slow_can_not_outlive_its_lease),
        LEASE_TEST(a_clock_that_is_put_back_takes_another_number_and_goes_on),
        LEASE_TEST(without_the_database_ids_flow_until_the_lease_ends),
        LEASE_TEST(twenty_processes_lease_twenty_numbers),
    };
    return cmocka_run_group_tests_name("id_lease", tests, NULL, NULL);
}
