/* The settings that the tables keep, in a separate database, which has the tables of a new site. */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "live/site_settings.h"
#include "migrate/migrate.h"
#include "support/stores_do.h"
#include "support/test_services.h"
#include "support/wait_until.h"

enum { UNIT_VERSION = 35, OUTPUT_MAX = 4096 };

static struct services *app;
static struct config config; /* of a site of yuan; names the database of this test */
static struct config points; /* the same, of a site of points without decimals */
static struct db *db;
static struct arena *arena;

static void database(const char *what)
{
    char sql[512];
    snprintf(sql, sizeof sql, "%s `%s`", what, config.mysql_database);
    sql_do(app->stores.db, sql);
}

static int setup(void **state)
{
    (void)state;
    app = test_services_open();
    arena = arena_new(64 << 10, 64 << 20);
    if (app == NULL || arena == NULL || !clock_zone_set("Asia/Shanghai"))
        return 1;
    config = *app->stores.config;
    snprintf(config.mysql_database, sizeof config.mysql_database, "%.200s_unit", app->stores.config->mysql_database);
    points = config;
    snprintf(points.unit, sizeof points.unit, "POINT");
    points.unit_decimals = 0;
    database("DROP DATABASE IF EXISTS");
    database("CREATE DATABASE");
    db = db_new(&config);
    if (db == NULL || migrate_run(db, config.sql_dir, NULL) != ST_OK)
        return 1;
    sql_do(db, "SET foreign_key_checks = 0");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    database("DROP DATABASE IF EXISTS");
    db_free(db);
    arena_free(arena);
    test_services_close(app);
    return 0;
}

static int begin(void **state)
{
    (void)state;
    sql_do(db, "UPDATE site SET timezone = '', unit = 'CNY', unit_decimals = 2");
    sql_do(db, "UPDATE schema_migration SET additive = TRUE WHERE name = 'unit'");
    return 0;
}

#define SETTINGS_TEST(name) TEST_WITH(name, begin, NULL)

static struct str text(const char *sql)
{
    struct db_rows rows;
    assert_int_equal(db_find(db, arena, &rows, sql, NULL, 0), ST_OK);
    return db_cell(&rows, 0, 0);
}

/* The tables have this zone and unit after a migrate with c, and this is the newest schema that a program needs. */
static void assert_written(const struct config *c, bool keep, const char *wanted)
{
    assert_int_equal(site_settings_write(db, c, keep), ST_OK);
    const struct str there = text("SELECT CONCAT(timezone, ' ', unit, ' ', unit_decimals, ' ', (SELECT MAX(version)"
                                  " FROM schema_migration WHERE NOT additive) = 35) FROM site");
    if (!str_equal(there, str_from(wanted)))
        fail_msg("%.*s, not %s", STR_ARG(there), wanted);
}

#define YUAN   "Asia/Shanghai CNY 2 0"
#define POINTS "Asia/Shanghai POINT 0 1"

SETTINGS_TEST(the_unit_is_fixed_by_the_first_amount)
{
    static const struct {
        const char *plant, *undo;
    } amounts[] = {
        { "INSERT INTO transfer (kind, debit_id, credit_id, amount_fen, created_ms) VALUES ('credit', 16, 9, 1, 1)",
          "DELETE FROM transfer" },
        { "UPDATE account SET balance_fen = -1 WHERE id = 1", "UPDATE account SET balance_fen = 0" },
        { "UPDATE channel SET withdraw_min_fen = 100 WHERE id = 2", "UPDATE channel SET withdraw_min_fen = 1" },
        { "INSERT INTO service (name, hash, scopes, channel_id, day_max_fen, author, created_ms)"
          " VALUES ('shop', REPEAT('x', 32), 'credit', 2, 100, 'x', 1)",
          "DELETE FROM service" },
        { "INSERT INTO topup (user_id, channel_id, amount_fen, request_key, state, created_ms, expires_ms)"
          " VALUES (9, 2, 100, 'x', 'waiting', 1, 1)",
          "DELETE FROM topup" },
    };
    sql_do(db, "INSERT INTO service (name, hash, scopes, channel_id, author, created_ms)"
               " VALUES ('any', REPEAT('y', 32), 'credit', 2, 'x', 1)"); /* its default is no amount */
    EACH (row, amounts) {
        assert_written(&points, false, POINTS);
        assert_written(&config, false, YUAN); /* and an older program may work again */
        sql_do(db, row->plant);
        assert_written(&points, false, YUAN);
        sql_do(db, row->undo);
        assert_written(&points, false, POINTS);
        sql_do(db, row->plant);
        assert_written(&config, false, POINTS);
        sql_do(db, row->undo);
    }
    sql_do(db, "DELETE FROM service");
}

