/* MariaDB or MySQL: its settings for durability, the tables, and rows that wait for an operator. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "doctor/check.h"
#include "doctor/doctor_internal.h"
#include "live/site_settings.h"
#include "migrate/migrate.h"

#define CONF_FILE "/etc/mysql/mariadb.conf.d/61-hongbao-durability.cnf"

/* Settings that must have one value, as SHOW GLOBAL VARIABLES shows it. A server without such a setting has no choice
 * there. */
static const struct wanted {
    const char *finding, *setting, *value, *why;
    bool at_start_only; /* a running server can't change it */
} WANTED[] = {
    { "mysql-flush", "innodb_flush_log_at_trx_commit", "1", "a power cut loses money that was moved", false },
    { "mysql-doublewrite", "innodb_doublewrite", "ON", "a power cut can tear a page of the tables", true },
    { "mysql-read-only", "read_only", "OFF", "nothing can be sent, settled or refunded: is this a replica?", false },
    { "mysql-checks", "check_constraint_checks", "ON", "the tables' own rules for balances do not hold", false },
    { "mysql-foreign-keys", "foreign_key_checks", "ON", "rows may name what does not exist", false },
};

static const char *variable(struct doctor *d, struct db *db, const char *name)
{
    struct db_rows rows;
    if (db_query(db, d->arena, &rows, "SHOW GLOBAL VARIABLES LIKE ?", DB_PARAMS(DB_TEXT(str_from(name)))) != ST_OK ||
        rows.count == 0)
        return NULL;
    return arena_cstr(d->arena, db_cell(&rows, 0, 1));
}

static bool variable_is(const char *value, const char *wanted)
{
    static const char *const on[] = { "ON", "1", "YES" }, *const off[] = { "OFF", "0", "NO" };
    if (strcmp(value, wanted) == 0)
        return true;
    const char *const *same = strcmp(wanted, "ON") == 0 ? on : strcmp(wanted, "OFF") == 0 ? off : NULL;
    for (size_t i = 0; same != NULL && i < ARRAY_LEN(on); i++)
        if (strcmp(value, same[i]) == 0)
            return true;
    return false;
}

static void variable_wrong(struct doctor *d, const struct wanted *w, const char *value)
{
    const char *set = w->at_start_only
                          ? finding_text(&d->found, "printf '[mariadbd]\\n%s = %s\\n' >%s; systemctl restart mariadb",
                                         w->setting, w->value, CONF_FILE)
                          : doctor_mariadb(d, finding_text(&d->found, "SET GLOBAL %s = %s", w->setting, w->value));
    finding_wrong(&d->found, w->finding, set, "%s is %s, not %s: %s%s", w->setting, value, w->value, w->why,
                  w->at_start_only ? "" : ". The configuration of MariaDB needs it, too, for the next start");
}

/* Checks what matters only where MariaDB keeps a binary log. */
static void binlog_check(struct doctor *d, struct db *db)
{
    static const struct wanted settings[] = {
        { "mysql-binlog", "sync_binlog", "1", "after a power cut replicas and backups lack the last changes", false },
        { "mysql-routines", "log_bin_trust_function_creators", "ON", "a migration may not create functions", false },
    };
    const char *log = variable(d, db, "log_bin");
    for (size_t i = 0; log != NULL && variable_is(log, "ON") && i < ARRAY_LEN(settings); i++) {
        const char *value = variable(d, db, settings[i].setting);
        if (value != NULL && !variable_is(value, settings[i].value))
            variable_wrong(d, &settings[i], value);
    }
}

