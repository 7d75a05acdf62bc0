/* Writes parameters as SQL literals into a statement. Only for db.c. */
#ifndef HB_MYSQL_DB_SQL_INTERNAL_H
#define HB_MYSQL_DB_SQL_INTERNAL_H

#include <mysql.h>

#include "base/buf.h"
#include "mysql/db.h"
#include "mysql/db_internal.h"

/* Appends one literal. handle: initialised, connected or not; it holds the character set for escaping. On failure sets
 * out->failed. */
void db_sql_literal(MYSQL *handle, struct buf *out, const struct db_param *param);
/* Appends sql with each ? replaced by the next parameter. A ? within quotes is left alone. sql has exactly count other
 * ? and no backslash (asserted). On failure sets out->failed. */
void db_sql_expand(MYSQL *handle, struct buf *out, const char *sql, const struct db_param *params, size_t count);
/* Appends sql with a ? in place of each whole number outside of quotes, and puts the numbers into *out, so that queries
 * that differ by numbers alone have one text. Numbers of LIMIT, ORDER BY and GROUP BY stay, up to the next ). Comments
 * are treated as SQL. False: there are too many or too large ones, a ? or a backslash, an open quote, or no memory. */
bool db_sql_lift(struct buf *lifted, struct str sql, struct db_numbers *out);

#endif
