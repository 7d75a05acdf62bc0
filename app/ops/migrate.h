/* The schema's migrations: SQL_DIR/migrations/NNNN_name.sql, numbered from 0001 without a gap, forward only.
 *
 * What was applied stands in schema_migration with the file's SHA-256. Nothing is done at all when a number is missing
 * or there twice, when the database knows a version that the folder does not have (an older program against a newer
 * schema), or when an applied file has changed since.
 *
 * A file is run statement by statement and recorded after its last one. CREATE and ALTER commit by themselves in both
 * servers, so a migrator that dies in the middle leaves its first statements done; schema_progress says where it was,
 * and the next one goes on there (docs/how-to/migrations.md tells how it knows). A statement that is refused needs a
 * hand: the message names it, undo what those before it did and run again, from the first one on. Keep migrations
 * small: one change of one table a file is best. Two migrators at once wait for each other.
 *
 * A file may read the temporary table zone_month(from_ms, month_no): the first instant of every month from 1970 to 2100
 * in the service's zone, which has to be set before (clock_zone_set), and its number, 202611 for November 2026. */
#ifndef HB_OPS_MIGRATE_H
#define HB_OPS_MIGRATE_H

#include <stdio.h>

#include "base/status.h"
#include "io/db.h"

enum { MIGRATE_TIMEOUT_S = 3600 }; /* for one statement, and for another migrator to finish */

/* Applies what is missing, a line each to out, and says when nothing was. Leaves the connection with
 * MIGRATE_TIMEOUT_S as its timeout.
 * ST_OK: the schema is up to date · ST_INVALID: folder and database don't fit, nothing was done · ST_CORRUPT: a
 * statement failed · ST_UNAVAILABLE, ST_UNKNOWN: the database is away · ST_NO_MEMORY. The reason is on out. */
enum status migrate_run(struct db *db, const char *sql_dir, FILE *out);

/* Whether the schema is what this program's migrations make. ST_OK · ST_CONFLICT: migrations are missing (also in an
 * empty database) · ST_INVALID: they don't fit · ST_UNAVAILABLE · ST_NO_MEMORY. Changes nothing. The reason goes to
 * out, NULL: nowhere. */
enum status migrate_check(struct db *db, const char *sql_dir, FILE *out);

/* ---- for tests ---- */

/* Cuts the next statement off *rest, without its semicolon and the comments before it; empty at the end. Quoted text
 * and comments may hold semicolons; DELIMITER is not known. */
struct str migrate_statement_next(struct str *rest);

#endif
