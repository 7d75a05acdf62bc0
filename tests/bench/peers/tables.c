#include "peers/tables.h"

#include <errmsg.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/unix_path.h"

enum { SQL_MAX = 32768 }; /* a thousand rows of shares */

static MYSQL *mysql; /* NULL after an error */

MYSQL *tables_ready(const struct config *config)
{
    if (mysql != NULL)
        return mysql;
    mysql = mysql_init(NULL);
    if (mysql == NULL)
        return NULL;
    if (mysql_options(mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4") != 0 ||
        mysql_real_connect(mysql, NULL, config->mysql_user, config->mysql_password, config->mysql_database, 0,
                           unix_path(config->mysql), 0) == NULL ||
        mysql_query(mysql, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED") != 0)
        tables_fail();
    return mysql;
}

void tables_fail(void)
{
    (void)fprintf(stderr, "MariaDB: %s\n", mysql_error(mysql));
    mysql_close(mysql);
    mysql = NULL;
}

static unsigned run(const char *format, va_list args)
{
    char sql[SQL_MAX];
    int len = vsnprintf(sql, sizeof sql, format, args);
    if (len < 0 || (size_t)len >= sizeof sql)
        return CR_OUT_OF_MEMORY;
    return mysql_real_query(mysql, sql, (unsigned long)len) == 0 ? 0 : mysql_errno(mysql);
}

unsigned tables_run(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    unsigned error = run(format, args);
    va_end(args);
    return error;
}

MYSQL_RES *tables_rows(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    unsigned error = run(format, args);
    va_end(args);
    return error == 0 ? mysql_store_result(mysql) : NULL;
}

bool tables_row(long long *out, unsigned columns)
{
    MYSQL_RES *rows = mysql_store_result(mysql);
    MYSQL_ROW row = rows == NULL ? NULL : mysql_fetch_row(rows);
    for (unsigned i = 0; row != NULL && i < columns; i++)
        out[i] = row[i] == NULL ? 0 : strtoll(row[i], NULL, 10);
    mysql_free_result(rows);
    return row != NULL;
}
