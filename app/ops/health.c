#include "ops/health.h"

#include "base/array.h"
#include "io/metrics.h"
#include "io/redis_reply.h"
#include "live/event.h"
#include "live/keys.h"
#include "ops/api.h"
#include "ops/migrate.h"
#include "web/respond.h"

#define TEXT_PLAIN      STR("text/plain; charset=utf-8")
#define TEXT_PROMETHEUS STR("text/plain; version=0.0.4; charset=utf-8")

const struct route ops_routes[] = {
    { "GET", "/healthz", 0, POOL_HOT | POOL_PAGE | POOL_AUTH | POOL_CARD, health_alive },
    { "GET", "/readyz", 0, POOL_HOT | POOL_PAGE | POOL_AUTH | POOL_CARD, health_ready },
    { "GET", "/metrics", 0, POOL_PAGE, health_metrics },
    { "GET", "/openapi.json", 0, POOL_PAGE, api_show },
};
const size_t ops_routes_count = ARRAY_LEN(ops_routes);

enum step health_alive(struct exchange *x)
{
    respond_text(x, 200, TEXT_PLAIN, STR("ok\n"));
    return STEP_DONE;
}

enum step health_ready(struct exchange *x)
{
    if (x->step == 0) {
        const struct str ping[] = { STR("PING") };
        redis_queue(x->app->stores.redis, &x->call, ping, 1);
        return STEP_WAIT;
    }
    struct buf out = BUF_EMPTY;
    if (x->call.status != ST_OK)
        buf_printf(&out, "redis: %s\n", status_name(x->call.status));
    else if (!redis_fence_is_open(x->app->stores.redis))
        buf_cstr(&out, "redis: not compared by the settle worker yet, or for another number of partitions\n");
    if (x->app->stores.db != NULL) {
        enum status st = migrate_check(x->app->stores.db, x->app->stores.config->sql_dir, NULL);
        if (st != ST_OK)
            buf_printf(&out, "mysql: %s\n",
                       st == ST_CONFLICT  ? "migrations are missing"
                       : st == ST_INVALID ? "the schema does not fit this program"
                                          : status_name(st));
    }
    bool ready = out.len == 0;
    struct str text = ready ? STR("ok\n") : arena_str(x->arena, buf_view(&out));
    buf_free(&out);
    respond_text(x, ready ? 200 : 503, TEXT_PLAIN, text.ptr == NULL ? STR("out of memory\n") : text);
    if (!ready)
        respond_retry_after(x, 1);
    return STEP_DONE;
}

/* One line per partition. The stream keeps the entry on which the cursor stands: it is settled and not counted. No line
 * when Redis is unreachable: the counters are answered all the same. */
static void lag_print(struct exchange *x, struct buf *out)
{
    const int64_t partitions = x->app->stores.config->partitions;
    struct redis_call *calls = arena_array(x->arena, 2 * (size_t)partitions, sizeof *calls);
    char events[LIVE_KEY_MAX], settled[LIVE_KEY_MAX];
    if (calls == NULL)
        return;
    for (uint32_t i = 0; i < partitions; i++) {
        const struct str length[] = { STR("XLEN"), live_events_key(events, i) };
        const struct str exists[] = { STR("EXISTS"), live_settled_key(settled, i) };
        redis_queue(x->app->stores.redis, &calls[2 * i], length, 2);
        redis_queue(x->app->stores.redis, &calls[2 * i + 1], exists, 2);
    }
    redis_round(x->app->stores.redis);
    buf_cstr(out, "# HELP hongbao_unsettled_events Events waiting to be settled.\n"
                  "# TYPE hongbao_unsettled_events gauge\n");
    for (uint32_t i = 0; i < partitions; i++) {
        int64_t length, has_position;
        if (calls[2 * i].status == ST_OK && calls[2 * i + 1].status == ST_OK &&
            redis_reply_i64(calls[2 * i].reply, &length) && redis_reply_i64(calls[2 * i + 1].reply, &has_position))
            buf_printf(out, "hongbao_unsettled_events{partition=\"%u\"} %lld\n", i,
                       (long long)(length > 0 && has_position > 0 ? length - 1 : length));
        redis_call_free(&calls[2 * i]);
        redis_call_free(&calls[2 * i + 1]);
    }
}

/* Above 0 an operator has to act (docs/how-to/dead-letters.md). No line when MySQL is unreachable. */
static void letters_print(struct exchange *x, struct buf *out)
{
    struct db_rows rows;
    if (db_query(x->app->stores.db, x->arena, &rows, "SELECT COUNT(*) FROM dead_letter WHERE resolved_ms IS NULL", NULL,
                 0) != ST_OK)
        return;
    buf_cstr(out, "# HELP hongbao_dead_letters Events that could not be settled and wait for an operator.\n"
                  "# TYPE hongbao_dead_letters gauge\nhongbao_dead_letters ");
    buf_str(out, db_cell(&rows, 0, 0));
    buf_char(out, '\n');
}

enum step health_metrics(struct exchange *x)
{
    struct buf out = BUF_EMPTY;
    metrics_print(&out);
    lag_print(x, &out);
    letters_print(x, &out);
    struct str text = arena_str(x->arena, buf_view(&out));
    bool failed = out.failed || text.ptr == NULL;
    buf_free(&out);
    if (failed)
        respond_status(x, ST_NO_MEMORY);
    else
        respond_text(x, 200, TEXT_PROMETHEUS, text);
    return STEP_DONE;
}
