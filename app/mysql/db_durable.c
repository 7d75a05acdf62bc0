#include "mysql/db_durable.h"

#include <assert.h>

#include "mysql/db_internal.h"

enum status db_durable(struct db *db, uint64_t connection)
{
    assert(db->transaction == TRANSACTION_NONE);
    if (db->connections != connection)
        return ST_UNKNOWN;
    enum status st = db_exec(db, NULL, "CALL durable_commit()", NULL, 0);
    return st == ST_OK && db->connections == connection ? ST_OK : ST_UNKNOWN;
}
