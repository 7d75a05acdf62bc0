/* Whether tables and Redis belong together: how the settle worker and a pool react. */
#include <inttypes.h>
#include <mysql.h>
#include <pthread.h>

#include "live/site.h"
#include "settle/recover_stream.h"
#include "settle/site.h"
#include "support/test_services.h"
#include "support/wait_until.h"
#include "test_world.h"

#define OTHER "00000000000000000000000000c0ffee"

/* Starts a worker that has not compared the stores yet. */
static void worker_anew(void)
{
    world_restart_worker(w);
    w->settle->site = (struct settle_site){ .agrees = false };
}

static struct site_mark row(void)
{
    assert_int_equal(site_row_read(&w->settler->stores), ST_OK);
    return w->settler->stores.site.row;
}

static enum site_verdict look(void)
{
    struct settle_site_look look;
    assert_int_equal(settle_site_look(w->app->stores.redis, w->app->stores.db, w->settle->partition_count, &look),
                     ST_OK);
    return look.verdict;
}

static struct str mark_of(uint64_t packet_id)
{
    return world_redis_text(w, packet_id, "GET {si}");
}

/* Sets the marks of all partitions to this generation of this site. NULL: deletes them. */
static void marks_raise(const char *site, uint64_t generation)
{
    for (uint64_t packet = 0; packet < w->settle->partition_count; packet++)
        if (site == NULL)
            (void)world_redis(w, packet, "DEL {si}");
        else
            (void)world_redisf(w, packet,
                               "EVAL redis.call('SET',KEYS[1],ARGV[1]..string.char(32)..ARGV[2]) 1 {si} %s %" PRIu64,
                               site, generation);
}

static void marks_set(const char *site)
{
    marks_raise(site, 1);
}

/* Whether a process of the page pool that starts now would serve. */
static bool is_served(void)
{
    struct services *page = test_services_open_as("page");
    assert_non_null(page);
    const bool served = site_confirm(&page->stores) == ST_OK;
    test_services_close(page);
    return served;
}

/* A world whose worker has compared. */
static int begin_compared(void **state)
{
    (void)state;
    world_begin(w, WORLD_USERS);
    worker_anew();
    assert_int_equal(settle_site_confirm(w->settle), ST_OK);
    return 0;
}

FAULTY_WORLD_TEST(an_empty_redis_is_marked_and_the_generation_is_raised, WORLD_USERS)
{
    worker_anew();
    const struct site_mark before = row();
    assert_int_equal(settle_site_confirm(w->settle), ST_OK);
    const struct site_mark after = row();
    char text[SITE_MARK_MAX];
    assert_string_equal(after.id, before.id);
    assert_int_equal(after.generation, before.generation + 1);
    for (uint64_t packet = 0; packet < w->settle->partition_count; packet++)
        assert_true(str_equal(mark_of(packet), site_mark_text(&after, text)));
    assert_int_equal(settle_site_confirm(w->settle), ST_OK); /* nothing is new */
    assert_int_equal(row().generation, after.generation);
    settle_site_raise(w->settle); /* the end of a worker */
    assert_int_equal(row().generation, after.generation + 1);
    assert_true(is_served());
}

TEST_WITH(a_worker_that_died_between_the_stores_is_followed, begin_compared, faulty_world_test_end)
{
    world_sql(w, "UPDATE site SET generation = generation + 1");
    worker_anew();
    assert_true(is_served());
    assert_int_equal(settle_site_confirm(w->settle), ST_OK);
    assert_int_equal(look(), SITE_AGREES);
}

TEST_WITH(two_workers_raise_it_in_turn, begin_compared, faulty_world_test_end)
{
    const uint64_t generation = row().generation;
    world_sql(w, "UPDATE site SET generation = generation + 1"); /* the other one, whose marks come late */
    settle_site_raise(w->settle);
    assert_int_equal(row().generation, generation + 2);
    assert_int_equal(look(), SITE_AGREES);
}

static void *confirmed(void *ctx)
{
    struct services *page = ctx;
    return site_confirm(&page->stores) == ST_OK ? page : NULL;
}

static void locked_do(MYSQL *session, const char *sql)
{
    if (mysql_query(session, sql) != 0)
        fail_msg("%s: %s", sql, mysql_error(session));
}

