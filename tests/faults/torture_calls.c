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

static bool on;
static int outer_frames;        /* stack frames of the torture test itself, above the program's */
static unsigned int mysql_code; /* the error that mysql_errno returns; 0: the server's own */

void torture_on(void)
{
    void *frames[TORTURE_FRAMES_MAX];
    outer_frames = backtrace(frames, TORTURE_FRAMES_MAX) - 2; /* without this one and its caller */
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

/* ---- memory ---- */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *s);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *s);

static void *no_memory(void)
{
    errno = ENOMEM;
    return NULL;
}

void *__wrap_malloc(size_t size)
{
    return fails("malloc") ? no_memory() : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails("calloc") ? no_memory() : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails("realloc") ? no_memory() : __real_realloc(old, size);
}

char *__wrap_strdup(const char *s)
{
    return fails("strdup") ? no_memory() : __real_strdup(s);
}

QRcode *__real_QRcode_encodeString8bit(const char *string, int version, QRecLevel level);
QRcode *__wrap_QRcode_encodeString8bit(const char *string, int version, QRecLevel level);
QRcode *__wrap_QRcode_encodeString8bit(const char *string, int version, QRecLevel level)
{
    return fails("QRcode_encodeString8bit") ? no_memory() : __real_QRcode_encodeString8bit(string, version, level);
}

/* Argon2id allocates 19 MiB. */
int __real_crypto_pwhash_str_alg(char *out, const char *password, unsigned long long len, unsigned long long passes,
                                 size_t memory, int algorithm);
int __real_crypto_pwhash_str_verify(const char *hash, const char *password, unsigned long long len);
int __wrap_crypto_pwhash_str_alg(char *out, const char *password, unsigned long long len, unsigned long long passes,
                                 size_t memory, int algorithm);
int __wrap_crypto_pwhash_str_verify(const char *hash, const char *password, unsigned long long len);

int __wrap_crypto_pwhash_str_alg(char *out, const char *password, unsigned long long len, unsigned long long passes,
                                 size_t memory, int algorithm)
{
    if (!fails("crypto_pwhash_str_alg"))
        return __real_crypto_pwhash_str_alg(out, password, len, passes, memory, algorithm);
    errno = ENOMEM;
    return -1;
}

int __wrap_crypto_pwhash_str_verify(const char *hash, const char *password, unsigned long long len)
{
    if (!fails("crypto_pwhash_str_verify"))
        return __real_crypto_pwhash_str_verify(hash, password, len);
    errno = ENOMEM;
    return -1;
}

/* ---- descriptors ---- */

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen64(const char *path, const char *mode);
DIR *__real_opendir(const char *path);
FILE *__wrap_fopen(const char *path, const char *mode);
DIR *__wrap_opendir(const char *path);

static void *no_descriptor(void)
{
    errno = EMFILE;
    return NULL;
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
    return fails("fopen") ? no_descriptor() : __real_fopen(path, mode);
}

FILE *__wrap_fopen64(const char *path, const char *mode)
{
    return __wrap_fopen(path, mode);
}

DIR *__wrap_opendir(const char *path)
{
    return fails("opendir") ? no_descriptor() : __real_opendir(path);
}

/* ---- Redis: hiredis, and the socket, which io/redis_wire.c reads and writes itself ---- */

redisContext *__real_redisConnectUnixNonBlock(const char *path);
int __real_redisReaderFeed(redisReader *r, const char *bytes, size_t len);
int __real_redisReaderGetReply(redisReader *r, void **reply);
ssize_t __real_send(int fd, const void *bytes, size_t len, int flags);
ssize_t __real_recv(int fd, void *bytes, size_t len, int flags);
int __real_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
redisContext *__wrap_redisConnectUnixNonBlock(const char *path);
int __wrap_redisReaderFeed(redisReader *r, const char *bytes, size_t len);
int __wrap_redisReaderGetReply(redisReader *r, void **reply);
ssize_t __wrap_send(int fd, const void *bytes, size_t len, int flags);
ssize_t __wrap_recv(int fd, void *bytes, size_t len, int flags);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms);

redisContext *__wrap_redisConnectUnixNonBlock(const char *path)
{
    return fails("redisConnectUnixNonBlock") ? no_memory() : __real_redisConnectUnixNonBlock(path);
}

int __wrap_redisReaderFeed(redisReader *r, const char *bytes, size_t len)
{
    return fails("redisReaderFeed") ? REDIS_ERR : __real_redisReaderFeed(r, bytes, len);
}

int __wrap_redisReaderGetReply(redisReader *r, void **reply)
{
    return fails("redisReaderGetReply") ? REDIS_ERR : __real_redisReaderGetReply(r, reply);
}

/* Fails before anything is written, or after the first half. */
ssize_t __wrap_send(int fd, const void *bytes, size_t len, int flags)
{
    unsigned mode;
    if (!fails_in_mode("send", 2, &mode))
        return __real_send(fd, bytes, len, flags);
    if (mode == 1)
        (void)__real_send(fd, bytes, len / 2, flags);
    errno = EPIPE;
    return -1;
}

