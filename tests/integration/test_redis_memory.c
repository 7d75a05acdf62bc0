/* site/redis_memory: warns an operator long before Redis is full. */
#include "base/log.h"
#include "site/redis_memory.h"
#include "site/redis_state.h"
#include "support/stores_do.h"
#include "support/test_services.h"

static char logged[512];

void __wrap_log_write(enum log_level level, const char *message, const char *format, ...);
void __wrap_log_write(enum log_level level, const char *message, const char *format, ...)
{
    (void)level;
    (void)format;
    snprintf(logged, sizeof logged, "%s", message);
}

static struct services *app;

static int setup(void **state)
{
    (void)state;
    app = test_services_open();
    return app == NULL;
}

static void maxmemory_set(int64_t bytes)
{
    (void)redis_number(app->stores.redis, "CONFIG SET maxmemory %lld", (long long)bytes);
}

static int teardown(void **state)
{
    (void)state;
    test_services_close(app);
    return 0;
}

static struct redis_memory memory(void)
{
    struct redis_memory m;
    assert_int_equal(redis_memory_read(app->stores.redis, &m), ST_OK);
    return m;
}

TEST(an_instance_has_a_memory_limit_far_above_its_use)
{
    struct redis_memory m = memory();
    assert_true(m.used_bytes > 0 && m.max_bytes > m.used_bytes);
    assert_int_equal(redis_memory_state(&m), REDIS_MEMORY_FINE);
}

TEST(the_state_follows_from_the_share_in_use)
{
    static const struct {
        int64_t used, max;
        enum redis_memory_state state;
    } cases[] = { { 5, 0, REDIS_MEMORY_NO_LIMIT },           { 74000, 100000, REDIS_MEMORY_FINE },
                  { 76000, 100000, REDIS_MEMORY_HIGH },      { 94000, 100000, REDIS_MEMORY_HIGH },
                  { 97000, 100000, REDIS_MEMORY_FULL },      { 300000, 100000, REDIS_MEMORY_FULL },
                  { INT64_C(1) << 40, 1, REDIS_MEMORY_FULL } };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(
            redis_memory_state(&(struct redis_memory){ .used_bytes = cases[i].used, .max_bytes = cases[i].max }),
            cases[i].state);
}

TEST(a_reply_without_the_numbers_is_refused)
{
    struct redis_memory m;
    assert_true(redis_memory_parse(STR("# Memory\r\nused_memory:12\r\nmaxmemory:30\r\n"), &m));
    assert_ints({ m.used_bytes, 12 }, { m.max_bytes, 30 });
    assert_false(redis_memory_parse(STR("# Memory\r\nused_memory:12\r\n"), &m));
    assert_false(redis_memory_parse(STR("# Memory\r\nused_memory:x\r\nmaxmemory:30\r\n"), &m));
    assert_false(redis_memory_parse(STR_NONE, &m));
}

/* Checks again, at this time; returns what was logged. */
static const char *watched(struct redis_memory_watch *w, int64_t ms)
{
    logged[0] = '\0';
    redis_memory_watch(w, app->stores.redis, ms);
    return logged;
}

TEST(the_worker_says_so_long_before_redis_is_full)
{
    struct redis_memory_watch w = { 0 };
    struct redis_memory before = memory();
    assert_string_equal(watched(&w, 1000), "");
    maxmemory_set(before.used_bytes * 100 / 85);
    assert_string_equal(watched(&w, 5000), ""); /* not due */
    assert_string_equal(watched(&w, 20000), "redis memory is filling up");
    assert_string_equal(watched(&w, 40000), ""); /* warned */
    assert_string_equal(watched(&w, 90000), "redis memory is filling up");
    maxmemory_set(before.used_bytes / 2);
    assert_string_equal(watched(&w, 110000), "redis memory is full");
    maxmemory_set(0);
    assert_string_equal(watched(&w, 130000), "redis has no maxmemory");
    maxmemory_set(before.max_bytes);
    assert_string_equal(watched(&w, 150000), "redis memory is fine");
}

TEST(the_metrics_have_both_numbers)
{
    struct buf out = BUF_EMPTY;
    struct redis_state redis;
    assert_int_equal(redis_state_read(app->stores.redis, &redis), ST_OK);
    redis_state_print(&redis, &out);
    assert_non_null(str_after(buf_view(&out), STR("\nhongbao_redis_memory_used_bytes ")).ptr);
    assert_non_null(str_after(buf_view(&out), STR("\nhongbao_redis_memory_max_bytes ")).ptr);
    buf_free(&out);
}

TESTS(setup, teardown)
