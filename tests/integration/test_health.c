/* /healthz, /readyz and /metrics, as a supervisor and Prometheus read them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ops/health.h"
#include "support/test_services.h"
#include "test_settle_fixture.h"

/* One request; ask steps through its handler as the FastCGI loop does. */
struct asked {
    struct arena *arena;
    struct fcgi_request request;
    struct exchange x;
    char *envp[1];
};

static int ask(struct asked *a, struct services *app, handler_fn *handler)
{
    *a = (struct asked){ .arena = arena_new(1 << 16, 1 << 22) };
    assert_non_null(a->arena);
    a->request.arena = a->arena;
    a->request.fcgx.envp = a->envp;
    a->x = (struct exchange){ .app = app, .fcgi = &a->request, .arena = a->arena };
    while (handler(&a->x) == STEP_WAIT) {
        redis_round(app->stores.redis);
        a->x.step++;
    }
    return a->x.status;
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
    strcpy(test_services_config(app)->redis_socket, "/nowhere");
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
    redis_fence_set(app->stores.redis, STR("test:no-fence"), 16);
    assert_int_equal(ask(&a, app, health_ready), 503); /* the fence is shut: no settle worker compared this Redis */
    assert_true(says(&a, "redis: "));
    asked_end(&a);
    test_services_fence_open(app);
    assert_int_equal(ask(&a, app, health_ready), 200);
    asked_end(&a);
    test_services_close(app);
}

static void an_unreachable_redis_is_named(void **state)
{
    struct services *app = test_services_open();
    struct asked a;
    (void)state;
    assert_non_null(app);
    strcpy(test_services_config(app)->redis_socket, "/nowhere");
    assert_int_equal(ask(&a, app, health_ready), 503);
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
    test_services_fence_open(app);
    strcpy(test_services_config(app)->mysql_socket, "/nowhere");
    db_set_timeout_s(app->stores.db, 1); /* connects anew */
    assert_int_equal(ask(&a, app, health_ready), 503);
    assert_true(says(&a, "mysql: "));
    asked_end(&a);
    db = app->stores.db;
    app->stores.db = NULL; /* the hot pool */
    assert_int_equal(ask(&a, app, health_ready), 200);
    asked_end(&a);
    app->stores.db = db;
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
    asked_end(&a);
    world_drain(&w);
    assert_int_equal(ask(&a, w.app, health_metrics), 200);
    assert_false(says(&a, line));
    asked_end(&a);
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_that_answers_is_alive_whatever_the_stores_do),
        cmocka_unit_test(with_both_stores_and_an_open_fence_it_is_ready),
        cmocka_unit_test(an_unreachable_redis_is_named),
        cmocka_unit_test(an_unreachable_database_is_named_where_it_is_needed),
        cmocka_unit_test(the_metrics_count_what_waits_for_the_worker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
