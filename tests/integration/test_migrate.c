/* migrate/migrate, in a separate database. */
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "migrate/migrate.h"
#include "support/stores_do.h"
#include "support/test.h"
#include "support/test_services.h"
#include "test_migrate_fixture.h"

static struct services *app;
static struct config config; /* names the database of this test */
static struct db *db;
static struct arena *arena;
static char dir[] = "/tmp/hb-migrate-XXXXXX";
static char output[4096]; /* output of the last run or check */

static int setup(void **state)
{
    (void)state;
    app = test_services_open();
    arena = arena_new(64 << 10, 64 << 20);
    if (app == NULL || arena == NULL || mkdtemp(dir) == NULL)
        return 1;
    config = *app->stores.config;
    snprintf(config.mysql_database, sizeof config.mysql_database, "%.200s_migrate", app->stores.config->mysql_database);
    db = db_new(&config);
    return db == NULL;
}

static enum status database(const char *what)
{
    char sql[512];
    snprintf(sql, sizeof sql, "%s `%s`", what, config.mysql_database);
    return db_exec(app->stores.db, NULL, sql, NULL, 0);
}

static int teardown(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", dir);
    (void)system(command);
    (void)database("DROP DATABASE IF EXISTS");
    db_free(db);
    arena_free(arena);
    test_services_close(app);
    return 0;
}

