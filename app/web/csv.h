/* CSV (RFC 4180) for spreadsheet programs: UTF-8 with a byte order mark, lines end with CR LF. A cell that such a
 * program would take for a formula gets a ' in front (CWE-1236). Some programs separate cells by semicolons or tabs,
 * even within quotes, because a quote that does not follow their separator means nothing to them. So a formula behind a
 * semicolon or tab gets a ', too. */
#ifndef HB_WEB_CSV_H
#define HB_WEB_CSV_H

#include "base/buf.h"

/* Begins a file: the byte order mark. */
void csv_begin(struct buf *out);
/* Appends the next cell of a row. */
void csv_cell(struct buf *out, struct str text);
/* Appends a decimal number, maybe with a minus, as it is: as a formula it is the same number. */
void csv_number(struct buf *out, struct str number);
/* Appends the next cell of a row as it is, also a formula: for files that programs read. */
void csv_exact(struct buf *out, struct str text);
/* Appends a row of the names of the columns. */
void csv_header(struct buf *out, const char *const *columns, size_t count);
/* Ends a row of at least one cell. */
void csv_row_end(struct buf *out);

#endif
