/* The connection of a client of MySQL: opening it, the session's settings, noticing that an idle one is dead. */
#include <errmsg.h>
#include <errno.h>
#include <fcntl.h>
#include <mysqld_error.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/log.h"
#include "config/address.h"
#include "io/metrics.h"
#include "io/tcp.h"
#include "mysql/db_internal.h"

enum {
    /* after a failed connect or a timeout: until then statements fail at once, so that not each of them waits */
    RETRY_PAUSE_MS = 200,
    AVOID_MS = 10000,   /* so long a failed server is tried after the others */
    IDLE_CHECK_MS = 20, /* a connection unused for longer is tested before its next use */
    LOCK_WAIT_S = 3,
};

void db_connection_close(struct db *db)
{
    db_prepared_close(db);
    if (db->mysql != NULL)
        mysql_close(db->mysql);
    db->mysql = NULL;
    db->connected = false;
}

bool db_handle_ready(struct db *db)
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
        db_connection_close(db);
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

/* The lock wait must end before the read timeout, or it would look like a lost connection. */
static int64_t lock_wait_s(int64_t timeout_s)
{
    return timeout_s > LOCK_WAIT_S ? LOCK_WAIT_S : timeout_s > 1 ? timeout_s - 1 : 1;
}

/* Requires TLS with a certificate of the host that was connected to. */
static bool tls_set(MYSQL *mysql, const struct config *c)
{
    const char *cert = c->mysql_tls_cert[0] != '\0' ? c->mysql_tls_cert : NULL;
    const char *key = c->mysql_tls_key[0] != '\0' ? c->mysql_tls_key : NULL;
#ifdef MARIADB_PACKAGE_VERSION
    my_bool on = 1;
    bool ok = mysql_options(mysql, MYSQL_OPT_SSL_ENFORCE, &on) == 0 &&
              mysql_options(mysql, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &on) == 0;
#else
    unsigned int mode = SSL_MODE_VERIFY_IDENTITY;
    bool ok = mysql_options(mysql, MYSQL_OPT_SSL_MODE, &mode) == 0;
#endif
    return ok && mysql_options(mysql, MYSQL_OPT_SSL_CA, c->mysql_tls_ca) == 0 &&
           (cert == NULL || mysql_options(mysql, MYSQL_OPT_SSL_CERT, cert) == 0) &&
           (key == NULL || mysql_options(mysql, MYSQL_OPT_SSL_KEY, key) == 0);
}

static bool server_connect(struct db *db, const struct address *a)
{
    const struct config *c = db->config;
    const bool is_tcp = a->port != 0, has_tls = is_tcp && c->mysql_tls;
    /* otherwise localhost would mean a socket */
    unsigned int protocol = is_tcp ? MYSQL_PROTOCOL_TCP : MYSQL_PROTOCOL_SOCKET;
    return mysql_options(db->mysql, MYSQL_OPT_PROTOCOL, &protocol) == 0 && (!has_tls || tls_set(db->mysql, c)) &&
           mysql_real_connect(db->mysql, is_tcp ? a->name : NULL, c->mysql_user, c->mysql_password, c->mysql_database,
                              a->port, is_tcp ? NULL : a->name, 0) != NULL &&
           (!has_tls || mysql_get_ssl_cipher(db->mysql) != NULL) &&
           (!is_tcp || tcp_tune(connection_fd(db), db->timeout_s * 1000)) &&
           fcntl(connection_fd(db), F_SETFD, FD_CLOEXEC) == 0;
}

/* Whether a server takes writes: a replica does not. Outside of the primary component, a Galera node refuses the
 * query. */
static bool server_is_writable(MYSQL *mysql)
{
    if (mysql_query(mysql, DB_WRITABLE_SQL) != 0)
        return false;
    MYSQL_RES *result = mysql_store_result(mysql);
    MYSQL_ROW row = result != NULL ? mysql_fetch_row(result) : NULL;
    bool writable = row != NULL && row[0] != NULL && strcmp(row[0], "1") == 0;
    mysql_free_result(result);
    return writable;
}

/* Runs the query of db_greet. False: the connection must not be used; the refusal says why. When the role lacks the
 * right to the query, the connection is used; when the table does not exist yet, accept gets STR_NONE. */
