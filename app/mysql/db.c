/* One connection. The first statement opens it, and the first statement after a loss opens it again. Inside a
 * transaction it is never reopened: on a new connection the remaining statements would each commit on their own. */
#include "mysql/db.h"

#include <assert.h>
#include <mysql.h>
#include <mysqld_error.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "mysql/db_internal.h"
#include "mysql/db_sql_internal.h"

enum {
    TRANSACTION_TRIES_MAX = 5,
    JITTER_MS_MAX = 12, /* per failed try */
    COLUMNS_MAX = 64,
    SQL_BYTES_MAX = 64 << 20,
    SQL_BYTES_KEPT = 1 << 20
};

struct db *db_new(const struct config *config)
{
    struct db *db = calloc(1, sizeof *db);
    if (db == NULL)
        return NULL;
    db->config = config;
    db->timeout_s = config->mysql_timeout_s;
    db->sql.limit = SQL_BYTES_MAX;
    return db;
}

void db_free(struct db *db)
{
    if (db == NULL)
        return;
    db_connection_close(db);
    buf_free(&db->sql);
    buf_free(&db->prepared_sql);
    free(db);
}

bool db_is_connected(const struct db *db)
{
    return db->connected;
}

uint64_t db_connections(const struct db *db)
{
    return db->connections;
}

void db_greet(struct db *db, const char *sql, db_accept *accept, void *ctx)
{
    db->greeting = sql;
    db->accept = accept;
    db->accept_ctx = ctx;
}

const char *db_refusal(const struct db *db)
{
    return db->refusal;
}

bool db_login_refused(const struct db *db)
{
    static const unsigned int codes[] = { ER_ACCESS_DENIED_ERROR, ER_DBACCESS_DENIED_ERROR, ER_BAD_DB_ERROR,
                                          ER_ACCESS_DENIED_NO_PASSWORD_ERROR };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (db->connect_error == codes[i])
            return true;
    return false;
}

void db_set_timeout_s(struct db *db, int64_t timeout_s)
{
    assert(db->transaction == TRANSACTION_NONE);
    db->timeout_s = timeout_s;
    db_connection_close(db);
}

/* Drops the connection that failed during the running statement. */
static void statement_connection_lost(struct db *db, unsigned int code)
{
    db_connection_drop(db, code);
    if (clock_monotonic_ms() - db->statement_start_ms >= db->timeout_s * 1000)
        db_connection_avoid(db);
}

static void transaction_rollback(struct db *db)
{
    db->statement_start_ms = clock_monotonic_ms();
    if (mysql_query(db->mysql, "ROLLBACK") != 0)
        statement_connection_lost(db, mysql_errno(db->mysql));
}

/* Within a transaction: its further statements return st. */
static void transaction_abort(struct db *db, enum status st)
{
    if (db->transaction == TRANSACTION_NONE)
        return;
    db->transaction = TRANSACTION_ABORTED;
    db->aborted_status = st;
}

/* Leaves a server that refuses a statement which another server may accept. False: it is the only one, and it still
 * answers reads. */
static bool server_left(struct db *db, unsigned int code)
{
    if (db->address_count == 1 && code != ER_UNKNOWN_COM_ERROR)
        return false;
    db_connection_drop(db, code);
    db_connection_avoid(db);
    return true;
}

/* The status of the statement that has just failed with code. reads: the statement changes no data. */
static enum status statement_failed(struct db *db, unsigned int code, bool reads)
{
    bool in_transaction = db->transaction != TRANSACTION_NONE;
    db->failed_code = code;
    if (db_error_is_connection_loss(code)) {
        statement_connection_lost(db, code);
        transaction_abort(db, ST_UNAVAILABLE);
        return in_transaction || reads ? ST_UNAVAILABLE : ST_UNKNOWN;
    }
    /* Outside of a transaction a query locks nothing. Then a lock wait timeout comes from a Galera node that does not
     * know yet whether it has the commits of the others. */
    if (db_error_is_of_server(code) || (code == ER_LOCK_WAIT_TIMEOUT && reads && !in_transaction)) {
        if (server_left(db, code))
            transaction_abort(db, ST_UNAVAILABLE);
        return ST_UNAVAILABLE;
    }
    enum status st = db_error_status(code, mysql_error(db->mysql));
    if (st == ST_CORRUPT || db_error_is_right_refused(code)) {
        char quoted[LOG_LINE_MAX / 2];
        log_error("statement failed", "code=%u error=%s", code,
                  log_quote(str_from(mysql_error(db->mysql)), quoted, sizeof quoted));
        db_error_right_refused_log(db->mysql);
    }
    if (st != ST_CONFLICT)
        return st;
    db->transaction_conflict = true;
    if (!in_transaction)
        return ST_UNAVAILABLE; /* the server has undone the statement */
    /* After a lock wait timeout the server has undone only the statement: roll back the rest. */
    transaction_rollback(db);
    transaction_abort(db, ST_CONFLICT);
    return ST_CONFLICT;
}

