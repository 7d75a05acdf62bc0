/* MySQL / MariaDB through the client library's API: one connection, statements with typed parameters, transactions
 * that say how they ended. Blocking: never used by the hot pool. */
#ifndef HB_IO_DB_H
#define HB_IO_DB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/config.h"
#include "base/status.h"
#include "base/str.h"

struct db;

/* Doesn't connect: the first statement does, with the session settings of docs/ARCHITECTURE.md (utf8mb4, strict,
 * UTC, snapshot isolation where it exists, lock wait 3 s or a second less than the timeout, local_infile off, reconnect
 * off). Within 200 ms of a failed attempt or a timeout a statement is refused at once (unavailable). NULL without
 * memory. */
struct db *db_new(const struct config *config);
void db_free(struct db *db);

/* A parameter: replaces the next `?` of the statement. Text and bytes can't break out of their literal. */
struct db_param {
    enum { DB_PARAM_NULL, DB_PARAM_I64, DB_PARAM_U64, DB_PARAM_TEXT, DB_PARAM_BYTES } type;
    union {
        int64_t i64;
        uint64_t u64;
        struct str text;
    } as;
};
#define DB_NULL     ((struct db_param){ .type = DB_PARAM_NULL })
#define DB_I64(n)   ((struct db_param){ .type = DB_PARAM_I64, .as.i64 = (n) })
#define DB_U64(n)   ((struct db_param){ .type = DB_PARAM_U64, .as.u64 = (n) })
#define DB_TEXT(s)  ((struct db_param){ .type = DB_PARAM_TEXT, .as.text = (s) })
#define DB_BYTES(s) ((struct db_param){ .type = DB_PARAM_BYTES, .as.text = (s) })
#define DB_PARAMS(...)                                                                                                 \
    (const struct db_param[]){ __VA_ARGS__ }, sizeof((const struct db_param[]){ __VA_ARGS__ }) / sizeof(struct db_param)

/* A result held in an arena: text cells, NULL cells have .ptr == NULL. */
struct db_rows {
    size_t count, columns;
    struct str *cells; /* count × columns */
};
struct str db_cell(const struct db_rows *rows, size_t row, size_t column);
uint64_t db_cell_u64(const struct db_rows *rows, size_t row, size_t column); /* asserts a decimal: our own schema */
int64_t db_cell_i64(const struct db_rows *rows, size_t row, size_t column);

/* Runs a statement without result. *affected (may be NULL): changed rows.
 * ST_EXISTS: a unique key is taken; DDL: it is there already · ST_NOT_FOUND: DDL only, what it drops is not there ·
 * ST_CONFLICT: deadlock or lock wait (the caller's transaction is rolled back) ·
 * ST_INVALID: a CHECK, a foreign key or the column's type refused · ST_UNAVAILABLE: no connection, nothing happened ·
 * ST_UNKNOWN: the connection was lost with the statement under way (outside of a transaction) · ST_NO_MEMORY ·
 * ST_CORRUPT: an error that our statements must never cause (logged). */
enum status db_exec(struct db *db, uint64_t *affected, const char *sql, const struct db_param *params, size_t count);
/* Runs a query, the whole result into the arena. Reading changes nothing: a lost connection is ST_UNAVAILABLE here. */
enum status db_query(struct db *db, struct arena *a, struct db_rows *rows, const char *sql,
                     const struct db_param *params, size_t count);
/* Runs a query and hands over row by row without keeping them (audits of millions). each returns false to stop early.
 * The connection must not be used inside each. */
enum status db_each(struct db *db, bool (*each)(void *ctx, const struct str *cells, size_t columns), void *ctx,
                    const char *sql, const struct db_param *params, size_t count);
/* AUTO_INCREMENT id of the last insert. */
uint64_t db_last_id(const struct db *db);

/* For statements of many rows, built in a buffer: a literal; a comma before every item but the first (index 0); and
 * running it as above, ST_NO_MEMORY when the buffer has failed. The buffer gets a NUL. */
void db_append(struct db *db, struct buf *sql, const struct db_param *param);
void db_comma(struct buf *sql, size_t index);
enum status db_exec_buf(struct db *db, uint64_t *affected, struct buf *sql);
enum status db_query_buf(struct db *db, struct arena *a, struct db_rows *rows, struct buf *sql);

/* Transactions. body runs between BEGIN and COMMIT; anything but ST_OK rolls back and is returned, except a lock lost
 * in one of its statements (ST_CONFLICT): then body runs again, at most 5 times in all, with jitter. A body's own
 * ST_CONFLICT is returned as it is. After a lost lock or connection the statements that follow in body do nothing but
 * repeat that status, so nothing runs outside of the transaction. A connection lost before COMMIT: ST_UNAVAILABLE. Lost
 * at COMMIT: ST_UNKNOWN; the unique keys tell what happened. Never nested.
 * The isolation is READ COMMITTED: a decision rests on what a conditional UPDATE, a unique key or FOR UPDATE says. */
enum status db_transaction(struct db *db, enum status (*body)(struct db *db, void *ctx), void *ctx);
/* The same for a body that inserts a row with a unique key. When its COMMIT goes unanswered, the transaction is run
 * again, 3 times in all, and the key tells whether the first run was committed. Before the key, body must not refuse
 * (ST_INVALID, ST_NOT_FOUND) what its own first run may have caused.
 * ST_EXISTS: the key is taken, perhaps by the unanswered COMMIT · ST_UNKNOWN: the replays could not tell either. */
enum status db_transaction_replay(struct db *db, enum status (*body)(struct db *db, void *ctx), void *ctx);
/* db_transaction for reading: every query of body sees one and the same instant. Writing is refused (ST_CORRUPT). */
enum status db_snapshot(struct db *db, enum status (*body)(struct db *db, void *ctx), void *ctx);

/* Connect, read and write timeout from the next statement on, instead of the configured one: migrations and audits
 * are slower than a page may be. The connection is opened anew. Not inside a transaction. */
void db_set_timeout_s(struct db *db, int64_t timeout_s);

#endif
