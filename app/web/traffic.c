#include "web/traffic.h"

#include "base/clock.h"
#include "io/metrics_processes.h"

enum { CLASS_READ, CLASS_WRITE, CLASS_FILE, CLASS_OTHER, CLASS_COUNT };

enum { MSEC_DIGITS = 13, US_PER_MS = 1000, STATUS_REFUSED = 400, STATUS_FAILED = 500 };

/* What each pool counts. Requests of a class that a pool does not serve count as its other requests. */
static const struct counts {
    enum metric requests, refused, failed, busy;
    enum histogram queue; /* the hot pool has none */
    enum histogram times[CLASS_COUNT];
} COUNTS[METRICS_ROLE_COUNT] = {
#define COUNTS_OF(POOL, queue, write, file)                                                                            \
    [METRICS_##POOL] = { METRIC_REQUESTS_##POOL,                                                                       \
                         METRIC_4XX_##POOL,                                                                            \
                         METRIC_5XX_##POOL,                                                                            \
                         METRIC_BUSY_##POOL,                                                                           \
                         queue,                                                                                        \
                         { HISTOGRAM_##POOL##_READ, write, file, HISTOGRAM_##POOL##_OTHER } }
    COUNTS_OF(HOT, HISTOGRAM_COUNT, HISTOGRAM_HOT_WRITE, HISTOGRAM_HOT_OTHER),
    COUNTS_OF(PAGE, HISTOGRAM_QUEUE_PAGE, HISTOGRAM_PAGE_WRITE, HISTOGRAM_PAGE_FILE),
    COUNTS_OF(AUTH, HISTOGRAM_QUEUE_AUTH, HISTOGRAM_AUTH_WRITE, HISTOGRAM_AUTH_OTHER),
    COUNTS_OF(CARD, HISTOGRAM_QUEUE_CARD, HISTOGRAM_CARD_OTHER, HISTOGRAM_CARD_OTHER),
    COUNTS_OF(MONEY, HISTOGRAM_QUEUE_MONEY, HISTOGRAM_MONEY_WRITE, HISTOGRAM_MONEY_OTHER),
    COUNTS_OF(SSO, HISTOGRAM_QUEUE_SSO, HISTOGRAM_SSO_WRITE, HISTOGRAM_SSO_OTHER),
#undef COUNTS_OF
};

enum metrics_role traffic_role(enum pool pool)
{
    switch (pool) {
    case POOL_HOT: return METRICS_HOT;
    case POOL_AUTH: return METRICS_AUTH;
    case POOL_CARD: return METRICS_CARD;
    case POOL_MONEY: return METRICS_MONEY;
    case POOL_SSO: return METRICS_SSO;
    case POOL_PAGE: break;
    }
    return METRICS_PAGE;
}

/* Reads nginx's $msec, seconds with three decimals, as milliseconds. -1: it is something else. */
static int64_t msec_read(struct str text)
{
    int64_t ms = 0;
    if (text.len != MSEC_DIGITS + 1 || text.ptr[MSEC_DIGITS - 3] != '.')
        return -1;
    for (size_t i = 0; i < text.len; i++) {
        if (i == MSEC_DIGITS - 3)
            continue;
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return -1;
        ms = ms * 10 + (text.ptr[i] - '0');
    }
    return ms;
}

void traffic_begun(enum pool pool, const struct exchange *x)
{
    enum metrics_role role = traffic_role(pool);
    metrics_process_busy(true);
    if (role == METRICS_HOT)
        return;
    int64_t passed_on_ms = msec_read(exchange_param(x, "REQUEST_MSEC"));
    if (passed_on_ms >= 0)
        metrics_observe(COUNTS[role].queue, (x->now_ms - passed_on_ms) * US_PER_MS);
}

void traffic_answered(enum pool pool, int status)
{
    const struct counts *counts = &COUNTS[traffic_role(pool)];
    metrics_add(counts->requests, 1);
    if (status >= STATUS_REFUSED)
        metrics_add(status >= STATUS_FAILED ? counts->failed : counts->refused, 1);
}

void traffic_broken_off(enum pool pool)
{
    metrics_add(COUNTS[traffic_role(pool)].failed, 1);
}

void traffic_finished(enum pool pool, const struct exchange *x)
{
    size_t class = x->route == NULL || x->route->needs == 0 ? CLASS_OTHER
                   : x->stream != NULL                      ? CLASS_FILE
                   : x->method == METHOD_POST               ? CLASS_WRITE
                                                            : CLASS_READ;
    metrics_observe(COUNTS[traffic_role(pool)].times[class], clock_monotonic_us() - x->fcgi->begun_us);
}

void traffic_batch(enum pool pool, size_t count, int64_t us)
{
    metrics_process_busy(false);
    metrics_add(COUNTS[traffic_role(pool)].busy, us > 0 ? (uint64_t)us : 0);
    if (pool == POOL_HOT)
        metrics_observe(HISTOGRAM_BATCH, (int64_t)count);
}
