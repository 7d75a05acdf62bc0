/* /healthz, /readyz and /metrics, as a supervisor and Prometheus read them. */
#include <unistd.h>

#include <mysql.h>

#include "base/money.h"
#include "io/metrics_processes.h"
#include "live/fence.h"
#include "live/keys.h"
#include "migrate/migrations.h"
#include "redis/function_load.h"
#include "site/health.h"
#include "site/ready.h"
#include "site/security_txt.h"
#include "site/write_probe.h"
#include "support/stores_do.h"
#include "support/test_services.h"
#include "support/unix_path.h"
#include "test_user_fixture.h"
#include "test_world.h"

static struct services *app;
static struct arena *arena;

static int app_begin(void **state)
{
    (void)state;
    app = test_services_open();
    return app == NULL;
}

static int app_end(void **state)
{
    (void)state;
    test_services_close(app);
    return 0;
}

#define APP_TEST(name) TEST_WITH(name, app_begin, app_end)

/* Steps through the handler as the FastCGI loop does. */
static struct visit *answer_of(struct services *of, handler_fn *handler, bool json)
{
    struct visit *v = visit_new(of, "/", NULL, NULL);
    write_probe_forget();
    v->x.wants_json = json;
    while ((v->x.then != NULL ? v->x.then : handler)(&v->x) == STEP_WAIT)
        redis_round(of->stores.redis);
    return v;
}

#define expect(handler, ...) visit_says(answer_of(app, handler, false), __VA_ARGS__)

static void nowhere(char *address)
{
    strcpy(address, "unix:/nowhere");
}

APP_TEST(a_process_that_answers_is_alive_whatever_the_stores_do)
{
    nowhere(test_services_config(app)->redis);
    expect(health_alive, 200, "ok");
}

APP_TEST(with_both_stores_and_an_open_fence_it_is_ready)
{
    test_services_fences_write(app, "another process");
    /* The fence is shut: no settle worker compared this Redis. */
    expect(ready_packet_pool, 503, "fence: 16 of 16 partitions in Redis are not compared");
    test_services_fences_open(app);
    expect(ready_packet_pool, 200);
}

/* A store that answers every read and refuses every write: of each, how an administrator comes to it and back. */
static const struct refusal {
    const char *part, *says;
    /* commands of Redis, or statements of MariaDB; mend NULL: the functions are loaded again */
    const char *plant, *mend;
} REFUSALS[] = {
    { "redis", "OOM", "CONFIG SET maxmemory 1", "CONFIG SET maxmemory 2gb" },
    { "redis", "NOREPLICAS", "CONFIG SET min-replicas-to-write 1", "CONFIG SET min-replicas-to-write 0" },
    { "redis", "redis", "REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE" },
    { "redis", "a function of this program is missing", "FUNCTION FLUSH", NULL },
    { "mysql", "the server is read-only", "SET GLOBAL read_only = 1", "SET GLOBAL read_only = 0" },
    { "mysql", "writes are refused", "FLUSH TABLES WITH READ LOCK", "UNLOCK TABLES" },
};

static void administrator_does(MYSQL *admin, const struct refusal *r, const char *text)
{
    if (r->part[0] == 'm') {
        assert_int_equal(mysql_query(admin, text), 0);
        return;
    }
    struct redis *redis = redis_new(app->stores.config);
    (void)redis_number(redis, "%s", text);
    redis_free(redis);
}

