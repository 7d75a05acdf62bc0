/* Wrappers that make a call fail. The linker sends the calls of our own objects here, but not the calls inside
 * libraries.
 *
 * A statement fails in three modes: the connection is lost before the server gets it; the connection is lost after the
 * server has executed it; the server rolls back because of a deadlock. */
#include <dirent.h>
#include <errmsg.h>
#include <errno.h>
#include <execinfo.h>
#include <hiredis/hiredis.h>
#include <mysql.h>
#include <mysqld_error.h>
#include <poll.h>
#include <qrencode.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "torture.h"

struct torture *torture;
struct arena *torture_texts;

static bool on;
static int outer_frames;        /* stack frames of the torture test itself, above the program's */
static unsigned int mysql_code; /* the error that mysql_errno returns; 0: the server's own */

void torture_on(void)
{
    void *frames[TORTURE_FRAMES_MAX];
    outer_frames = backtrace(frames, TORTURE_FRAMES_MAX) - 2; /* without this function and its caller */
    on = true;
}

void torture_off(void)
{
    on = false;
}

/* The bounds of the program's own code, defined by the linker. */
extern const char __executable_start[], etext[];

/* FNV-1a over the call stack, as offsets within the program, which are the same in every process. */
static uint64_t way_hash(const char *what, void *const *frames, int count)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *what != '\0'; what++)
        hash = (hash ^ (unsigned char)*what) * 0x100000001b3u;
    for (int i = 0; i < count; i++) {
        const char *frame = frames[i];
        if (frame >= __executable_start && frame < etext)
            hash = (hash ^ (uintptr_t)(frame - __executable_start)) * 0x100000001b3u;
    }
    return hash;
}

/* Counts a call that can fail in `modes` modes. True: it must fail now, in *mode. */
static bool fails_in_mode(const char *what, unsigned modes, unsigned *mode)
{
    void *frames[TORTURE_FRAMES_MAX];
    if (!on)
        return false;
    int count = backtrace(frames, TORTURE_FRAMES_MAX) - outer_frames;
    uint64_t way = way_hash(what, frames, count);
    for (*mode = 0; *mode < modes; ++*mode, way = way * 0x100000001b3u + 1) {
        if (torture->recording && torture->calls < TORTURE_CALLS_MAX)
            torture->ways[torture->calls] = way;
        torture->calls++;
        if (way != torture->target_way || ++torture->target_seen != torture->target_pass)
            continue;
        torture->fired = true;
        torture->what = what;
        torture->frame_count = count;
        memcpy(torture->frames, frames, sizeof frames);
        return true;
    }
    return false;
}

static bool fails(const char *what)
{
    unsigned mode;
    return fails_in_mode(what, 1, &mode);
}

