#include "live/site_settings.h"

#include <inttypes.h>
#include <stdio.h>

/* The name of the migration that made the column `unit`. */
#define UNIT_MIGRATION "unit"

enum { ARENA_BYTES = 1024, ARENA_BYTES_MAX = 64 << 10 };

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
 * its default. So tables of each version are looked at, and tables that come later. */
static enum status fixed_read(struct db *db, struct arena *a, struct site_settings *out)
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
        const char *sql = arena_cstr(a, db_cell(&columns, i, 1));
        st = sql == NULL ? ST_NO_MEMORY : db_query(db, a, &found, sql, NULL, 0);
        out->fixed[is_month ? SITE_TIMEZONE : SITE_UNIT] = st == ST_OK && found.count > 0;
    }
    out->fixed[SITE_UNIT_DECIMALS] = out->fixed[SITE_UNIT];
    return st;
}

enum status site_settings_read(struct db *db, struct arena *a, struct site_settings *out)
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
        st = fixed_read(db, a, out);
    if (st != ST_OK)
        return st;
    struct str text = db_cell(&rows, 0, 0);
    for (size_t i = 0; i < SITE_SETTING_COUNT; i++)
        out->values[i] = str_cut(str_or_empty(text), ' ', &text);
    return ST_OK;
}

struct write {
    const struct config *config;
    struct arena *arena;
    bool keep;
};

static enum status write_body(struct db *db, void *ctx)
{
    const struct write *w = ctx;
    const struct config *c = w->config;
    struct site_settings there = { 0 };
    struct db_rows rows;
    enum status st = db_find(db, w->arena, &rows, "SELECT 1 FROM site FOR UPDATE", NULL, 0);
    if (st == ST_OK)
        st = site_settings_read(db, w->arena, &there);
    if (st == ST_OK && (there.values[SITE_TIMEZONE].len == 0 || (!w->keep && !there.fixed[SITE_TIMEZONE])))
        st = db_exec(db, NULL, "UPDATE site SET timezone = ?", DB_PARAMS(DB_TEXT(str_from(c->timezone))));
    if (st == ST_OK && !w->keep && !there.fixed[SITE_UNIT])
        st = db_exec(db, NULL, "UPDATE site SET unit = ?, unit_decimals = ?",
                     DB_PARAMS(DB_TEXT(str_from(c->unit)), DB_I64(c->unit_decimals)));
    if (st == ST_OK)
        st = db_exec(db, NULL,
                     "UPDATE schema_migration SET additive = (SELECT unit = 'CNY' AND unit_decimals = 2 FROM site)"
                     " WHERE name = '" UNIT_MIGRATION "'",
                     NULL, 0);
    return st;
}

enum status site_settings_write(struct db *db, const struct config *c, bool keep)
{
    bool exists = false;
    struct arena *a = arena_new(ARENA_BYTES, ARENA_BYTES_MAX);
    enum status st = a == NULL ? ST_NO_MEMORY : row_exists(db, a, "unit_decimals", &exists);
    if (st == ST_OK && exists)
        st = db_transaction(db, write_body, &(struct write){ c, a, keep });
    arena_free(a);
    return st;
}
