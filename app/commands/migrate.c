#include "commands/migrate.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "commands/stores.h"
#include "live/site.h"
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

/* Whether the tables that SITE_TIMEZONE_SQL reads are there: an interrupted restore leaves some. */
static enum status has_timezone(struct db *db, struct arena *a, bool *out)
{
    struct db_rows rows;
    enum status st = db_query(db, a, &rows,
                              "SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE()"
                              " AND (table_name, column_name) IN (('site', 'timezone'), ('user_month', 'month'))",
                              NULL, 0);
    *out = st == ST_OK && rows.count == 2;
    return st;
}

/* ST_CONFLICT: the tables have months of another time zone than wanted, which is said. */
static enum status timezone_check(struct db *db, struct arena *a, const char *wanted)
{
    struct db_rows rows;
    bool has = false;
    enum status st = has_timezone(db, a, &has);
    if (st != ST_OK || !has)
        return st;
    st = db_query(db, a, &rows, SITE_TIMEZONE_SQL, NULL, 0);
    if (st != ST_OK || rows.count == 0 || db_cell_i64(&rows, 0, 1) == 0)
        return st;
    struct str zone = db_cell(&rows, 0, 0);
    if (zone.len == 0 || str_equal(zone, str_from(wanted)))
        return ST_OK;
    (void)printf(
        "migrate: timezone is %s, but the months of the tables are of %.*s, and stay so: set timezone = %.*s\n", wanted,
        STR_ARG(zone), STR_ARG(zone));
    return ST_CONFLICT;
}

/* Applies the migrations, and writes the time zone of the setting into tables that have none, or no months yet. Months
 * of another one are refused before anything is changed, and afterwards once more, because another migrator may have
 * been faster. restoring: a backup brings its time zone, so only tables without one get the setting's. */
static enum status tables_update(const struct config *config, struct db *db, bool restoring)
{
    bool has = false;
    struct arena *a = arena_new(ARENA_BYTES, ARENA_BYTES_MAX);
    enum status st = a == NULL ? ST_NO_MEMORY : restoring ? ST_OK : timezone_check(db, a, config->timezone);
    if (st == ST_OK)
        st = migrate_run(db, config->sql_dir, stdout);
    if (st == ST_OK)
        st = has_timezone(db, a, &has);
    if (st == ST_OK && has)
        st =
            db_exec(db, NULL,
                    "UPDATE site SET timezone = ? WHERE timezone = '' OR (? AND NOT EXISTS (SELECT 1 FROM user_month))",
                    DB_PARAMS(DB_TEXT(str_from(config->timezone)), DB_I64(restoring ? 0 : 1)));
    if (st == ST_OK && !restoring)
        st = timezone_check(db, a, config->timezone);
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