/* Defines the wrapper of a call. It first does `first`; when the call must fail now, its value is `failed`. */
#define WRAP_AFTER(first, type, call, parameters, arguments, failed)                                                   \
    type __real_##call parameters;                                                                                     \
    type __wrap_##call parameters;                                                                                     \
    type __wrap_##call parameters                                                                                      \
    {                                                                                                                  \
        first;                                                                                                         \
        return fails(#call) ? (failed) : __real_##call arguments;                                                      \
    }
#define WRAP(type, call, parameters, arguments, failed) WRAP_AFTER((void)0, type, call, parameters, arguments, failed)

static void *error_null(int code)
{
    errno = code;
    return NULL;
}

static int error_minus_1(int code)
{
    errno = code;
    return -1;
}

/* ---- memory ---- */

WRAP(void *, malloc, (size_t size), (size), error_null(ENOMEM))
WRAP(void *, calloc, (size_t count, size_t size), (count, size), error_null(ENOMEM))
WRAP(void *, realloc, (void *old, size_t size), (old, size), error_null(ENOMEM))
WRAP(char *, strdup, (const char *s), (s), error_null(ENOMEM))
WRAP(QRcode *, QRcode_encodeString8bit, (const char *string, int version, QRecLevel level), (string, version, level),
     error_null(ENOMEM))

/* Argon2id allocates 19 MiB. */
WRAP(int, crypto_pwhash_str_alg,
     (char *out, const char *password, unsigned long long len, unsigned long long passes, size_t memory, int algorithm),
     (out, password, len, passes, memory, algorithm), error_minus_1(ENOMEM))
WRAP(int, crypto_pwhash_str_verify, (const char *hash, const char *password, unsigned long long len),
     (hash, password, len), error_minus_1(ENOMEM))

/* ---- descriptors ---- */

WRAP(FILE *, fopen, (const char *path, const char *mode), (path, mode), error_null(EMFILE))
WRAP(DIR *, opendir, (const char *path), (path), error_null(EMFILE))

FILE *__wrap_fopen64(const char *path, const char *mode);
FILE *__wrap_fopen64(const char *path, const char *mode)
{
    return __wrap_fopen(path, mode);
}

/* ---- Redis: hiredis, and the socket, which redis/wire.c reads and writes itself ---- */

WRAP(redisContext *, redisConnectUnixNonBlock, (const char *path), (path), error_null(ENOMEM))
WRAP(int, redisReaderFeed, (redisReader * r, const char *bytes, size_t len), (r, bytes, len), REDIS_ERR)
WRAP(int, redisReaderGetReply, (redisReader * r, void **reply), (r, reply), REDIS_ERR)
/* The reply is lost. */
WRAP(ssize_t, recv, (int fd, void *bytes, size_t len, int flags), (fd, bytes, len, flags), error_minus_1(ECONNRESET))
/* A timeout. */
WRAP(int, poll, (struct pollfd * fds, nfds_t count, int timeout_ms), (fds, count, timeout_ms), 0)

ssize_t __real_send(int fd, const void *bytes, size_t len, int flags);
ssize_t __wrap_send(int fd, const void *bytes, size_t len, int flags);

/* Fails before anything is written, or after the first half. */
ssize_t __wrap_send(int fd, const void *bytes, size_t len, int flags)
{
    unsigned mode;
    if (!fails_in_mode("send", 2, &mode))
        return __real_send(fd, bytes, len, flags);
    if (mode == 1)
        (void)__real_send(fd, bytes, len / 2, flags);
    return error_minus_1(EPIPE);
}

/* ---- MySQL ---- */

#ifdef MARIADB_PACKAGE_VERSION
WRAP(my_socket, mysql_get_socket, (MYSQL * mysql), (mysql), -1)

static int mysql_fd(MYSQL *mysql)
{
    return __real_mysql_get_socket(mysql);
}
#else
static int mysql_fd(const MYSQL *mysql)
{
    return mysql->net.fd;
}
#endif

static void *mysql_error_null(unsigned int code)
{
    mysql_code = code;
    return NULL;
}

static void *mysql_lost(MYSQL *mysql, unsigned int code)
{
    int fd = mysql_fd(mysql);
    if (fd >= 0)
        (void)shutdown(fd, SHUT_RDWR);
    return mysql_error_null(code);
}

WRAP(MYSQL *, mysql_init, (MYSQL * mysql), (mysql), error_null(ENOMEM))
WRAP(int, mysql_options, (MYSQL * mysql, enum mysql_option option, const void *value), (mysql, option, value), 1)
WRAP_AFTER(mysql_code = 0, MYSQL *, mysql_real_connect,
           (MYSQL * mysql, const char *host, const char *user, const char *password, const char *database,
            unsigned int port, const char *socket, unsigned long flags),
           (mysql, host, user, password, database, port, socket, flags), mysql_error_null(CR_CONNECTION_ERROR))
WRAP_AFTER(mysql_code = 0, MYSQL_RES *, mysql_store_result, (MYSQL * mysql), (mysql), mysql_lost(mysql, CR_SERVER_LOST))
WRAP_AFTER(mysql_code = 0, MYSQL_RES *, mysql_use_result, (MYSQL * mysql), (mysql), mysql_lost(mysql, CR_OUT_OF_MEMORY))
WRAP(MYSQL_ROW, mysql_fetch_row, (MYSQL_RES * result), (result),
     result->handle == NULL ? NULL : mysql_lost(result->handle, CR_SERVER_LOST))
WRAP(unsigned long, mysql_real_escape_string, (MYSQL * mysql, char *to, const char *from, unsigned long len),
     (mysql, to, from, len), (unsigned long)-1)

int __real_mysql_query(MYSQL *mysql, const char *sql);
int __wrap_mysql_query(MYSQL *mysql, const char *sql);
int __real_mysql_real_query(MYSQL *mysql, const char *sql, unsigned long len);
int __wrap_mysql_real_query(MYSQL *mysql, const char *sql, unsigned long len);

int __wrap_mysql_real_query(MYSQL *mysql, const char *sql, unsigned long len)
{
    unsigned mode;
    mysql_code = 0;
    if (!fails_in_mode("mysql_real_query", 3, &mode))
        return __real_mysql_real_query(mysql, sql, len);
    if (mode == 0) {
        (void)mysql_lost(mysql, CR_SERVER_GONE_ERROR);
    } else if (mode == 1) {
        (void)__real_mysql_real_query(mysql, sql, len);
        (void)mysql_lost(mysql, CR_SERVER_LOST);
    } else {
        (void)__real_mysql_query(mysql, "ROLLBACK");
        mysql_code = ER_LOCK_DEADLOCK;
    }
    return 1;
}

int __wrap_mysql_query(MYSQL *mysql, const char *sql)
{
    return __wrap_mysql_real_query(mysql, sql, strlen(sql));
}

unsigned int __real_mysql_errno(MYSQL *mysql);
unsigned int __wrap_mysql_errno(MYSQL *mysql);

unsigned int __wrap_mysql_errno(MYSQL *mysql)
{
    return mysql_code != 0 ? mysql_code : __real_mysql_errno(mysql);
}

/* ---- prepared statements ---- */

static int stmt_lost(MYSQL_STMT *statement, unsigned int code)
{
    (void)mysql_lost(statement->mysql, code);
    return 1;
}

WRAP(MYSQL_STMT *, mysql_stmt_init, (MYSQL * mysql), (mysql), error_null(ENOMEM))
WRAP_AFTER(mysql_code = 0, int, mysql_stmt_store_result, (MYSQL_STMT * statement), (statement),
           stmt_lost(statement, CR_SERVER_LOST))
WRAP(int, mysql_stmt_fetch, (MYSQL_STMT * statement), (statement), 1)
WRAP(int, mysql_stmt_fetch_column, (MYSQL_STMT * statement, MYSQL_BIND *bind, unsigned int column, unsigned long from),
     (statement, bind, column, from), 1)

int __real_mysql_stmt_prepare(MYSQL_STMT *statement, const char *sql, unsigned long len);
int __wrap_mysql_stmt_prepare(MYSQL_STMT *statement, const char *sql, unsigned long len);
int __real_mysql_stmt_execute(MYSQL_STMT *statement);
int __wrap_mysql_stmt_execute(MYSQL_STMT *statement);
unsigned int __real_mysql_stmt_errno(MYSQL_STMT *statement);
unsigned int __wrap_mysql_stmt_errno(MYSQL_STMT *statement);

/* The connection is lost, or the server has reached its limit of statements. */
int __wrap_mysql_stmt_prepare(MYSQL_STMT *statement, const char *sql, unsigned long len)
{
    unsigned mode;
    mysql_code = 0;
    if (!fails_in_mode("mysql_stmt_prepare", 2, &mode))
        return __real_mysql_stmt_prepare(statement, sql, len);
    if (mode == 0)
        return stmt_lost(statement, CR_SERVER_GONE_ERROR);
    mysql_code = ER_MAX_PREPARED_STMT_COUNT_REACHED;
    return 1;
}

/* The connection is lost before or after the server gets the statement, or the server no longer knows the statement. */
int __wrap_mysql_stmt_execute(MYSQL_STMT *statement)
{
    unsigned mode;
    mysql_code = 0;
    if (!fails_in_mode("mysql_stmt_execute", 3, &mode))
        return __real_mysql_stmt_execute(statement);
    if (mode == 0)
        return stmt_lost(statement, CR_SERVER_GONE_ERROR);
    if (mode == 1) {
        (void)__real_mysql_stmt_execute(statement);
        return stmt_lost(statement, CR_SERVER_LOST);
    }
    mysql_code = ER_UNKNOWN_STMT_HANDLER;
    return 1;
}

unsigned int __wrap_mysql_stmt_errno(MYSQL_STMT *statement)
{
    return mysql_code != 0 ? mysql_code : __real_mysql_stmt_errno(statement);
}
