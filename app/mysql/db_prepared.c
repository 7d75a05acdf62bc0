/* Prepared statements: the server keeps a query parsed, and gets only the numbers. A connection has few of them, and
 * closes the least recently used statement for a new one. */
#include <assert.h>
#include <mysqld_error.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "mysql/db_internal.h"
#include "mysql/db_sql_internal.h"

enum { CELL_BYTES = 128, COLUMNS_MAX = 64 }; /* a longer cell is fetched once more */

#ifdef MARIADB_PACKAGE_VERSION
typedef my_bool bind_flag;
#else
typedef bool bind_flag;
#endif

static void prepared_close(struct db_prepared *p)
{
    if (p->statement != NULL)
        (void)mysql_stmt_close(p->statement);
    free(p->sql);
    *p = (struct db_prepared){ 0 };
}

/* Closes the statement whose last execution failed. If another statement were closed first, the library (3.4 and later)
 * would refuse and lose the memory. */
static void prepared_close_failed(struct db *db)
{
    if (db->prepared_failed != NULL)
        prepared_close(db->prepared_failed);
    db->prepared_failed = NULL;
}

void db_prepared_close(struct db *db)
{
    prepared_close_failed(db);
    for (size_t i = 0; i < ARRAY_LEN(db->prepared); i++)
        prepared_close(&db->prepared[i]);
}

/* The statement of this text, or the place for it: an unused place, else the place of the least recently used
 * statement. */
static struct db_prepared *prepared_find(struct db *db, struct str sql)
{
    struct db_prepared *oldest = &db->prepared[0];
    for (size_t i = 0; i < ARRAY_LEN(db->prepared); i++) {
        struct db_prepared *p = &db->prepared[i];
        if (p->statement != NULL && p->sql_len == sql.len && memcmp(p->sql, sql.ptr, sql.len) == 0)
            return p;
        if (p->used < oldest->used)
            oldest = p;
    }
    prepared_close(oldest);
    return oldest;
}

/* Prepares the statement, which has so many numbers, when it is new. Returns the server's code; 0: it can be
 * executed. */
static unsigned int prepared_ready(struct db *db, struct db_prepared *p, struct str sql, size_t numbers)
{
    p->used = ++db->prepared_uses;
    if (p->statement != NULL)
        return 0;
    p->statement = mysql_stmt_init(db->mysql);
    p->sql = malloc(sql.len + 1);
    unsigned int code = p->statement == NULL || p->sql == NULL ? ER_OUT_OF_RESOURCES : 0;
    if (code == 0 && mysql_stmt_prepare(p->statement, sql.ptr, (unsigned long)sql.len) != 0)
        code = mysql_stmt_errno(p->statement);
    if (code == 0 && mysql_stmt_param_count(p->statement) != numbers) /* a ? in a comment is no parameter */
        code = ER_UNSUPPORTED_PS;
    if (code != 0) {
        prepared_close(p);
        return code;
    }
    memcpy(p->sql, sql.ptr, sql.len);
    p->sql_len = sql.len;
    return 0;
}

/* Sends the numbers, and reads the result. Returns the server's code; 0: the rows can be fetched. */
static unsigned int prepared_execute(MYSQL_STMT *statement, const struct db_numbers *numbers)
{
    MYSQL_BIND params[DB_NUMBERS_MAX];
    memset(params, 0, sizeof params);
    for (size_t i = 0; i < numbers->count; i++) {
        params[i].buffer_type = MYSQL_TYPE_LONGLONG;
        params[i].buffer = (void *)&numbers->values[i];
        params[i].is_unsigned = numbers->values[i] > INT64_MAX;
    }
    if (mysql_stmt_bind_param(statement, params) != 0 || mysql_stmt_execute(statement) != 0 ||
        mysql_stmt_store_result(statement) != 0)
        return mysql_stmt_errno(statement);
    return 0;
}

/* The cells of a row, as text. */
struct row {
    MYSQL_BIND binds[COLUMNS_MAX];
    char bytes[COLUMNS_MAX][CELL_BYTES];
    unsigned long lengths[COLUMNS_MAX];
    bind_flag nulls[COLUMNS_MAX], cuts[COLUMNS_MAX];
};

static bool row_bind(MYSQL_STMT *statement, struct row *row, size_t columns)
{
    memset(row->binds, 0, columns * sizeof *row->binds);
    for (size_t c = 0; c < columns; c++) {
        row->binds[c].buffer_type = MYSQL_TYPE_STRING;
        row->binds[c].buffer = row->bytes[c];
        row->binds[c].buffer_length = CELL_BYTES;
        row->binds[c].length = &row->lengths[c];
        row->binds[c].is_null = &row->nulls[c];
        row->binds[c].error = &row->cuts[c];
    }
    return mysql_stmt_bind_result(statement, row->binds) == 0;
}

static struct str cell_copy(struct arena *a, MYSQL_STMT *statement, struct row *row, size_t c)
{
    size_t len = row->lengths[c];
    if (len <= CELL_BYTES)
        return arena_str(a, (struct str){ row->bytes[c], len });
    char *bytes = arena_alloc(a, len + 1);
    MYSQL_BIND bind = row->binds[c];
    bind.buffer = bytes;
    bind.buffer_length = len;
    bool ok = bytes != NULL && mysql_stmt_fetch_column(statement, &bind, (unsigned)c, 0) == 0;
    return ok ? (struct str){ bytes, len } : STR_NONE;
}

static enum status rows_fetch(struct arena *a, MYSQL_STMT *statement, struct db_rows *rows)
{
    struct row row;
    size_t columns = mysql_stmt_field_count(statement), count = (size_t)mysql_stmt_num_rows(statement);
    assert(columns <= COLUMNS_MAX);
    struct str *cells = arena_array(a, count * columns + 1, sizeof *cells);
    if (cells == NULL || !row_bind(statement, &row, columns))
        return ST_NO_MEMORY;
    for (size_t r = 0; r < count; r++) {
        int fetched = mysql_stmt_fetch(statement);
        if (fetched != 0 && fetched != MYSQL_DATA_TRUNCATED)
            return ST_NO_MEMORY;
        for (size_t c = 0; c < columns; c++) {
            struct str *cell = &cells[r * columns + c];
            if (row.nulls[c])
                continue;
            *cell = cell_copy(a, statement, &row, c);
            if (cell->ptr == NULL)
                return ST_NO_MEMORY;
        }
    }
    *rows = (struct db_rows){ .count = count, .columns = columns, .cells = cells };
    return ST_OK;
}

bool db_prepared_query(struct db *db, struct arena *a, struct db_rows *rows, struct str sql,
                       const struct db_numbers *numbers, enum status *out, unsigned int *code)
{
    prepared_close_failed(db);
    struct db_prepared *p = prepared_find(db, sql);
    *code = prepared_ready(db, p, sql, numbers->count);
    if (*code != 0)
        return db_error_is_connection_loss(*code);
    *code = prepared_execute(p->statement, numbers);
    if (*code == ER_UNKNOWN_STMT_HANDLER || *code == ER_NEED_REPREPARE) {
        prepared_close(p);
        return false;
    }
    if (*code != 0) { /* it is closed before the next statement: closing it now would clear the server's message */
        db->prepared_failed = p;
        return true;
    }
    *out = rows_fetch(a, p->statement, rows);
    (void)mysql_stmt_free_result(p->statement);
    return true;
}
