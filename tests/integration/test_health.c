/* /healthz, /readyz and /metrics, as a supervisor and Prometheus read them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <mysql.h>

#include "base/array.h"
#include "base/clock.h"
#include "io/metrics_processes.h"
#include "io/redis_function_load.h"
#include "live/fence.h"
#include "live/keys.h"
#include "ops/health.h"
#include "ops/migrations.h"
#include "ops/ready.h"
#include "ops/write_probe.h"
#include "support/test_services.h"
#include "test_settle_fixture.h"

/* One request; ask steps through its handler as the FastCGI loop does. */
struct asked {
    struct arena *arena;
    struct fcgi_request request;
    struct exchange x;
    char *envp[1];
};

static int ask_as(struct asked *a, struct services *app, handler_fn *handler, bool json)
{
    write_probe_forget();
    *a = (struct asked){ .arena = arena_new(1 << 16, 1 << 22) };
    assert_non_null(a->arena);
    a->request.arena = a->arena;
    a->request.fcgx.envp = a->envp;
    a->x = (struct exchange){ .app = app, .fcgi = &a->request, .arena = a->arena, .wants_json = json };
    while (handler(&a->x) == STEP_WAIT) {
        redis_round(app->stores.redis);
        a->x.step++;
    }
    return a->x.status;
}

static int ask(struct asked *a, struct services *app, handler_fn *handler)
{
    return ask_as(a, app, handler, false);
}

static bool says(const struct asked *a, const char *text)
{
    return str_after(buf_view(&a->x.body), str_from(text)).ptr != NULL;
}

static void asked_end(struct asked *a)
{
    redis_call_free(&a->x.call);
    buf_free(&a->x.headers);
    buf_free(&a->x.body);
    arena_free(a->arena);
}

static void a_process_that_answers_is_alive_whatever_the_stores_do(void **state)
{
    struct services *app = test_services_open();
    struct asked a;
    (void)state;
    assert_non_null(app);
    strcpy(test_services_config(app)->redis, "unix:/nowhere");
    assert_int_equal(ask(&a, app, health_alive), 200);
    assert_true(says(&a, "ok"));
    asked_end(&a);
    test_services_close(app);
}

static void with_both_stores_and_an_open_fence_it_is_ready(void **state)
{
    struct services *app = test_services_open();
    struct asked a;
    (void)state;
    assert_non_null(app);
    test_services_fences_write(app, "another process");
    assert_int_equal(ask(&a, app, ready_packet_pool),
                     503); /* the fence is shut: no settle worker compared this Redis */
    assert_true(says(&a, "fence: 16 of 16 partitions in Redis are not compared"));
    asked_end(&a);
    test_services_fences_open(app);
    assert_int_equal(ask(&a, app, ready_packet_pool), 200);
    asked_end(&a);
    test_services_close(app);
}

/* A store that answers every read and refuses every write: of each, how an administrator comes to it and back. */
static const struct refusal {
    const char *part, *says;
    const char *plant, *mend; /* of Redis, or statements of MariaDB; mend NULL: the functions are loaded */
} REFUSALS[] = {
    { "redis", "OOM", "CONFIG SET maxmemory 1", "CONFIG SET maxmemory 2gb" },
    { "redis", "NOREPLICAS", "CONFIG SET min-replicas-to-write 1", "CONFIG SET min-replicas-to-write 0" },
    { "redis", "redis", "REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE" },
    { "redis", "a function of this program is missing", "FUNCTION FLUSH", NULL },
    { "mysql", "the server is read-only", "SET GLOBAL read_only = 1", "SET GLOBAL read_only = 0" },
    { "mysql", "writes are refused", "FLUSH TABLES WITH READ LOCK", "UNLOCK TABLES" },
};

static void administrator_does(struct services *app, MYSQL *admin, const struct refusal *r, const char *text)
{
    if (r->part[0] == 'm') {
        assert_int_equal(mysql_query(admin, text), 0);
        return;
    }
    struct str words[8], rest = str_from(text);
    struct redis *redis = redis_new(app->stores.config);
    struct redis_call call;
    size_t count = 0;
    while (rest.len > 0)
        words[count++] = str_cut(rest, ' ', &rest);
    assert_int_equal(redis_do(redis, &call, words, count), ST_OK);
    redis_call_free(&call);
    redis_free(redis);
}

