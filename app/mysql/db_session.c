#include "mysql/db_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"

/* In seconds. Longer than the program works between two statements of a transaction; short, because a machine that is
 * cut off keeps its locks for this time. */
#define IDLE_TRANSACTION_S "4"

#define SQL_MODE                                                                                                       \
    "STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,"                                                                  \
    "ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"
#define NO_LIMIT "18446744073709551615"

static const struct db_setting SETTINGS[] = {
    { "character_set_client", "utf8mb4", DB_SETTING_EVERYWHERE, "names and greetings are stored as question marks" },
    { "character_set_results", "utf8mb4", DB_SETTING_EVERYWHERE, "names and greetings come back as question marks" },
    { "collation_connection", "utf8mb4_general_ci", DB_SETTING_EVERYWHERE, "an emoji is refused" },
    { "sql_mode", SQL_MODE, DB_SETTING_EVERYWHERE, "values are cut instead of refused, or texts are read differently" },
    { "autocommit", "ON", DB_SETTING_EVERYWHERE, "a single statement stays open with its locks" },
    { "completion_type", "NO_CHAIN", DB_SETTING_EVERYWHERE, "COMMIT begins another transaction" },
    { "sql_safe_updates", "OFF", DB_SETTING_EVERYWHERE, "settlement is refused" },
    { "sql_select_limit", NO_LIMIT, DB_SETTING_EVERYWHERE, "lists are cut" },
    { "sql_big_selects", "ON", DB_SETTING_EVERYWHERE, "long lists are refused" },
    { "sql_auto_is_null", "OFF", DB_SETTING_EVERYWHERE, "a comparison with NULL finds another row" },
    { "foreign_key_checks", "ON", DB_SETTING_EVERYWHERE, "rows may name what does not exist" },
    { "unique_checks", "ON", DB_SETTING_EVERYWHERE, "a share may be paid twice" },
    { "time_zone", "+00:00", DB_SETTING_EVERYWHERE, "times are of another zone" },
    { "low_priority_updates", "OFF", DB_SETTING_EVERYWHERE, "writes wait for all reads" },
    { "lc_messages", "en_US", DB_SETTING_EVERYWHERE, "the messages of errors are not understood" },
    { "check_constraint_checks", "ON", DB_SETTING_OPTIONAL, "the tables' own rules for balances do not hold" },
    { "max_statement_time", "0.000000", DB_SETTING_OPTIONAL, "a statement is stopped half-way" },
    { "max_execution_time", "0", DB_SETTING_OPTIONAL, "a query is stopped half-way" },
    { "max_session_mem_used", "9223372036854775807", DB_SETTING_OPTIONAL, "a statement is stopped half-way" },
    { "idle_transaction_timeout", IDLE_TRANSACTION_S, DB_SETTING_OPTIONAL, "the locks of a client that stopped stay" },
    { "idle_write_transaction_timeout", "0", DB_SETTING_OPTIONAL, "the server ends a transaction at another time" },
    { "idle_readonly_transaction_timeout", "0", DB_SETTING_OPTIONAL, "the server ends a transaction at another time" },
    { "innodb_snapshot_isolation", "ON", DB_SETTING_OPTIONAL, "a newer row is overwritten" },
    { "wsrep_sync_wait", "7", DB_SETTING_OPTIONAL, "a statement decides by older rows than another node has" },
    { "tx_isolation", "READ-COMMITTED", DB_SETTING_OPTIONAL, "a transaction decides by older rows" },
    { "transaction_isolation", "READ-COMMITTED", DB_SETTING_OPTIONAL, "a transaction decides by older rows" },
    { "tx_read_only", "OFF", DB_SETTING_OPTIONAL, "nothing can be sent or settled" },
    { "transaction_read_only", "OFF", DB_SETTING_OPTIONAL, "nothing can be sent or settled" },
    { "max_allowed_packet", "1048576", DB_SETTING_READ_ONLY, "a batch of settlement does not fit into a statement" },
    { "binlog_format", "STATEMENT", DB_SETTING_OF_LOG, "InnoDB refuses every write while log_bin is on" },
};

enum { SETTING_COUNT = ARRAY_LEN(SETTINGS), VALUE_MAX = 160 };

const struct db_setting *db_settings(size_t *count)
{
    *count = SETTING_COUNT;
    return SETTINGS;
}

/* The values of a session's variables, as the server shows them; empty: the server has no such variable. */
struct shown {
    char values[SETTING_COUNT][VALUE_MAX];
    bool has_log; /* log_bin is on */
};

/* The value in one spelling: ON and 1 are the same, and so are OFF and 0. */
static const char *plain(const char *value)
{
    return strcmp(value, "ON") == 0 ? "1" : strcmp(value, "OFF") == 0 ? "0" : value;
}

static bool is_number(const char *value)
{
    return value[0] != '\0' && value[strspn(value, "0123456789.")] == '\0';
}

