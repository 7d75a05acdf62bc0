/* One connection. The first statement opens it, and the first statement after a loss opens it again. Inside a
 * transaction it is never reopened: on a new connection the remaining statements would each commit on their own. */
#include "io/db.h"

#include <assert.h>
#include <errmsg.h>
#include <errno.h>
#include <fcntl.h>
#include <mysql.h>
#include <mysqld_error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "base/security_event.h"
#include "io/db_sql_internal.h"
#include "io/metrics.h"

enum {
    TRANSACTION_TRIES_MAX = 5,
    JITTER_MS_MAX = 12,   /* per failed try */
    RETRY_PAUSE_MS = 200, /* after a failed connect or a timeout: statements fail at once instead of waiting, too */
    IDLE_CHECK_MS = 20,   /* a connection unused for longer is tested before its next use */
    LOCK_WAIT_S = 3,
    IDLE_TRANSACTION_S = 60, /* longer than the program ever works between two statements of a transaction */
    COLUMNS_MAX = 64,
    SQL_BYTES_MAX = 64 << 20,
    SQL_BYTES_KEPT = 1 << 20
};

/* Error codes of which only one of the two servers has the constant, or which the two servers name differently. */
enum {
    ER_FK_OR_CHECK_DUP_NAME = 1826,
    ER_MARIADB_CONSTRAINT_FAILED = 4025,
    ER_MYSQL_CHECK_VIOLATED = 3819,
    ER_MYSQL_LOCK_NOWAIT = 3572,
    ER_MYSQL_CHECK_DUP_NAME = 3822,
    ER_MYSQL_CONSTRAINT_NOT_FOUND = 3940,
    ER_MYSQL_CLIENT_TIMEOUT = 4031,
    ER_MARIADB_CONNECTION_KILLED = 1927,
    /* Signalled by the routines of the ledger (sql/migrations). */
    ER_ROUTINE_REFUSED = 31001,
    ER_ROUTINE_NOT_FOUND = 31002
};

enum transaction { TRANSACTION_NONE, TRANSACTION_OPEN, TRANSACTION_ABORTED };