static void file_write(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/migrations/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void file_remove(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/migrations/%s", dir, name);
    assert_int_equal(unlink(path), 0);
}

/* An empty database, and a folder with two migrations. */
static int begin(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s/* && mkdir %s/migrations", dir, dir);
    assert_int_equal(system(command), 0);
    file_write("0001_first.sql", "-- the first; with a semicolon\nCREATE TABLE one (id INT PRIMARY KEY);\n"
                                 "INSERT INTO one VALUES (1), (2);\n");
    file_write("0002_second.sql", "CREATE TABLE two (t VARCHAR(20));\nINSERT INTO two VALUES ('a;b'), ('c');\n");
    assert_int_equal(database("DROP DATABASE IF EXISTS"), ST_OK);
    assert_int_equal(database("CREATE DATABASE"), ST_OK);
    db_set_timeout_s(db, config.mysql_timeout_s); /* and a connection that knows the new database */
    return 0;
}

static enum status with_output(enum status (*fn)(struct db *db, const char *sql_dir, FILE *out))
{
    memset(output, 0, sizeof output);
    FILE *out = fmemopen(output, sizeof output - 1, "w");
    assert_non_null(out);
    enum status st = fn(db, dir, out);
    fclose(out);
    return st;
}

static enum status folder_check(struct db *of, const char *sql_dir, FILE *out)
{
    struct migrations *known;
    enum status st = migrations_read(sql_dir, &known, out);
    if (st == ST_OK)
        st = migrate_check(of, known, out);
    migrations_free(known);
    return st;
}
#define RUN()   with_output(migrate_run)
#define CHECK() with_output(folder_check)

/* Checks the status, and that this text was printed. */
static void said(enum status st, enum status wanted, const char *part)
{
    if (st != wanted || strstr(output, part) == NULL)
        fail_msg("status %d, not %d with \"%s\": %s", (int)st, (int)wanted, part, output);
}

#define FOLDER_TEST(name) TEST_WITH(name, begin, NULL)

static int64_t number(const char *sql)
{
    struct db_rows rows;
    assert_int_equal(db_query(db, arena, &rows, sql, NULL, 0), ST_OK);
    return db_cell_i64(&rows, 0, 0);
}

FOLDER_TEST(an_empty_database_gets_every_migration_once)
{
    file_write("README.md", "not a migration");
    file_write(".#0003_third.sql", "of an editor");
    said(CHECK(), ST_CONFLICT, "0 of 2");
    said(RUN(), ST_OK, "applied 0001_first.sql");
    assert_non_null(strstr(output, "applied 0002_second.sql"));
    assert_int_equal(CHECK(), ST_OK);
    said(RUN(), ST_OK, "up to date");
    assert_int_equal(number("SELECT COUNT(*) FROM one"), 2);
    assert_int_equal(number("SELECT COUNT(*) FROM two WHERE t = 'a;b'"), 1);
    assert_int_equal(number("SELECT COUNT(*) FROM schema_migration WHERE name IN ('first', 'second')"), 2);
}

FOLDER_TEST(a_later_file_is_applied_alone)
{
    assert_int_equal(RUN(), ST_OK);
    file_write("0003_third.sql", "ALTER TABLE one ADD COLUMN n INT NOT NULL DEFAULT 7");
    assert_int_equal(CHECK(), ST_CONFLICT);
    assert_int_equal(RUN(), ST_OK);
    assert_null(strstr(output, "0002"));
    assert_int_equal(number("SELECT SUM(n) FROM one"), 14);
}

#define ADDITIVE "-- additive: yes\n"

/* For a folder, or tables, with a fault. */
FOLDER_TEST(what_does_not_fit_the_program_stops_everything)
{
    static const struct {
        const char *newer[2];    /* files 0003 and 0004, which were applied by a newer program */
        bool applied;            /* the other files, too */
        const char *file, *text; /* then written; no text: removed */
        const char *sql;         /* then run */
        const char *says;
    } cases[] = {
        { .file = "0004_fourth.sql", .text = "DO 1", .says = "0003 is missing" },
        { .file = "0002_again.sql", .text = "DO 1", .says = "two files 0002" },
        { .file = "3_third.sql", .text = "DO 1", .says = "NNNN_name.sql" },
        { .applied = true, .file = "0001_first.sql", .text = "DO 1", .says = "0001_first.sql has changed" },
        { .applied = true, .file = "0002_second.sql", .says = "0002_second" },
        { .applied = true, .sql = "DELETE FROM schema_migration WHERE version = 1", .says = "0001 was never applied" },
        { { ADDITIVE, ADDITIVE },
          .sql = "DELETE FROM schema_migration WHERE version = 3",
          .says = "0003 was never applied" },
        { { ADDITIVE, "-- additive: no, the column is renamed\n" }, .says = "the database has 0004_fourth" },
        { { ADDITIVE, "# additive: yes\n" }, .says = "the database has 0004_fourth" },
        { { ADDITIVE, "" }, .says = "the database has 0004_fourth" },
        { { ADDITIVE, "-- additive: yes, nearly\n" }, .says = "the database has 0004_fourth" },
        { { ADDITIVE, "-- Words.\n-- additive: yes\n" }, .says = "the database has 0004_fourth" },
    };
    static const char *const newer[] = { "0003_third.sql", "0004_fourth.sql" };
    /* Since MariaDB 11.2 the list has the session's temporary tables, too. */
    static const char tables[] = "SELECT COUNT(*) FROM information_schema.tables"
                                 " WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'";
    EACH (row, cases) {
        begin(state);
        const bool is_newer = row->newer[0] != NULL;
        for (size_t j = 0; is_newer && j < 2; j++)
            file_write(newer[j], arena_printf(arena, "%sDO 1;\n", row->newer[j]).ptr);
        if (is_newer || row->applied)
            assert_int_equal(RUN(), ST_OK);
        for (size_t j = 0; is_newer && j < 2; j++)
            file_remove(newer[j]);
        if (row->applied && row->text != NULL)
            file_write("0003_third.sql", "CREATE TABLE three (id INT)");
        if (row->text != NULL)
            file_write(row->file, row->text);
        else if (row->file != NULL)
            file_remove(row->file);
        if (row->sql != NULL)
            sql_do(db, row->sql);
        const int64_t before = number(tables);
        said(CHECK(), ST_INVALID, row->says);
        said(RUN(), ST_INVALID, row->says);
        assert_int_equal(number(tables), before);
    }
}

FOLDER_TEST(an_older_program_works_with_an_additive_newer_schema)
{
    file_write("0003_third.sql", ADDITIVE "ALTER TABLE one ADD COLUMN n INT NOT NULL DEFAULT 7;\n");
    file_write("0004_fourth.sql", ADDITIVE "CREATE TABLE four (id INT);\n");
    assert_int_equal(RUN(), ST_OK);
    file_remove("0003_third.sql");
    file_remove("0004_fourth.sql");
    said(CHECK(), ST_OK, "the database (0004) is newer than this program (0002)");
    said(RUN(), ST_OK, "left as it is");
    assert_int_equal(number("SELECT COUNT(*) FROM schema_migration"), 4);
    assert_int_equal(number("SELECT SUM(n) FROM one"), 14);
}

FOLDER_TEST(after_an_interrupted_restore_nothing_is_made)
{
    sql_do(db, "CREATE TABLE schema_migration SELECT 0 AS version, 'restore' AS name,"
               " UNHEX(REPEAT('00', 32)) AS sha256, 0 AS applied_at, FALSE AS additive");
    said(CHECK(), ST_NOT_FOUND, "a restore was interrupted: repeat it with --replace");
    said(RUN(), ST_NOT_FOUND, "a restore was interrupted: repeat it with --replace");
    assert_int_equal(number("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND"
                            " table_name IN ('one', 'two')"),
                     0);
}

FOLDER_TEST(a_failing_statement_is_named_and_not_recorded)
{
    file_write("0003_third.sql",
               "CREATE TABLE three (id INT);\nCREATE TABLE one (id INT);\nCREATE TABLE four (id INT);");
    said(RUN(), ST_CORRUPT, "0003_third.sql failed in statement 2");
    assert_int_equal(number("SELECT COUNT(*) FROM schema_migration"), 2);
    assert_int_equal(CHECK(), ST_CONFLICT);
    /* The steps in the header: undo by hand, correct the file, run again. */
    sql_do(db, "DROP TABLE three");
    file_write("0003_third.sql", "CREATE TABLE three (id INT)");
    assert_int_equal(RUN(), ST_OK);
}

FOLDER_TEST(the_next_migrator_continues_where_a_killed_one_stopped)
{
#ifndef HB_CRASH_POINTS
    skip();
#endif
    unsigned deaths = 0;
    EACH_TEXT (point, "migrate-before-statement", "migrate-after-statement", "migrate-before-record",
               "migrate-after-record") {
        for (unsigned n = 1;; n++) {
            begin(state);
            file_write("0003_third.sql",
                       "CREATE TABLE three (id INT PRIMARY KEY, n INT, gone INT, KEY three_gone (gone));\n"
                       "insert into three VALUES (1, 1, 1);\n"
                       "UPDATE three SET n = n + 1;\n"
                       "ALTER TABLE three ADD COLUMN one_id INT;\n"
                       "ALTER TABLE three ADD KEY three_one (one_id);\n"
                       "ALTER TABLE three ADD CONSTRAINT three_check CHECK (n > 0);\n"
                       "ALTER TABLE three ADD CONSTRAINT three_one FOREIGN KEY (one_id) REFERENCES one (id);\n"
                       "ALTER TABLE three DROP KEY three_gone;\n"
                       "ALTER TABLE three DROP COLUMN gone;\n"
                       "ALTER TABLE three RENAME COLUMN one_id TO first_id;\n"
                       "ALTER TABLE three DROP CONSTRAINT three_check, RENAME COLUMN n TO m,"
                       " ADD CONSTRAINT three_check CHECK (m > 0);\n"
                       "RENAME TABLE two TO second;\n"
                       "DROP TABLE second;\n");
            if (!migrator_dies(&config, dir, point, n))
                break;
            deaths++;
            assert_int_equal(RUN(), ST_OK);
            assert_int_equal(CHECK(), ST_OK);
            assert_int_equal(number("SELECT COUNT(*) FROM schema_migration"), 3);
            assert_int_equal(number("SELECT COUNT(*) FROM schema_progress"), 0);
            assert_int_equal(number("SELECT COUNT(*) FROM one"), 2);
            assert_int_equal(number("SELECT SUM(m) FROM three"), 2);
        }
    }
    assert_int_equal(deaths, 17 + 13 + 3 + 3); /* statements, statements that write no rows, files, files */
}

FOLDER_TEST(a_table_that_has_the_new_name_does_not_make_a_rename_done)
{
    enum { STATEMENTS_BEFORE = 4 };
#ifndef HB_CRASH_POINTS
    skip();
#endif
    file_write("0003_third.sql", "RENAME TABLE one TO two");
    assert_true(migrator_dies(&config, dir, "migrate-before-statement", STATEMENTS_BEFORE + 1));
    said(RUN(), ST_CORRUPT, "0003_third.sql failed in statement 1");
    assert_int_equal(number("SELECT COUNT(*) FROM one"), 2);
    assert_int_equal(number("SELECT COUNT(*) FROM two"), 2);
}

FOLDER_TEST(a_file_that_changed_since_it_was_interrupted_begins_anew)
{
    assert_int_equal(RUN(), ST_OK);
    sql_do(db, "INSERT INTO schema_progress VALUES (3, REPEAT('x', 32), 2)");
    file_write("0003_third.sql", "CREATE TABLE three (id INT);\nCREATE TABLE four (id INT);");
    assert_int_equal(RUN(), ST_OK);
    assert_int_equal(number("SELECT COUNT(*) FROM three"), 0);
}

static void *run_beside(void *result)
{
    struct db *beside = db_new(&config);
    *(enum status *)result = migrate_run(beside, dir, NULL);
    db_free(beside);
    return NULL;
}

/* A process keeps its list while an upgrade puts newer files into the folder. */
FOLDER_TEST(a_check_compares_with_the_list_and_not_with_the_folder)
{
    struct migrations *known;
    assert_int_equal(migrations_read(dir, &known, NULL), ST_OK);
    assert_int_equal(RUN(), ST_OK);
    file_write("0003_later.sql", ADDITIVE "CREATE TABLE three (id INT);\n");
    file_write("0001_first.sql", "CREATE TABLE another (id INT);\n");
    file_remove("0002_second.sql");
    assert_int_equal(migrate_check(db, known, NULL), ST_OK);
    assert_int_equal(CHECK(), ST_INVALID);

    assert_int_equal(begin(state), 0);
    assert_int_equal(migrate_check(db, known, NULL), ST_CONFLICT);
    file_write("0003_later.sql", ADDITIVE "CREATE TABLE three (id INT);\n");
    assert_int_equal(RUN(), ST_OK);
    assert_int_equal(migrate_check(db, known, NULL), ST_OK);
    file_write("0004_last.sql", "-- additive: no, a table is gone\nDROP TABLE three;\n");
    assert_int_equal(migrate_check(db, known, NULL), ST_OK);
    assert_int_equal(RUN(), ST_OK);
    assert_int_equal(migrate_check(db, known, NULL), ST_INVALID);
    migrations_free(known);
}

FOLDER_TEST(two_migrators_wait_for_each_other)
{
    file_write("0003_slow.sql", "DO SLEEP(0.3); CREATE TABLE three (id INT)");
    pthread_t thread;
    enum status beside = ST_CORRUPT;
    assert_int_equal(pthread_create(&thread, NULL, run_beside, &beside), 0);
    assert_int_equal(RUN(), ST_OK);
    pthread_join(thread, NULL);
    assert_int_equal(beside, ST_OK);
    assert_int_equal(number("SELECT COUNT(*) FROM one"), 2);
}

FOLDER_TEST(without_a_server_the_result_is_unavailable)
{
    struct config unreachable_config = config;
    snprintf(unreachable_config.mysql, sizeof unreachable_config.mysql, "unix:/tmp/hb-no-such-socket");
    struct db *unreachable = db_new(&unreachable_config);
    assert_int_equal(folder_check(unreachable, dir, NULL), ST_UNAVAILABLE);
    assert_int_equal(migrate_run(unreachable, dir, NULL), ST_UNAVAILABLE);
    db_free(unreachable);
}

FOLDER_TEST(the_projects_own_migrations_make_the_bank_and_the_leases)
{
    assert_int_equal(migrate_run(db, app->stores.config->sql_dir, NULL), ST_OK);
    assert_int_equal(number("SELECT COUNT(*) FROM account WHERE id = 1 AND kind = 'bank' AND balance_fen = 0"), 1);
    assert_int_equal(number("SELECT COUNT(*) FROM instance_lease WHERE instance_no BETWEEN 0 AND 1023"), 1024);
    sql_do(db, "UPDATE account SET balance_fen = -1 WHERE id = 1");
    assert_int_equal(db_exec(db, NULL, "INSERT INTO account VALUES (10001, 'wallet', -1)", NULL, 0), ST_INVALID);
    assert_int_equal(db_exec(db, NULL, "INSERT INTO account VALUES (10001, 'escrow', -1)", NULL, 0), ST_INVALID);
    assert_int_equal(db_exec(db, NULL, "UPDATE account SET balance_fen = -1 WHERE id = 3", NULL, 0), ST_INVALID);
    assert_int_equal(number("SELECT COUNT(*) FROM account WHERE id IN (2, 3) AND balance_fen = 0"), 2);
    sql_do(db, "UPDATE account SET balance_fen = -1 WHERE id = 2");
}

/* Copies the project's own migrations whose names match the pattern into the folder. */
static void folder_fill(const char *pattern)
{
    char command[512];
    snprintf(command, sizeof command, "cp %s/migrations/%s %s/migrations/", app->stores.config->sql_dir, pattern, dir);
    assert_int_equal(system(command), 0);
}

FOLDER_TEST(monthly_totals_of_the_past_are_computed_in_the_services_zone)
{
    char command[128];
    snprintf(command, sizeof command, "rm %s/migrations/*", dir);
    assert_int_equal(system(command), 0);
    folder_fill("000[123]_*");
    assert_int_equal(RUN(), ST_OK);
    /* Two packets of user 1 and their three grabs, around the first of March and the new year in Shanghai. */
    sql_do(db,
           "INSERT INTO user (id, username, nickname, created_at) VALUES (10001, 'a', 'a', 1), (10002, 'b', 'b', 1)");
    sql_do(db,
           "INSERT INTO packet (id, sender_id, sender_name, kind, split, amount, share_count, greeting, seed,"
           " commitment, state, created_at, expires_at, request_key)"
           " SELECT id, 10001, 'a', 'even', 'even', 300, 3, '', REPEAT('s', 32), REPEAT('c', 32), 'open', ms, ms, id"
           " FROM (SELECT 7 AS id, 1772294399999 AS ms UNION SELECT 8, 1772294400000) AS p");
    sql_do(db, "INSERT INTO `grab` VALUES (7, 0, 10001, 'a', 100, 1772294399999),"
               " (7, 1, 10002, 'b', 90, 1767196799999), (8, 0, 10002, 'b', 110, 1767196800000),"
               " (8, 1, 10001, 'a', 10, 1772294400000)");
    assert_true(clock_zone_set("Asia/Shanghai"));
    folder_fill("0004_*");
    assert_int_equal(RUN(), ST_OK);
    assert_int_equal(number("SELECT COUNT(*) FROM user_month"), 4);
    assert_int_equal(number("SELECT COUNT(*) FROM user_month WHERE"
                            " (user_id, year, month, sent_count, sent_amount, received_count, received_amount) IN"
                            " ((10001, 2026, 2, 1, 300, 1, 100), (10001, 2026, 3, 1, 300, 1, 10),"
                            " (10002, 2025, 12, 0, 0, 1, 90), (10002, 2026, 1, 0, 0, 1, 110))"),
                     4);
}

TEST(statements_end_at_their_own_semicolons)
{
    struct str rest =
        STR("-- a; b\n;; SELECT ';' /* ; */, \"a;\"\"b\", `c;` ;\n# x;\nDO 'it''s; \\'; ok'; \n DO 5--1; /* end; */\n");
    assert_true(str_equal(migrate_statement_next(&rest), STR("SELECT ';' /* ; */, \"a;\"\"b\", `c;`")));
    assert_true(str_equal(migrate_statement_next(&rest), STR("DO 'it''s; \\'; ok'")));
    assert_true(str_equal(migrate_statement_next(&rest), STR("DO 5--1")));
    assert_int_equal(migrate_statement_next(&rest).len, 0);
    assert_int_equal(migrate_statement_next(&rest).len, 0);
    static const char *const broken[] = { "", ";", "'", "--", "/*", "'\\", "`a;b", "-- only" };
    for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
        rest = str_from(broken[i]);
        while (migrate_statement_next(&rest).len > 0)
            ;
        assert_int_equal(rest.len, 0);
    }
}

FOLDER_TEST(a_routine_ends_with_its_last_block)
{
    struct str rest = STR("CREATE PROCEDURE p(a INT) BEGIN\n -- END;\n IF a > 1 THEN DO 'END;'; END IF;\n"
                          " BEGIN DO 1; END;\n WHILE a > 2 DO DO 2; END WHILE;\nEND;\n"
                          "CREATE PROCEDURE q() DO 3;\nDO 4; BEGIN; DO 5;");
    struct str first = migrate_statement_next(&rest);
    assert_true(str_starts(first, STR("CREATE PROCEDURE p")));
    assert_true(str_ends(first, STR("END WHILE;\nEND")));
    assert_true(str_equal(migrate_statement_next(&rest), STR("CREATE PROCEDURE q() DO 3")));
    assert_true(str_equal(migrate_statement_next(&rest), STR("DO 4")));
    assert_true(str_equal(migrate_statement_next(&rest), STR("BEGIN")));
    assert_true(str_equal(migrate_statement_next(&rest), STR("DO 5")));
    assert_int_equal(migrate_statement_next(&rest).len, 0);
}

TESTS(setup, teardown)
