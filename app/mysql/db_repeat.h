/* Runs a transaction again when its COMMIT got no reply. */
#ifndef HB_MYSQL_DB_REPEAT_H
#define HB_MYSQL_DB_REPEAT_H

#include "mysql/db.h"

/* Runs `run`, which inserts a row with a unique key in a transaction or in one statement (db_exec_retried). When it
 * returns ST_UNKNOWN, it is run again, 3 times in all: the key shows whether an earlier run was committed. Before it
 * inserts the key, it must not return ST_INVALID, ST_NOT_FOUND or ST_LIMITED because of its own committed changes.
 * ST_EXISTS: the key exists, perhaps from an earlier run · ST_UNKNOWN: no run gave a decisive status. */
enum status db_repeat(struct db *db, enum status (*run)(struct db *db, void *ctx), void *ctx);
/* db_repeat for a transaction with this body. */
enum status db_transaction_repeat(struct db *db, enum status (*body)(struct db *db, void *ctx), void *ctx);

#endif
