/* Parameters become literals of the statement: private to db.c. */
#ifndef HB_IO_DB_SQL_INTERNAL_H
#define HB_IO_DB_SQL_INTERNAL_H

#include <mysql.h>

#include "base/buf.h"
#include "io/db.h"

/* Appends one literal. handle: an initialised one, it knows the character set. A failure is left in out->failed. */
void db_sql_literal(MYSQL *handle, struct buf *out, const struct db_param *param);
/* Appends sql, its ? replaced in order. Question marks in quoted text are text. There must be as many ? as params. */
void db_sql_expand(MYSQL *handle, struct buf *out, const char *sql, const struct db_param *params, size_t count);

#endif
