/* The settings that belong to the data: the table `site` keeps their values, as columns of the same names. A value is
 * fixed once the tables hold what was made with it: months begin by the time zone, and amounts are in the smallest unit
 * of money. Until then `hongbao migrate` writes the values of the configuration (commands/migrate.h).
 *
 * A program from before the column `unit` would show and read each amount as fen. So while the unit is another one,
 * schema_migration has the migration `unit` as not additive, and no older program works with the tables
 * (migrate/migrate.h). */
#ifndef HB_LIVE_SITE_SETTINGS_H
#define HB_LIVE_SITE_SETTINGS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"
#include "config/config.h"
#include "mysql/db.h"

enum site_setting { SITE_TIMEZONE, SITE_UNIT, SITE_UNIT_DECIMALS, SITE_SETTING_COUNT };

/* What the tables have. */
struct site_settings {
    struct str values[SITE_SETTING_COUNT]; /* empty: unknown */
    bool fixed[SITE_SETTING_COUNT];
};

/* Its name, and what of the tables is made with it: "months", "amounts". Static storage. */
const char *site_setting_name(enum site_setting setting);
const char *site_setting_fixes(enum site_setting setting);
/* Its value in the configuration, in out (CONFIG_TEXT_MAX bytes). */
struct str site_setting_wanted(const struct config *c, enum site_setting setting, char *out);

/* The values of the tables as one text with a blank between two; also works with tables of a version before that lack
 * the columns: no time zone, and CNY with two decimals. */
#define SITE_SETTINGS_COLUMNS "timezone, ' ', unit, ' ', unit_decimals"
#define SITE_SETTINGS_WITHOUT "(SELECT '' AS timezone, 'CNY' AS unit, 2 AS unit_decimals) AS without"
/* Takes the next value off *text. False: the configuration has another one. */
bool site_setting_take(const struct config *c, enum site_setting setting, struct str *text);
/* The first setting at or after `from` of which the configuration has another value; SITE_SETTING_COUNT: none. */
enum site_setting site_settings_differ(const struct config *c, const struct site_settings *there,
                                       enum site_setting from);

/* Reads the values of the tables, which the arena keeps, and whether they are fixed. ST_OK · ST_NOT_FOUND: the tables
 * have no row of the site: they are new, or of a version before · ST_UNAVAILABLE · ST_NO_MEMORY. */
enum status site_settings_read(struct db *db, struct arena *a, struct site_settings *out);
/* A change of the unit is under way, or its migrator has died; the next site_settings_write takes it back. */
bool site_unit_is_changing(const struct site_settings *there);
/* Writes the values of the configuration into the tables, if they have a column for each. A fixed one stays, also when
 * it differs; with keep each one stays except an unknown time zone. Notes whether an older program may work with the
 * unit. Blocks for some seconds when it changes the unit of tables that processes may serve (docs/how-to/unit.md):
 * first the row gets a unit that no process has, so that each pool refuses requests within a second; then the tables
 * are looked at once more, behind locks that wait for open transactions; an amount that has come by then keeps the unit
 * before. ST_CONFLICT: another migrator does the same · else as db_transaction. */
enum status site_settings_write(struct db *db, const struct config *c, bool keep);

#endif
