/* mysql/db_session with a real server: whatever values the server gives a new session, the program works with its own
 * values, or refuses the server with a clear message. */
#include <mysql.h>

#include "mysql/db_session.h"
#include "support/capture_stderr.h"
#include "support/stores_do.h"
#include "support/test_services.h"

static struct services *app;
static struct arena *arena;
static MYSQL *admin; /* the server's administrator */

static void as_admin(const char *sql)
{
    if (mysql_query(admin, sql) != 0)
        fail_msg("%s: %s", sql, mysql_error(admin));
}

static int setup(void **state)
{
    struct str socket;
    (void)state;
    app = test_services_open();
    arena = arena_new(64 << 10, 16 << 20);
    admin = mysql_init(NULL);
    if (app == NULL || arena == NULL)
        return 1;
    socket = str_from(app->stores.config->mysql);
    return !str_skip_prefix(&socket, STR("unix:")) ||
           mysql_real_connect(admin, NULL, "root", "", NULL, 0, socket.ptr, 0) == NULL ||
           db_exec(app->stores.db, NULL,
                   "CREATE OR REPLACE TABLE test_session (id INT NOT NULL PRIMARY KEY, text VARCHAR(40) NOT NULL,"
                   " at TIMESTAMP NOT NULL DEFAULT '2026-01-01 00:00:00') ENGINE = InnoDB DEFAULT CHARSET = utf8mb4"
                   " COLLATE = utf8mb4_bin",
                   NULL, 0) != ST_OK;
}

static int teardown(void **state)
{
    (void)state;
    (void)db_exec(app->stores.db, NULL, "DROP TABLE test_session", NULL, 0);
    mysql_close(admin);
    arena_free(arena);
    test_services_close(app);
    return 0;
}

/* One of the server's settings with a value that an operator might have set. */
struct odd {
    const char *name, *value;
};

static void odd_set(const struct odd *odd)
{
    as_admin(arena_printf(arena, "SET GLOBAL %s = %s", odd->name, odd->value).ptr);
}

static void odd_unset(const struct odd *odd, struct str before)
{
    bool number = before.len > 0 && strspn(before.ptr, "0123456789.") >= before.len;
    as_admin(arena_printf(arena, number ? "SET GLOBAL %s = %.*s" : "SET GLOBAL %s = '%.*s'", odd->name, STR_ARG(before))
                 .ptr);
}

static struct str value_before(const char *name)
{
    as_admin(arena_printf(arena, "SELECT @@global.%s", name).ptr);
    MYSQL_RES *result = mysql_store_result(admin);
    MYSQL_ROW row = mysql_fetch_row(result);
    struct str value = arena_str(arena, str_from(row[0] == NULL ? "" : row[0]));
    mysql_free_result(result);
    return value;
}

static struct str cell(struct db *db, const char *sql)
{
    struct db_rows rows;
    assert_int_equal(db_query(db, arena, &rows, sql, NULL, 0), ST_OK);
    assert_true(rows.count > 0);
    return db_cell(&rows, 0, 0);
}

/* The usual work of the program: texts with every character, several rows, an UPDATE without a key. */
static void session_works(const char *what)
{
    struct db *db = db_new(app->stores.config);
    struct db_rows rows;
    uint64_t changed = 0;
    if (db_exec(db, NULL, "DELETE FROM test_session", NULL, 0) != ST_OK)
        fail_msg("%s: no session", what);
    sql_do_with(db, "INSERT INTO test_session (id, text) VALUES (1, ?), (2, ?)",
                DB_PARAMS(DB_TEXT(STR("红包🧧\\'\"")), DB_TEXT(STR("é"))));
    assert_int_equal(
        db_query(db, arena, &rows, "SELECT text, at FROM test_session WHERE text <> \"\" ORDER BY id", NULL, 0), ST_OK);
    assert_int_equal(rows.count, 2);
    assert_true(str_equal(db_cell(&rows, 0, 0), STR("红包🧧\\'\"")));
    assert_true(str_equal(db_cell(&rows, 0, 1), STR("2026-01-01 00:00:00")));
    assert_true(str_equal(cell(db, "SELECT HEX(text) FROM test_session WHERE id = 2"), STR("C3A9")));
    assert_int_equal(db_exec(db, &changed, "UPDATE test_session SET text = 'x'", NULL, 0), ST_OK);
    assert_int_equal(changed, 2);
    assert_int_equal(db_exec(db, NULL, "INSERT INTO test_session (id, text) VALUES (3, REPEAT('x', 41))", NULL, 0),
                     ST_INVALID); /* refused, not cut */
    assert_int_equal(db_exec(db, NULL, "INSERT INTO test_session (id, text) VALUES (1, 'y')", NULL, 0), ST_EXISTS);
    db_free(db);
    db = db_new(app->stores.config); /* what was written is committed */
    assert_true(str_equal(cell(db, "SELECT COUNT(*) FROM test_session WHERE text = 'x'"), STR("2")));
    db_free(db);
}

