#include "commands/serve.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "audit/sample.h"
#include "audit/watch.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/log.h"
#include "io/metrics_processes.h"
#include "io/process.h"
#include "io/program_id.h"
#include "io/sandbox.h"
#include "live/fence.h"
#include "live/stores.h"
#include "migrate/migrate.h"
#include "settle/cursor.h"
#include "settle/run.h"
#include "settle/settle.h"
#include "settle/site.h"
#include "site/redis_memory.h"
#include "site/routes.h"
#include "site/services.h"
#include "user/deletion.h"
#include "web/router.h"

enum {
    ERROR_MAX = 1024,
    HEAP_KEPT_BYTES = 16 << 20,
    UNIT_TRIES_MAX = 30,
    UNIT_POLL_NS = 100000000,
    /* A password hash uses a core for 50 ms, a grab takes microseconds and goes first; programs of an operator wait for
     * people. Not 19: with 10 the auth pool still gets a tenth of a hot process's share of a busy CPU, so logins become
     * slow but never stop. */
    LOW_NICENESS = 10
};

static const struct pool_kind {
    const char *name; /* of its role, too (docs/reference/rights.md) */
    enum pool pool;
    unsigned parts;
    int niceness;
    enum sandbox_role sandbox;
} POOLS[] = {
    /* no MySQL: a slow query can't delay a grab */
    { "hot", POOL_HOT, SERVICES_PAGES | SERVICES_PAGE_CACHE, 0, SANDBOX_HOT },
    { "page", POOL_PAGE, SERVICES_PAGES | SERVICES_MYSQL | SERVICES_INBOX, 0, SANDBOX_PAGE },
    { "auth", POOL_AUTH, SERVICES_PAGES | SERVICES_MYSQL, LOW_NICENESS, SANDBOX_AUTH },
    { "sso", POOL_SSO, SERVICES_PAGES | SERVICES_MYSQL | SERVICES_ISSUER, LOW_NICENESS, SANDBOX_SSO },
    { "card", POOL_CARD, SERVICES_PAGES | SERVICES_MYSQL | SERVICES_DRAWING, LOW_NICENESS, SANDBOX_CARD },
    { "money", POOL_MONEY, SERVICES_PAGES | SERVICES_MYSQL, LOW_NICENESS, SANDBOX_MONEY },
};

static const struct pool_kind *pool_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(POOLS); i++)
        if (strcmp(POOLS[i].name, name) == 0)
            return &POOLS[i];
    return NULL;
}

const char *serve_role(int argc, char **argv)
{
    const struct pool_kind *kind = argc > 2 && strcmp(argv[1], "--pool") == 0 ? pool_find(argv[2]) : NULL;
    return kind == NULL ? NULL : kind->name;
}

/* The routes of all floors in one new table, for the caller to free; NULL: out of memory. */
static struct route *routes_join(size_t *count)
{
    *count = site_routes_count();
    struct route *all = calloc(*count, sizeof *all);
    for (size_t i = 0; all != NULL && i < *count; i++)
        all[i] = *site_route(i);
    return all;
}

/* The start of every long-lived process: log, metrics, services. */
static enum status process_start(const struct config *config, const char *role, unsigned parts, struct services *app)
{
    char error[ERROR_MAX], quoted[ERROR_MAX];
    log_init(role, LOG_INFO);
    /* A batch of requests allocates and frees some megabytes. Giving them back to the kernel each time would cost page
     * faults. */
    (void)mallopt(M_TRIM_THRESHOLD, HEAP_KEPT_BYTES);
    /* libfcgi allocates buffers of 8 KiB for each request. Before each of them malloc would merge all blocks of its
     * fast bins, so there are none. */
    (void)mallopt(M_MXFAST, 0);
    if (!metrics_open(config->metrics_file))
        log_warn("metrics file can't be mapped: /metrics lacks what this process counts, /readyz takes it for stopped",
                 "file=\"%s\" error=\"%s\" mend=\"a file of mode 0660 with the group of all pools and of the worker\"",
                 config->metrics_file, strerror(errno));
    metrics_process_with(program_id(), config->file_digest);
    enum status st = services_open(app, config, parts, error, sizeof error);
    if (st != ST_OK)
        log_error("can't start", "status=%s error=%s", status_name(st),
                  log_quote(str_from(error), quoted, sizeof quoted));
    return st;
}

/* Restricts the system calls, unless the settings say otherwise. */
static enum status process_confine(const struct config *config, enum sandbox_role role)
{
    return config->sandbox ? sandbox_enter(role, config_stores_by_tcp(config)) : ST_OK;
}

/* Removes the last argument when it is the option. True: it was there. */
static bool last_option(int *argc, char **argv, const char *name)
{
    bool found = *argc > 1 && strcmp(argv[*argc - 1], name) == 0;
    *argc -= found;
    return found;
}

