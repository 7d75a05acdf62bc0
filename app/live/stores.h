/* The two stores, and what is needed to talk to them, as one process holds them for its life. */
#ifndef HB_LIVE_STORES_H
#define HB_LIVE_STORES_H

#include "base/config.h"
#include "base/status.h"
#include "io/db.h"
#include "io/redis.h"
#include "live/live.h"

struct stores {
    const struct config *config; /* borrowed */
    struct redis *redis;
    struct redis_scripts *scripts;
    struct db *db;    /* NULL: opened without MySQL, as the hot pool is */
    struct live live; /* the scripts, found by name once; its redis is the one above */
};

/* Loads the scripts of config->lua_dir and opens Redis, and MySQL if asked. Nothing connects: the stores may be away.
 * ST_INVALID: a script is broken or missing, error (error_size bytes, caller's) says which; ST_NO_MEMORY. On anything
 * but ST_OK nothing stays open. config is borrowed. */
enum status stores_open(struct stores *s, const struct config *config, bool with_mysql, char *error, size_t error_size);
/* All NULL is fine. */
void stores_close(struct stores *s);

#endif