/* ---- statements ---- */

void db_append(struct db *db, struct buf *sql, const struct db_param *param)
{
    if (db_handle_ready(db))
        db_sql_literal(db->mysql, sql, param);
    else
        sql->failed = true;
}

/* The text of a statement, with literals; the connection is open. */
static enum status statement_text(struct db *db, const char *sql, const struct db_param *params, size_t count,
                                  struct str *out)
{
    if (db->transaction == TRANSACTION_ABORTED)
        return db->aborted_status;
    if (!db_connection_ready(db))
        return ST_UNAVAILABLE;
    *out = str_from(sql);
    if (count > 0) {
        if (db->sql.cap > SQL_BYTES_KEPT)
            buf_free(&db->sql);
        buf_reset(&db->sql);
        db_sql_expand(db->mysql, &db->sql, sql, params, count);
        if (db->sql.failed)
            return ST_NO_MEMORY;
        *out = buf_view(&db->sql);
    }
    return ST_OK;
}

/* Sends one statement. ST_OK: it succeeded, and its result can be fetched. */
static enum status statement_run(struct db *db, const char *sql, const struct db_param *params, size_t count,
                                 bool reads)
{
    struct str text;
    enum status st = statement_text(db, sql, params, count, &text);
    if (st != ST_OK)
        return st;
    db->statement_start_ms = clock_monotonic_ms();
    int failed = mysql_real_query(db->mysql, text.ptr, (unsigned long)text.len);
    /* Outside of a transaction, the server has undone the whole statement when it lost a deadlock: in InnoDB, or
     * against another Galera node at the statement's own COMMIT. */
    if (failed != 0 && db->transaction == TRANSACTION_NONE && mysql_errno(db->mysql) == ER_LOCK_DEADLOCK)
        failed = mysql_real_query(db->mysql, text.ptr, (unsigned long)text.len);
    if (failed != 0)
        return statement_failed(db, mysql_errno(db->mysql), reads);
    db->last_used_ms = clock_monotonic_ms();
    return ST_OK;
}

enum status db_exec(struct db *db, uint64_t *affected, const char *sql, const struct db_param *params, size_t count)
{
    enum status st = statement_run(db, sql, params, count, false);
    if (st != ST_OK)
        return st;
    assert(mysql_field_count(db->mysql) == 0); /* a statement that returns rows belongs in db_query */
    uint64_t id = mysql_insert_id(db->mysql);
    if (id != 0)
        db->last_id = id;
    if (affected != NULL)
        *affected = mysql_affected_rows(db->mysql);
    return ST_OK;
}

uint64_t db_last_id(const struct db *db)
{
    return db->last_id;
}

static enum status rows_copy(struct arena *a, MYSQL_RES *result, struct db_rows *rows)
{
    size_t columns = mysql_num_fields(result);
    size_t count = (size_t)mysql_num_rows(result);
    struct str *cells = NULL;
    if (count > 0) {
        cells = arena_array(a, count * columns, sizeof *cells);
        if (cells == NULL)
            return ST_NO_MEMORY;
    }
    for (size_t r = 0; r < count; r++) {
        MYSQL_ROW row = mysql_fetch_row(result);
        const unsigned long *lengths = mysql_fetch_lengths(result);
        if (row == NULL || lengths == NULL)
            return ST_NO_MEMORY;
        for (size_t c = 0; c < columns; c++) {
            if (row[c] == NULL)
                continue;
            struct str cell = arena_str(a, (struct str){ row[c], lengths[c] });
            if (cell.ptr == NULL)
                return ST_NO_MEMORY;
            cells[r * columns + c] = cell;
        }
    }
    *rows = (struct db_rows){ .count = count, .columns = columns, .cells = cells };
    return ST_OK;
}