TEST(a_server_with_odd_settings_serves_as_any_other)
{
    static const struct odd odds[] = {
        { "init_connect", "'SET NAMES latin1'" }, /* as skip-character-set-client-handshake does */
        { "init_connect", "'SET NAMES utf8mb3'" },
        { "init_connect", "'SET character_set_results = NULL'" },
        { "init_connect", "'SET autocommit = 0'" },
        { "init_connect", "'SET foreign_key_checks = 0, unique_checks = 0'" },
        { "character_set_server", "'latin1'" },
        { "collation_connection", "'gbk_chinese_ci'" },
        { "sql_mode", "''" },
        { "sql_mode", "'ANSI'" },
        { "sql_mode", "'ORACLE'" },
        { "sql_mode", "'NO_BACKSLASH_ESCAPES'" },
        { "sql_mode", "'PAD_CHAR_TO_FULL_LENGTH,HIGH_NOT_PRECEDENCE,EMPTY_STRING_IS_NULL'" },
        { "sql_safe_updates", "1" },
        { "sql_select_limit", "1" },
        { "max_join_size", "1" },
        { "autocommit", "0" },
        { "completion_type", "'CHAIN'" },
        { "tx_isolation", "'SERIALIZABLE'" },
        { "tx_isolation", "'READ-UNCOMMITTED'" },
        { "tx_read_only", "1" },
        { "sql_auto_is_null", "1" },
        { "check_constraint_checks", "0" },
        { "unique_checks", "0" },
        { "time_zone", "'+09:00'" },
        { "max_statement_time", "0.5" },
        { "max_session_mem_used", "8388608" },
        { "idle_transaction_timeout", "1" },
        { "idle_write_transaction_timeout", "1" },
        { "low_priority_updates", "1" },
        { "lc_messages", "'de_DE'" },
        { "innodb_lock_wait_timeout", "0" },
        { "binlog_format", "'STATEMENT'" }, /* without a binary log */
    };
    EACH (row, odds) {
        struct str before = value_before(row->name);
        odd_set(row);
        struct db *db = db_new(app->stores.config);
        bool is_fine = db_exec(db, NULL, "DO 1", NULL, 0) == ST_OK;
        if (is_fine)
            session_works(row->name);
        db_free(db);
        odd_unset(row, before);
        if (!is_fine)
            fail_msg("%s = %s: no session", row->name, row->value);
    }
}

/* Each setting of the table has its value in the session, or the server does not have it. */
TEST(a_session_has_the_values_of_the_table)
{
    size_t count;
    const struct db_setting *settings = db_settings(&count);
    for (size_t i = 0; i < count; i++) {
        struct db_rows rows;
        assert_int_equal(db_query(app->stores.db, arena, &rows, "SHOW SESSION VARIABLES LIKE ?",
                                  DB_PARAMS(DB_TEXT(str_from(settings[i].name)))),
                         ST_OK);
        assert_true(rows.count == 1 || settings[i].kind == DB_SETTING_OPTIONAL);
        if (rows.count == 1 && (settings[i].kind == DB_SETTING_EVERYWHERE || settings[i].kind == DB_SETTING_OPTIONAL))
            assert_true(str_equal(db_cell(&rows, 0, 1), str_from(settings[i].value)));
    }
}

TEST(the_reference_lists_the_table)
{
    size_t count;
    const struct db_setting *settings = db_settings(&count);
    struct buf page = { .limit = 1 << 20 };
    assert_int_equal(buf_file(&page, HB_SOURCE_DIR "/docs/reference/config.md"), ST_OK);
    const char *text = arena_cstr(arena, buf_view(&page));
    for (size_t i = 0; i < count; i++) {
        const char *mark = settings[i].kind == DB_SETTING_READ_ONLY ? "at least "
                           : settings[i].kind == DB_SETTING_OF_LOG  ? "not "
                                                                    : "";
        const char *row =
            arena_printf(arena, "| `%s` | %s`%s` | %s |\n", settings[i].name, mark, settings[i].value, settings[i].why)
                .ptr;
        if (strstr(text, row) == NULL)
            fail_msg("docs/reference/config.md lacks the row %s", row);
    }
    buf_free(&page);
}

TEST(a_value_that_a_session_can_not_change_is_refused_in_a_clear_word)
{
    const struct odd odd = { "max_allowed_packet", "65536" };
    char text[4096];
    struct str before = value_before(odd.name);
    odd_set(&odd);
    struct db *db = db_new(app->stores.config);
    enum status st = ST_OK;
    CAPTURE(text, st = db_exec(db, NULL, "DO 1", NULL, 0));
    odd_unset(&odd, before);
    assert_int_equal(st, ST_UNAVAILABLE);
    assert_non_null(
        strstr(text, "max_allowed_packet is 65536, not at least 1048576: a batch of settlement does not fit"));
    assert_non_null(strstr(db_refusal(db), "max_allowed_packet is 65536"));
    db_free(db);
}

TESTS(setup, teardown)