APP_TEST(a_store_that_refuses_writes_is_not_ready)
{
    static handler_fn *const pools[] = { ready_packet_pool, ready_other_pool };
    MYSQL *admin = mysql_init(NULL);
    assert_non_null(mysql_real_connect(admin, NULL, "root", "", NULL, 0, unix_path(app->stores.config->mysql), 0));
    test_services_fences_open(app);
    for (size_t i = 0; i < ARRAY_LEN(REFUSALS); i++) {
        const struct refusal *r = &REFUSALS[i];
        char line[64];
        administrator_does(admin, r, r->plant);
        snprintf(line, sizeof line, "%s: ", r->part);
        for (size_t j = 0; j < ARRAY_LEN(pools); j++) {
            struct visit *v = answer_of(app, pools[j], false);
            bool told = visit_body_has(v, line) && visit_body_has(v, r->says);
            if (visit_close(v) != 503 || !told)
                fail_msg("%s, pool %zu", r->plant, j);
        }
        /* It writes nothing in Redis, and no table itself. */
        assert_int_equal(visit_close(answer_of(app, ready_money_pool, false)),
                         strstr(r->says, "read-only") != NULL ? 503 : 200);
        if (r->mend != NULL)
            administrator_does(admin, r, r->mend);
        else
            assert_int_equal(redis_functions_load(app->stores.redis, app->stores.functions), ST_OK);
        live_fences_set(app->stores.redis, app->stores.config);
        for (int tries = 0; visit_close(answer_of(app, ready_packet_pool, false)) != 200; tries++) {
            assert_true(tries < 100);
            usleep(100000);
            test_services_fences_open(app);
        }
    }
    mysql_close(admin);
}

/* The keys that readiness writes, planted with another type. */
APP_TEST(a_planted_key_makes_no_pool_unready)
{
    test_services_fences_open(app);
    for (uint32_t i = 0; i <= (uint32_t)app->stores.config->partitions; i++) {
        char key[LIVE_KEY_MAX];
        const bool last = i == (uint32_t)app->stores.config->partitions;
        const char *name = last ? "hb:{limit}:unused" : live_probe_key(key, i).ptr;
        (void)redis_number(app->stores.redis, "DEL %s", name);
        (void)redis_number(app->stores.redis, "LPUSH %s x", name);
    }
    expect(ready_packet_pool, 200);
    expect(ready_other_pool, 200);
}

/* The state after the loss of one server of a cluster. */
APP_TEST(a_partition_that_is_shut_is_told)
{
    char key[LIVE_KEY_MAX];
    test_services_fences_open(app);
    (void)redis_number(app->stores.redis, "DEL %s", live_fence_key(key, 3).ptr);
    live_fences_set(app->stores.redis, app->stores.config); /* forget what was read over this connection */
    expect(ready_packet_pool, 200);
    expect(ready_site, 503, "fence: ok: 1 of 16 partitions in Redis are not compared");
    expect(health_metrics, 200, "\nhongbao_partitions_shut 1\n");
    test_services_fences_open(app);
    expect(health_metrics, 200, "\nhongbao_partitions_shut 0\n");
}

/* Whether the hot pool, which reads no tables that would refuse it, has this unit, and whether it serves; a comparison
 * is a second old. */
static void assert_unit(enum status unit, bool serves)
{
    struct stores hot = app->stores;
    assert_int_equal(live_unit_check(hot.redis), unit);
    hot.db = NULL;
    hot.site = (struct site){ .verdict = SITE_AGREES };
    assert_int_equal(site_confirm(&hot), serves ? ST_OK : ST_UNAVAILABLE);
    assert_int_equal(hot.site.verdict, serves ? SITE_AGREES : SITE_OTHER_SETTINGS);
}

APP_TEST(a_process_with_another_unit_of_money_than_the_worker_finds_each_fence_shut)
{
    const struct money_unit yuan = *money_unit();
    struct money_unit points = yuan;
    points.code = "POINT";
    points.decimals = 0;
    test_services_fences_open(app);
    assert_unit(ST_OK, true);
    money_unit_set(&points);
    assert_unit(ST_CONFLICT, false);
    live_fences_set(app->stores.redis, app->stores.config); /* forget what was read over this connection */
    expect(ready_packet_pool, 503, "16 of 16 partitions in Redis are not compared");
    test_services_fences_open(app); /* as a worker with points does */
    assert_unit(ST_OK, true);
    expect(ready_packet_pool, 200);
    money_unit_set(&yuan);
    assert_unit(ST_CONFLICT, false);
    (void)redis_number(app->stores.redis, "SET hb:{p00}:fence shut");
    assert_unit(ST_NOT_FOUND, true); /* the worker has not said it */
    test_services_fences_open(app);
}

