/* The parts of the client of MySQL: the connection, and what the server's errors mean. Only for
 * the files of that client. */
#ifndef HB_MYSQL_DB_INTERNAL_H
#define HB_MYSQL_DB_INTERNAL_H

#include <mysql.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"
#include "config/address.h"
#include "config/config.h"
#include "mysql/db.h"
#include "mysql/db_session.h"

enum transaction { TRANSACTION_NONE, TRANSACTION_OPEN, TRANSACTION_ABORTED };

/* A statement that the server keeps parsed (db_prepared.c). */
struct db_prepared {
    MYSQL_STMT *statement; /* NULL: an unused place */
    char *sql;
    size_t sql_len;
    uint64_t used; /* prepared_uses at its last use */
};
enum { DB_PREPARED_MAX = 24, DB_NUMBERS_MAX = 96 };

struct db {
    const struct config *config;
    int64_t timeout_s;
    MYSQL *mysql; /* initialised, perhaps not connected yet; NULL before the first use and after a loss */
    bool connected;
    bool was_connected; /* once, to address */
    bool unreachable_logged;
    char refusal[DB_REFUSAL_MAX];  /* why the last session was refused; empty: not for a setting */
    size_t address, address_count; /* index of the address in use, and the number of addresses in config->mysql */
    int64_t avoid_until_ms[ADDRESSES_MAX]; /* monotonic: until then the other addresses are tried first */
    int64_t retry_at_ms;                   /* monotonic: do not connect before */
    int64_t statement_start_ms;            /* monotonic: of the running statement */
    int64_t last_used_ms;                  /* monotonic: end of the last statement */
    unsigned int connect_error;            /* the server's code for the last connection that was refused; 0: none */
    uint64_t connections;                  /* made so far */
    const char *greeting;                  /* db_greet: the query for each new connection; NULL: none */
    db_accept *accept;
    void *accept_ctx;
    enum transaction transaction;
    enum status aborted_status; /* returned by every statement of an aborted transaction */
    bool transaction_conflict;  /* a deadlock or lock wait timeout aborted this transaction, or a single statement */
    unsigned int failed_code;   /* the server's code for the last statement that failed */
    uint64_t last_id;
    struct buf sql;
    struct buf prepared_sql; /* sql with ? in place of its numbers */
    struct db_prepared prepared[DB_PREPARED_MAX];
    struct db_prepared *prepared_failed; /* the one of these that failed; NULL: none */
    uint64_t prepared_uses;
};

/* ---- db_connection.c ---- */

/* Makes the handle before the connection is open: escaping literals needs it. False: out of memory. */
bool db_handle_ready(struct db *db);
/* Opens the connection when there is none, and again when an idle one has ended outside of a transaction. False: there
 * is none, nothing was executed. */
bool db_connection_ready(struct db *db);
void db_connection_close(struct db *db);
/* Closes the connection that failed with code, and counts it. */
void db_connection_drop(struct db *db, unsigned int code);
/* Call it after a timeout, or when the server can't do its work. For a while the other servers are tried before this
 * one; when there is only one, statements fail at once for a moment instead of waiting. */
void db_connection_avoid(struct db *db);

/* ---- db_prepared.c ---- */

/* The numbers of a query, in their order. */
struct db_numbers {
    uint64_t values[DB_NUMBERS_MAX];
    size_t count;
};
/* Runs the query, whose ? stand for the numbers, by a prepared statement. The connection is open. False: the server
 * can't prepare it (it has reached its limit, say); nothing was executed. True: *code is the error of the server; with
 * 0 *out is the result, ST_OK or ST_NO_MEMORY. */
bool db_prepared_query(struct db *db, struct arena *a, struct db_rows *rows, struct str sql,
                       const struct db_numbers *numbers, enum status *out, unsigned int *code);
/* Before the connection is closed. */
void db_prepared_close(struct db *db);

/* ---- db_error.c ---- */

/* Whether the connection can't be used any more, so that the outcome of the statement is unknown. */
bool db_error_is_connection_loss(unsigned int code);
/* Whether the server refuses the statement for now, and another server may accept it: nothing was executed. The server
 * may still answer reads. */
bool db_error_is_of_server(unsigned int code);
/* Whether a statement that is a transaction of its own may have been committed although it failed with this code. */
bool db_error_is_perhaps_done(unsigned int code);
/* Whether the role's user lacks a right, or can't log in: nothing was executed, and no statement will be until an
 * operator grants the right. */
bool db_error_is_right_refused(unsigned int code);
/* The status for the caller of a statement that failed with any other error. message: the server's, in English. */
enum status db_error_status(unsigned int code, const char *message);
/* Logs a security event when the last error is a refused right. */
void db_error_right_refused_log(MYSQL *mysql);

#endif