static void a_store_that_refuses_writes_is_not_ready(void **state)
{
    static handler_fn *const pools[] = { ready_packet_pool, ready_other_pool };
    struct services *app = test_services_open();
    struct asked a;
    MYSQL *admin = mysql_init(NULL);
    (void)state;
    assert_non_null(app);
    struct str socket = str_from(app->stores.config->mysql);
    assert_true(str_skip_prefix(&socket, STR("unix:")));
    assert_non_null(mysql_real_connect(admin, NULL, "root", "", NULL, 0, socket.ptr, 0));
    test_services_fences_open(app);
    for (size_t i = 0; i < ARRAY_LEN(REFUSALS); i++) {
        const struct refusal *r = &REFUSALS[i];
        char line[64];
        administrator_does(app, admin, r, r->plant);
        snprintf(line, sizeof line, "%s: ", r->part);
        for (size_t j = 0; j < ARRAY_LEN(pools); j++) {
            int status = ask(&a, app, pools[j]);
            bool told = says(&a, line) && says(&a, r->says);
            asked_end(&a);
            if (status != 503 || !told)
                fail_msg("%s, pool %zu: %d", r->plant, j, status);
        }
        if (r->mend != NULL)
            administrator_does(app, admin, r, r->mend);
        else
            assert_int_equal(redis_functions_load(app->stores.redis, app->stores.functions), ST_OK);
        live_fences_set(app->stores.redis, app->stores.config);
        for (int tries = 0; ask(&a, app, ready_packet_pool) != 200; tries++) {
            asked_end(&a);
            assert_true(tries < 100);
            usleep(100000);
            test_services_fences_open(app);
        }
        asked_end(&a);
    }
    mysql_close(admin);
    test_services_close(app);
}

/* The keys that readiness writes, with another type than it gives them. */
static void a_planted_key_makes_no_pool_unready(void **state)
{
    struct services *app = test_services_open();
    struct asked a;
    (void)state;
    assert_non_null(app);
    test_services_fences_open(app);
    for (uint32_t i = 0; i <= (uint32_t)app->stores.config->partitions; i++) {
        char key[LIVE_KEY_MAX];
        const bool last = i == (uint32_t)app->stores.config->partitions;
        const struct str push[] = { STR("LPUSH"), last ? STR("hb:{limit}:unused") : live_probe_key(key, i), STR("x") };
        const struct str del[] = { STR("DEL"), push[1] };
        struct redis_call call;
        assert_int_equal(redis_do(app->stores.redis, &call, del, 2), ST_OK);
        redis_call_free(&call);
        assert_int_equal(redis_do(app->stores.redis, &call, push, 3), ST_OK);
        redis_call_free(&call);
    }
    assert_int_equal(ask(&a, app, ready_packet_pool), 200);
    asked_end(&a);
    assert_int_equal(ask(&a, app, ready_other_pool), 200);
    asked_end(&a);
    test_services_close(app);
}

/* As after the loss of one server of a cluster. */
static void a_partition_that_is_shut_is_told(void **state)
{
    struct services *app = test_services_open();
    struct asked a;
    char key[LIVE_KEY_MAX];
    struct redis_call call;
    (void)state;
    assert_non_null(app);
    test_services_fences_open(app);
    const struct str del[] = { STR("DEL"), live_fence_key(key, 3) };
    assert_int_equal(redis_do(app->stores.redis, &call, del, 2), ST_OK);
    redis_call_free(&call);
    live_fences_set(app->stores.redis, app->stores.config); /* forget what was read over this connection */
    assert_int_equal(ask(&a, app, ready_packet_pool), 200);
    asked_end(&a);
    (void)ask(&a, app, ready_site);
    assert_true(says(&a, "fence: ok: 1 of 16 partitions in Redis are not compared"));
    asked_end(&a);
    assert_int_equal(ask(&a, app, health_metrics), 200);
    assert_true(says(&a, "\nhongbao_partitions_shut 1\n"));
    asked_end(&a);
    test_services_fences_open(app);
    assert_int_equal(ask(&a, app, health_metrics), 200);
    assert_true(says(&a, "\nhongbao_partitions_shut 0\n"));
    asked_end(&a);
    test_services_close(app);
}