APP_TEST(a_redis_that_is_away_is_asked_for_the_unit_once_until_it_is_back)
{
    struct stores hot = app->stores;
    hot.db = NULL;
    nowhere(test_services_config(app)->redis);
    assert_int_equal(site_confirm(&hot), ST_OK);
    assert_true(hot.site.compared_ms > 0);
    hot.site.compared_ms = 0;
    assert_int_equal(site_confirm(&hot), ST_OK);
    assert_int_equal(hot.site.compared_ms, 0);
    hot.site.unanswered--; /* as after a new connection */
    assert_int_equal(site_confirm(&hot), ST_OK);
    assert_true(hot.site.compared_ms > 0);
}

APP_TEST(an_unreachable_redis_is_named)
{
    nowhere(test_services_config(app)->redis);
    expect(ready_packet_pool, 503, "redis: ", LACKS, "mysql: ");
}

APP_TEST(an_unreachable_database_is_named_where_it_is_needed)
{
    struct db *db;
    test_services_fences_open(app);
    nowhere(test_services_config(app)->mysql);
    db_set_timeout_s(app->stores.db, 1); /* connects anew */
    expect(ready_packet_pool, 503, "mysql: ");
    db = app->stores.db;
    app->stores.db = NULL; /* the hot pool */
    expect(ready_packet_pool, 200);
    app->stores.db = db;
}

/* Other tests of this Redis leave events; events that wait for long would make the site "not ready". */
static int no_event_waits(void **state)
{
    if (app_begin(state) != 0)
        return -1;
    for (int p = 0; p < app->stores.config->partitions; p++) {
        char key[LIVE_KEY_MAX];
        (void)redis_number(app->stores.redis, "DEL %s", live_events_key(key, (uint32_t)p).ptr);
    }
    return app_end(state);
}

/* Enters a process of each role into the list: they live for ten seconds. */
static void crew_begin(void)
{
    for (int role = METRICS_HOT; role <= METRICS_SETTLE; role++)
        metrics_process_begin((enum metrics_role)role);
}

APP_TEST(the_site_is_ready_when_every_part_is)
{
    test_services_fences_open(app);
    expect(ready_site, 503, "not ready\nredis: ok\nfence: ok\n", "\nhot: failed: no process runs\n",
           "\nsettle: failed: no process runs\n");
    for (int role = METRICS_HOT; role < METRICS_SETTLE; role++)
        metrics_process_begin((enum metrics_role)role);
    expect(ready_site, 503, "\nhot: ok\nauth: ok\ncard: ok\nsettle: failed: no process runs\n");
    crew_begin();
    expect(ready_site, 200,
           "ready\nredis: ok\nfence: ok\ndurability: ok\nsettlement: ok\nmysql: ok\nschema: ok\nsite: ok\n"
           "hot: ok\nauth: ok\ncard: ok\nsettle: ok\n");
}

APP_TEST(what_an_unreachable_store_would_know_is_unknown)
{
    crew_begin();
    nowhere(test_services_config(app)->redis);
    expect(ready_site, 503,
           "not ready\nredis: failed: unavailable\nfence: unknown\ndurability: unknown\n"
           "settlement: unknown\nmysql: ok\n");
}

APP_TEST(a_redis_that_keeps_nothing_on_disk_or_forgets_packets_is_named)
{
    static const char *const settings[][3] = {
        { "appendonly no", "appendonly yes", "\ndurability: failed: appendonly is off in Redis" },
        { "maxmemory-policy allkeys-lru", "maxmemory-policy noeviction",
          "\ndurability: failed: maxmemory-policy of Redis is not noeviction" },
    };
    test_services_fences_open(app);
    crew_begin();
    for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
        (void)redis_number(app->stores.redis, "CONFIG SET %s", settings[i][0]);
        expect(ready_site, 503, settings[i][2]);
        expect(ready_packet_pool, 200); /* a balancer could not help, so the pool is ready */
        (void)redis_number(app->stores.redis, "CONFIG SET %s", settings[i][1]);
    }
}

