#include "live/site_settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

/* The name of the migration that made the column `unit`. */
#define UNIT_MIGRATION "unit"

/* The beginning of a unit that is being changed: no process has such a one. */
#define CHANGING "-"

/* CHANGE_S: longer than a process serves with a row that it has read (live/site.c), and than a request takes. */
enum { ARENA_BYTES = 1024, ARENA_BYTES_MAX = 1 << 20, CHANGE_S = 3, LOCK_S = 60 };

static const struct {
    const char *name, *fixes;
} SETTINGS[SITE_SETTING_COUNT] = {
    [SITE_TIMEZONE] = { "timezone", "months" },
    [SITE_UNIT] = { "unit", "amounts" },
    [SITE_UNIT_DECIMALS] = { "unit_decimals", "amounts" },
};

const char *site_setting_name(enum site_setting setting)
{
    return SETTINGS[setting].name;
}

const char *site_setting_fixes(enum site_setting setting)
{
    return SETTINGS[setting].fixes;
}

struct str site_setting_wanted(const struct config *c, enum site_setting setting, char *out)
{
    if (setting == SITE_UNIT_DECIMALS)
        (void)snprintf(out, CONFIG_TEXT_MAX, "%" PRId64, c->unit_decimals);
    else
        (void)snprintf(out, CONFIG_TEXT_MAX, "%s", setting == SITE_UNIT ? c->unit : c->timezone);
    return str_from(out);
}

/* Whether the tables may have the value: an unknown one is no other one. */
static bool fits(const struct config *c, enum site_setting setting, struct str there)
{
    char wanted[CONFIG_TEXT_MAX];
    return there.len == 0 || str_equal(there, site_setting_wanted(c, setting, wanted));
}

bool site_setting_take(const struct config *c, enum site_setting setting, struct str *text)
{
    struct str value = str_cut(str_or_empty(*text), ' ', text);
    return fits(c, setting, value);
}

enum site_setting site_settings_differ(const struct config *c, const struct site_settings *there,
                                       enum site_setting from)
{
    while (from < SITE_SETTING_COUNT && fits(c, from, there->values[from]))
        from++;
    return from;
}

bool site_unit_is_changing(const struct site_settings *there)
{
    return str_starts(there->values[SITE_UNIT], STR(CHANGING));
}

/* Whether the tables have a row of the site with this column. */
static enum status row_exists(struct db *db, struct arena *a, const char *column, bool *out)
{
    struct db_rows rows;
    enum status st = db_query(db, a, &rows,
                              "SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE()"
                              " AND table_name = 'site' AND column_name = ?",
                              DB_PARAMS(DB_TEXT(str_from(column))));
    if (st == ST_OK && rows.count > 0)
        st = db_query(db, a, &rows, "SELECT 1 FROM site", NULL, 0);
    *out = st == ST_OK && rows.count > 0;
    return st;
}

/* Looks for a row with a month, and for one with an amount: a column whose name ends with _fen has another value than
 * its default. So tables of each version are looked at, and tables that come later. waits: for rows that a transaction
 * has written and not committed yet. */
static enum status fixed_read(struct db *db, struct arena *a, struct site_settings *out, bool waits)
{
    struct db_rows columns, found;
    enum status st = db_query(
        db, a, &columns,
        "SELECT column_name = 'month', CONCAT('SELECT 1 FROM `', table_name, '` WHERE `', column_name, '` <> ',"
        " COALESCE(NULLIF(column_default, 'NULL'), '0'), ' LIMIT 1') FROM information_schema.columns"
        " WHERE table_schema = DATABASE() AND (column_name LIKE '%\\_fen'"
        " OR (table_name, column_name) = ('user_month', 'month'))",
        NULL, 0);
    for (size_t i = 0; st == ST_OK && i < columns.count; i++) {
        const bool is_month = db_cell_i64(&columns, i, 0) != 0;
        if (out->fixed[is_month ? SITE_TIMEZONE : SITE_UNIT])
            continue;
        const char *sql =
            arena_printf(a, "%.*s%s", STR_ARG(db_cell(&columns, i, 1)), waits ? " LOCK IN SHARE MODE" : "").ptr;
        st = sql == NULL ? ST_NO_MEMORY : db_query(db, a, &found, sql, NULL, 0);
        out->fixed[is_month ? SITE_TIMEZONE : SITE_UNIT] = st == ST_OK && found.count > 0;
    }
    out->fixed[SITE_UNIT_DECIMALS] = out->fixed[SITE_UNIT];
    return st;
}

static enum status settings_read(struct db *db, struct arena *a, struct site_settings *out, bool waits)
{
    struct db_rows rows;
    bool exists = false;
    *out = (struct site_settings){ 0 };
    enum status st = row_exists(db, a, "id", &exists);
    if (st != ST_OK || !exists)
        return st == ST_OK ? ST_NOT_FOUND : st;
    st = db_find(db, a, &rows,
                 "SELECT (SELECT CONCAT(" SITE_SETTINGS_COLUMNS ") FROM site) FROM " SITE_SETTINGS_WITHOUT, NULL, 0);
    if (st == ST_OK)
        st = fixed_read(db, a, out, waits);
    if (st != ST_OK)
        return st;
    struct str text = db_cell(&rows, 0, 0);
    for (size_t i = 0; i < SITE_SETTING_COUNT; i++)
        out->values[i] = str_cut(str_or_empty(text), ' ', &text);
    return ST_OK;
}

