#include "commands/migrate.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "commands/stores.h"
#include "live/site.h"
#include "live/site_settings.h"
#include "migrate/migrate.h"
#include "redis/redis.h"
#include "settle/site.h"

enum { ARENA_BYTES = 64 << 10, ARENA_BYTES_MAX = 64 << 20 };

static enum status folder_check(struct db *db, const char *sql_dir)
{
    struct migrations *known;
    enum status st = migrations_read(sql_dir, &known, stdout);
    if (st == ST_OK)
        st = migrate_check(db, known, stdout);
    migrations_free(known);
    return st;
}

/* ST_CONFLICT: the tables do not belong to this Redis (live/site.h), so they must not be made or changed. A Redis that
 * does not answer, and tables of a version without an identity, can't be compared. */
static enum status stores_check(const struct config *config, struct db *db)
{
    struct settle_site_look look = { .verdict = SITE_UNKNOWN };
    struct redis *redis = redis_new(config);
    if (redis == NULL)
        return ST_NO_MEMORY;
    enum status st =
        redis_ping(redis) == ST_OK ? settle_site_look(redis, db, (uint32_t)config->partitions, &look) : ST_OK;
    redis_free(redis);
    if (st != ST_OK || look.verdict == SITE_UNKNOWN || site_may_serve(look.verdict))
        return ST_OK; /* the migrator reports everything else that is wrong */
    (void)printf("migrate: %s\n", site_verdict_text(look.verdict));
    return ST_CONFLICT;
}

/* ST_CONFLICT: the tables hold what was made with another value of a setting. The value is said. */
static enum status settings_check(const struct config *config, struct db *db, struct arena *a)
{
    struct site_settings there;
    char wanted[CONFIG_TEXT_MAX];
    enum status st = site_settings_read(db, a, &there);
    if (st != ST_OK)
        return st == ST_NOT_FOUND ? ST_OK : st;
    enum site_setting i = site_settings_differ(config, &there, 0);
    for (; i < SITE_SETTING_COUNT; i = site_settings_differ(config, &there, i + 1)) {
        if (!there.fixed[i] || (i != SITE_TIMEZONE && site_unit_is_changing(&there)))
            continue;
        const char *name = site_setting_name(i);
        const struct str is = there.values[i];
        (void)printf("migrate: %s is %s, but the %s of the tables were made with %.*s, and stay so: set %s = %.*s\n",
                     name, site_setting_wanted(config, i, wanted).ptr, site_setting_fixes(i), STR_ARG(is), name,
                     STR_ARG(is));
        st = ST_CONFLICT;
    }
    return st;
}

/* Applies the migrations, and writes the settings of the data into the tables. Fixed values that differ are refused
 * before anything is changed, and afterwards once more, because another migrator may have been faster. restoring: a
 * backup brings its values. */
static enum status tables_update(const struct config *config, struct db *db, bool restoring)
{
    struct arena *a = arena_new(ARENA_BYTES, ARENA_BYTES_MAX);
    enum status st = a == NULL ? ST_NO_MEMORY : restoring ? ST_OK : settings_check(config, db, a);
    if (st == ST_OK)
        st = migrate_run(db, config->sql_dir, stdout);
    if (st == ST_OK)
        st = site_settings_write(db, config, restoring);
    if (st == ST_OK && !restoring)
        st = settings_check(config, db, a);
    arena_free(a);
    return st;
}

int migrate_command(const struct config *config, int argc, char **argv)
{
    bool check = argc == 2 && strcmp(argv[1], "--check") == 0;
    bool restoring = argc == 2 && strcmp(argv[1], "--restoring") == 0;
    if (argc != 1 && !check && !restoring) {
        (void)fputs("usage: hongbao migrate [--check | --restoring]\n", stderr);
        return 2;
    }
    struct db *db = db_new(config);
    if (db == NULL)
        return 1;
    enum status st = check || restoring ? ST_OK : stores_check(config, db);
    if (st == ST_OK)
        st = check ? folder_check(db, config->sql_dir) : tables_update(config, db, restoring);
    if (restoring && st == ST_NOT_FOUND) /* the restore that follows brings the interrupted one to its end */
        st = ST_OK;
    db_free(db);
    if (st == ST_UNAVAILABLE)
        command_stores_tell(config, "migrate");
    return st == ST_OK ? 0 : 1;
}
