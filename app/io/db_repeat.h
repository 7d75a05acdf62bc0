/* A transaction that is run again when its COMMIT got no reply. */
#ifndef HB_IO_DB_REPEAT_H
#define HB_IO_DB_REPEAT_H

#include "io/db.h"

/* db_transaction for a body that inserts a row with a unique key. When the outcome of COMMIT is unknown, the
 * transaction is run again, 3 times in all: the key shows whether an earlier run was committed. Before it inserts the
 * key, body must not return ST_INVALID or ST_NOT_FOUND because of its own committed changes.
 * ST_EXISTS: the key exists, perhaps from an earlier run · ST_UNKNOWN: no run gave a decisive status. */
enum status db_transaction_repeat(struct db *db, enum status (*body)(struct db *db, void *ctx), void *ctx);

#endif