static void an_unreachable_redis_is_named(void **state)
{
    struct services *app = test_services_open();
    struct asked a;
    (void)state;
    assert_non_null(app);
    strcpy(test_services_config(app)->redis, "unix:/nowhere");
    assert_int_equal(ask(&a, app, ready_packet_pool), 503);
    assert_true(says(&a, "redis: "));
    assert_false(says(&a, "mysql: "));
    asked_end(&a);
    test_services_close(app);
}

static void an_unreachable_database_is_named_where_it_is_needed(void **state)
{
    struct services *app = test_services_open();
    struct asked a;
    struct db *db;
    (void)state;
    assert_non_null(app);
    test_services_fences_open(app);
    strcpy(test_services_config(app)->mysql, "unix:/nowhere");
    db_set_timeout_s(app->stores.db, 1); /* connects anew */
    assert_int_equal(ask(&a, app, ready_packet_pool), 503);
    assert_true(says(&a, "mysql: "));
    asked_end(&a);
    db = app->stores.db;
    app->stores.db = NULL; /* the hot pool */
    assert_int_equal(ask(&a, app, ready_packet_pool), 200);
    asked_end(&a);
    app->stores.db = db;
    test_services_close(app);
}

/* Enters a process of each role into the list: they live for ten seconds. */
/* Other tests of this Redis leave events; those that wait for long would make a site "not ready". */
static int no_event_waits(void **state)
{
    struct services *app = test_services_open();
    (void)state;
    if (app == NULL)
        return -1;
    for (int p = 0; p < app->stores.config->partitions; p++) {
        char key[LIVE_KEY_MAX];
        struct redis_call call;
        const struct str remove[] = { STR("DEL"), live_events_key(key, (uint32_t)p) };
        assert_int_equal(redis_do(app->stores.redis, &call, remove, 2), ST_OK);
        redis_call_free(&call);
    }
    test_services_close(app);
    return 0;
}

static void crew_begin(void)
{
    for (int role = METRICS_HOT; role <= METRICS_SETTLE; role++)
        metrics_process_begin((enum metrics_role)role);
}

static void the_site_is_ready_when_every_part_is(void **state)
{
    struct services *app = test_services_open();
    struct asked a;
    (void)state;
    assert_non_null(app);
    test_services_fences_open(app);
    assert_int_equal(ask(&a, app, ready_site), 503);
    assert_true(says(&a, "not ready\nredis: ok\nfence: ok\n"));
    assert_true(says(&a, "\nhot: failed: no process runs\n"));
    assert_true(says(&a, "\nsettle: failed: no process runs\n"));
    asked_end(&a);
    for (int role = METRICS_HOT; role < METRICS_SETTLE; role++)
        metrics_process_begin((enum metrics_role)role);
    assert_int_equal(ask(&a, app, ready_site), 503);
    assert_true(says(&a, "\nhot: ok\nauth: ok\ncard: ok\nsettle: failed: no process runs\n"));
    asked_end(&a);
    crew_begin();
    assert_int_equal(ask(&a, app, ready_site), 200);
    assert_true(says(&a,
                     "ready\nredis: ok\nfence: ok\ndurability: ok\nsettlement: ok\nmysql: ok\nschema: ok\nsite: ok\n"
                     "hot: ok\nauth: ok\ncard: ok\nsettle: ok\n"));
    asked_end(&a);
    test_services_close(app);
}

static void what_an_unreachable_store_would_know_is_unknown(void **state)
{
    struct services *app = test_services_open();
    struct asked a;
    (void)state;
    assert_non_null(app);
    crew_begin();
    strcpy(test_services_config(app)->redis, "unix:/nowhere");
    assert_int_equal(ask(&a, app, ready_site), 503);
    assert_true(says(&a, "not ready\nredis: failed: unavailable\nfence: unknown\ndurability: unknown\n"
                         "settlement: unknown\nmysql: ok\n"));
    asked_end(&a);
    test_services_close(app);
}

static void redis_run(struct services *app, const struct str *args, size_t count)
{
    struct redis_call call;
    assert_int_equal(redis_do(app->stores.redis, &call, args, count), ST_OK);
    redis_call_free(&call);
}