static void charset_check(struct doctor *d, struct db *db)
{
    struct db_rows rows;
    if (db_query(db, d->arena, &rows,
                 "SELECT default_character_set_name, default_collation_name FROM information_schema.schemata"
                 " WHERE schema_name = DATABASE()",
                 NULL, 0) != ST_OK ||
        rows.count == 0)
        return;
    if (!str_equal(db_cell(&rows, 0, 0), STR("utf8mb4")) || !str_equal(db_cell(&rows, 0, 1), STR("utf8mb4_bin")))
        finding_wrong(
            &d->found, "mysql-charset",
            doctor_mariadb(d, finding_text(&d->found, "ALTER DATABASE %s CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
                                           d->config->mysql_database)),
            "the database has the collation %.*s, not utf8mb4_bin: the next migration makes tables that lose"
            " characters or take different names for the same",
            STR_ARG(db_cell(&rows, 0, 1)));
}

void doctor_check_mysql(struct doctor *d)
{
    struct db *db = d->roles[ROLE_MIGRATE].db;
    if (!d->mysql_is_up || db == NULL) {
        finding_unchecked(&d->found, "mysql-settings", "the role migrate is not logged in");
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(WANTED); i++) {
        const char *value = variable(d, db, WANTED[i].setting);
        if (value != NULL && !variable_is(value, WANTED[i].value))
            variable_wrong(d, &WANTED[i], value);
    }
    binlog_check(d, db);
    charset_check(d, db);
}

/* ---- the tables ---- */

/* st: of migrate_check. */
static const char *schema_mend(struct doctor *d, enum status st)
{
    if (st == ST_CONFLICT)
        return finding_text(&d->found, "hongbao migrate && %s", doctor_grants(d));
    if (st == ST_NOT_FOUND)
        return "hongbao restore --replace BACKUP # its folder (docs/how-to/backup.md)";
    return d->is_service ? check_package_mend(&d->found, "the package that made the tables (docs/how-to/migrations.md)")
                         : "install the program that made the tables (docs/how-to/migrations.md)";
}

/* Reports tables that somebody has dropped. */
static void tables_check(struct doctor *d, struct db *db)
{
    struct words needed = { .count = 0 }, there = { .count = 0 };
    struct db_rows rows;
    if (db_query(db, d->arena, &rows,
                 "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()", NULL, 0) != ST_OK)
        return;
    doctor_tables_read(d, &needed);
    for (size_t i = 0; i < rows.count; i++)
        words_add(&there, db_cell(&rows, i, 0));
    const char *missing = words_without(&needed, &there, d->arena);
    if (missing[0] != '\0')
        finding_wrong(&d->found, "schema",
                      d->has_setup
                          ? "systemctl stop hongbao.target; hongbao restore --replace BACKUP && systemctl start"
                            " hongbao.target # docs/how-to/lost.md"
                          : "stop the site, hongbao restore --replace BACKUP, start it",
                      "tables are missing, and only a backup has their rows: %s", missing);
}

static void version_check(struct doctor *d, struct db *db)
{
    char reason[512] = "";
    struct migrations *known = NULL;
    FILE *out = fmemopen(reason, sizeof reason, "w");
    enum status st = out == NULL ? ST_NO_MEMORY : migrations_read(d->config->sql_dir, &known, out);
    if (st == ST_OK)
        st = migrate_check(db, known, out);
    migrations_free(known);
    if (out != NULL)
        (void)fclose(out);
    if (st != ST_OK)
        finding_wrong(&d->found, "schema", schema_mend(d, st), "%s", reason[0] != '\0' ? reason : status_name(st));
    else
        tables_check(d, db);
}

/* Queries of which each row is a fault; its first column names the subject. mend: NULL: the command is made from the
 * row. */
static const struct fault {
    const char *finding, *sql, *text, *mend;
} FAULTS[] = {
    { "schema-interrupted", "SELECT LPAD(version, 4, '0') FROM schema_progress", "a migration was interrupted",
      "hongbao migrate # continues it" },
    { "schema-engine",
      "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'"
      " AND engine <> 'InnoDB'",
      "a table is not InnoDB, so its changes are not part of transactions", NULL },
    { "schema-definer",
      "SELECT routine_name, CONCAT('`', REPLACE(CURRENT_USER(), '@', '`@`'), '`') FROM information_schema.routines"
      " WHERE routine_schema = DATABASE() AND (definer <> CURRENT_USER() OR security_type <> 'DEFINER')",
      "a routine does not run with the rights of the role migrate, so it can move no money", NULL },
    { "dead-letters", "SELECT COUNT(*) FROM dead_letter WHERE resolved_ms IS NULL HAVING COUNT(*) > 0",
      "events that can't be settled wait for an operator",
      "hongbao replay # lists them (docs/how-to/dead-letters.md)" },
};

