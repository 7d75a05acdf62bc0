#include "site/health.h"

#include "base/array.h"
#include "io/metrics.h"
#include "site/api.h"
#include "site/gauges.h"
#include "site/nginx_counts.h"
#include "site/ready.h"
#include "site/security_txt.h"
#include "web/respond.h"

#define TEXT_PLAIN      STR("text/plain; charset=utf-8")
#define TEXT_PROMETHEUS STR("text/plain; version=0.0.4; charset=utf-8")

const struct route health_routes[] = {
    { "GET", "/healthz", 0, POOL_HOT | POOL_PAGE | POOL_AUTH | POOL_CARD | POOL_MONEY | POOL_SSO, health_alive, NULL },
    { "GET", "/readyz", 0, POOL_PAGE, ready_site, NULL },
    { "GET", "/readyz/hot", 0, POOL_HOT, ready_packet_pool, NULL },
    { "GET", "/readyz/page", 0, POOL_PAGE, ready_packet_pool, NULL },
    { "GET", "/readyz/auth", 0, POOL_AUTH, ready_other_pool, NULL },
    { "GET", "/readyz/sso", 0, POOL_SSO, ready_sso_pool, NULL },
    { "GET", "/readyz/card", 0, POOL_CARD, ready_other_pool, NULL },
    { "GET", "/readyz/money", 0, POOL_MONEY, ready_money_pool, NULL },
    { "GET", "/metrics", 0, POOL_PAGE, health_metrics, NULL },
    { "GET", "/.well-known/security.txt", 0, POOL_PAGE, security_txt_show, NULL },
    { "GET", "/openapi.json", 0, POOL_PAGE, api_show, NULL },
};
const size_t health_routes_count = ARRAY_LEN(health_routes);

enum step health_alive(struct exchange *x)
{
    respond_text(x, 200, TEXT_PLAIN, STR("ok\n"));
    return STEP_DONE;
}

enum step health_metrics(struct exchange *x)
{
    struct buf out = BUF_EMPTY;
    struct metric_sample limited[NGINX_COUNTS_MAX];
    metrics_print(&out, limited, nginx_counts_read(x->app->stores.config->nginx_counts_dir, limited));
    gauges_print(x, &out);
    struct str text = arena_str(x->arena, buf_view(&out));
    bool failed = out.failed || text.ptr == NULL;
    buf_free(&out);
    if (failed)
        respond_status(x, ST_NO_MEMORY);
    else
        respond_text(x, 200, TEXT_PROMETHEUS, text);
    return STEP_DONE;
}
