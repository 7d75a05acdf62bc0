/* Reads CSV (RFC 4180) with a header line, row by row, by libcsv. The text is UTF-8, with a byte order mark or
 * without; cells are separated by commas or semicolons, whichever comes first in the header; lines end with LF, CR LF
 * or CR. A quoted cell may have line breaks. Blanks around a cell that is not quoted do not count. Blank lines are no
 * rows, and neither are lines whose cells are all empty, which spreadsheets write below a table. */
#ifndef HB_IO_CSV_READER_H
#define HB_IO_CSV_READER_H

#include <stdint.h>
#include <stdio.h>

#include "base/status.h"
#include "base/str.h"

enum { CSV_COLUMNS_MAX = 64, CSV_ROW_BYTES_MAX = 16384 };

enum { CSV_COLUMN_NONE = -1, CSV_COLUMN_TWICE = -2 };

struct csv_reader;

struct csv_row {
    uint64_t line; /* where it begins, from 1 */
    size_t count;
    const struct str *cells; /* until the next row is read */
    const char *fault;       /* NULL: none; else what is wrong with this row, in static storage */
};

/* Reads the header of the file, which is borrowed and may not be at its beginning. ST_INVALID: the file is no CSV, *why
 * says why (static storage) · ST_UNAVAILABLE: it can't be read · ST_NO_MEMORY. Only with ST_OK there is a reader. */
enum status csv_reader_new(FILE *file, struct csv_reader **out, const char **why);
void csv_reader_free(struct csv_reader *r); /* NULL is fine */

/* The columns of the header. */
const struct csv_row *csv_reader_header(const struct csv_reader *r);
/* The index of the column of this name, in any case; below 0: CSV_COLUMN_NONE, or CSV_COLUMN_TWICE. */
int csv_reader_column(const struct csv_reader *r, struct str name);

/* Reads the next row. A row with a fault is ST_OK: the rows behind it can be read. ST_NOT_FOUND: the file ends · the
 * other errors as csv_reader_new; *line is where it went wrong, and nothing more can be read. */
enum status csv_reader_next(struct csv_reader *r, struct csv_row *out, uint64_t *line, const char **why);

#endif