static void a_redis_that_keeps_nothing_on_disk_is_named(void **state)
{
    struct services *app = test_services_open();
    struct asked a;
    const struct str off[] = { STR("CONFIG"), STR("SET"), STR("appendonly"), STR("no") };
    const struct str on[] = { STR("CONFIG"), STR("SET"), STR("appendonly"), STR("yes") };
    (void)state;
    assert_non_null(app);
    test_services_fences_open(app);
    crew_begin();
    redis_run(app, off, 4);
    assert_int_equal(ask(&a, app, ready_site), 503);
    assert_true(says(&a, "\ndurability: failed: appendonly is off in Redis"));
    asked_end(&a);
    assert_int_equal(ask(&a, app, ready_packet_pool), 200); /* a balancer can't mend it */
    asked_end(&a);
    redis_run(app, on, 4);
    test_services_close(app);
}

static void a_settlement_that_is_behind_is_named_also_as_json(void **state)
{
    struct services *app = test_services_open();
    struct asked a;
    char id[32], key[LIVE_KEY_MAX];
    (void)state;
    assert_non_null(app);
    test_services_fences_open(app);
    crew_begin();
    (void)snprintf(id, sizeof id, "%lld-0", (long long)clock_now_ms() - 75000);
    const struct str add[] = { STR("XADD"), live_events_key(key, 3), str_from(id), STR("r"), STR("1") };
    const struct str remove[] = { STR("DEL"), live_events_key(key, 3) };
    redis_run(app, add, 5);
    assert_int_equal(ask_as(&a, app, ready_site, true), 503);
    assert_true(says(&a, "{\"ready\":false,\"parts\":[{\"part\":\"redis\",\"state\":\"ok\",\"detail\":\"\"},"));
    assert_true(says(&a, "{\"part\":\"settlement\",\"state\":\"failed\",\"detail\":\"75 s behind\"}"));
    asked_end(&a);
    test_services_config(app)->ready_lag_s = 600;
    assert_int_equal(ask(&a, app, ready_site), 200);
    asked_end(&a);
    redis_run(app, remove, 2);
    test_services_close(app);
}

static void a_redis_that_forgets_packets_is_named(void **state)
{
    struct services *app = test_services_open();
    struct asked a;
    const struct str evicts[] = { STR("CONFIG"), STR("SET"), STR("maxmemory-policy"), STR("allkeys-lru") };
    const struct str keeps[] = { STR("CONFIG"), STR("SET"), STR("maxmemory-policy"), STR("noeviction") };
    (void)state;
    assert_non_null(app);
    redis_run(app, evicts, 4);
    assert_int_equal(ask(&a, app, ready_site), 503);
    assert_true(says(&a, "\ndurability: failed: maxmemory-policy of Redis is not noeviction"));
    asked_end(&a);
    redis_run(app, keeps, 4);
    test_services_close(app);
}

/* The schema is compared with the migrations that the process has read, not with the folder. */
static void a_schema_of_another_program_is_named(void **state)
{
    struct services *app = test_services_open();
    struct asked a;
    (void)state;
    assert_non_null(app);
    test_services_fences_open(app);
    struct migrations *known = app->migrations;
    strcpy(test_services_config(app)->sql_dir, "/nowhere");
    assert_int_equal(ask(&a, app, ready_packet_pool), 200);
    asked_end(&a);

    struct migration more[100];
    struct migrations later = { .list = more, .count = known->count + 1 };
    assert_in_range(later.count, 2, 100);
    memcpy(more, known->list, known->count * sizeof *more);
    more[known->count] =
        (struct migration){ .version = (uint32_t)later.count, .file = STR("later"), .name = STR("later") };
    app->migrations = &later;
    assert_int_equal(ask(&a, app, ready_packet_pool), 503);
    assert_true(says(&a, "schema: migrations are missing: run hongbao migrate\n"));
    asked_end(&a);

    more[0].sha256[0] ^= 1;
    later.count = known->count;
    assert_int_equal(ask(&a, app, ready_packet_pool), 503);
    assert_true(says(&a, "schema: the schema does not fit this program\n"));
    assert_false(says(&a, "mysql: "));
    asked_end(&a);

    app->migrations = NULL; /* could not be read at the start */
    assert_int_equal(ask(&a, app, ready_packet_pool), 503);
    assert_true(says(&a, "schema: the schema does not fit this program\n"));
    asked_end(&a);
    app->migrations = known;
    test_services_close(app);
}

