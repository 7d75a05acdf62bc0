#include "ops/services.h"

#include <stdio.h>

#include "packet/finished.h"
#include "packet/live.h"
#include "user/session.h"
#include "web/assets.h"

static enum status pages_open(struct services *s, const struct config *config, char *error, size_t error_size)
{
    error[0] = '\0';
    enum status st = templates_load(config->template_dir, &s->templates, error, error_size);
    if (st != ST_OK && error[0] == '\0')
        (void)snprintf(error, error_size, "%s: %s", config->template_dir, status_name(st));
    if (st != ST_OK)
        return st;
    st = assets_load(config->static_dir, &s->assets);
    if (st != ST_OK)
        (void)snprintf(error, error_size, "%s: %s", config->static_dir, status_name(st));
    return st;
}

enum status services_open(struct services *s, const struct config *config, unsigned parts, char *error,
                          size_t error_size)
{
    struct live live;
    *s = (struct services){ .config = config,
                            .visitor_queue = session_visitor_queue,
                            .visitor_read = session_visitor_read };
    public_id_key_derive(str_from(config->secret), &s->id_key);
    (void)snprintf(error, error_size, "out of memory");
    enum status st = redis_scripts_load(config->lua_dir, &s->scripts, error, error_size);
    if (st == ST_OK)
        s->redis = redis_new(config);
    if (st == ST_OK && s->redis == NULL)
        st = ST_NO_MEMORY;
    if (st == ST_OK) {
        st = live_init(&live, s->redis, s->scripts, config);
        if (st != ST_OK)
            (void)snprintf(error, error_size, "%s: a script is missing or takes other keys", config->lua_dir);
    }
    if (st == ST_OK && (parts & SERVICES_MYSQL) != 0) {
        s->db = db_new(config);
        st = s->db == NULL ? ST_NO_MEMORY : ST_OK;
    }
    if (st == ST_OK && (parts & SERVICES_PAGES) != 0) {
        live_vouched_by(s->redis, config);
        st = pages_open(s, config, error, error_size);
    }
    if (st == ST_OK && (parts & SERVICES_FINISHED) != 0) {
        s->finished = finished_new(FINISHED_PACKETS_MAX, FINISHED_BYTES_MAX);
        st = s->finished == NULL ? ST_NO_MEMORY : ST_OK;
    }
    if (st != ST_OK)
        services_close(s);
    return st;
}

void services_close(struct services *s)
{
    finished_free(s->finished);
    templates_free(&s->templates);
    assets_free(s->assets);
    db_free(s->db);
    redis_free(s->redis);
    redis_scripts_free(s->scripts);
    *s = (struct services){ 0 };
}
