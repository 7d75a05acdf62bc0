/* MySQL / MariaDB through the client library: one connection, statements with typed parameters, transactions. Each call
 * blocks for up to the configured timeout, so the hot pool never uses it. A statement's `?` are replaced by literals on
 * the client; results are text. Use: db_new, db_exec and db_query, db_transaction around statements that belong
 * together, db_free. */
#ifndef HB_MYSQL_DB_H
#define HB_MYSQL_DB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"
#include "config/config.h"

struct db;

/* Does not connect; the first statement does, with the session settings of mysql/db_session.h, a lock wait of 3 s, or a
 * second less than the timeout if that is shorter, local_infile off, reconnect off. For 200 ms after a failed connect
 * or a timeout, statements return ST_UNAVAILABLE at once. config is borrowed. NULL when out of memory.
 *
 * Of several addresses it uses the first one that answers, takes writes and, of Galera, is in the primary component;
 * the connection stays there until it is lost or the server refuses: a replica, or a node without its cluster. Then the
 * same server is tried first, but one that failed is tried after the others for 10 s. */
struct db *db_new(const struct config *config);
void db_free(struct db *db);

/* Whether there is a connection: false before the first statement, and after a failure of the server. */
bool db_is_connected(const struct db *db);
/* Why the last connection was refused for a setting of the server (mysql/db_session.h); "" when it was not. */
const char *db_refusal(const struct db *db);
/* Whether the server refused the last connection because it knows no such user or database, or has another password. */
bool db_login_refused(const struct db *db);

/* How many connections were made so far. */
uint64_t db_connections(const struct db *db);
/* Runs the query sql on each new connection before it is used. answer: the first cell; STR_NONE: no row, or no such
 * table. accept returns NULL, or why the connection must not be used (a constant, for the log); another address is
 * tried then. */
typedef const char *db_accept(void *ctx, struct str answer);
void db_greet(struct db *db, const char *sql, db_accept *accept, void *ctx);

/* A parameter: replaces the next `?` of the statement. Text and bytes are escaped; the struct str is borrowed. */
struct db_param {
    enum { DB_PARAM_NULL, DB_PARAM_I64, DB_PARAM_U64, DB_PARAM_TEXT, DB_PARAM_BYTES } type;
    union {
        int64_t i64;
        uint64_t u64;
        struct str text;
    } as;
};
#define DB_NULL    ((struct db_param){ .type = DB_PARAM_NULL })
#define DB_I64(n)  ((struct db_param){ .type = DB_PARAM_I64, .as.i64 = (n) })
#define DB_U64(n)  ((struct db_param){ .type = DB_PARAM_U64, .as.u64 = (n) })
#define DB_TEXT(s) ((struct db_param){ .type = DB_PARAM_TEXT, .as.text = (s) })
/* SQL NULL when s is absent (.ptr NULL). */
#define DB_TEXT_OR_NULL(s) ((s).ptr != NULL ? DB_TEXT(s) : DB_NULL)
#define DB_BYTES(s)        ((struct db_param){ .type = DB_PARAM_BYTES, .as.text = (s) })
#define DB_PARAMS(...)                                                                                                 \
    (const struct db_param[]){ __VA_ARGS__ }, sizeof((const struct db_param[]){ __VA_ARGS__ }) / sizeof(struct db_param)

/* A result in an arena. Cells are text; a NULL has .ptr == NULL. */
struct db_rows {
    size_t count, columns;
    struct str *cells; /* count × columns */
};
/* A cell as text or number; row and column are in range (asserted). The number functions assert that the cell is a
 * decimal number of that type: only for columns whose type guarantees it, and not for NULL. */
struct str db_cell(const struct db_rows *rows, size_t row, size_t column);
uint64_t db_cell_u64(const struct db_rows *rows, size_t row, size_t column);
int64_t db_cell_i64(const struct db_rows *rows, size_t row, size_t column);

/* Runs a statement that returns no rows. *affected (may be NULL): number of changed rows.
 * ST_EXISTS: duplicate unique key; DDL: the object exists already · ST_NOT_FOUND: DDL, the object to drop does not
 * exist; CALL, the routine found no row or account · ST_CONFLICT: deadlock or lock wait timeout within a transaction,
 * which is rolled back; outside of one it is ST_UNAVAILABLE, after a deadlock was repeated once · ST_INVALID: violates
 * a CHECK, a foreign key or the column's type; CALL, the routine refused · ST_DENIED, ST_LIMITED: CALL of a routine for
 * service tokens (ledger/service.h) · ST_UNAVAILABLE: no connection, or the server
 * takes no writes or has reached a limit, nothing was executed; within a transaction also: the connection was lost ·
 * ST_UNKNOWN: the connection was lost during the statement, outside of a transaction · ST_NO_MEMORY · ST_CORRUPT: any
 * other error; our statements never cause one (logged). */
