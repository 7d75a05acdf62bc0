/* Brings the schema up to date with migrations (migrate/migrations.h), forward only.
 *
 * schema_migration records each applied file with its SHA-256. A run changes nothing when a number is missing there, or
 * when an applied file has changed since.
 *
 * A file whose first line is `-- additive: yes` leaves alone everything that the program of the version before uses.
 * An older program works with a newer database when all versions that it does not know are additive; its own run then
 * changes nothing. Otherwise program and database do not fit.
 *
 * A file is run statement by statement and recorded after the last one. CREATE and ALTER commit implicitly in MySQL and
 * in MariaDB, so a migrator that dies in the middle leaves the first statements of its file done; schema_progress
 * records the position, and the next run continues there (docs/how-to/migrations.md). When the server refuses a
 * statement, the message names it. Undo the statements before it by hand, and correct the file; the next run begins
 * with its first statement. Keep migrations small, best one change of one table a file. Concurrent migrators wait for
 * each other.
 *
 * A file may read the temporary table zone_month(from_ms, month_no): the first instant of every month from 1970 to 2100
 * in the service's time zone, and the month's number, 202611 for November 2026. The caller sets the zone before
 * (clock_zone_set). */
#ifndef HB_MIGRATE_MIGRATE_H
#define HB_MIGRATE_MIGRATE_H

#include <stdio.h>

#include "base/status.h"
#include "migrate/migrations.h"
#include "mysql/db.h"

enum {
    MIGRATE_TIMEOUT_S = 3600,    /* of one statement, and of the wait for another migrator */
    MIGRATE_RESTORE_VERSION = 0, /* schema_migration has this version until a restore has brought all tables back
                                    (deploy/commands/restore.sh) */
};

/* Applies the migrations of sql_dir that are missing and writes a line about each, or that there was none, to out.
 * Leaves the connection with MIGRATE_TIMEOUT_S as its timeout.
 * ST_OK: the schema is up to date, or newer by additive versions only · ST_INVALID: folder and database do not fit,
 * nothing was changed · ST_NOT_FOUND: a restore was interrupted, no migration was applied · ST_CORRUPT: a statement
 * failed · ST_CONFLICT: another migrator did not finish in time · ST_UNAVAILABLE, ST_UNKNOWN: the database is
 * unreachable · ST_NO_MEMORY. The reason is written to out; out NULL: nowhere. */
enum status migrate_run(struct db *db, const char *sql_dir, FILE *out);

/* Whether the schema is what the known migrations make, or newer by additive versions only. ST_OK · ST_CONFLICT:
 * migrations are missing (also in an empty database) · ST_INVALID: program and database do not fit · ST_NOT_FOUND: a
 * restore was interrupted, so tables are missing · ST_UNAVAILABLE · ST_NO_MEMORY. Changes nothing. The reason is
 * written to out; out NULL: nowhere. */
enum status migrate_check(struct db *db, const struct migrations *known, FILE *out);

/* ---- for tests ---- */

/* Cuts the next statement off *rest and returns it without its semicolon and the comments before it; empty at the end.
 * Semicolons in quoted text and in comments do not end a statement. DELIMITER is not supported. */
struct str migrate_statement_next(struct str *rest);

#endif