/* The command that creates all routines again, with the definer `user`@`host`. The grants on the old routines go with
 * them, so it also grants again. */
static const char *routines_mend(struct doctor *d, struct str definer)
{
    const char *client = doctor_mariadb_client(d, "mariadb"), *dump = doctor_mariadb_client(d, "mariadb-dump");
    return finding_text(
        &d->found,
        "%s --routines --no-data --no-create-info --skip-triggers | sed 's/^CREATE DEFINER=[^ ]* /CREATE"
        " DEFINER=%.*s /; s/^ *SQL SECURITY INVOKER$//' | %s && %s",
        dump, STR_ARG(definer), client, doctor_grants(d));
}

/* The command for a table. A name that the shell or MariaDB would not accept unquoted is only in the finding's text. */
static const char *table_mend(struct doctor *d, struct str table)
{
    bool is_plain = table.len > 0;
    for (size_t i = 0; i < table.len; i++)
        is_plain = is_plain && (isalnum((unsigned char)table.ptr[i]) || table.ptr[i] == '_');
    if (!is_plain)
        table = STR("NAME");
    const char *alter = finding_text(&d->found, "ALTER TABLE %.*s ENGINE = InnoDB", STR_ARG(table));
    return finding_text(&d->found, "%s && hongbao audit", doctor_mariadb(d, alter));
}

static void partitions_check(struct doctor *d, struct db *db)
{
    struct db_rows rows;
    if (db_query(db, d->arena, &rows, "SELECT COUNT(*) FROM stream_cursor", NULL, 0) != ST_OK || rows.count == 0)
        return;
    int64_t there = db_cell_i64(&rows, 0, 0);
    if (there != 0 && there != d->config->partitions)
        finding_wrong(
            &d->found, "partitions",
            check_setting_mend(d->config, &d->found, "partitions", finding_text(&d->found, "%" PRId64, there)),
            "partitions is %" PRId64 ", but the tables were made for %" PRId64
            ": nothing is settled, and no grab is let in",
            d->config->partitions, there);
}

/* A setting of the data that differs: what the configuration says, what the tables have, and the mend that gives the
 * setting the value of the tables. */
struct differing {
    const char *wanted, *is, *mend;
};

static const char *value_text(struct doctor *d, enum site_setting setting)
{
    char wanted[CONFIG_TEXT_MAX];
    return arena_cstr(d->arena, site_setting_wanted(d->config, setting, wanted));
}

/* False: no memory. */
static bool differing_read(struct doctor *d, const struct site_settings *there, enum site_setting i,
                           struct differing *out)
{
    out->wanted = value_text(d, i);
    out->is = arena_cstr(d->arena, there->values[i]);
    out->mend = out->is == NULL ? NULL : check_setting_mend(d->config, &d->found, site_setting_name(i), out->is);
    return out->wanted != NULL && out->mend != NULL;
}

/* A unit with other decimals: one fault, not two. */
static bool unit_and_decimals_read(struct doctor *d, const struct site_settings *there, struct differing *out)
{
    static const char *const both = "%s with %s decimals";
    struct differing unit, decimals;
    if (!differing_read(d, there, SITE_UNIT, &unit) || !differing_read(d, there, SITE_UNIT_DECIMALS, &decimals))
        return false;
    const char *const names[] = { site_setting_name(SITE_UNIT), site_setting_name(SITE_UNIT_DECIMALS) };
    const char *const values[] = { unit.is, decimals.is };
    *out = (struct differing){ finding_text(&d->found, both, unit.wanted, decimals.wanted),
                               finding_text(&d->found, both, unit.is, decimals.is),
                               check_two_settings_mend(d->config, &d->found, names, values) };
    return out->wanted != NULL && out->is != NULL && out->mend != NULL;
}