/* ---- a change while processes may serve ---- */

#define AMOUNT "INSERT INTO transfer (kind, debit_id, credit_id, amount_fen, created_ms) VALUES ('credit', 16, 9, 1, 1)"

static int begin_served(void **state)
{
    (void)begin(state);
    sql_do(db, "UPDATE site SET generation = 1"); /* the settle worker has compared the stores */
    return 0;
}

static int end_served(void **state)
{
    (void)state;
    sql_do(db, "DROP TRIGGER IF EXISTS meanwhile");
    sql_do(db, "UPDATE site SET generation = 0");
    sql_do(db, "DELETE FROM transfer");
    return 0;
}

#define SERVED_TEST(name) TEST_WITH(name, begin_served, end_served)

/* The triggers act at the first step of the change. */
SERVED_TEST(an_amount_that_comes_while_the_unit_changes_keeps_it)
{
    assert_written(&config, false, YUAN);
    sql_do(db, "CREATE TRIGGER meanwhile AFTER UPDATE ON site FOR EACH ROW"
               " IF NEW.unit = '-CNY' AND NEW.unit_decimals = 2 THEN " AMOUNT "; END IF");
    assert_written(&points, false, YUAN);
    assert_true(str_equal(text("SELECT COUNT(*) FROM transfer"), STR("1")));
    sql_do(db, "DROP TRIGGER meanwhile");
    sql_do(db, "DELETE FROM transfer");
    assert_written(&points, false, POINTS);
}

SERVED_TEST(no_process_has_the_unit_that_a_dead_migrator_leaves_and_the_next_one_takes_it_back)
{
    struct site_settings there;
    assert_written(&config, false, YUAN);
    sql_do(db, "UPDATE site SET unit = '-CNY'");
    assert_int_equal(site_settings_read(db, arena, &there), ST_OK);
    assert_true(site_unit_is_changing(&there));
    assert_int_equal(site_settings_differ(&config, &there, SITE_UNIT), SITE_UNIT);
    assert_int_equal(site_settings_differ(&points, &there, SITE_UNIT), SITE_UNIT);
    assert_written(&config, true, YUAN); /* as in a restored backup */
    sql_do(db, "UPDATE site SET unit = '-CNY'");
    sql_do(db, AMOUNT);
    assert_written(&points, false, YUAN);
}

static atomic_bool ended;

static void *points_written(void *ctx)
{
    const enum status st = site_settings_write(ctx, &points, false);
    ended = true;
    return st == ST_OK ? ctx : NULL;
}

/* Whether the migrator has begun to look at the tables. */
static bool is_row_locked(struct db *looker)
{
    struct db_rows rows;
    assert_int_equal(db_query(looker, arena, &rows, "SELECT id FROM site FOR UPDATE SKIP LOCKED", NULL, 0), ST_OK);
    return rows.count == 0;
}

/* A pool has written its first amount, and not committed it. */
SETTINGS_TEST(an_amount_that_is_not_committed_yet_is_waited_for)
{
    struct db *migrator = db_new(&config), *looker = db_new(&config);
    pthread_t thread;
    void *written;
    assert_written(&config, false, YUAN);
    sql_do(db, "START TRANSACTION");
    sql_do(db, AMOUNT);
    assert_int_equal(pthread_create(&thread, NULL, points_written, migrator), 0);
    WAIT_UNTIL(ended || is_row_locked(looker));
    sql_do(db, "COMMIT");
    assert_int_equal(pthread_join(thread, &written), 0);
    assert_ptr_equal(written, migrator);
    assert_true(str_equal(text("SELECT unit FROM site"), STR("CNY")));
    sql_do(db, "DELETE FROM transfer");
    db_free(migrator);
    db_free(looker);
}

/* Each upgrade of a site at work migrates: its transactions hold up no migrator. */
SETTINGS_TEST(a_site_with_amounts_is_read_without_locks)
{
    struct db *migrator = db_new(&config);
    assert_written(&config, false, YUAN);
    sql_do(db, AMOUNT);
    sql_do(db, "INSERT INTO user_month (user_id, year, month) VALUES (9, 2026, 1)");
    sql_do(db, "START TRANSACTION");
    sql_do(db, "DELETE FROM transfer");
    sql_do(db, "DELETE FROM user_month");
    assert_int_equal(site_settings_write(migrator, &points, false), ST_OK);
    sql_do(db, "ROLLBACK");
    sql_do(db, "DELETE FROM transfer");
    sql_do(db, "DELETE FROM user_month");
    assert_true(str_equal(text("SELECT unit FROM site"), STR("CNY")));
    db_free(migrator);
}