static void the_metrics_count_what_waits_for_the_worker(void **state)
{
    struct world w;
    struct asked a;
    char line[80];
    (void)state;
    world_begin(&w, 3);
    uint64_t id = world_send(&w, 0, PACKET_EVEN, 300, 3, 3600000, -1);
    (void)world_grab(&w, id, 1);
    (void)snprintf(line, sizeof line, "hongbao_unsettled_events{partition=\"%u\"} 1\n",
                   packet_partition(id, w.config->partitions));
    assert_int_equal(ask(&a, w.app, health_metrics), 200);
    assert_true(says(&a, line));
    assert_true(says(&a, "# TYPE hongbao_requests_total counter"));
    assert_true(says(&a, "\nhongbao_settlement_lag_seconds "));
    assert_true(says(&a, "\nhongbao_store_up{store=\"redis\"} 1\nhongbao_store_up{store=\"mysql\"} 1\n"));
    asked_end(&a);
    world_drain(&w);
    assert_int_equal(ask(&a, w.app, health_metrics), 200);
    assert_false(says(&a, line));
    assert_true(says(&a, "\nhongbao_settlement_lag_seconds 0.000\n"));
    asked_end(&a);
    world_end(&w);
}

/* The two events are a minute old by their ids: XADD takes the ids that it is told. */
static void the_lag_is_the_age_of_the_oldest_event_that_waits(void **state)
{
    struct services *app = test_services_open();
    struct asked a;
    char id[32], key[LIVE_KEY_MAX];
    (void)state;
    assert_non_null(app);
    for (int i = 1; i <= 2; i++) {
        (void)snprintf(id, sizeof id, "%lld-0", (long long)clock_now_ms() - i * 60000);
        const struct str add[] = { STR("XADD"), live_events_key(key, (uint32_t)i), str_from(id), STR("r"), STR("1") };
        redis_run(app, add, 5);
    }
    assert_int_equal(ask(&a, app, health_metrics), 200);
    assert_true(says(&a, "\nhongbao_settlement_lag_seconds 120."));
    assert_true(says(&a, "hongbao_unsettled_events{partition=\"1\"} 1\n"));
    asked_end(&a);
    for (uint32_t i = 1; i <= 2; i++) {
        const struct str remove[] = { STR("DEL"), live_events_key(key, i) };
        redis_run(app, remove, 2);
    }
    test_services_close(app);
}

static void without_the_stores_the_metrics_say_so(void **state)
{
    struct services *app = test_services_open();
    struct asked a;
    (void)state;
    assert_non_null(app);
    strcpy(test_services_config(app)->redis, "unix:/nowhere");
    strcpy(test_services_config(app)->mysql, "unix:/nowhere");
    db_set_timeout_s(app->stores.db, 1); /* connects anew */
    assert_int_equal(ask(&a, app, health_metrics), 200);
    assert_true(says(&a, "\nhongbao_store_up{store=\"redis\"} 0\nhongbao_store_up{store=\"mysql\"} 0\n"));
    assert_false(says(&a, "hongbao_settlement_lag_seconds"));
    assert_false(says(&a, "hongbao_dead_letters "));
    asked_end(&a);
    test_services_close(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_that_answers_is_alive_whatever_the_stores_do),
        cmocka_unit_test(with_both_stores_and_an_open_fence_it_is_ready),
        cmocka_unit_test(a_store_that_refuses_writes_is_not_ready),
        cmocka_unit_test(a_planted_key_makes_no_pool_unready),
        cmocka_unit_test(a_partition_that_is_shut_is_told),
        cmocka_unit_test(an_unreachable_redis_is_named),
        cmocka_unit_test(an_unreachable_database_is_named_where_it_is_needed),
        cmocka_unit_test(the_site_is_ready_when_every_part_is),
        cmocka_unit_test(what_an_unreachable_store_would_know_is_unknown),
        cmocka_unit_test(a_redis_that_keeps_nothing_on_disk_is_named),
        cmocka_unit_test(a_settlement_that_is_behind_is_named_also_as_json),
        cmocka_unit_test(a_redis_that_forgets_packets_is_named),
        cmocka_unit_test(a_schema_of_another_program_is_named),
        cmocka_unit_test(the_metrics_count_what_waits_for_the_worker),
        cmocka_unit_test(the_lag_is_the_age_of_the_oldest_event_that_waits),
        cmocka_unit_test(without_the_stores_the_metrics_say_so),
    };
    return cmocka_run_group_tests(tests, no_event_waits, NULL);
}