enum status db_query(struct db *db, struct arena *a, struct db_rows *rows, const char *sql,
                     const struct db_param *params, size_t count)
{
    *rows = (struct db_rows){ 0 };
    enum status st = statement_run(db, sql, params, count, true);
    if (st != ST_OK)
        return st;
    MYSQL_RES *result = mysql_store_result(db->mysql);
    unsigned int code = mysql_errno(db->mysql);
    if (result == NULL)
        return code == 0 ? ST_OK : statement_failed(db, code, true);
    st = rows_copy(a, result, rows);
    mysql_free_result(result);
    db->last_used_ms = clock_monotonic_ms();
    return st;
}

enum status db_query_prepared(struct db *db, struct arena *a, struct db_rows *rows, const char *sql,
                              const struct db_param *params, size_t count)
{
    struct db_numbers numbers;
    struct str text;
    unsigned int code = 0;
    *rows = (struct db_rows){ 0 };
    enum status st = statement_text(db, sql, params, count, &text);
    if (st != ST_OK)
        return st;
    buf_reset(&db->prepared_sql);
    if (!db_sql_lift(&db->prepared_sql, text, &numbers))
        return db_query(db, a, rows, sql, params, count);
    db->statement_start_ms = clock_monotonic_ms();
    if (!db_prepared_query(db, a, rows, buf_view(&db->prepared_sql), &numbers, &st, &code))
        return db_query(db, a, rows, sql, params, count);
    if (code != 0)
        return statement_failed(db, code, true);
    db->last_used_ms = clock_monotonic_ms();
    return st;
}

enum status db_find(struct db *db, struct arena *a, struct db_rows *rows, const char *sql,
                    const struct db_param *params, size_t count)
{
    enum status st = db_query(db, a, rows, sql, params, count);
    return st == ST_OK && rows->count == 0 ? ST_NOT_FOUND : st;
}

/* Passes one row to the callback. *more: its return value. */
static void row_pass(MYSQL_RES *result, MYSQL_ROW row, bool (*each)(void *ctx, const struct str *cells, size_t columns),
                     void *ctx, bool *more)
{
    struct str cells[COLUMNS_MAX];
    size_t columns = mysql_num_fields(result);
    const unsigned long *lengths = mysql_fetch_lengths(result);
    assert(columns <= COLUMNS_MAX && lengths != NULL);
    for (size_t c = 0; c < columns; c++)
        cells[c] = row[c] == NULL ? STR_NONE : (struct str){ row[c], lengths[c] };
    *more = each(ctx, cells, columns);
}

enum status db_each(struct db *db, bool (*each)(void *ctx, const struct str *cells, size_t columns), void *ctx,
                    const char *sql, const struct db_param *params, size_t count)
{
    enum status st = statement_run(db, sql, params, count, true);
    if (st != ST_OK)
        return st;
    MYSQL_RES *result = mysql_use_result(db->mysql);
    unsigned int code = mysql_errno(db->mysql);
    if (result == NULL)
        return code == 0 ? ST_OK : statement_failed(db, code, true);
    bool more = true;
    MYSQL_ROW row = NULL;
    while (more && (row = mysql_fetch_row(result)) != NULL)
        row_pass(result, row, each, ctx, &more);
    code = more ? mysql_errno(db->mysql) : 0;
    mysql_free_result(result); /* reads the remaining rows, so it must come before the connection is dropped */
    db->last_used_ms = clock_monotonic_ms();
    return code == 0 ? ST_OK : statement_failed(db, code, true);
}

void db_comma(struct buf *sql, size_t index)
{
    if (index > 0)
        buf_char(sql, ',');
}

void db_ids(struct buf *sql, const uint64_t *ids, size_t count)
{
    assert(count > 0);
    buf_char(sql, '(');
    for (size_t i = 0; i < count; i++) {
        db_comma(sql, i);
        buf_u64(sql, ids[i]);
    }
    buf_char(sql, ')');
}

enum status db_exec_buf(struct db *db, uint64_t *affected, struct buf *sql)
{
    buf_char(sql, '\0');
    return sql->failed ? ST_NO_MEMORY : db_exec(db, affected, sql->ptr, NULL, 0);
}

enum status db_query_buf(struct db *db, struct arena *a, struct db_rows *rows, struct buf *sql)
{
    buf_char(sql, '\0');
    return sql->failed ? ST_NO_MEMORY : db_query(db, a, rows, sql->ptr, NULL, 0);
}

enum status db_query_buf_prepared(struct db *db, struct arena *a, struct db_rows *rows, struct buf *sql)
{
    buf_char(sql, '\0');
    return sql->failed ? ST_NO_MEMORY : db_query_prepared(db, a, rows, sql->ptr, NULL, 0);
}

