#include "site/ready.h"

#include <inttypes.h>

#include "io/metrics_processes.h"
#include "migrate/migrate.h"
#include "redis/fence.h"
#include "site/backlog.h"
#include "site/redis_state.h"
#include "site/write_probe.h"
#include "web/respond.h"

enum { MS_PER_S = 1000 };

enum ready_part {
    READY_REDIS,
    READY_FENCE,
    READY_DURABILITY,
    READY_SETTLEMENT,
    READY_MYSQL,
    READY_SCHEMA,
    READY_SITE,
    READY_HOT,
    READY_AUTH,
    READY_CARD,
    READY_SETTLE,
    READY_PART_COUNT
};

static const char *const PART_NAMES[READY_PART_COUNT] = { "redis", "fence",  "durability", "settlement",
                                                          "mysql", "schema", "site",       "hot",
                                                          "auth",  "card",   "settle" };

/* The state of each part, and why. */
struct report {
    struct {
        enum { UNKNOWN, FINE, FAILED } state;
        struct str says; /* why it fails, or works only in part; without quotation marks */
    } parts[READY_PART_COUNT];
    struct arena *arena;
};

static const char *state_name(const struct report *r, enum ready_part part)
{
    return r->parts[part].state == FINE ? "ok" : r->parts[part].state == FAILED ? "failed" : "unknown";
}

static void part_fine(struct report *r, enum ready_part part)
{
    r->parts[part].state = FINE;
}

static void part_fails(struct report *r, enum ready_part part, struct str says)
{
    r->parts[part].state = FAILED;
    r->parts[part].says = str_or_empty(says);
}

static bool ready(const struct report *r)
{
    for (size_t i = 0; i < READY_PART_COUNT; i++)
        if (r->parts[i].state == FAILED)
            return false;
    return true;
}

/* ---- the parts ---- */

static void redis_look(struct exchange *x, struct report *r)
{
    if (x->call.status != ST_OK) {
        part_fails(r, READY_REDIS, str_from(status_name(x->call.status)));
        return;
    }
    part_fine(r, READY_REDIS);
    const uint32_t count = (uint32_t)x->app->stores.config->partitions;
    const uint32_t open = redis_fences_open(x->app->stores.redis);
    struct str says = arena_printf(
        r->arena,
        "%u of %u partitions in Redis are not compared by the settle worker yet, or for another number of partitions or"
        " unit of money",
        count - open, count);
    if (open == 0)
        part_fails(r, READY_FENCE, says);
    else /* without one of several servers, grabs still work in the partitions of the others */
        part_fine(r, READY_FENCE);
    if (open > 0 && open < count)
        r->parts[READY_FENCE].says = str_or_empty(says);
}

/* The schema is compared with what this process read at its start: while an upgrade is unpacked, the folder has files
 * that only the next program needs. */
static void mysql_look(struct exchange *x, struct report *r)
{
    const struct migrations *known = x->app->migrations;
    enum status st = known == NULL ? ST_INVALID : migrate_check(x->app->stores.db, known, NULL);
    if (st == ST_OK || st == ST_CONFLICT || st == ST_INVALID || st == ST_NOT_FOUND)
        part_fine(r, READY_MYSQL);
    else
        part_fails(r, READY_MYSQL, str_from(status_name(st)));
    if (st == ST_OK)
        part_fine(r, READY_SCHEMA);
    else if (st == ST_CONFLICT)
        part_fails(r, READY_SCHEMA, STR("migrations are missing: run hongbao migrate"));
    else if (st == ST_INVALID)
        part_fails(r, READY_SCHEMA, STR("the schema does not fit this program"));
    else if (st == ST_NOT_FOUND)
        part_fails(r, READY_SCHEMA, STR("a restore was interrupted: repeat it with --replace"));
}

/* Reports whether tables and Redis belong together. A store that does not answer has its own line. */
static void site_look(struct exchange *x, struct report *r)
{
    struct stores *stores = &x->app->stores;
    if (site_confirm(stores) == ST_OK)
        part_fine(r, READY_SITE);
    else if (!site_may_serve(stores->site.verdict))
        part_fails(r, READY_SITE, str_from(site_verdict_text(stores->site.verdict)));
}

/* Reports whether the stores that answer would also accept a write. */
static void writes_look(struct exchange *x, struct report *r, enum write_probe_kind kind)
{
    if (r->parts[READY_REDIS].state != FINE && kind != WRITE_PROBE_NOTHING)
        return;
    const struct write_probe *p = write_probe_take(x, kind);
    if (p->redis_refuses)
        part_fails(r, READY_REDIS, str_from(p->redis));
    else
        r->parts[READY_REDIS].says = str_from(p->redis);
    if (r->parts[READY_MYSQL].state == FINE && p->mysql_refuses)
        part_fails(r, READY_MYSQL, str_from(p->mysql));
}

/* Reports whether Redis writes to disk: a grab is a promise that must outlive Redis. */
static void durability_look(struct exchange *x, struct report *r)
{
    struct redis_state state;
    if (redis_state_read(x->app->stores.redis, &state) != ST_OK)
        return;
    if (!state.aof)
        part_fails(r, READY_DURABILITY, STR("appendonly is off in Redis: grabs are lost when it stops"));
    else if (!state.write_ok)
        part_fails(r, READY_DURABILITY, STR("Redis could not write to its append-only file"));
    else if (state.evicts)
        part_fails(r, READY_DURABILITY, STR("maxmemory-policy of Redis is not noeviction: packets are lost"));
    else
        part_fine(r, READY_DURABILITY);
}

