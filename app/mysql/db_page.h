/* A page of a list in MySQL, newest first: rows are ordered by a time and an id, and a further page starts below the
 * last row of the page before. */
#ifndef HB_MYSQL_DB_PAGE_H
#define HB_MYSQL_DB_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* The place of a row in such a list. */
struct list_key {
    bool given; /* false: none, the first page */
    int64_t ms;
    uint64_t id;
};

struct db_page {
    int64_t from_ms, until_ms; /* from_ms <= time < until_ms; until_ms 0: any time */
    struct list_key below;     /* given: only rows below it */
    size_t limit;
};

/* Compares two rows for qsort: newest first, as the statement orders them. */
int list_key_order(int64_t a_ms, uint64_t a_id, int64_t b_ms, uint64_t b_id);

/* Appends the conditions, the order and the limit of a page to a statement that ends within its WHERE clause:
 * " AND … ORDER BY ms DESC, id DESC LIMIT n". ms and id are the names of the columns. A condition that excludes nothing
 * is left out, because considering it costs the optimizer a third of the time for the first page of a list. */
void db_page_append(struct buf *sql, const struct db_page *page, const char *ms, const char *id);

#endif
