/* packet/id_lease with a real MySQL: two processes never hold the same instance number at the same time. */
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "packet/id_lease.h"
#include "support/id_parts.h"
#include "support/test.h"
#include "test_packet_fixture.h"

static struct services *app;
static int64_t now;

/* Every test starts and ends without leases. No other test uses the servers at the same time. */
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
    site_close(app);
    return st != ST_OK;
}

/* Leaves only this number free. */
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

static struct id_lease lease_of(uint64_t holder)
{
    struct id_lease l;
    id_lease_init(&l, holder);
    return l;
}

/* The next id of a lease, at a time after now; 0: none can be made. */
static uint64_t next_id(struct id_lease *l, int64_t later_ms)
{
    uint64_t id = 0;
    const enum status st = id_lease_next(l, app->stores.db, now + later_ms, &id);
    assert_true(st == ST_OK || st == ST_UNAVAILABLE);
    return st == ST_OK ? id : 0;
}

TEST_WITH(the_first_id_takes_a_lease_and_another_holder_gets_another_number, setup, teardown)
{
    struct id_lease l = lease_of(77), other = lease_of(78);
    uint64_t id = next_id(&l, 0), of_other = next_id(&other, 0);
    assert_int_equal(id_ms(id), now);
    assert_int_equal(leased_until(id_instance(id)), now + ID_LEASE_MS);
    assert_int_equal(sql_number(app, "SELECT holder FROM instance_lease WHERE instance_no = ?", id_instance(id)), 77);
    assert_int_equal(id_ms(of_other), now);
    assert_int_not_equal(id_instance(of_other), id_instance(id));
}

TEST_WITH(a_holder_keeps_its_number_by_renewing_the_lease, setup, teardown)
{
    struct id_lease l = lease_of(5);
    uint16_t instance = id_instance(next_id(&l, 0));
    (void)next_id(&l, 1000);
    assert_int_equal(leased_until(instance), now + ID_LEASE_MS); /* too early for a renewal */
    for (int64_t later = 0; later < 10 * ID_LEASE_MS; later += 15000) {
        assert_int_equal(id_instance(next_id(&l, later)), instance);
        assert_true(leased_until(instance) >= now + later + ID_LEASE_RENEW_MS);
    }
}

TEST_WITH(an_expired_lease_is_renewed_when_the_number_has_no_other_holder, setup, teardown)
{
    struct id_lease l = lease_of(5);
    uint64_t first = next_id(&l, 0), second = next_id(&l, 5 * ID_LEASE_MS);
    assert_int_equal(id_instance(first), id_instance(second));
    assert_true(second > first);
}

TEST_WITH(the_next_holder_of_an_expired_number_makes_only_later_ids, setup, teardown)
{
    struct id_lease old = lease_of(5), new = lease_of(6);
    only_instance(9);
    assert_int_equal(id_instance(next_id(&old, 0)), 9);
    assert_int_equal(next_id(&new, ID_LEASE_MS - 1), 0); /* during the lease it is not given to another holder */
    uint64_t first = next_id(&new, ID_LEASE_MS);
    assert_int_equal(id_instance(first), 9);
    assert_true(id_ms(first) >= now + ID_LEASE_MS);
    /* The old holder lost its number, and no other number is free. */
    assert_int_equal(next_id(&old, ID_LEASE_MS + 5), 0);
    assert_false(old.held);
}

TEST_WITH(a_holder_with_a_slow_clock_makes_no_id_beyond_its_lease, setup, teardown)
{
    struct id_lease old = lease_of(5), new = lease_of(6);
    only_instance(4);
    (void)next_id(&old, 0);
    /* By the old holder's clock half of its lease is left. Its ids have times before the end of the lease, and the new
     * holder's ids start at that time. */
    assert_true(id_ms(next_id(&new, ID_LEASE_MS)) >= now + ID_LEASE_MS);
    uint64_t id = next_id(&old, ID_LEASE_MS / 2);
    assert_true(id != 0 && id_ms(id) < now + ID_LEASE_MS);
}

TEST_WITH(after_the_clock_was_set_back_far_another_number_is_leased, setup, teardown)
{
    const int64_t hour_ms = 3600000;
    struct id_lease l = lease_of(5), other = lease_of(6);
    uint64_t before = next_id(&l, 0), back = next_id(&l, -hour_ms), restored = next_id(&l, 0);
    assert_int_not_equal(id_instance(back), id_instance(before));
    assert_int_equal(id_ms(back), now - hour_ms);
    assert_true(restored != 0 && restored != before && restored != back);
    /* By the earlier clock the first number is still leased. */
    only_instance(id_instance(before));
    assert_int_equal(next_id(&other, -hour_ms), 0);
}

TEST_WITH(without_mysql_ids_are_made_until_the_lease_ends, setup, teardown)
{
    struct id_lease l = lease_of(5);
    struct services *lacking = services_without(app, "mysql");
    uint64_t id;
    assert_true(next_id(&l, 0) != 0);
    assert_int_equal(id_lease_next(&l, lacking->stores.db, now + ID_LEASE_MS - 1, &id), ST_OK);
    assert_int_equal(id_lease_next(&l, lacking->stores.db, now + ID_LEASE_MS, &id), ST_UNAVAILABLE);
    services_without_free(lacking);
    assert_true(next_id(&l, ID_LEASE_MS) != 0);
}

TEST_WITH(twenty_processes_lease_different_numbers_than_their_parent, setup, teardown)
{
    enum { PROCESSES = 20 };
    int results[2];
    uint64_t ids[PROCESSES], parent_id;
    assert_int_equal(pipe(results), 0);
    assert_int_equal(packet_id_next(app->stores.db, now, &parent_id), ST_OK);
    for (int i = 0; i < PROCESSES; i++) {
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            struct services *own = packet_services_open();
            uint64_t id = 0;
            bool ok = own != NULL && packet_id_next(own->stores.db, now, &id) == ST_OK &&
                      write(results[1], &id, sizeof id) == (ssize_t)sizeof id;
            _exit(ok ? 0 : 1);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = 0;
        assert_true(wait(&status) > 0);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        assert_int_equal(read(results[0], &ids[i], sizeof ids[i]), sizeof ids[i]);
        assert_int_not_equal(id_instance(ids[i]), id_instance(parent_id));
        for (int j = 0; j < i; j++)
            assert_int_not_equal(id_instance(ids[i]), id_instance(ids[j]));
    }
    (void)close(results[0]);
    (void)close(results[1]);
}

TESTS(NULL, NULL)
