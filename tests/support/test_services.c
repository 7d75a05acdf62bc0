#include "support/test_services.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mysql.h>

#include "base/random.h"
#include "live/fence.h"
#include "live/keys.h"
#include "live/stores.h"
#include "migrate/migrate.h"
#include "redis/fence.h"
#include "redis/function_load.h"
#include "support/unix_path.h"

struct opened {
    struct services app;
    struct config config;
};

/* HB_CONFIG names admin.conf, the settings of the administrator. The settings of the roles are in the same folder. */
static bool settings_read(struct config *config, const char *role, char *error, size_t error_size)
{
    const char *path = getenv("HB_CONFIG");
    const char *slash = path == NULL ? NULL : strrchr(path, '/');
    if (slash == NULL) {
        (void)snprintf(error, error_size, "HB_CONFIG names no file");
        return false;
    }
    if (role == NULL)
        return config_load(config, path, NULL, error, error_size) == ST_OK;
    char site[512];
    (void)snprintf(site, sizeof site, "%.*s/hongbao.conf", (int)(slash - path), path);
    return config_load(config, site, role, error, error_size) == ST_OK;
}

/* Loads the functions as the settle worker does. Uses a separate connection: the tested code makes the connection of
 * the stores. */
static bool functions_load(const struct opened *o, char *error, size_t error_size)
{
    struct redis *r = redis_new(&o->config);
    bool loaded = r != NULL && redis_functions_load(r, o->app.stores.functions) == ST_OK;
    (void)snprintf(error, error_size, "the functions can't be loaded");
    redis_free(r);
    return loaded;
}

static bool open_all(struct opened *o, const char *role, char *error, size_t error_size)
{
    if (!settings_read(&o->config, role, error, error_size))
        return false;
    if (stores_open(&o->app.stores, &o->config, true, error, error_size) != ST_OK)
        return false;
    public_id_key_set(&o->app.id_key, &o->config.keys.of[KEY_IDS]);
    if (role != NULL)
        return true;
    (void)snprintf(error, error_size, "the migrations failed");
    enum status st = migrations_read(o->config.sql_dir, &o->app.migrations, stderr);
    if (st == ST_OK)
        st = migrate_run(o->app.stores.db, o->config.sql_dir, NULL);
    if (st == ST_OK) /* as a settle worker has compared the stores */
        st = db_exec(o->app.stores.db, NULL, "UPDATE site SET generation = 1 WHERE generation = 0", NULL, 0);
    db_set_timeout_s(o->app.stores.db, o->config.mysql_timeout_s);
    return st == ST_OK && functions_load(o, error, error_size);
}

struct services *test_services_open(void)
{
    return test_services_open_as(NULL);
}

struct services *test_services_open_as(const char *role)
{
    (void)signal(SIGPIPE, SIG_IGN);
    struct opened *o = calloc(1, sizeof *o);
    if (o == NULL || !random_init())
        return NULL;
    config_defaults(&o->config);
    char error[512] = "";
    if (!open_all(o, role, error, sizeof error)) {
        (void)fprintf(stderr, "test_services: %s\n", error);
        test_services_close(&o->app);
        return NULL;
    }
    return &o->app;
}

MYSQL *test_services_mysql(const struct services *app)
{
    const struct config *c = app->stores.config;
    MYSQL *mysql = mysql_init(NULL);
    if (mysql == NULL || mysql_real_connect(mysql, NULL, c->mysql_user, c->mysql_password, c->mysql_database, 0,
                                            unix_path(c->mysql), 0) == NULL) {
        (void)fprintf(stderr, "%s: %s\n", c->mysql_user, mysql == NULL ? "no memory" : mysql_error(mysql));
        abort();
    }
    return mysql;
}

void test_services_close(struct services *app)
{
    if (app == NULL)
        return;
    struct opened *o = (struct opened *)app; /* app is its first member */
    migrations_free(app->migrations);
    stores_close(&app->stores);
    free(o);
}

void test_services_fences_open(struct services *app)
{
    test_services_fences_write(app, NULL);
}

void test_services_fences_write(struct services *app, const char *text)
{
    struct redis_call call;
    char key[LIVE_KEY_MAX], own[REDIS_FENCE_TEXT_MAX];
    live_fences_set(app->stores.redis, app->stores.config);
    for (uint32_t i = 0; i < (uint32_t)app->stores.config->partitions; i++) {
        (void)redis_fence_text(app->stores.redis, i, own);
        const struct str set[] = { STR("SET"), live_fence_key(key, i), str_from(text == NULL ? own : text) };
        (void)redis_do(app->stores.redis, &call, set, 3);
        redis_call_free(&call);
    }
}

struct config *test_services_config(struct services *app)
{
    return &((struct opened *)app)->config;
}