APP_TEST(a_settlement_that_is_behind_is_named_also_as_json)
{
    char id[32], key[LIVE_KEY_MAX];
    test_services_fences_open(app);
    crew_begin();
    (void)snprintf(id, sizeof id, "%lld-0", (long long)clock_now_ms() - 75000);
    (void)redis_number(app->stores.redis, "XADD %s %s r 1", live_events_key(key, 3).ptr, id);
    visit_says(answer_of(app, ready_site, true), 503,
               "{\"ready\":false,\"parts\":[{\"part\":\"redis\",\"state\":\"ok\",\"detail\":\"\"},",
               "{\"part\":\"settlement\",\"state\":\"failed\",\"detail\":\"75 s behind\"}");
    test_services_config(app)->ready_lag_s = 600;
    expect(ready_site, 200);
    (void)redis_number(app->stores.redis, "DEL %s", live_events_key(key, 3).ptr);
}

/* The schema is compared with the migrations that the process has read, not with the folder. */
APP_TEST(a_schema_of_another_program_is_named)
{
    test_services_fences_open(app);
    struct migrations *known = app->migrations;
    strcpy(test_services_config(app)->sql_dir, "/nowhere");
    expect(ready_packet_pool, 200);

    struct migration more[100];
    struct migrations later = { .list = more, .count = known->count + 1 };
    assert_in_range(later.count, 2, 100);
    memcpy(more, known->list, known->count * sizeof *more);
    more[known->count] =
        (struct migration){ .version = (uint32_t)later.count, .file = STR("later"), .name = STR("later") };
    app->migrations = &later;
    expect(ready_packet_pool, 503, "schema: migrations are missing: run hongbao migrate\n");

    more[0].sha256[0] ^= 1;
    later.count = known->count;
    expect(ready_packet_pool, 503, "schema: the schema does not fit this program\n", LACKS, "mysql: ");

    app->migrations = NULL; /* could not be read at the start */
    expect(ready_packet_pool, 503, "schema: the schema does not fit this program\n");
    app->migrations = known;
}

FAULTY_WORLD_TEST(the_metrics_count_what_waits_for_the_worker, 3)
{
    char line[80];
    uint64_t id = world_even(w, 300, 3);
    (void)world_grab(w, id, 1);
    (void)snprintf(line, sizeof line, "hongbao_unsettled_events{partition=\"%u\"} 1\n",
                   packet_partition(id, w->config->partitions));
    visit_says(answer_of(w->app, health_metrics, false), 200, line, "# TYPE hongbao_requests_total counter",
               "\nhongbao_settlement_lag_seconds ",
               "\nhongbao_store_up{store=\"redis\"} 1\nhongbao_store_up{store=\"mysql\"} 1\n");
    world_drain(w);
    visit_says(answer_of(w->app, health_metrics, false), 200, "\nhongbao_settlement_lag_seconds 0.000\n", LACKS, line);
}

/* The two events are a minute old by their ids: XADD takes the ids that it gets. */
APP_TEST(the_lag_is_the_age_of_the_oldest_event_that_waits)
{
    char id[32], key[LIVE_KEY_MAX];
    for (int i = 1; i <= 2; i++) {
        (void)snprintf(id, sizeof id, "%lld-0", (long long)clock_now_ms() - i * 60000);
        (void)redis_number(app->stores.redis, "XADD %s %s r 1", live_events_key(key, (uint32_t)i).ptr, id);
    }
    expect(health_metrics, 200, "\nhongbao_settlement_lag_seconds 120.",
           "hongbao_unsettled_events{partition=\"1\"} 1\n");
    for (uint32_t i = 1; i <= 2; i++)
        (void)redis_number(app->stores.redis, "DEL %s", live_events_key(key, i).ptr);
}

