/* MariaDB for the FastCGI programs in C: one kept connection per process, and statements as text. */
#ifndef HB_TESTS_TABLES_H
#define HB_TESTS_TABLES_H

#include <mysql.h>
#include <stdbool.h>

#include "base/str.h"
#include "config/config.h"

/* The kept connection, made when there is none. NULL: MariaDB can't be reached; stderr has the reason. */
MYSQL *tables_ready(const struct config *config);
/* Writes the last error to stderr and closes the connection: its state is unknown. */
void tables_fail(void);
/* Runs one statement; returns MariaDB's error number, 0 without one. */
unsigned tables_run(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The rows of one query, for mysql_free_result. NULL: it failed. */
MYSQL_RES *tables_rows(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The numbers of the first row of the statement that tables_run ran last. False: there is no row. */
bool tables_row(long long *out, unsigned columns);

#endif