enum status db_exec(struct db *db, uint64_t *affected, const char *sql, const struct db_param *params, size_t count);
/* Runs a query and copies the whole result into the arena. Errors as db_exec, but a lost connection is always
 * ST_UNAVAILABLE: a query changes nothing. */
enum status db_query(struct db *db, struct arena *a, struct db_rows *rows, const char *sql,
                     const struct db_param *params, size_t count);
/* As db_query, for a query that pages run often: the server keeps it parsed (a prepared statement). Queries that differ
 * only in whole numbers share one statement. It costs the server about two thirds as much; the first use on a
 * connection takes one more round trip. A connection keeps the 24 statements that were used last. A query that the
 * server can't prepare runs as in db_query. Use no subquery in its WHERE: MariaDB would keep the plan of the first
 * execution, when the tables may have been almost empty. */
enum status db_query_prepared(struct db *db, struct arena *a, struct db_rows *rows, const char *sql,
                              const struct db_param *params, size_t count);
/* As db_query, for a query that finds one row. ST_NOT_FOUND: there is none. */
enum status db_find(struct db *db, struct arena *a, struct db_rows *rows, const char *sql,
                    const struct db_param *params, size_t count);
/* Runs a query and passes each row to the callback `each` without storing the result (for millions of rows). cells are
 * valid during the call. `each` returns false to stop early and must not use db. Errors as db_query. */
enum status db_each(struct db *db, bool (*each)(void *ctx, const struct str *cells, size_t columns), void *ctx,
                    const char *sql, const struct db_param *params, size_t count);
/* AUTO_INCREMENT id of the last insert that had one. In Galera the ids have gaps, and not the order of the commits. */
uint64_t db_last_id(const struct db *db);

/* The server's clock, in milliseconds. Errors as db_query; *now_ms is unchanged then. */
enum status db_clock_ms(struct db *db, struct arena *a, int64_t *now_ms);

/* For statements of many rows, built in a buffer. db_append appends a literal; db_comma a comma, except before the
 * first item (index 0); db_ids a list for IN, "(1,2)", of at least one id. The other two append a NUL and run the
 * statement as db_exec and db_query; ST_NO_MEMORY when an append to the buffer has failed. */
void db_append(struct db *db, struct buf *sql, const struct db_param *param);
void db_comma(struct buf *sql, size_t index);
void db_ids(struct buf *sql, const uint64_t *ids, size_t count);
enum status db_exec_buf(struct db *db, uint64_t *affected, struct buf *sql);
enum status db_query_buf(struct db *db, struct arena *a, struct db_rows *rows, struct buf *sql);
/* The same for db_query_prepared. */
enum status db_query_buf_prepared(struct db *db, struct arena *a, struct db_rows *rows, struct buf *sql);

/* Runs body in a transaction: COMMIT when it returns ST_OK, else ROLLBACK, and its status is returned. Not nestable.
 * After a deadlock or lock wait timeout in one of its statements, or at COMMIT when another Galera node has committed a
 * change of the same rows, body runs again, at most 5 times in all, with jitter;
 * then ST_CONFLICT. When body returns ST_CONFLICT for its own reasons, there is no retry. Once a conflict or a lost
 * connection has aborted the transaction, further statements of body are not executed and return the same status.
 * Connection lost before COMMIT: ST_UNAVAILABLE. Lost during COMMIT: ST_UNKNOWN; a later lookup by a unique key shows
 * whether it was committed.
 * The isolation level is READ COMMITTED: decide by a conditional UPDATE, a unique key or SELECT … FOR UPDATE. */
enum status db_transaction(struct db *db, enum status (*body)(struct db *db, void *ctx), void *ctx);
/* db_exec for a statement that is a transaction of its own, such as the CALL of a routine: after a conflict it is run
 * again, as db_transaction runs body. Outside a transaction (asserted). As db_exec; ST_CONFLICT: nothing was done ·
 * ST_UNKNOWN: perhaps done; a later lookup by a unique key shows it. */
enum status db_exec_retried(struct db *db, const char *sql, const struct db_param *params, size_t count);
/* db_transaction for reading: all queries of body see one consistent snapshot. A write fails with ST_CORRUPT. */
enum status db_snapshot(struct db *db, enum status (*body)(struct db *db, void *ctx), void *ctx);

/* Sets the connect, read and write timeout instead of the configured one, for migrations and audits. Closes the
 * connection; the next statement opens a new one. Not inside a transaction (asserted). */
void db_set_timeout_s(struct db *db, int64_t timeout_s);

#endif