/* The whole seconds of the age that /metrics says. */
static uint64_t withdrawal_age_s(void)
{
    uint64_t age_s = 0;
    struct str rest;
    struct visit *v = answer_of(w->page, health_metrics, false);
    struct str text = str_after(buf_view(&v->x.body), STR("\nhongbao_pending_withdrawal_age_seconds "));
    assert_true(str_to_u64(str_cut(text, '.', &rest), &age_s));
    visit_says(v, 200);
    return age_s;
}

FAULTY_WORLD_TEST(the_metrics_say_how_long_a_withdrawal_waits, 1)
{
    enum { DAY_S = 24 * 3600, OLD_S = 100 * DAY_S };
    static const char none[] = "\nhongbao_pending_withdrawals 0\n";
    visit_says(answer_of(w->page, health_metrics, false), 200, none,
               "\nhongbao_pending_withdrawal_age_seconds 0.000\n");
    world_sql(w, "CALL channel_open('bank', '', 'boss', 1)");
    world_sql(w, "UPDATE channel SET withdraws = TRUE WHERE id = 16");
    for (int i = 0; i < 2; i++)
        world_sqlf(w, "CALL withdrawal_hold(%llu, 16, 100, 'account 1', 'k%d', %lld)", (unsigned long long)w->users[0],
                   i, (long long)clock_now_ms() - (i == 0 ? OLD_S * INT64_C(1000) : 0));
    visit_says(answer_of(w->page, health_metrics, false), 200, "\nhongbao_pending_withdrawals 2\n");
    assert_in_range(withdrawal_age_s(), OLD_S, OLD_S + DAY_S);
    world_sql(w, "CALL withdrawal_end((SELECT MIN(id) FROM withdrawal), FALSE, NULL, 'r', 'boss', 'command', 1)");
    visit_says(answer_of(w->page, health_metrics, false), 200, "\nhongbao_pending_withdrawals 1\n");
    assert_in_range(withdrawal_age_s(), 0, DAY_S);
}

static const char *security_txt_of(const char *contact, const char *base_url, int64_t now_ms)
{
    const struct str text = security_txt(arena, contact, base_url, now_ms);
    return text_printf("%.*s", STR_ARG(text));
}

APP_TEST(security_txt_names_the_contact_and_expires_within_a_year)
{
    arena = arena_new(4096, 4096);
    assert_non_null(arena);
    assert_string_equal(security_txt_of("tel:+86-10", "http://127.0.0.1:8080", 1),
                        "Contact: tel:+86-10\nExpires: 1970-06-30T00:00:00.000Z\nPreferred-Languages: zh, en\n");
    assert_string_equal(security_txt_of("mailto:a@b.example", "https://b.example", 86400000),
                        "Contact: mailto:a@b.example\nExpires: 1970-07-01T00:00:00.000Z\nPreferred-Languages: zh, en\n"
                        "Canonical: https://b.example/.well-known/security.txt\n");
    arena_free(arena);
    test_services_config(app)->security_contact[0] = '\0';
    visit_says(answer_of(app, security_txt_show, true), 404);
    strcpy(test_services_config(app)->security_contact, "https://hongbao.example/security");
    expect(security_txt_show, 200, "Contact: https://hongbao.example/security\n");
}

APP_TEST(without_the_stores_the_metrics_say_so)
{
    nowhere(test_services_config(app)->redis);
    nowhere(test_services_config(app)->mysql);
    db_set_timeout_s(app->stores.db, 1); /* connects anew */
    expect(health_metrics, 200, "\nhongbao_store_up{store=\"redis\"} 0\nhongbao_store_up{store=\"mysql\"} 0\n", LACKS,
           "hongbao_settlement_lag_seconds", "hongbao_dead_letters ");
}

TESTS(no_event_waits, NULL)