static bool server_is_accepted(struct db *db)
{
    if (db->greeting == NULL)
        return true;
    const bool asked = mysql_query(db->mysql, db->greeting) == 0;
    if (!asked &&
        (db_error_is_connection_loss(mysql_errno(db->mysql)) || db_error_is_of_server(mysql_errno(db->mysql))))
        return false;
    if (!asked && mysql_errno(db->mysql) != ER_NO_SUCH_TABLE)
        return true; /* the role lacks the right to the query: its rights are not granted yet, or no longer */
    MYSQL_RES *result = asked ? mysql_store_result(db->mysql) : NULL;
    if (asked && result == NULL)
        return false;
    MYSQL_ROW row = result != NULL ? mysql_fetch_row(result) : NULL;
    const char *why = db->accept(db->accept_ctx, row != NULL && row[0] != NULL ? str_from(row[0]) : STR_NONE);
    mysql_free_result(result);
    if (why != NULL)
        (void)snprintf(db->refusal, sizeof db->refusal, "%s", why);
    return why == NULL;
}

static void server_refused_log(struct db *db, const struct address *a)
{
    char quoted[LOG_LINE_MAX / 2], address[ADDRESS_TEXT_MAX];
    const char *error = mysql_errno(db->mysql) != 0 ? mysql_error(db->mysql)
                        : db->refusal[0] != '\0'    ? db->refusal
                                                    : "the server is read-only";
    log_warn("mysql unreachable", "address=%s code=%u error=%s", address_print(a, address), mysql_errno(db->mysql),
             log_quote(str_from(error), quoted, sizeof quoted));
    db_error_right_refused_log(db->mysql);
}

/* Connects to one of the servers. When there are several, the server must take writes: another one may. */
static bool server_open(struct db *db, const struct address_list *list, size_t index)
{
    const struct address *a = &list->items[index];
    db_connection_close(db); /* a handle that failed is of no more use */
    if (!db_handle_ready(db))
        return false;
    db->address = index;
    if (server_connect(db, a) && db_session_begin(db->mysql, lock_wait_s(db->timeout_s), db->refusal) &&
        (list->count == 1 || server_is_writable(db->mysql)) && server_is_accepted(db)) {
        db->connections++;
        return true;
    }
    db->connect_error = mysql_errno(db->mysql);
    if (!db->unreachable_logged)
        server_refused_log(db, a);
    if (list->count > 1)
        db_connection_avoid(db);
    return false;
}

void db_connection_avoid(struct db *db)
{
    const int64_t now_ms = clock_monotonic_ms();
    if (db->address_count > 1)
        db->avoid_until_ms[db->address] = now_ms + AVOID_MS;
    else
        db->retry_at_ms = now_ms + RETRY_PAUSE_MS;
}

/* Tries the server that was used last, then the others in the order of the list, and last those to avoid: a former
 * primary that comes back after a failover, and takes writes, must not be used again. */
static bool any_server_open(struct db *db, const struct address_list *list)
{
    const int64_t now_ms = clock_monotonic_ms();
    const size_t last = db->was_connected ? db->address : 0;
    size_t order[ADDRESSES_MAX], count = 0;
    if (last < list->count && now_ms >= db->avoid_until_ms[last])
        order[count++] = last;
    for (size_t i = 0; i < list->count; i++)
        if (now_ms >= db->avoid_until_ms[i] && i != last)
            order[count++] = i;
    for (size_t i = 0; i < list->count; i++)
        if (now_ms < db->avoid_until_ms[i])
            order[count++] = i;
    for (size_t i = 0; i < count; i++)
        if (server_open(db, list, order[i]))
            return true;
    return false;
}

static bool connection_open(struct db *db)
{
    struct address_list list;
    char address[ADDRESS_TEXT_MAX];
    if (clock_monotonic_ms() < db->retry_at_ms || address_list_read(str_from(db->config->mysql), &list) != NULL)
        return false;
    const size_t before = db->address;
    db->address_count = list.count;
    db->connected = any_server_open(db, &list);
    db->was_connected = db->was_connected || db->connected;
    if (!db->connected) {
        db->address = before;
        db_connection_close(db);
        db->retry_at_ms = clock_monotonic_ms() + RETRY_PAUSE_MS;
    } else if (db->unreachable_logged || db->address != before) {
        log_info("mysql reachable again", "address=%s", address_print(&list.items[db->address], address));
    }
    db->unreachable_logged = !db->connected;
    return db->connected;
}

void db_connection_drop(struct db *db, unsigned int code)
{
    log_warn("mysql connection dropped", "code=%u", code);
    metrics_add(METRIC_MYSQL_LOST, 1);
    db_connection_close(db);
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

bool db_connection_ready(struct db *db)
{
    if (db->connected && db->transaction == TRANSACTION_NONE && connection_stale(db))
        db_connection_drop(db, CR_SERVER_GONE_ERROR);
    return db->connected || connection_open(db);
}