struct db {
    const struct config *config;
    int64_t timeout_s;
    MYSQL *mysql; /* initialised, perhaps not connected yet; NULL before the first use and after a loss */
    bool connected;
    bool unreachable_logged;
    int64_t retry_at_ms;        /* monotonic: do not connect before */
    int64_t statement_start_ms; /* monotonic: of the running statement */
    int64_t last_used_ms;       /* monotonic: end of the last statement */
    enum transaction transaction;
    enum status aborted_status; /* returned by every statement of an aborted transaction */
    bool transaction_conflict;  /* a deadlock or lock wait timeout aborted this transaction */
    uint64_t last_id;
    struct buf sql;
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

static void connection_close(struct db *db)
{
    if (db->mysql != NULL)
        mysql_close(db->mysql);
    db->mysql = NULL;
    db->connected = false;
}

void db_free(struct db *db)
{
    if (db == NULL)
        return;
    connection_close(db);
    buf_free(&db->sql);
    free(db);
}

void db_set_timeout_s(struct db *db, int64_t timeout_s)
{
    assert(db->transaction == TRANSACTION_NONE);
    db->timeout_s = timeout_s;
    connection_close(db);
}

/* ---- connecting ---- */

/* Creates the handle before the connection is open: escaping literals needs it. */
static bool handle_ready(struct db *db)
{
    if (db->mysql != NULL)
        return true;
    db->mysql = mysql_init(NULL);
    if (db->mysql == NULL)
        return false;
    unsigned int timeout_s = (unsigned int)db->timeout_s, off = 0;
    bool ok = mysql_options(db->mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4") == 0 &&
              mysql_options(db->mysql, MYSQL_OPT_CONNECT_TIMEOUT, &timeout_s) == 0 &&
              mysql_options(db->mysql, MYSQL_OPT_READ_TIMEOUT, &timeout_s) == 0 &&
              mysql_options(db->mysql, MYSQL_OPT_WRITE_TIMEOUT, &timeout_s) == 0 &&
              mysql_options(db->mysql, MYSQL_OPT_LOCAL_INFILE, &off) == 0;
#ifdef MARIADB_PACKAGE_VERSION
    my_bool no = 0; /* off by default in both libraries; MySQL's library warns when the option is set at all */
    ok = ok && mysql_options(db->mysql, MYSQL_OPT_RECONNECT, &no) == 0;
#endif
    if (!ok) /* out of memory: use no connection rather than one without timeouts */
        connection_close(db);
    return ok;
}

static int connection_fd(const struct db *db)
{
#ifdef MARIADB_PACKAGE_VERSION
    return mysql_get_socket(db->mysql);
#else
    return db->mysql->net.fd;
#endif
}

/* Sets a variable. True also when the server does not have it. */
static bool variable_set(MYSQL *mysql, const char *statement)
{
    return mysql_query(mysql, statement) == 0 || mysql_errno(mysql) == ER_UNKNOWN_SYSTEM_VARIABLE;
}

static bool session_configure(MYSQL *mysql, int64_t timeout_s)
{
    /* The lock wait must end before the read timeout, or it would look like a lost connection. */
    int64_t wait_s = timeout_s > LOCK_WAIT_S ? LOCK_WAIT_S : timeout_s > 1 ? timeout_s - 1 : 1;
    char set[512];
    (void)snprintf(set, sizeof set,
                   "SET SESSION time_zone = '+00:00', autocommit = 1, innodb_lock_wait_timeout = %lld,"
                   " sql_mode = 'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,"
                   "NO_ENGINE_SUBSTITUTION'",
                   (long long)wait_s);
    if (mysql_query(mysql, set) != 0 ||
        mysql_query(mysql, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED") != 0)
        return false;
    /* innodb_snapshot_isolation (MariaDB >= 10.6.18 and 10.11.8): at repeatable read, overwriting a newer row fails.
     * idle_transaction_timeout (MariaDB): the server ends a transaction whose client sends nothing, and frees its
     * locks; the client may be stopped, or its machine lost. */
    (void)snprintf(set, sizeof set, "SET SESSION idle_transaction_timeout = %d", IDLE_TRANSACTION_S);
    return variable_set(mysql, "SET SESSION innodb_snapshot_isolation = ON") && variable_set(mysql, set);
}

/* Logs a security event when the role's user lacks the right, or the server does not accept the user. */
static void right_refused_log(struct db *db, unsigned int code)
{
    if (code == ER_DBACCESS_DENIED_ERROR || code == ER_ACCESS_DENIED_ERROR || code == ER_TABLEACCESS_DENIED_ERROR ||
        code == ER_COLUMNACCESS_DENIED_ERROR || code == ER_SPECIFIC_ACCESS_DENIED_ERROR ||
        code == ER_PROCACCESS_DENIED_ERROR)
        security_role_refused("mysql", str_from(mysql_error(db->mysql)));
}

static bool connection_open(struct db *db)
{
    int64_t now_ms = clock_monotonic_ms();
    if (now_ms < db->retry_at_ms || !handle_ready(db))
        return false;
    const struct config *c = db->config;
    bool ok = mysql_real_connect(db->mysql, NULL, c->mysql_user, c->mysql_password, c->mysql_database, 0,
                                 c->mysql_socket, 0) != NULL &&
              session_configure(db->mysql, db->timeout_s);
    if (ok)
        (void)fcntl(connection_fd(db), F_SETFD, FD_CLOEXEC);
    if (ok && db->unreachable_logged)
        log_info("mysql reachable again", NULL);
    if (!ok && !db->unreachable_logged) {
        char quoted[LOG_LINE_MAX / 2];
        log_warn("mysql unreachable", "code=%u error=%s", mysql_errno(db->mysql),
                 log_quote(str_from(mysql_error(db->mysql)), quoted, sizeof quoted));
        right_refused_log(db, mysql_errno(db->mysql));
    }
    db->unreachable_logged = !ok;
    db->connected = ok;
    if (!ok) {
        connection_close(db);
        db->retry_at_ms = clock_monotonic_ms() + RETRY_PAUSE_MS;
    }
    return ok;
}

static void connection_drop(struct db *db, unsigned int code)
{
    log_warn("mysql connection dropped", "code=%u", code);
    metrics_add(METRIC_MYSQL_LOST, 1);
    connection_close(db);
}

/* True when an idle connection is readable: the only thing to read is its end, after a server restart or timeout. */
static bool connection_stale(const struct db *db)
{
    if (clock_monotonic_ms() - db->last_used_ms <= IDLE_CHECK_MS)
        return false;
    char byte;
    ssize_t n = recv(connection_fd(db), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return n >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

static bool connection_ready(struct db *db)
{
    if (db->connected && db->transaction == TRANSACTION_NONE && connection_stale(db))
        connection_drop(db, CR_SERVER_GONE_ERROR);
    return db->connected || connection_open(db);
}

/* ---- errors ---- */

static bool error_is_connection_loss(unsigned int code)
{
    return (code >= CR_MIN_ERROR && code <= CR_MAX_ERROR) || code == ER_SERVER_SHUTDOWN ||
           code == ER_QUERY_INTERRUPTED || code == ER_MARIADB_CONNECTION_KILLED || code == ER_MYSQL_CLIENT_TIMEOUT;
}

static enum status error_status(unsigned int code, const char *message)
{
    switch (code) {
    case ER_DUP_ENTRY:
    case ER_DUP_ENTRY_WITH_KEY_NAME:
    case ER_TABLE_EXISTS_ERROR:
    case ER_SP_ALREADY_EXISTS:
    case ER_DUP_FIELDNAME:
    case ER_DUP_KEYNAME:
    case ER_FK_OR_CHECK_DUP_NAME:
    case ER_MYSQL_CHECK_DUP_NAME: return ST_EXISTS;
    case ER_BAD_TABLE_ERROR:
    case ER_CANT_DROP_FIELD_OR_KEY:
    case ER_ROUTINE_NOT_FOUND:
    case ER_MYSQL_CONSTRAINT_NOT_FOUND: return ST_NOT_FOUND;
    case ER_CANT_CREATE_TABLE: /* MariaDB, errno 121: a foreign key of this name exists */
        return strstr(message, "errno: 121") != NULL ? ST_EXISTS : ST_CORRUPT;
    case ER_LOCK_DEADLOCK:
    case ER_LOCK_WAIT_TIMEOUT:
    case ER_LOCK_TABLE_FULL:
    case ER_CHECKREAD: /* snapshot isolation: the row has changed since it was read */
    case ER_MYSQL_LOCK_NOWAIT: return ST_CONFLICT;
    case ER_ROUTINE_REFUSED:
    case ER_MARIADB_CONSTRAINT_FAILED:
    case ER_MYSQL_CHECK_VIOLATED:
    case ER_NO_REFERENCED_ROW:
    case ER_NO_REFERENCED_ROW_2:
    case ER_ROW_IS_REFERENCED:
    case ER_ROW_IS_REFERENCED_2:
    case ER_BAD_NULL_ERROR:
    case ER_WARN_DATA_OUT_OF_RANGE:
    case ER_DATA_OUT_OF_RANGE:
    case ER_DATA_TOO_LONG:
    case ER_TRUNCATED_WRONG_VALUE_FOR_FIELD:
    case WARN_DATA_TRUNCATED: return ST_INVALID;
    case ER_DISK_FULL:
    case ER_RECORD_FILE_FULL:
    case ER_OPTION_PREVENTS_STATEMENT: /* read only */
    case ER_OUT_OF_RESOURCES: return ST_UNAVAILABLE;
    default: return ST_CORRUPT;
    }
}

/* Drops the connection that failed during the running statement. */
static void statement_connection_lost(struct db *db, unsigned int code)
{
    connection_drop(db, code);
    int64_t now_ms = clock_monotonic_ms();
    if (now_ms - db->statement_start_ms >= db->timeout_s * 1000)
        db->retry_at_ms = now_ms + RETRY_PAUSE_MS;
}

static void transaction_rollback(struct db *db)
{
    db->statement_start_ms = clock_monotonic_ms();
    if (mysql_query(db->mysql, "ROLLBACK") != 0)
        statement_connection_lost(db, mysql_errno(db->mysql));
}

/* The status of the statement that has just failed with code. reads: the statement changes no data. */
static enum status statement_failed(struct db *db, unsigned int code, bool reads)
{
    bool in_transaction = db->transaction != TRANSACTION_NONE;
    if (error_is_connection_loss(code)) {
        statement_connection_lost(db, code);
        if (in_transaction) {
            db->transaction = TRANSACTION_ABORTED;
            db->aborted_status = ST_UNAVAILABLE;
        }
        return in_transaction || reads ? ST_UNAVAILABLE : ST_UNKNOWN;
    }
    enum status st = error_status(code, mysql_error(db->mysql));
    if (st == ST_CORRUPT) {
        char quoted[LOG_LINE_MAX / 2];
        log_error("statement failed", "code=%u error=%s", code,
                  log_quote(str_from(mysql_error(db->mysql)), quoted, sizeof quoted));
        right_refused_log(db, code);
    }
    if (st == ST_CONFLICT && in_transaction) {
        /* After a lock wait timeout the server has undone only the statement: roll back the rest. */
        transaction_rollback(db);
        db->transaction = TRANSACTION_ABORTED;
        db->aborted_status = ST_CONFLICT;
        db->transaction_conflict = true;
    }
    return st;
}

/* ---- statements ---- */

void db_append(struct db *db, struct buf *sql, const struct db_param *param)
{
    if (handle_ready(db))
        db_sql_literal(db->mysql, sql, param);
    else
        sql->failed = true;
}

/* Sends one statement. ST_OK: it succeeded, and its result can be fetched. */
static enum status statement_run(struct db *db, const char *sql, const struct db_param *params, size_t count,
                                 bool reads)
{
    if (db->transaction == TRANSACTION_ABORTED)
        return db->aborted_status;
    if (!connection_ready(db))
        return ST_UNAVAILABLE;
    struct str text = str_from(sql);
    if (count > 0) {
        if (db->sql.cap > SQL_BYTES_KEPT)
            buf_free(&db->sql);
        buf_reset(&db->sql);
        db_sql_expand(db->mysql, &db->sql, sql, params, count);
        if (db->sql.failed)
            return ST_NO_MEMORY;
        text = buf_view(&db->sql);
    }
    db->statement_start_ms = clock_monotonic_ms();
    if (mysql_real_query(db->mysql, text.ptr, (unsigned long)text.len) != 0)
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

/* ---- transactions ---- */

static enum status transaction_commit(struct db *db)
{
    db->statement_start_ms = clock_monotonic_ms();
    if (mysql_query(db->mysql, "COMMIT") == 0)
        return ST_OK;
    unsigned int code = mysql_errno(db->mysql);
    if (error_is_connection_loss(code)) {
        statement_connection_lost(db, code);
        return ST_UNKNOWN;
    }
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