static void settings_check(struct doctor *d, struct db *db)
{
    struct site_settings there;
    struct differing one;
    if (site_settings_read(db, d->arena, &there) != ST_OK)
        return;
    enum site_setting i = site_settings_differ(d->config, &there, 0);
    for (; i < SITE_SETTING_COUNT; i = site_settings_differ(d->config, &there, i + 1)) {
        const char *name = site_setting_name(i), *fixes = site_setting_fixes(i);
        const char *finding = i == SITE_TIMEZONE ? name : "money-unit";
        const bool is_changing = i != SITE_TIMEZONE && site_unit_is_changing(&there);
        const bool two = i == SITE_UNIT && !is_changing &&
                         site_settings_differ(d->config, &there, SITE_UNIT_DECIMALS) == SITE_UNIT_DECIMALS;
        if (two ? !unit_and_decimals_read(d, &there, &one) : !differing_read(d, &there, i, &one))
            return;
        if (is_changing)
            finding_wrong(&d->found, finding, "hongbao migrate",
                          "a change of the unit was interrupted: no process works with the tables");
        else if (there.fixed[i])
            finding_wrong(&d->found, finding, one.mend,
                          "%s is %s, but the %s of the tables were made with %s: no process works with them", name,
                          one.wanted, fixes, one.is);
        else
            finding_wrong(
                &d->found, finding, d->has_setup ? "hongbao setup --non-interactive" : "hongbao migrate",
                "%s is %s, and the tables, which have no %s yet, were made for %s: no process works with them", name,
                one.wanted, fixes, one.is);
        if (two || is_changing)
            return; /* nothing comes behind the decimals */
    }
}

/* Deposits exist only where demo = on made them, so the setting must agree with the tables. */
static void demo_check(struct doctor *d, struct db *db)
{
    struct db_rows rows;
    if (d->config->demo ||
        db_query(db, d->arena, &rows,
                 "SELECT COUNT(*), SUM(amount_fen) FROM transfer WHERE debit_id = 1 AND kind = 'deposit'", NULL,
                 0) != ST_OK ||
        rows.count == 0 || db_cell_u64(&rows, 0, 0) == 0)
        return;
    d->has_play_money = true;
    finding_wrong(&d->found, "demo-money", check_setting_mend(d->config, &d->found, "demo", "on"),
                  "demo is off, but the tables have play money: %.*s deposits of %.*s fen, which the audit refuses."
                  " A site with real money begins with empty stores",
                  STR_ARG(db_cell(&rows, 0, 0)), STR_ARG(db_cell(&rows, 0, 1)));
}

void doctor_check_schema(struct doctor *d)
{
    struct db *db = d->roles[ROLE_MIGRATE].db;
    if (db == NULL) {
        finding_unchecked(&d->found, "schema", "the role migrate is not logged in");
        return;
    }
    version_check(d, db);
    for (size_t i = 0; i < ARRAY_LEN(FAULTS); i++) {
        struct db_rows rows;
        if (db_query(db, d->arena, &rows, FAULTS[i].sql, NULL, 0) != ST_OK)
            continue; /* the table is missing, which version_check has reported */
        for (size_t row = 0; row < rows.count; row++) {
            struct str which = db_cell(&rows, row, 0);
            const char *mend = FAULTS[i].mend != NULL ? FAULTS[i].mend
                               : strcmp(FAULTS[i].finding, "schema-definer") == 0
                                   ? routines_mend(d, db_cell(&rows, row, 1))
                                   : table_mend(d, which);
            finding_of(&d->found, FAULTS[i].finding, mend, FAULTS[i].text, arena_cstr(d->arena, which));
        }
    }
    partitions_check(d, db);
    settings_check(d, db);
    demo_check(d, db);
}
