/* Waits until the server can't lose what this process has read. InnoDB shows a commit to other connections before its
 * log is on the disk. When the server dies in between, the rows are as they were before, and whoever was answered by
 * them believes in what never was. The log is written in order, so a change that this process commits afterwards is on
 * the disk only when everything that it has read before is there, too.
 *
 * Call it before an answer, or a change of Redis, that rests on a row which this connection did not commit itself: a
 * repeat, say. A process that has the answer to its own COMMIT need not call it.
 *
 * The change is a row that is inserted and deleted (sql/migrations/0037_durable.sql): no row is shared, so calls do not
 * wait for each other, and do not conflict on Galera. */
#ifndef HB_MYSQL_DB_DURABLE_H
#define HB_MYSQL_DB_DURABLE_H

#include "mysql/db.h"

/* Commits a change of its own. connection: db_connections when the rows were read; on a later connection the server may
 * have died meanwhile. Outside a transaction (asserted). One round trip and a flush of the log. ST_UNKNOWN: the rows
 * may still be lost; read them again. */
enum status db_durable(struct db *db, uint64_t connection);

#endif