/* The reply is lost. */
ssize_t __wrap_recv(int fd, void *bytes, size_t len, int flags)
{
    if (!fails("recv"))
        return __real_recv(fd, bytes, len, flags);
    errno = ECONNRESET;
    return -1;
}

/* A timeout. */
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
    return fails("poll") ? 0 : __real_poll(fds, count, timeout_ms);
}

/* ---- MySQL ---- */

MYSQL *__real_mysql_init(MYSQL *mysql);
int __real_mysql_options(MYSQL *mysql, enum mysql_option option, const void *value);
MYSQL *__real_mysql_real_connect(MYSQL *mysql, const char *host, const char *user, const char *password,
                                 const char *database, unsigned int port, const char *socket, unsigned long flags);
int __real_mysql_query(MYSQL *mysql, const char *sql);
int __real_mysql_real_query(MYSQL *mysql, const char *sql, unsigned long len);
MYSQL_RES *__real_mysql_store_result(MYSQL *mysql);
MYSQL_RES *__real_mysql_use_result(MYSQL *mysql);
MYSQL_ROW __real_mysql_fetch_row(MYSQL_RES *result);
unsigned long __real_mysql_real_escape_string(MYSQL *mysql, char *to, const char *from, unsigned long len);
unsigned int __real_mysql_errno(MYSQL *mysql);
MYSQL *__wrap_mysql_init(MYSQL *mysql);
int __wrap_mysql_options(MYSQL *mysql, enum mysql_option option, const void *value);
MYSQL *__wrap_mysql_real_connect(MYSQL *mysql, const char *host, const char *user, const char *password,
                                 const char *database, unsigned int port, const char *socket, unsigned long flags);
int __wrap_mysql_query(MYSQL *mysql, const char *sql);
int __wrap_mysql_real_query(MYSQL *mysql, const char *sql, unsigned long len);
MYSQL_RES *__wrap_mysql_store_result(MYSQL *mysql);
MYSQL_RES *__wrap_mysql_use_result(MYSQL *mysql);
MYSQL_ROW __wrap_mysql_fetch_row(MYSQL_RES *result);
unsigned long __wrap_mysql_real_escape_string(MYSQL *mysql, char *to, const char *from, unsigned long len);
unsigned int __wrap_mysql_errno(MYSQL *mysql);
#ifdef MARIADB_PACKAGE_VERSION
my_socket __real_mysql_get_socket(MYSQL *mysql);
my_socket __wrap_mysql_get_socket(MYSQL *mysql);
#endif

#ifdef MARIADB_PACKAGE_VERSION
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

static void *mysql_lost(MYSQL *mysql, unsigned int code)
{
    int fd = mysql_fd(mysql);
    if (fd >= 0)
        (void)shutdown(fd, SHUT_RDWR);
    mysql_code = code;
    return NULL;
}

MYSQL *__wrap_mysql_init(MYSQL *mysql)
{
    return fails("mysql_init") ? no_memory() : __real_mysql_init(mysql);
}

int __wrap_mysql_options(MYSQL *mysql, enum mysql_option option, const void *value)
{
    return fails("mysql_options") ? 1 : __real_mysql_options(mysql, option, value);
}

MYSQL *__wrap_mysql_real_connect(MYSQL *mysql, const char *host, const char *user, const char *password,
                                 const char *database, unsigned int port, const char *socket, unsigned long flags)
{
    mysql_code = 0;
    if (!fails("mysql_real_connect"))
        return __real_mysql_real_connect(mysql, host, user, password, database, port, socket, flags);
    mysql_code = CR_CONNECTION_ERROR;
    return NULL;
}

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

MYSQL_RES *__wrap_mysql_store_result(MYSQL *mysql)
{
    mysql_code = 0;
    return fails("mysql_store_result") ? mysql_lost(mysql, CR_SERVER_LOST) : __real_mysql_store_result(mysql);
}

MYSQL_RES *__wrap_mysql_use_result(MYSQL *mysql)
{
    mysql_code = 0;
    return fails("mysql_use_result") ? mysql_lost(mysql, CR_OUT_OF_MEMORY) : __real_mysql_use_result(mysql);
}

MYSQL_ROW __wrap_mysql_fetch_row(MYSQL_RES *result)
{
    if (!fails("mysql_fetch_row"))
        return __real_mysql_fetch_row(result);
    if (result->handle != NULL)
        (void)mysql_lost(result->handle, CR_SERVER_LOST);
    return NULL;
}

unsigned long __wrap_mysql_real_escape_string(MYSQL *mysql, char *to, const char *from, unsigned long len)
{
    return fails("mysql_real_escape_string") ? (unsigned long)-1
                                             : __real_mysql_real_escape_string(mysql, to, from, len);
}

unsigned int __wrap_mysql_errno(MYSQL *mysql)
{
    return mysql_code != 0 ? mysql_code : __real_mysql_errno(mysql);
}

#ifdef MARIADB_PACKAGE_VERSION
my_socket __wrap_mysql_get_socket(MYSQL *mysql)
{
    return fails("mysql_get_socket") ? -1 : __real_mysql_get_socket(mysql);
}
#endif
