#include "live/stores.h"

#include <stdio.h>

#define LIMIT_FILE "limit-7.lua"

enum { LIMIT_KEYS = 7 };

enum status stores_open(struct stores *s, const struct config *config, bool with_mysql, char *error, size_t error_size)
{
    const char *missing = NULL;
    *s = (struct stores){ .config = config };
    (void)snprintf(error, error_size, "out of memory");
    enum status st = live_functions_read(config->lua_dir, &s->functions, error, error_size);
    if (st == ST_OK)
        s->redis = redis_new(config);
    if (st == ST_OK && s->redis == NULL)
        st = ST_NO_MEMORY;
    if (st == ST_OK) {
        st = live_init(&s->live, s->redis, s->functions, config, &missing);
        s->limit = redis_function_find(s->functions, "limit");
        if (st == ST_OK && (s->limit == NULL || redis_function_key_count(s->limit) != LIMIT_KEYS)) {
            missing = LIMIT_FILE;
            st = ST_INVALID;
        }
        if (st != ST_OK)
            (void)snprintf(error, error_size, "%s/%s: No such file", config->lua_dir, missing);
    }
    if (st == ST_OK && with_mysql) {
        s->db = db_new(config);
        st = s->db == NULL ? ST_NO_MEMORY : ST_OK;
        if (st == ST_OK)
            site_watch(s);
    }
    if (st != ST_OK)
        stores_close(s);
    return st;
}

void stores_close(struct stores *s)
{
    db_free(s->db);
    redis_free(s->redis);
    redis_functions_free(s->functions);
    *s = (struct stores){ .config = NULL };
}