SETTINGS_TEST(the_time_zone_is_fixed_by_the_first_month)
{
    struct config berlin = config;
    snprintf(berlin.timezone, sizeof berlin.timezone, "Europe/Berlin");
    assert_written(&config, false, YUAN);
    assert_written(&berlin, false, "Europe/Berlin CNY 2 0");
    sql_do(db, "INSERT INTO user_month (user_id, year, month) VALUES (9, 2026, 1)");
    assert_written(&config, false, "Europe/Berlin CNY 2 0");
    assert_written(&points, false, "Europe/Berlin POINT 0 1"); /* months have no amounts here */
    berlin.unit_decimals = 0;
    assert_written(&berlin, false, "Europe/Berlin CNY 0 1"); /* an older program has two decimals */
    sql_do(db, "DELETE FROM user_month");
}

SETTINGS_TEST(a_restore_keeps_what_the_backup_has)
{
    assert_written(&config, true, YUAN); /* only the unknown time zone is written */
    sql_do(db, "UPDATE site SET timezone = 'Asia/Tokyo', unit = 'USD'");
    assert_written(&points, true, "Asia/Tokyo USD 2 1");
}

SETTINGS_TEST(each_setting_that_differs_is_found)
{
    struct site_settings there;
    char wanted[CONFIG_TEXT_MAX];
    assert_written(&config, false, YUAN);
    assert_int_equal(site_settings_read(db, arena, &there), ST_OK);
    assert_int_equal(site_settings_differ(&config, &there, 0), SITE_SETTING_COUNT);
    assert_int_equal(site_settings_differ(&points, &there, 0), SITE_UNIT);
    assert_int_equal(site_settings_differ(&points, &there, SITE_UNIT + 1), SITE_UNIT_DECIMALS);
    assert_true(str_equal(site_setting_wanted(&points, SITE_UNIT_DECIMALS, wanted), STR("0")));
}

/* As on a replica that lags behind an upgrade, and in a new database. */
SETTINGS_TEST(tables_of_a_version_before_have_yuan)
{
    struct site_settings there;
    assert_written(&config, false, YUAN);
    sql_do(db,
           "ALTER TABLE site RENAME COLUMN unit TO a, RENAME COLUMN unit_decimals TO b, RENAME COLUMN timezone TO c");
    assert_int_equal(site_settings_read(db, arena, &there), ST_OK);
    assert_int_equal(site_settings_write(db, &points, false), ST_OK);
    assert_int_equal(there.values[SITE_TIMEZONE].len, 0);
    assert_int_equal(site_settings_differ(&config, &there, 0), SITE_SETTING_COUNT);
    assert_int_equal(site_settings_differ(&points, &there, 0), SITE_UNIT);
    sql_do(db,
           "ALTER TABLE site RENAME COLUMN a TO unit, RENAME COLUMN b TO unit_decimals, RENAME COLUMN c TO timezone");
    sql_do(db, "RENAME TABLE site TO away");
    assert_int_equal(site_settings_read(db, arena, &there), ST_NOT_FOUND);
    assert_int_equal(site_settings_write(db, &points, false), ST_OK);
    sql_do(db, "RENAME TABLE away TO site");
}

/* The program of the version before knows the migrations up to 0034. */
SETTINGS_TEST(an_older_program_refuses_another_unit)
{
    char output[OUTPUT_MAX] = "";
    struct migrations *known;
    assert_int_equal(migrations_read(config.sql_dir, &known, NULL), ST_OK);
    struct migrations older = *known;
    older.count = UNIT_VERSION - 1;
    assert_written(&config, false, YUAN);
    assert_int_equal(migrate_check(db, &older, NULL), ST_OK);
    assert_written(&points, false, POINTS);
    FILE *out = fmemopen(output, sizeof output, "w");
    assert_int_equal(migrate_check(db, &older, out), ST_INVALID);
    fclose(out);
    assert_non_null(strstr(output, "the database has 0035_unit, which this program does not know"));
    assert_int_equal(migrate_check(db, known, NULL), ST_OK);
    migrations_free(known);
}

TESTS(setup, teardown)