static bool holds(const struct shown *shown, size_t i)
{
    const struct db_setting *setting = &SETTINGS[i];
    const char *value = shown->values[i];
    if (setting->kind == DB_SETTING_OF_LOG)
        return !shown->has_log || strcmp(value, setting->value) != 0;
    if (setting->kind == DB_SETTING_READ_ONLY)
        return value[0] == '\0' || strtoull(value, NULL, 10) >= strtoull(setting->value, NULL, 10);
    if (value[0] == '\0')
        return setting->kind == DB_SETTING_OPTIONAL;
    return strcmp(plain(value), plain(setting->value)) == 0;
}

static bool run(MYSQL *mysql, struct buf *sql)
{
    bool ok = !sql->failed && mysql_real_query(mysql, sql->ptr, sql->len) == 0;
    buf_free(sql);
    return ok;
}

static void assignment_append(struct buf *sql, const struct db_setting *setting, bool *first)
{
    buf_cstr(sql, *first ? "SET " : ", ");
    *first = false;
    buf_cstr(sql, setting->name);
    buf_cstr(sql, is_number(setting->value) ? " = " : " = '");
    buf_cstr(sql, setting->value);
    buf_cstr(sql, is_number(setting->value) ? "" : "'");
}

static bool everywhere_set(MYSQL *mysql, int64_t lock_wait_s)
{
    struct buf sql = BUF_EMPTY;
    bool first = true;
    for (size_t i = 0; i < SETTING_COUNT; i++)
        if (SETTINGS[i].kind == DB_SETTING_EVERYWHERE)
            assignment_append(&sql, &SETTINGS[i], &first);
    buf_printf(&sql, ", innodb_lock_wait_timeout = %lld, lock_wait_timeout = %lld", (long long)lock_wait_s,
               (long long)lock_wait_s);
    return run(mysql, &sql);
}

static void row_take(struct shown *shown, const char *name, const char *value)
{
    if (strcmp(name, "log_bin") == 0)
        shown->has_log = strcmp(plain(value), plain("ON")) == 0;
    for (size_t i = 0; i < SETTING_COUNT; i++)
        if (strcmp(name, SETTINGS[i].name) == 0)
            (void)snprintf(shown->values[i], VALUE_MAX, "%s", value);
}

static bool show(MYSQL *mysql, struct shown *shown)
{
    struct buf sql = BUF_EMPTY;
    memset(shown, 0, sizeof *shown);
    buf_cstr(&sql, "SHOW SESSION VARIABLES WHERE Variable_name IN ('log_bin'");
    for (size_t i = 0; i < SETTING_COUNT; i++)
        buf_printf(&sql, ",'%s'", SETTINGS[i].name);
    buf_cstr(&sql, ")");
    if (!run(mysql, &sql))
        return false;
    MYSQL_RES *result = mysql_store_result(mysql);
    MYSQL_ROW row;
    while (result != NULL && (row = mysql_fetch_row(result)) != NULL)
        if (row[0] != NULL && row[1] != NULL)
            row_take(shown, row[0], row[1]);
    bool ok = result != NULL && mysql_errno(mysql) == 0;
    mysql_free_result(result);
    return ok;
}

/* Sets the optional settings that the server has and whose value differs. *set: there was one. */
static bool optional_set(MYSQL *mysql, const struct shown *shown, bool *set)
{
    struct buf sql = BUF_EMPTY;
    bool first = true;
    for (size_t i = 0; i < SETTING_COUNT; i++)
        if (SETTINGS[i].kind == DB_SETTING_OPTIONAL && !holds(shown, i))
            assignment_append(&sql, &SETTINGS[i], &first);
    *set = !first;
    if (*set)
        return run(mysql, &sql);
    buf_free(&sql);
    return true;
}

/* Writes why a session with this value is refused. */
static void refuse(const struct db_setting *s, const char *value, char *refusal)
{
    if (s->kind == DB_SETTING_OF_LOG)
        (void)snprintf(refusal, DB_REFUSAL_MAX, "%s is %s: %s", s->name, s->value, s->why);
    else
        (void)snprintf(refusal, DB_REFUSAL_MAX, "%s is %.40s, not %s%.80s: %s", s->name,
                       value[0] != '\0' ? value : "missing", s->kind == DB_SETTING_READ_ONLY ? "at least " : "",
                       s->value, s->why);
}

/* Compares all settings. False: a value differs, and refusal says which. */
static bool compare(const struct shown *shown, char *refusal)
{
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        if (holds(shown, i))
            continue;
        refuse(&SETTINGS[i], shown->values[i], refusal);
        return false;
    }
    return true;
}

bool db_session_begin(MYSQL *mysql, int64_t lock_wait_s, char *refusal)
{
    struct shown shown;
    bool set = false;
    refusal[0] = '\0';
    if (!everywhere_set(mysql, lock_wait_s) || !show(mysql, &shown) || !optional_set(mysql, &shown, &set))
        return false;
    if (set && !show(mysql, &shown))
        return false;
    return compare(&shown, refusal);
}
