#include "web/traffic.h"

#include "base/clock.h"
#include "io/metrics_processes.h"

enum { CLASS_READ, CLASS_WRITE, CLASS_FILE, CLASS_OTHER, CLASS_COUNT };

enum { MSEC_DIGITS = 13, US_PER_MS = 1000, STATUS_REFUSED = 400, STATUS_FAILED = 500 };

/* Requests of a class that a pool does not serve count as its other requests. */
static const enum histogram TIMES[METRICS_POOL_COUNT][CLASS_COUNT] = {
    [METRICS_HOT] = { HISTOGRAM_HOT_READ, HISTOGRAM_HOT_WRITE, HISTOGRAM_HOT_OTHER, HISTOGRAM_HOT_OTHER },
    [METRICS_PAGE] = { HISTOGRAM_PAGE_READ, HISTOGRAM_PAGE_WRITE, HISTOGRAM_PAGE_FILE, HISTOGRAM_PAGE_OTHER },
    [METRICS_AUTH] = { HISTOGRAM_AUTH_READ, HISTOGRAM_AUTH_WRITE, HISTOGRAM_AUTH_OTHER, HISTOGRAM_AUTH_OTHER },
    [METRICS_CARD] = { HISTOGRAM_CARD_READ, HISTOGRAM_CARD_OTHER, HISTOGRAM_CARD_OTHER, HISTOGRAM_CARD_OTHER },
};

static const enum metric REQUESTS[METRICS_POOL_COUNT] = { METRIC_REQUESTS_HOT, METRIC_REQUESTS_PAGE,
                                                          METRIC_REQUESTS_AUTH, METRIC_REQUESTS_CARD };

_Static_assert(METRIC_4XX_CARD - METRIC_4XX_HOT == METRICS_CARD, "in the order of the roles");
_Static_assert(METRIC_5XX_CARD - METRIC_5XX_HOT == METRICS_CARD, "in the order of the roles");
_Static_assert(METRIC_BUSY_CARD - METRIC_BUSY_HOT == METRICS_CARD, "in the order of the roles");
_Static_assert(HISTOGRAM_QUEUE_CARD - HISTOGRAM_QUEUE_PAGE == METRICS_CARD - METRICS_PAGE, "in the order of the roles");

enum metrics_role traffic_role(enum pool pool)
{
    switch (pool) {
    case POOL_HOT: return METRICS_HOT;
    case POOL_AUTH: return METRICS_AUTH;
    case POOL_CARD: return METRICS_CARD;
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
        metrics_observe((enum histogram)(HISTOGRAM_QUEUE_PAGE + (role - METRICS_PAGE)),
                        (x->now_ms - passed_on_ms) * US_PER_MS);
}

void traffic_answered(enum pool pool, int status)
{
    enum metrics_role role = traffic_role(pool);
    metrics_add(REQUESTS[role], 1);
    if (status >= STATUS_REFUSED)
        metrics_add((enum metric)((status >= STATUS_FAILED ? METRIC_5XX_HOT : METRIC_4XX_HOT) + role), 1);
}

void traffic_broken_off(enum pool pool)
{
    metrics_add((enum metric)(METRIC_5XX_HOT + traffic_role(pool)), 1);
}

void traffic_finished(enum pool pool, const struct exchange *x)
{
    size_t class = x->route == NULL || x->route->needs == 0 ? CLASS_OTHER
                   : x->stream != NULL                      ? CLASS_FILE
                   : x->method == METHOD_POST               ? CLASS_WRITE
                                                            : CLASS_READ;
    metrics_observe(TIMES[traffic_role(pool)][class], clock_monotonic_us() - x->fcgi->begun_us);
}

void traffic_batch(enum pool pool, size_t count, int64_t us)
{
    metrics_process_busy(false);
    metrics_add((enum metric)(METRIC_BUSY_HOT + traffic_role(pool)), us > 0 ? (uint64_t)us : 0);
    if (pool == POOL_HOT)
        metrics_observe(HISTOGRAM_BATCH, (int64_t)count);
}
