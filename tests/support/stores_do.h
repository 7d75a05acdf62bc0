/* Commands of a test to a store, which must succeed. */
#ifndef HB_TESTS_SUPPORT_STORES_DO_H
#define HB_TESTS_SUPPORT_STORES_DO_H

#include "support/test.h"

#include "mysql/db.h"
#include "redis/redis.h"
#include "redis/reply.h"

/* A statement with parameters: sql_do_with(db, "… WHERE id = ?", DB_PARAMS(DB_U64(id))). */
static inline void sql_do_with(struct db *db, const char *sql, const struct db_param *params, size_t count)
{
    const enum status st = db_exec(db, NULL, sql, params, count);
    if (st != ST_OK)
        fail_msg("status %d: %s", (int)st, sql);
}

static inline void sql_do(struct db *db, const char *sql)
{
    sql_do_with(db, sql, NULL, 0);
}

/* A command of Redis, words as by printf, separated by blanks. Its integer, or -1 when the reply is none. */
static inline __attribute__((format(printf, 2, 3))) int64_t redis_number(struct redis *r, const char *format, ...)
{
    static char text[1 << 17];
    static struct str words[REDIS_ARGS_MAX];
    struct str rest;
    size_t count = 0;
    int64_t number = -1;
    struct redis_call call;
    va_list args;
    va_start(args, format);
    assert_in_range(vsnprintf(text, sizeof text, format, args), 1, sizeof text - 1);
    va_end(args);
    for (rest = str_from(text); rest.ptr != NULL;) {
        assert_true(count < sizeof words / sizeof *words);
        words[count++] = str_cut(rest, ' ', &rest);
    }
    const enum status st = redis_do(r, &call, words, count);
    if (st != ST_OK)
        fail_msg("status %d: %s", (int)st, text);
    (void)redis_reply_i64(call.reply, &number);
    redis_call_free(&call);
    return number;
}

#endif