enum status site_settings_read(struct db *db, struct arena *a, struct site_settings *out)
{
    return settings_read(db, a, out, false);
}

/* ---- writing ---- */

struct write {
    const struct config *config;
    struct arena *arena;
    bool keep;
    bool changes; /* out: the unit is being changed */
};

/* Takes the lock on the row. serves: processes may serve, because a settle worker has compared the stores. */
static enum status row_lock(struct db *db, struct arena *a, bool *serves)
{
    struct db_rows rows;
    enum status st = db_find(db, a, &rows, "SELECT generation <> 0 FROM site FOR UPDATE", NULL, 0);
    *serves = st == ST_OK && db_cell_i64(&rows, 0, 0) != 0;
    return st;
}

/* Says whether an older program may work with the unit. */
static enum status additive_write(struct db *db)
{
    return db_exec(db, NULL,
                   "UPDATE schema_migration SET additive = (SELECT unit = 'CNY' AND unit_decimals = 2 FROM site)"
                   " WHERE name = '" UNIT_MIGRATION "'",
                   NULL, 0);
}

static enum status unit_write(struct db *db, const struct config *c)
{
    return db_exec(db, NULL, "UPDATE site SET unit = ?, unit_decimals = ?",
                   DB_PARAMS(DB_TEXT(str_from(c->unit)), DB_I64(c->unit_decimals)));
}

static bool unit_differs(const struct config *c, const struct site_settings *there)
{
    const enum site_setting first = site_settings_differ(c, there, SITE_UNIT);
    return first == SITE_UNIT || first == SITE_UNIT_DECIMALS;
}

/* Whether a setting differs that nothing fixes. Only then are rows locked: a migrator of a site at work waits for no
 * transaction, and is in nobody's way. */
static bool may_change(const struct config *c, const struct site_settings *there)
{
    enum site_setting i = site_settings_differ(c, there, 0);
    while (i < SITE_SETTING_COUNT && there->fixed[i])
        i = site_settings_differ(c, there, i + 1);
    return i < SITE_SETTING_COUNT;
}

static enum status write_body(struct db *db, void *ctx)
{
    struct write *w = ctx;
    const struct config *c = w->config;
    struct site_settings there = { 0 };
    bool serves = false;
    w->changes = false;
    enum status st = row_lock(db, w->arena, &serves);
    if (st == ST_OK)
        st = settings_read(db, w->arena, &there, false);
    if (st == ST_OK && !w->keep && may_change(c, &there))
        st = settings_read(db, w->arena, &there, true);
    if (st == ST_OK && (there.values[SITE_TIMEZONE].len == 0 || (!w->keep && !there.fixed[SITE_TIMEZONE])))
        st = db_exec(db, NULL, "UPDATE site SET timezone = ?", DB_PARAMS(DB_TEXT(str_from(c->timezone))));
    if (st == ST_OK && !w->keep && !there.fixed[SITE_UNIT] && unit_differs(c, &there)) {
        w->changes = serves;
        st = serves ? db_exec(db, NULL, "UPDATE site SET unit = CONCAT('" CHANGING "', unit)", NULL, 0)
                    : unit_write(db, c);
    }
    return st == ST_OK ? additive_write(db) : st;
}

/* Ends a change of the unit: it becomes the one of the configuration, unless there is an amount by now, or keep. */
static enum status change_body(struct db *db, void *ctx)
{
    const struct write *w = ctx;
    struct site_settings there = { 0 };
    bool serves;
    enum status st = row_lock(db, w->arena, &serves);
    if (st == ST_OK)
        st = settings_read(db, w->arena, &there, true);
    if (st != ST_OK || !site_unit_is_changing(&there))
        return st;
    st = w->keep || there.fixed[SITE_UNIT] ? db_exec(db, NULL, "UPDATE site SET unit = SUBSTRING(unit, 2)", NULL, 0)
                                           : unit_write(db, w->config);
    return st == ST_OK ? additive_write(db) : st;
}

static enum status write_all(struct db *db, struct write *w)
{
    struct write back = { w->config, w->arena, .keep = true };
    enum status st = db_transaction(db, change_body, &back); /* of a migrator that died */
    if (st == ST_OK)
        st = db_transaction(db, write_body, w);
    if (st != ST_OK || !w->changes)
        return st;
    (void)nanosleep(&(struct timespec){ .tv_sec = CHANGE_S }, NULL);
    return db_transaction(db, change_body, w);
}

enum status site_settings_write(struct db *db, const struct config *c, bool keep)
{
    bool exists = false;
    struct db_rows rows;
    struct arena *a = arena_new(ARENA_BYTES, ARENA_BYTES_MAX);
    enum status st = a == NULL ? ST_NO_MEMORY : row_exists(db, a, "unit_decimals", &exists);
    if (st == ST_OK && exists) {
        st = db_find(db, a, &rows, "SELECT GET_LOCK(CONCAT(DATABASE(), '.unit'), ?)", DB_PARAMS(DB_I64(LOCK_S)));
        if (st == ST_OK && db_cell_i64(&rows, 0, 0) != 1)
            st = ST_CONFLICT;
        if (st == ST_OK)
            st = write_all(db, &(struct write){ c, a, .keep = keep });
        (void)db_query(db, a, &rows, "SELECT RELEASE_LOCK(CONCAT(DATABASE(), '.unit'))", NULL, 0);
    }
    arena_free(a);
    return st;
}
