#include "site/gauges.h"

#include <inttypes.h>

#include "audit/backup_record.h"
#include "audit/state.h"
#include "base/array.h"
#include "base/money.h"
#include "io/metrics_processes.h"
#include "redis/fence.h"
#include "site/backlog.h"
#include "site/redis_state.h"

enum { MS_PER_S = 1000 };

static const char *const ROLE_NAMES[METRICS_ROLE_COUNT] = { "hot", "page", "auth", "card", "settle", "money", "sso" };

static void head_print(struct buf *out, const char *name, const char *help)
{
    buf_printf(out, "# HELP hongbao_%s %s\n# TYPE hongbao_%s gauge\n", name, help, name);
}

static void seconds_print(struct buf *out, int64_t ms)
{
    buf_printf(out, "%" PRId64 ".%03" PRId64 "\n", ms / MS_PER_S, ms % MS_PER_S);
}

/* Whether this pool belongs to the site: the pool sso does while there is an issuer. */
static bool role_is_wanted(const struct exchange *x, size_t role)
{
    return role != METRICS_SSO || x->app->stores.config->oidc_issuer[0] != '\0';
}

static void processes_print(const struct exchange *x, struct buf *out)
{
    struct metrics_crew crews[METRICS_ROLE_COUNT];
    for (size_t i = 0; i < METRICS_ROLE_COUNT; i++)
        metrics_crew_read((enum metrics_role)i, &crews[i]);
    head_print(out, "processes", "Processes that are alive.");
    for (size_t i = 0; i < METRICS_ROLE_COUNT; i++)
        if (role_is_wanted(x, i))
            buf_printf(out, "hongbao_processes{pool=\"%s\"} %u\n", ROLE_NAMES[i], crews[i].count);
    head_print(out, "busy_processes", "Processes that work on requests at this moment.");
    for (size_t i = 0; i < METRICS_ROLE_COUNT; i++)
        if (i != METRICS_SETTLE && role_is_wanted(x, i))
            buf_printf(out, "hongbao_busy_processes{pool=\"%s\"} %u\n", ROLE_NAMES[i], crews[i].busy);
    head_print(out, "heartbeat_age_seconds", "Time since a process of the pool last said that it lives.");
    for (size_t i = 0; i < METRICS_ROLE_COUNT; i++) {
        if (crews[i].beat_ms < 0 || !role_is_wanted(x, i))
            continue;
        buf_printf(out, "hongbao_heartbeat_age_seconds{pool=\"%s\"} ", ROLE_NAMES[i]);
        seconds_print(out, crews[i].beat_ms);
    }
    head_print(out, "start_time_seconds", "When the youngest process started, in seconds since 1970.");
    for (size_t i = 0; i < METRICS_ROLE_COUNT; i++)
        if (crews[i].start_s > 0)
            buf_printf(out, "hongbao_start_time_seconds{pool=\"%s\"} %" PRId64 "\n", ROLE_NAMES[i], crews[i].start_s);
}

static void backlog_print(struct exchange *x, struct buf *out)
{
    struct backlog b;
    if (backlog_read(&x->app->stores, x->arena, &b) != ST_OK)
        return;
    head_print(out, "unsettled_events", "Entries of a partition's stream that wait to be settled.");
    for (uint32_t i = 0; i < x->app->stores.config->partitions; i++)
        buf_printf(out, "hongbao_unsettled_events{partition=\"%u\"} %" PRId64 "\n", i, b.entries[i]);
    head_print(out, "settlement_lag_seconds", "Age of the oldest event that waits to be settled; 0: nothing waits.");
    buf_cstr(out, "hongbao_settlement_lag_seconds ");
    seconds_print(out, b.oldest_ms);
}

/* Prints the number of dead letters: above 0 an operator has to act (docs/how-to/dead-letters.md). Returns whether
 * MySQL answers. */
