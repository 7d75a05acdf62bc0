/* What the errors of MySQL and MariaDB mean. */
#include <errmsg.h>
#include <mysqld_error.h>
#include <string.h>

#include "base/security_event.h"
#include "mysql/db_internal.h"

/* Error codes for which only one of the two libraries has a constant, or for which their constants differ. */
enum {
    ER_GALERA_NOT_READY =
        ER_UNKNOWN_COM_ERROR, /* the answer to any statement of a node that is not primary, or not synced */
    ER_FK_OR_CHECK_DUP_NAME = 1826,
    ER_MARIADB_CONSTRAINT_FAILED = 4025,
    ER_MYSQL_CHECK_VIOLATED = 3819,
    ER_MYSQL_LOCK_NOWAIT = 3572,
    ER_MYSQL_CHECK_DUP_NAME = 3822,
    ER_MYSQL_CONSTRAINT_NOT_FOUND = 3940,
    ER_MYSQL_CLIENT_TIMEOUT = 4031,
    ER_MYSQL_QUERY_TIMEOUT = 3024,
    ER_MARIADB_STATEMENT_TIMEOUT = 1969,
    ER_MARIADB_CONNECTION_KILLED = 1927,
    /* Signalled by the routines of the ledger (sql/migrations). */
    ER_ROUTINE_REFUSED = 31001,
    ER_ROUTINE_NOT_FOUND = 31002,
    ER_ROUTINE_DAY_FEN = 31003,
    ER_ROUTINE_DAY_COUNT = 31004,
    ER_SERVICE_UNKNOWN = 31011,
    ER_SERVICE_DENIED = 31012,
    ER_SERVICE_LIMITED = 31013
};

/* When a Galera node loses its cluster during COMMIT, the outcome of the transaction is unknown, and the node answers
 * nothing else. */
bool db_error_is_connection_loss(unsigned int code)
{
    return (code >= CR_MIN_ERROR && code <= CR_MAX_ERROR) || code == ER_SERVER_SHUTDOWN ||
           code == ER_ERROR_DURING_COMMIT || code == ER_QUERY_INTERRUPTED || code == ER_MARIADB_CONNECTION_KILLED ||
           code == ER_MYSQL_CLIENT_TIMEOUT;
}

bool db_error_is_of_server(unsigned int code)
{
    return code == ER_GALERA_NOT_READY || code == ER_OPTION_PREVENTS_STATEMENT || code == ER_READ_ONLY_MODE;
}

/* A Galera node that lost its cluster gives this answer to any statement, perhaps to the COMMIT. A time limit of the
 * server never interrupts the COMMIT of a statement in a routine; it ends the routine after the COMMIT. */
bool db_error_is_perhaps_done(unsigned int code)
{
    return code == ER_GALERA_NOT_READY || code == ER_MARIADB_STATEMENT_TIMEOUT || code == ER_MYSQL_QUERY_TIMEOUT;
}

bool db_error_is_right_refused(unsigned int code)
{
    return code == ER_DBACCESS_DENIED_ERROR || code == ER_ACCESS_DENIED_ERROR || code == ER_TABLEACCESS_DENIED_ERROR ||
           code == ER_COLUMNACCESS_DENIED_ERROR || code == ER_SPECIFIC_ACCESS_DENIED_ERROR ||
           code == ER_PROCACCESS_DENIED_ERROR;
}

enum status db_error_status(unsigned int code, const char *message)
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
    case ER_CHECKREAD:         /* snapshot isolation: the row has changed since it was read */
    case ER_TABLE_DEF_CHANGED: /* a migration has changed the table since the snapshot */
    case ER_MYSQL_LOCK_NOWAIT: return ST_CONFLICT;
    case ER_ROUTINE_REFUSED:
    case ER_ROUTINE_DAY_FEN:
    case ER_ROUTINE_DAY_COUNT:
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
    case ER_SERVICE_UNKNOWN:
    case ER_SERVICE_DENIED: return ST_DENIED;
    case ER_SERVICE_LIMITED: return ST_LIMITED;
    case ER_DISK_FULL:
    case ER_RECORD_FILE_FULL:
    case ER_CON_COUNT_ERROR: /* this limit, like others of the server, passes */
    case ER_TOO_MANY_USER_CONNECTIONS:
    case ER_USER_LIMIT_REACHED:
    case ER_TOO_MANY_CONCURRENT_TRXS:
    case ER_CANT_CREATE_THREAD:
    case ER_OUTOFMEMORY:
    case ER_OUT_OF_SORTMEMORY:
    case ER_OUT_OF_RESOURCES:
    case ER_MYSQL_QUERY_TIMEOUT: /* a time limit that an operator has set on the server */
    case ER_MARIADB_STATEMENT_TIMEOUT: return ST_UNAVAILABLE;
    default: return db_error_is_right_refused(code) ? ST_UNAVAILABLE : ST_CORRUPT;
    }
}

void db_error_right_refused_log(MYSQL *mysql)
{
    if (db_error_is_right_refused(mysql_errno(mysql)))
        security_role_refused("mysql", str_from(mysql_error(mysql)));
}
