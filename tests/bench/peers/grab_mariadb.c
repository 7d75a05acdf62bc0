/* The peer without Redis: each grab is one MariaDB transaction that locks the packet's row. The tables are those of
 * mariadb.sql, in the database of HB_MYSQL_DATABASE; the session comes from Redis, as in the other peers. */
#include <errmsg.h>
#include <mysql.h>
#include <mysqld_error.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "peers/blocking.h"
#include "support/unix_path.h"

enum { SQL_MAX = 1024, NICKNAME_MAX = 128, COLUMNS_MAX = 2 };

static MYSQL *mysql; /* kept; NULL after an error */

/* ---- statements ---- */

static bool mysql_ready(const struct config *config)
{
    if (mysql != NULL)
        return true;
    mysql = mysql_init(NULL);
    if (mysql == NULL)
        return false;
    if (mysql_options(mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4") == 0 &&
        mysql_real_connect(mysql, NULL, config->mysql_user, config->mysql_password, config->mysql_database, 0,
                           unix_path(config->mysql), 0) != NULL &&
        mysql_query(mysql, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED") == 0)
        return true;
    (void)fprintf(stderr, "grab_mariadb: %s\n", mysql_error(mysql));
    mysql_close(mysql);
    mysql = NULL;
    return false;
}

/* Runs one statement; returns MariaDB's error number, 0 without one. */
__attribute__((format(printf, 1, 2))) static unsigned run(const char *format, ...)
{
    char sql[SQL_MAX];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(sql, sizeof sql, format, args);
    va_end(args);
    if (len < 0 || (size_t)len >= sizeof sql)
        return CR_OUT_OF_MEMORY;
    return mysql_real_query(mysql, sql, (unsigned long)len) == 0 ? 0 : mysql_errno(mysql);
}

/* The numbers of the first row of the last query; false: there is no row. */
static bool row_read(long long *out, unsigned columns)
{
    MYSQL_RES *rows = mysql_store_result(mysql);
    MYSQL_ROW row = rows == NULL ? NULL : mysql_fetch_row(rows);
    for (unsigned i = 0; row != NULL && i < columns; i++)
        out[i] = row[i] == NULL ? 0 : strtoll(row[i], NULL, 10);
    mysql_free_result(rows);
    return row != NULL;
}

/* ---- the grab ---- */

struct work {
    unsigned long long packet_id, user_id;
    char nickname[2 * NICKNAME_MAX + 1]; /* escaped */
    struct blocking_grab got;
};

/* The share that the user has, outside of the transaction; otherwise the packet is empty. */
static unsigned share_of_user(struct work *w)
{
    long long found[COLUMNS_MAX];
    unsigned error = run("SELECT share_no, amount_fen FROM `grab` WHERE packet_id = %llu AND user_id = %llu",
                         w->packet_id, w->user_id);
    w->got.code = LIVE_EMPTY;
    if (error == 0 && row_read(found, 2))
        w->got = (struct blocking_grab){ LIVE_ALREADY, found[0], found[1], w->got.left_count };
    return error;
}

/* Locks the packet until the end of the transaction, and reads the next share. */
static unsigned share_take(struct work *w)
{
    long long packet[COLUMNS_MAX];
    unsigned error = run("SELECT count, grabbed_count FROM packet WHERE id = %llu FOR UPDATE", w->packet_id);
    if (error != 0)
        return error;
    w->got.code = LIVE_MISSING;
    if (!row_read(packet, 2))
        return 0;
    w->got.code = LIVE_EMPTY;
    if (packet[1] >= packet[0])
        return 0;
    w->got.share_no = packet[1];
    w->got.left_count = packet[0] - packet[1] - 1;
    error =
        run("SELECT amount_fen FROM share WHERE packet_id = %llu AND share_no = %lld", w->packet_id, w->got.share_no);
    if (error == 0)
        w->got.code = row_read(&w->got.fen, 1) ? LIVE_GRABBED : LIVE_BAD;
    return error;
}

static unsigned share_write(const struct work *w)
{
    const struct blocking_grab *got = &w->got;
    unsigned error = run("INSERT INTO `grab` (packet_id, share_no, user_id, nickname, amount_fen, grabbed_ms)"
                         " VALUES (%llu, %lld, %llu, '%s', %lld, %lld)",
                         w->packet_id, got->share_no, w->user_id, w->nickname, got->fen, (long long)clock_now_ms());
    if (error == 0)
        error = run("UPDATE packet SET grabbed_count = grabbed_count + 1, grabbed_fen = grabbed_fen + %lld"
                    " WHERE id = %llu",
                    got->fen, w->packet_id);
    if (error == 0)
        error = run("UPDATE account SET balance_fen = balance_fen - %lld WHERE id = %llu", got->fen, w->packet_id);
    if (error == 0)
        error = run("UPDATE account SET balance_fen = balance_fen + %lld WHERE id = %llu", got->fen, w->user_id);
    return error;
}

static unsigned transact(struct work *w)
{
    unsigned error = run("START TRANSACTION");
    if (error == 0)
        error = share_take(w);
    if (error == 0 && w->got.code == LIVE_GRABBED)
        error = share_write(w);
    if (error == 0 && w->got.code == LIVE_GRABBED)
        return run("COMMIT");
    unsigned ended = run("ROLLBACK");
    return error != 0 ? error : ended;
}

static struct blocking_grab grab(struct blocking *b, uint64_t packet_id, const struct session *session)
{
    struct work w = { .packet_id = packet_id, .user_id = session->user_id };
    if (session->nickname.len > NICKNAME_MAX || !mysql_ready(&b->config))
        return w.got;
    (void)mysql_real_escape_string(mysql, w.nickname, session->nickname.ptr, (unsigned long)session->nickname.len);
    unsigned error = transact(&w);
    if (error == ER_DUP_ENTRY || (error == 0 && w.got.code == LIVE_EMPTY))
        error = share_of_user(&w);
    if (error == 0)
        return w.got;
    (void)fprintf(stderr, "grab_mariadb: %s\n", mysql_error(mysql));
    mysql_close(mysql);
    mysql = NULL;
    return (struct blocking_grab){ .code = LIVE_BAD };
}

int main(void)
{
    static struct blocking b;
    return blocking_serve(&b, "grab_mariadb", grab);
}
