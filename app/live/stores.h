/* The clients of Redis and MySQL and the functions, held by a process for its life. */
#ifndef HB_LIVE_STORES_H
#define HB_LIVE_STORES_H

#include "base/status.h"
#include "config/config.h"
#include "live/live.h"
#include "live/site.h"
#include "mysql/db.h"
#include "redis/function.h"
#include "redis/redis.h"

struct stores {
    const struct config *config; /* borrowed */
    struct redis *redis;
    struct redis_functions *functions;
    struct db *db;                      /* NULL: opened without MySQL (the hot pool) */
    struct live live;                   /* points to redis and functions above */
    const struct redis_function *limit; /* of functions; web/limits.h */
    struct site site;                   /* whether both stores belong together */
};

/* Reads the functions of config->lua_dir and creates the client of Redis, and with with_mysql the client of MySQL. Does
 * not connect: the stores may be unreachable. ST_INVALID: a function is invalid or missing · ST_NO_MEMORY; the reason
 * is in error (error_size bytes). On an error everything is freed. config is borrowed. */
enum status stores_open(struct stores *s, const struct config *config, bool with_mysql, char *error, size_t error_size);
/* Frees the clients and functions; *s is empty afterwards. Also for a zeroed struct. */
void stores_close(struct stores *s);

#endif