/* Whether a pool without MySQL has the unit of the worker, which may have got a new one just now. */
static bool unit_fits(struct redis *redis)
{
    const struct timespec pause = { .tv_nsec = UNIT_POLL_NS };
    for (int tries = 0; live_unit_check(redis) == ST_CONFLICT; tries++) {
        if (tries == UNIT_TRIES_MAX)
            return false;
        (void)nanosleep(&pause, NULL);
    }
    return true;
}

/* ST_INVALID: the schema is not the one of this program, or the tables have other settings. ST_OK also when a store is
 * unreachable. */
static enum status stores_check(const struct services *app)
{
    if (app->stores.db == NULL && !unit_fits(app->stores.redis)) {
        (void)fputs("serve: the settle worker has another unit of money than the settings: hongbao doctor\n", stderr);
        return ST_INVALID;
    }
    if (app->stores.db == NULL)
        return ST_OK;
    enum status st = app->migrations == NULL ? ST_INVALID : migrate_check(app->stores.db, app->migrations, stderr);
    const bool other = app->stores.site.refused == SITE_OTHER_SETTINGS;
    return st == ST_CONFLICT || st == ST_INVALID || st == ST_NOT_FOUND || other ? ST_INVALID : ST_OK;
}

int serve_command(const struct config *config, int argc, char **argv)
{
    bool check = last_option(&argc, argv, "--check");
    const struct pool_kind *kind = argc == 3 && strcmp(argv[1], "--pool") == 0 ? pool_find(argv[2]) : NULL;
    if (kind == NULL) {
        (void)fputs("usage: hongbao serve --pool hot|page|auth|sso|card|money [--check]\n", stderr);
        return 2;
    }
    struct services app;
    if (process_start(config, kind->name, kind->parts, &app) != ST_OK)
        return 1;
    struct router router = { .pool = kind->pool, .app = &app };
    struct route *routes = routes_join(&router.count);
    router.routes = routes;
    if (kind->niceness > 0)
        process_be_nice(kind->niceness);
    enum status st = routes == NULL ? ST_NO_MEMORY : process_confine(config, kind->sandbox);
    if (st == ST_OK)
        st = check ? stores_check(&app) : router_serve(&router);
    if (st != ST_OK)
        log_error("serving ended", "status=%s", status_name(st));
    free(routes);
    services_close(&app);
    return st == ST_OK ? 0 : 1;
}

/* ST_CONFLICT: the stores do not belong together. ST_OK also when one of them is unreachable. */
static enum status site_check(const struct services *app)
{
    struct settle_site_look look;
    const struct stores *s = &app->stores;
    if (settle_site_look(s->redis, s->db, (uint32_t)s->config->partitions, &look) != ST_OK ||
        look.verdict == SITE_UNKNOWN || site_may_serve(look.verdict))
        return ST_OK;
    (void)fprintf(stderr, "settle: %s\n", site_verdict_text(look.verdict));
    return ST_CONFLICT;
}

/* The checks that the worker runs once a second besides settling. */
struct worker_extra {
    struct audit_sample sample;
    struct audit_watch watch;
    struct redis_memory_watch memory;
    struct deletion_walk deletion;
    bool deletion_failed; /* the last pass */
};

static bool worker_extra_run(struct stores *stores, void *ctx)
{
    struct worker_extra *extra = ctx;
    /* After an error the next call tries again. */
    (void)audit_sample_run(&extra->sample, stores);
    (void)audit_watch_run(&extra->watch, stores, clock_monotonic_ms());
    enum status st = deletion_pass(&extra->deletion, stores, clock_now_ms());
    if ((st != ST_OK) != extra->deletion_failed)
        log_warn(st != ST_OK ? "deletions of accounts wait" : "deletions of accounts continue", "status=%s",
                 status_name(st));
    extra->deletion_failed = st != ST_OK;
    redis_memory_watch(&extra->memory, stores->redis, clock_monotonic_ms());
    return extra->watch.walked;
}

int settle_command(const struct config *config, int argc, char **argv)
{
    bool check = last_option(&argc, argv, "--check");
    bool until_idle = !check && last_option(&argc, argv, "--until-idle");
    if (argc != 1) {
        (void)fputs("usage: hongbao settle [--check | --until-idle]\n", stderr);
        return 2;
    }
    struct services app;
    if (process_start(config, "settle", SERVICES_MYSQL, &app) != ST_OK)
        return 1;
    struct worker_extra *extra = calloc(1, sizeof *extra);
    enum status st = extra == NULL ? ST_NO_MEMORY : process_confine(config, SANDBOX_SETTLE);
    if (st == ST_OK && check)
        st = stores_check(&app);
    if (st == ST_OK && check)
        st = site_check(&app);
    if (st == ST_OK)
        st = check ? settle_partitions_check(&app.stores)
                   : settle_run(&app.stores, until_idle ? SETTLE_UNTIL_IDLE : SETTLE_UNTIL_SIGNAL, worker_extra_run,
                                extra);
    if (st != ST_OK)
        log_error("settling ended", "status=%s", status_name(st));
    free(extra);
    services_close(&app);
    return st == ST_OK ? 0 : check && st == ST_INVALID ? 2 : 1;
}
