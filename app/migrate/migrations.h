/* The migrations of a folder: SQL_DIR/migrations/NNNN_name.sql, numbered from 0001 without a gap.
 *
 * A process reads them once, at its start, and keeps them: they are the schema that its program knows. An upgrade puts
 * newer files into the folder while the process runs (site/ready.h). */
#ifndef HB_MIGRATE_MIGRATIONS_H
#define HB_MIGRATE_MIGRATIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/random.h"
#include "base/status.h"
#include "base/str.h"

/* One file of the folder. */
struct migration {
    uint32_t version; /* from 1: list[i] has the number i + 1 */
    struct str file;  /* "0001_first_tables.sql" */
    struct str name;  /* "first_tables" */
    struct str text;
    uint8_t sha256[HASH_BYTES];
    bool additive; /* its first line is `-- additive: yes` */
};

struct migrations {
    struct arena *arena; /* has all of it */
    struct migration *list;
    size_t count;
};

/* Reads the migrations of sql_dir. ST_OK: *m has them, free it with migrations_free · ST_INVALID: a file can't be read
 * or is misnamed, a number is missing or used twice · ST_NO_MEMORY. On an error *m is NULL. The reason is written to
 * out; out NULL: nowhere. */
enum status migrations_read(const char *sql_dir, struct migrations **m, FILE *out);
void migrations_free(struct migrations *m); /* NULL is allowed */

#endif
