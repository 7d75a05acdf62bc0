/* What the stores refuse to a role is in the security log, once for each refusal that matters. */
#include "support/capture_stderr.h"
#include "support/test.h"
#include "support/test_services.h"

enum { TRIES = 50, TRY_US = 10000 }; /* longer than the pauses after failed connects: several attempts */

static struct services *admin, *audit;

static int setup(void **state)
{
    (void)state;
    admin = test_services_open();
    audit = test_services_open_as("audit");
    return admin != NULL && audit != NULL ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    test_services_close(audit);
    test_services_close(admin);
    return 0;
}

static unsigned count_of(const char *text, const char *part)
{
    unsigned count = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part))
        count++;
    return count;
}

static enum status redis_run(struct redis *r, const char *command, const char *arg)
{
    struct redis_call call;
    const struct str args[] = { str_from(command), str_from(arg) };
    enum status st = redis_do(r, &call, args, ARRAY_LEN(args));
    redis_call_free(&call);
    return st;
}

TEST(a_statement_without_the_right_is_logged)
{
    char lines[8192];

    CAPTURE(lines, assert_int_equal(db_exec(audit->stores.db, NULL, "DELETE FROM transfer", NULL, 0), ST_UNAVAILABLE));
    assert_int_equal(count_of(lines, "msg=\"statement failed\""), 1);
    assert_int_equal(count_of(lines, "event=role-refused store=mysql error=\"DELETE command denied"), 1);
    CAPTURE(lines,
            assert_int_equal(db_exec(audit->stores.db, NULL, "DELETE FROM nonsense.x WHERE", NULL, 0), ST_CORRUPT));
    assert_int_equal(count_of(lines, "event="), 0);
}

TEST(a_command_without_the_right_is_logged)
{
    char lines[8192];

    CAPTURE(lines, assert_int_equal(redis_run(audit->stores.redis, "FLUSHALL", "SYNC"), ST_CONFLICT));
    assert_int_equal(count_of(lines, "event=role-refused store=redis error=\"NOPERM"), 1);
    CAPTURE(lines, assert_int_equal(redis_run(audit->stores.redis, "GET", "hb:news:1"), ST_CONFLICT));
    assert_int_equal(count_of(lines, "event=role-refused"), 1);
    CAPTURE(lines, assert_int_equal(redis_run(admin->stores.redis, "NONSENSE", "x"), ST_INVALID));
    assert_int_equal(count_of(lines, "event="), 0);
}

/* The client keeps connecting, but a refused password is logged only once. */
TEST(a_refused_password_is_logged_once_by_each_store)
{
    char lines[8192];
    struct config config = *audit->stores.config;
    (void)snprintf(config.redis_password, sizeof config.redis_password, "wrong");
    (void)snprintf(config.mysql_password, sizeof config.mysql_password, "wrong");
    struct redis *redis = redis_new(&config);
    struct db *db = db_new(&config);

    CAPTURE(
        lines, for (int i = 0; i < TRIES;
                    i++, usleep(TRY_US)) { assert_int_equal(redis_run(redis, "GET", "x"), ST_UNAVAILABLE); });
    assert_int_equal(count_of(lines, "event=role-refused store=redis error=\"WRONGPASS"), 1);
    CAPTURE(
        lines, for (int i = 0; i < TRIES;
                    i++, usleep(TRY_US)) { assert_int_equal(db_exec(db, NULL, "DO 1", NULL, 0), ST_UNAVAILABLE); });
    assert_int_equal(count_of(lines, "event=role-refused store=mysql error=\"Access denied"), 1);
    assert_int_equal(count_of(lines, "wrong\""), 0);
    db_free(db);
    redis_free(redis);
}

TEST(a_shut_fence_is_logged_once_a_connection)
{
    char lines[8192];
    struct redis *redis = redis_new(admin->stores.config);
    const struct redis_function *function = admin->stores.live.fence;
    const struct str key[] = { STR("hb:test:fence") };
    struct redis_call calls[2];

    CAPTURE(lines, {
        for (int i = 0; i < 2; i++) {
            redis_queue_function(redis, &calls[i], function, 0, key, 1, NULL, 0);
            redis_round(redis);
            assert_int_equal(calls[i].status, ST_UNAVAILABLE);
        }
    });
    assert_int_equal(count_of(lines, "level=warn"), 1);
    assert_int_equal(count_of(lines, "event=fence-refused store=redis\n"), 1);
    redis_free(redis);
}

TESTS(setup, teardown)