static void settlement_look(struct exchange *x, struct report *r)
{
    struct backlog b;
    if (backlog_read(&x->app->stores, x->arena, &b) != ST_OK)
        return;
    if (b.oldest_ms > x->app->stores.config->ready_lag_s * MS_PER_S)
        part_fails(r, READY_SETTLEMENT, arena_printf(r->arena, "%" PRId64 " s behind", b.oldest_ms / MS_PER_S));
    else
        part_fine(r, READY_SETTLEMENT);
}

static void crew_look(struct report *r, enum ready_part part, enum metrics_role role)
{
    struct metrics_crew crew;
    metrics_crew_read(role, &crew);
    if (crew.count > 0)
        part_fine(r, part);
    else if (crew.beat_ms >= 0)
        part_fails(
            r, part,
            arena_printf(r->arena, "no process has shown that it lives for %" PRId64 " s", crew.beat_ms / MS_PER_S));
    else
        part_fails(r, part, STR("no process runs"));
}

/* ---- the answers ---- */

/* Queues a PING; the next step reads its reply and checks everything else. */
static enum step ping_queue(struct exchange *x, handler_fn *then)
{
    const struct str ping[] = { STR("PING") };
    redis_queue_fences(x->app->stores.redis);
    redis_queue(x->app->stores.redis, &x->call, ping, 1);
    return exchange_then(x, then);
}

static void text_print(const struct report *r, struct buf *out)
{
    buf_cstr(out, ready(r) ? "ready\n" : "not ready\n");
    for (size_t i = 0; i < READY_PART_COUNT; i++)
        buf_printf(out, "%s: %s%s%.*s\n", PART_NAMES[i], state_name(r, (enum ready_part)i),
                   r->parts[i].says.len > 0 ? ": " : "", STR_ARG(r->parts[i].says));
}

static void json_print(const struct report *r, struct buf *out)
{
    buf_printf(out, "{\"ready\":%s,\"parts\":[", ready(r) ? "true" : "false");
    for (size_t i = 0; i < READY_PART_COUNT; i++)
        buf_printf(out, "%s{\"part\":\"%s\",\"state\":\"%s\",\"detail\":\"%.*s\"}", i == 0 ? "" : ",", PART_NAMES[i],
                   state_name(r, (enum ready_part)i), STR_ARG(r->parts[i].says));
    buf_cstr(out, "]}\n");
}

static void failures_print(const struct report *r, struct buf *out)
{
    for (size_t i = 0; i < READY_PART_COUNT; i++)
        if (r->parts[i].state == FAILED)
            buf_printf(out, "%s: %.*s\n", PART_NAMES[i], STR_ARG(r->parts[i].says));
    if (ready(r))
        buf_cstr(out, "ok\n");
}

static enum step answer(struct exchange *x, const struct report *r, struct str type, struct buf *out)
{
    struct str text = arena_str(x->arena, buf_view(out));
    if (out->failed || text.ptr == NULL) {
        respond_status(x, ST_NO_MEMORY);
    } else {
        respond_text(x, ready(r) ? 200 : 503, type, text);
        if (!ready(r))
            respond_retry_after(x, 1);
    }
    buf_free(out);
    return STEP_DONE;
}

static enum step pool_answer(struct exchange *x, enum write_probe_kind kind)
{
    struct report r = { .arena = x->arena };
    struct buf out = BUF_EMPTY;
    redis_look(x, &r);
    if (x->app->stores.db != NULL) {
        site_look(x, &r);
        mysql_look(x, &r);
    }
    writes_look(x, &r, kind);
    failures_print(&r, &out);
    return answer(x, &r, STR("text/plain; charset=utf-8"), &out);
}

static enum step packet_pool_answer(struct exchange *x)
{
    return pool_answer(x, WRITE_PROBE_PACKETS);
}

enum step ready_packet_pool(struct exchange *x)
{
    return ping_queue(x, packet_pool_answer);
}

static enum step other_pool_answer(struct exchange *x)
{
    return pool_answer(x, WRITE_PROBE_LIMITS);
}

enum step ready_other_pool(struct exchange *x)
{
    return ping_queue(x, other_pool_answer);
}

static enum step sso_pool_answer(struct exchange *x)
{
    return pool_answer(x, WRITE_PROBE_LIMITS_ALONE);
}

enum step ready_sso_pool(struct exchange *x)
{
    return ping_queue(x, sso_pool_answer);
}

enum step ready_money_pool(struct exchange *x)
{
    struct report r = { .arena = x->arena };
    struct buf out = BUF_EMPTY;
    site_look(x, &r);
    mysql_look(x, &r);
    writes_look(x, &r, WRITE_PROBE_NOTHING);
    failures_print(&r, &out);
    return answer(x, &r, STR("text/plain; charset=utf-8"), &out);
}

static enum step site_answer(struct exchange *x)
{
    struct report r = { .arena = x->arena };
    struct buf out = BUF_EMPTY;
    redis_look(x, &r);
    if (r.parts[READY_REDIS].state == FINE) {
        durability_look(x, &r);
        settlement_look(x, &r);
    }
    site_look(x, &r);
    mysql_look(x, &r);
    writes_look(x, &r, WRITE_PROBE_PACKETS);
    crew_look(&r, READY_HOT, METRICS_HOT);
    crew_look(&r, READY_AUTH, METRICS_AUTH);
    crew_look(&r, READY_CARD, METRICS_CARD);
    crew_look(&r, READY_SETTLE, METRICS_SETTLE);
    if (x->wants_json)
        json_print(&r, &out);
    else
        text_print(&r, &out);
    return answer(x, &r, x->wants_json ? STR("application/json") : STR("text/plain; charset=utf-8"), &out);
}

enum step ready_site(struct exchange *x)
{
    return ping_queue(x, site_answer);
}
