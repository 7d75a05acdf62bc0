/* The settings that a session of MySQL must have. A server may give new sessions other values, so the program sets them
 * after connecting, reads them back, and refuses a connection with another value. Without a connection there is an
 * error; with a wrong value, a name would come back as `??`, or a statement would stop half-way. `hongbao doctor`
 * reports the refusal in the same words. */
#ifndef HB_MYSQL_DB_SESSION_H
#define HB_MYSQL_DB_SESSION_H

#include <mysql.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum db_setting_kind {
    DB_SETTING_EVERYWHERE, /* every server has it */
    DB_SETTING_OPTIONAL,   /* a server without this setting has no choice there */
    DB_SETTING_READ_ONLY,  /* can't be set by a session: the server must have this number or a larger one */
    DB_SETTING_OF_LOG,     /* can't be set by a session: no server with a binary log may have the value */
};

struct db_setting {
    const char *name;
    const char *value; /* as the server shows it; ON and 1, OFF and 0 are the same */
    enum db_setting_kind kind;
    const char *why; /* what goes wrong with another value */
};

/* The table, in the order of docs/reference/config.md. */
const struct db_setting *db_settings(size_t *count);

/* Whether the server takes writes: 1, or 0 for a replica or a server that is read-only. */
#define DB_WRITABLE_SQL "SELECT @@global.read_only IN ('0', 'OFF') AND @@global.innodb_read_only IN ('0', 'OFF')"

enum { DB_REFUSAL_MAX = 300 };

/* Sets and compares the settings of a new session. lock_wait_s: how long a statement waits for a lock. False: it can't
 * be used; refusal (DB_REFUSAL_MAX bytes) says which setting, or is empty when the server failed. Two to four round
 * trips. */
bool db_session_begin(MYSQL *mysql, int64_t lock_wait_s, char *refusal);

#endif