/* A pool has read a mark, and waits for the row; meanwhile two workers start. */
TEST_WITH(workers_that_start_while_a_pool_compares_make_no_older_copy, begin_compared, faulty_world_test_end)
{
    pthread_t thread;
    void *served = NULL;
    struct services *page = test_services_open(); /* as one user, who sees its sessions */
    MYSQL *session = test_services_mysql(w->app);
    const struct site_mark before = row();
    assert_int_equal(site_row_read(&page->stores), ST_OK); /* it is connected */
    locked_do(session, "LOCK TABLES site WRITE");
    assert_int_equal(pthread_create(&thread, NULL, confirmed, page), 0);
    WAIT_UNTIL(world_number(w,
                            "SELECT COUNT(*) FROM information_schema.processlist WHERE state LIKE 'Waiting for table%'",
                            0) == 1);
    locked_do(session, "UPDATE site SET generation = generation + 2");
    marks_raise(before.id, before.generation + 2);
    locked_do(session, "UNLOCK TABLES");
    assert_int_equal(pthread_join(thread, &served), 0);
    assert_non_null(served);
    mysql_close(session);
    test_services_close(page);
}

/* The worker refuses the stores, opens no fence, and changes no mark; no pool serves. */
static void assert_refused(enum site_verdict verdict)
{
    struct recover r = { .full_walk = true };
    bool open = true;
    const struct str mark = mark_of(0);
    worker_anew();
    assert_int_equal(settle_site_confirm(w->settle), ST_CONFLICT);
    assert_int_equal(settle_site_confirm(w->settle), ST_CONFLICT);
    assert_int_equal(w->settler->stores.site.verdict, verdict);
    assert_int_equal(look(), verdict);
    assert_true(verdict == SITE_TABLES_OLDER || str_equal(mark_of(0), mark));
    if (verdict == SITE_OTHER || verdict == SITE_REDIS_OLDER) {
        (void)recover_fences(&r, w->settle, &open);
        assert_false(open);
    }
}

TEST_WITH(a_redis_of_another_site_is_refused, begin_compared, faulty_world_test_end)
{
    marks_set(OTHER);
    assert_true(str_equal(mark_of(0), STR(OTHER " 1")));
    assert_refused(SITE_OTHER);
    assert_false(is_served());
    world_sql(w, "SET FOREIGN_KEY_CHECKS = 0");
    world_sql(w, "DELETE FROM user"); /* as of tables that were made anew */
    assert_refused(SITE_TABLES_GONE);
}

TEST_WITH(older_stores_are_refused, begin_compared, faulty_world_test_end)
{
    world_sql(w, "UPDATE site SET generation = generation - 1");
    w->settler->stores.site = (struct site){ .known = false }; /* another process */
    assert_refused(SITE_TABLES_OLDER);
    assert_false(is_served());
    world_sql(w, "UPDATE site SET generation = generation + 3");
    assert_refused(SITE_REDIS_OLDER);
    assert_false(is_served());
    world_sql(w, "UPDATE site SET generation = generation - 2");
}

TEST_WITH(tables_that_lack_what_was_settled_are_refused, begin_compared, faulty_world_test_end)
{
    uint64_t id = world_even_settled(w, 300, 3, 1);
    world_tables_keep(w);
    world_grab(w, id, 2);
    world_drain(w);
    assert_int_equal(look(), SITE_AGREES);
    world_tables_restore(w);
    assert_true(is_served()); /* a pool can't know it yet */
    assert_refused(SITE_TABLES_OLDER);
    assert_false(is_served());
    (void)world_redis(w, 0, "FLUSHALL"); /* the way out */
    assert_int_equal(settle_site_confirm(w->settle), ST_OK);
    world_check_redis(w);
}

/* An intruder in the page pool can write a position. */
TEST_WITH(a_planted_position_alone_shows_nothing, begin_compared, faulty_world_test_end)
{
    uint64_t id = world_even_settled(w, 300, 3, 1);
    (void)world_redis(w, id, "SET {se} 9000000000000-0");
    worker_anew();
    assert_int_equal(settle_site_confirm(w->settle), ST_OK);
}

TEST_WITH(a_planted_mark_of_another_type_is_replaced, begin_compared, faulty_world_test_end)
{
    (void)world_redis(w, 0, "DEL {si}");
    (void)world_redis(w, 0, "HSET {si} a b");
    assert_true(is_served());
    worker_anew();
    assert_int_equal(settle_site_confirm(w->settle), ST_OK);
    assert_int_equal(look(), SITE_AGREES);
    assert_true(mark_of(0).len > 0);
}