struct str db_cell(const struct db_rows *rows, size_t row, size_t column)
{
    assert(row < rows->count && column < rows->columns);
    return rows->cells[row * rows->columns + column];
}

uint64_t db_cell_u64(const struct db_rows *rows, size_t row, size_t column)
{
    uint64_t n = 0;
    bool ok = str_to_u64(db_cell(rows, row, column), &n);
    assert(ok);
    return n;
}

int64_t db_cell_i64(const struct db_rows *rows, size_t row, size_t column)
{
    int64_t n = 0;
    bool ok = str_to_i64(db_cell(rows, row, column), &n);
    assert(ok);
    return n;
}

enum status db_clock_ms(struct db *db, struct arena *a, int64_t *now_ms)
{
    struct db_rows rows;
    enum status st = db_query(db, a, &rows, "SELECT CAST(UNIX_TIMESTAMP(SYSDATE(3)) * 1000 AS SIGNED)", NULL, 0);
    if (st == ST_OK)
        *now_ms = db_cell_i64(&rows, 0, 0);
    return st;
}

/* ---- transactions ---- */

static enum status transaction_commit(struct db *db)
{
    db->statement_start_ms = clock_monotonic_ms();
    if (mysql_query(db->mysql, "COMMIT") == 0)
        return ST_OK;
    unsigned int code = mysql_errno(db->mysql);
    if (db_error_is_connection_loss(code)) {
        statement_connection_lost(db, code);
        return ST_UNKNOWN;
    }
    if (db_error_is_of_server(code) && server_left(db, code))
        return ST_UNKNOWN;
    return statement_failed(db, code, false);
}

/* One try. begin: the statements that open the transaction, terminated by NULL. */
static enum status transaction_try(struct db *db, const char *const *begin,
                                   enum status (*body)(struct db *db, void *ctx), void *ctx)
{
    for (; *begin != NULL; begin++) {
        enum status st = statement_run(db, *begin, NULL, 0, true);
        if (st != ST_OK)
            return st;
    }
    db->transaction = TRANSACTION_OPEN;
    enum status st = body(db, ctx);
    if (db->transaction == TRANSACTION_ABORTED)
        st = db->aborted_status;
    else if (st == ST_OK)
        st = transaction_commit(db);
    if (db->transaction == TRANSACTION_OPEN && st != ST_OK && db->connected)
        transaction_rollback(db);
    db->transaction = TRANSACTION_NONE;
    db->last_used_ms = clock_monotonic_ms();
    return st;
}

static void jitter_wait(unsigned failed_tries)
{
    uint64_t ms = 1 + random_u64() % ((uint64_t)JITTER_MS_MAX * failed_tries);
    struct timespec pause = { .tv_nsec = (long)ms * 1000000 };
    (void)nanosleep(&pause, NULL);
}

static enum status transaction_run(struct db *db, const char *const *begin,
                                   enum status (*body)(struct db *db, void *ctx), void *ctx)
{
    assert(db->transaction == TRANSACTION_NONE);
    for (unsigned tries = 1;; tries++) {
        db->transaction_conflict = false;
        enum status st = transaction_try(db, begin, body, ctx);
        if (!db->transaction_conflict || tries == TRANSACTION_TRIES_MAX)
            return st;
        jitter_wait(tries);
    }
}

enum status db_exec_retried(struct db *db, const char *sql, const struct db_param *params, size_t count)
{
    assert(db->transaction == TRANSACTION_NONE);
    for (unsigned tries = 1;; tries++) {
        db->transaction_conflict = false;
        db->failed_code = 0;
        enum status st = db_exec(db, NULL, sql, params, count);
        if (db_error_is_perhaps_done(db->failed_code))
            return ST_UNKNOWN;
        if (!db->transaction_conflict)
            return st;
        if (tries == TRANSACTION_TRIES_MAX)
            return ST_CONFLICT;
        jitter_wait(tries);
    }
}

enum status db_transaction(struct db *db, enum status (*body)(struct db *db, void *ctx), void *ctx)
{
    static const char *const begin[] = { "START TRANSACTION", NULL };
    return transaction_run(db, begin, body, ctx);
}

enum status db_snapshot(struct db *db, enum status (*body)(struct db *db, void *ctx), void *ctx)
{
    static const char *const begin[] = { "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
                                         "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY", NULL };
    return transaction_run(db, begin, body, ctx);
}
