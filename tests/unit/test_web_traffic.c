/* web/traffic: what a pool counts about its requests. */
#include "base/clock.h"
#include "support/test.h"
#include "web/traffic.h"

static enum step handler(struct exchange *x)
{
    (void)x;
    return STEP_DONE;
}

static enum status part(struct exchange *x, bool *more)
{
    (void)x;
    *more = false;
    return ST_OK;
}

static const struct route user_route = { "GET", "/", WANT_VISITOR, POOL_PAGE, handler, NULL };
static const struct route nobodys_route = { "GET", "/readyz", 0, POOL_PAGE, handler, NULL };

TEST(a_request_counts_in_its_class)
{
    struct fcgi_request request = { .begun_us = clock_monotonic_us() };
    const struct {
        enum pool pool;
        const struct route *route;
        enum method method;
        stream_part *stream;
        enum histogram counted;
    } cases[] = { { POOL_HOT, &user_route, METHOD_POST, NULL, HISTOGRAM_HOT_WRITE },
                  { POOL_HOT, &user_route, METHOD_GET, NULL, HISTOGRAM_HOT_READ },
                  { POOL_HOT, NULL, METHOD_GET, NULL, HISTOGRAM_HOT_OTHER },
                  { POOL_PAGE, &user_route, METHOD_GET, NULL, HISTOGRAM_PAGE_READ },
                  { POOL_PAGE, &user_route, METHOD_HEAD, NULL, HISTOGRAM_PAGE_READ },
                  { POOL_PAGE, &user_route, METHOD_POST, NULL, HISTOGRAM_PAGE_WRITE },
                  { POOL_PAGE, &user_route, METHOD_GET, part, HISTOGRAM_PAGE_FILE },
                  { POOL_PAGE, &nobodys_route, METHOD_GET, NULL, HISTOGRAM_PAGE_OTHER },
                  { POOL_AUTH, &user_route, METHOD_GET, NULL, HISTOGRAM_AUTH_READ },
                  { POOL_AUTH, &user_route, METHOD_POST, NULL, HISTOGRAM_AUTH_WRITE },
                  { POOL_AUTH, NULL, METHOD_POST, NULL, HISTOGRAM_AUTH_OTHER },
                  { POOL_CARD, &user_route, METHOD_GET, NULL, HISTOGRAM_CARD_READ },
                  { POOL_CARD, NULL, METHOD_GET, NULL, HISTOGRAM_CARD_OTHER },
                  { POOL_MONEY, &user_route, METHOD_GET, NULL, HISTOGRAM_MONEY_READ },
                  { POOL_MONEY, &user_route, METHOD_POST, NULL, HISTOGRAM_MONEY_WRITE },
                  { POOL_MONEY, NULL, METHOD_GET, NULL, HISTOGRAM_MONEY_OTHER },
                  { POOL_SSO, &user_route, METHOD_GET, NULL, HISTOGRAM_SSO_READ },
                  { POOL_SSO, &user_route, METHOD_POST, NULL, HISTOGRAM_SSO_WRITE },
                  { POOL_SSO, NULL, METHOD_GET, NULL, HISTOGRAM_SSO_OTHER } };
    EACH (row, cases) {
        struct exchange x = { .fcgi = &request, .route = row->route, .method = row->method, .stream = row->stream };
        uint64_t before = metrics_observed(row->counted);
        traffic_finished(row->pool, &x);
        assert_int_equal(metrics_observed(row->counted), before + 1);
    }
}

TEST(an_answer_counts_by_pool_and_status_and_a_batch_by_its_time_and_size)
{
    static const int statuses[] = { 200, 303, 404, 499, 503 };
    for (size_t i = 0; i < ARRAY_LEN(statuses); i++)
        traffic_answered(POOL_AUTH, statuses[i]);
    traffic_answered(POOL_CARD, 500);
    traffic_broken_off(POOL_PAGE);
    assert_ints({ metrics_get(METRIC_REQUESTS_AUTH), 5 }, { metrics_get(METRIC_4XX_AUTH), 2 },
                { metrics_get(METRIC_5XX_AUTH), 1 }, { metrics_get(METRIC_REQUESTS_CARD), 1 },
                { metrics_get(METRIC_5XX_CARD), 1 }, { metrics_get(METRIC_5XX_PAGE), 1 },
                { metrics_get(METRIC_REQUESTS_PAGE), 0 }, { metrics_get(METRIC_5XX_HOT), 0 });
    traffic_batch(POOL_HOT, 3, 1500);
    traffic_batch(POOL_PAGE, 1, 2500);
    traffic_batch(POOL_PAGE, 1, -1);
    assert_ints({ metrics_get(METRIC_BUSY_HOT), 1500 }, { metrics_get(METRIC_BUSY_PAGE), 2500 });
    assert_int_equal(metrics_observed(HISTOGRAM_BATCH), 1);
}

TEST(the_wait_is_measured_from_the_time_that_nginx_names)
{
    char wrong[][32] = { "REQUEST_MSEC=", "REQUEST_MSEC=1790000000", "REQUEST_MSEC=1790000000.1234",
                         "REQUEST_MSEC=-790000000.123", "REQUEST_MSEC=1790000000,123" };
    char right[] = "REQUEST_MSEC=1790000000.045";
    char *envp[] = { right, NULL };
    struct fcgi_request request = { .fcgx.envp = envp };
    struct exchange x = { .fcgi = &request, .now_ms = 1790000000145 };
    struct buf out = BUF_EMPTY;
    traffic_begun(POOL_CARD, &x);
    traffic_begun(POOL_HOT, &x); /* has none */
    metrics_print(&out, NULL, 0);
    assert_non_null(str_after(buf_view(&out), STR("\nhongbao_queue_seconds_sum{pool=\"card\"} 0.100000\n"
                                                  "hongbao_queue_seconds_count{pool=\"card\"} 1\n"))
                        .ptr);
    buf_free(&out);
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        envp[0] = wrong[i];
        traffic_begun(POOL_CARD, &x);
    }
    envp[0] = NULL;
    traffic_begun(POOL_CARD, &x);
    assert_int_equal(metrics_observed(HISTOGRAM_QUEUE_CARD), 1);
}

TESTS(NULL, NULL)