/* A Redis of a version without marks: an upgrade. */
TEST_WITH(a_redis_without_marks_is_taken_unless_the_tables_are_empty, begin_compared, faulty_world_test_end)
{
    (void)world_even_settled(w, 300, 3, 1);
    marks_set(NULL);
    world_sql(w, "UPDATE site SET generation = 0");
    assert_false(is_served()); /* before the worker has compared */
    w->settler->stores.site = (struct site){ .known = false };
    worker_anew();
    assert_int_equal(settle_site_confirm(w->settle), ST_OK);
    assert_true(is_served());
    marks_set(NULL);
    world_sql(w, "SET FOREIGN_KEY_CHECKS = 0");
    world_sql(w, "DELETE FROM user");
    world_sql(w, "DELETE FROM stream_cursor");
    assert_refused(SITE_TABLES_GONE);
}

/* A process must not continue with other tables than those with which it began. */
TEST_WITH(a_connection_to_other_tables_is_refused, begin_compared, faulty_world_test_end)
{
    struct db_rows rows;
    const struct site_mark own = row();
    struct db *db = w->page->stores.db;
    assert_int_equal(site_confirm(&w->page->stores), ST_OK);
    world_sql(w, "UPDATE site SET id = '" OTHER "'");
    db_set_timeout_s(db, 3); /* closes the connection */
    assert_int_equal(db_query(db, w->arena, &rows, "SELECT 1", NULL, 0), ST_UNAVAILABLE);
    world_sql(w, arena_printf(w->arena, "UPDATE site SET id = '%s', generation = generation - 1", own.id).ptr);
    db_set_timeout_s(db, 3);
    wait_ms(250); /* for 200 ms after a refused connection the client makes none */
    assert_int_equal(db_query(db, w->arena, &rows, "SELECT 1", NULL, 0), ST_UNAVAILABLE);
    world_sql(w, "UPDATE site SET generation = generation + 1");
    WAIT_UNTIL(db_query(db, w->arena, &rows, "SELECT 1", NULL, 0) == ST_OK);
}

/* A process with another zone would count wrong months, one with another unit would show wrong amounts. A process that
 * is connected already notices it at its next comparison. */
TEST_WITH(tables_with_other_settings_are_refused, begin_compared, faulty_world_test_end)
{
    const char *own =
        arena_printf(w->arena, "timezone = '%s', unit = 'CNY', unit_decimals = 2", w->app->stores.config->timezone).ptr;
    struct stores *page = &w->page->stores;
    assert_int_equal(site_confirm(page), ST_OK);
    EACH_TEXT (there, own, "timezone = ''", "timezone = 'Europe/Berlin'", "unit = 'CN'", "unit_decimals = 0") {
        const bool fits = there == own || strcmp(there, "timezone = ''") == 0;
        world_sql(w, arena_printf(w->arena, "UPDATE site SET %s, %s", own, there).ptr);
        page->site.compared_ms = 0;
        assert_of(there, is_served() == fits);
        assert_of(there, (site_confirm(page) == ST_OK) == fits);
        assert_of(there, (page->site.refused == SITE_OTHER_SETTINGS) == !fits);
        assert_of(there, (page->site.verdict == SITE_OTHER_SETTINGS) == !fits);
    }
    world_sql(w, arena_printf(w->arena, "UPDATE site SET %s", own).ptr);
}

/* The tables have no columns for the settings, as on a replica that lags behind an upgrade: they are compared all the
 * same. */
TEST_WITH(tables_without_settings_are_compared, begin_compared, faulty_world_test_end)
{
    struct db_rows rows;
    struct db *db = w->page->stores.db;
    assert_int_equal(site_confirm(&w->page->stores), ST_OK);
    world_sql(w, "ALTER TABLE site RENAME COLUMN timezone TO a, RENAME COLUMN unit TO b");
    world_sql(w, "UPDATE site SET generation = generation - 1");
    db_set_timeout_s(db, 3); /* closes the connection */
    assert_int_equal(db_query(db, w->arena, &rows, "SELECT 1", NULL, 0), ST_UNAVAILABLE);
    world_sql(w, "UPDATE site SET generation = generation + 1");
    WAIT_UNTIL(db_query(db, w->arena, &rows, "SELECT 1", NULL, 0) == ST_OK);
    world_sql(w, "ALTER TABLE site RENAME COLUMN a TO timezone, RENAME COLUMN b TO unit");
}

TESTS(NULL, NULL)