static bool letters_print(struct exchange *x, struct buf *out)
{
    struct db_rows rows;
    if (db_query(x->app->stores.db, x->arena, &rows, "SELECT COUNT(*) FROM dead_letter WHERE resolved_ms IS NULL", NULL,
                 0) != ST_OK)
        return false;
    head_print(out, "dead_letters", "Events that could not be settled and wait for an operator.");
    buf_printf(out, "hongbao_dead_letters %.*s\n", STR_ARG(db_cell(&rows, 0, 0)));
    return true;
}

/* Only an operator ends a withdrawal (docs/explanation/money.md). By the server's clock, as the ages of others. */
static void withdrawals_print(struct exchange *x, struct buf *out)
{
    struct db_rows rows;
    if (db_query(x->app->stores.db, x->arena, &rows,
                 "SELECT COUNT(*), GREATEST(COALESCE(CAST(UNIX_TIMESTAMP(SYSDATE(3)) * 1000 AS SIGNED)"
                 " - MIN(created_ms), 0), 0) FROM withdrawal WHERE state = 'pending'",
                 NULL, 0) != ST_OK)
        return;
    head_print(out, "pending_withdrawals", "Withdrawals that wait for an operator to post or void them.");
    buf_printf(out, "hongbao_pending_withdrawals %.*s\n", STR_ARG(db_cell(&rows, 0, 0)));
    head_print(out, "pending_withdrawal_age_seconds", "Age of the oldest withdrawal that waits; 0: none waits.");
    buf_cstr(out, "hongbao_pending_withdrawal_age_seconds ");
    seconds_print(out, db_cell_i64(&rows, 0, 1));
}

/* Of the backups and of the audit; nothing where backups are not noted. */
static void proof_print(const struct config *config, struct buf *out)
{
    struct backup_record record;
    struct audit_state audit;
    const bool is_noted = config->backup_record[0] != '\0' && backup_record_read(config->backup_record, &record);
    if (!is_noted)
        record = (struct backup_record){ 0 };
    audit_state_read(&record, &audit);
    head_print(out, "audit_violated", "1: an audit has found a violation, and none was clean since.");
    buf_printf(out, "hongbao_audit_violated %d\n", audit.violated_ms > 0);
    if (!is_noted)
        return;
    head_print(out, "backup_time_seconds",
               "When the data of the last verified backup were copied, in seconds since 1970.");
    buf_printf(out, "hongbao_backup_time_seconds %" PRId64 "\n", record.last[BACKUP_CLEAN].at_ms / MS_PER_S);
}

/* Prints the number of shut fences. Above 0 grabs are refused: in the partitions of one server of a Redis Cluster, or
 * in all. */
static void shut_print(struct exchange *x, struct buf *out)
{
    struct redis *r = x->app->stores.redis;
    if (redis_ping(r) != ST_OK)
        return;
    head_print(out, "partitions_shut", "Partitions whose grabs are refused until the settle worker has compared them.");
    buf_printf(out, "hongbao_partitions_shut %u\n", (uint32_t)x->app->stores.config->partitions - redis_fences_open(r));
}

void gauges_print(struct exchange *x, struct buf *out)
{
    struct redis_state state;
    bool redis_up = redis_state_read(x->app->stores.redis, &state) == ST_OK;
    if (redis_up) {
        redis_state_print(&state, out);
        backlog_print(x, out);
    }
    shut_print(x, out);
    bool mysql_up = letters_print(x, out);
    if (mysql_up)
        withdrawals_print(x, out);
    head_print(out, "store_up", "1: the store answers the page pool.");
    buf_printf(out, "hongbao_store_up{store=\"redis\"} %d\nhongbao_store_up{store=\"mysql\"} %d\n", redis_up, mysql_up);
    processes_print(x, out);
    proof_print(x->app->stores.config, out);
    head_print(out, "build_info", "Always 1; the label says which version answers.");
    const char *version = x->app->stores.config->version;
    buf_printf(out, "hongbao_build_info{version=\"%s\"} 1\n", version != NULL ? version : "unknown");
    head_print(out, "unit_info", "Always 1; the labels say which unit has the smallest units that amounts count.");
    buf_printf(out, "hongbao_unit_info{unit=\"%s\",decimals=\"%d\"} 1\n", money_unit()->code, money_unit()->decimals);
}
