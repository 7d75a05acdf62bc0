/* Liveness and metrics, for a supervisor and for Prometheus. Also the routes of these and of site/ready.h. */
#ifndef HB_SITE_HEALTH_H
#define HB_SITE_HEALTH_H

#include <stddef.h>

#include "web/router.h"

/* GET /healthz: 200 "ok". Uses no store: it only shows that the process answers. */
enum step health_alive(struct exchange *x);
/* GET /metrics: Prometheus text: the counters of all processes, what nginx's limits refused, and the gauges of
 * site/gauges.h (docs/reference/metrics.md). nginx allows it from private addresses only. */
enum step health_metrics(struct exchange *x);

extern const struct route health_routes[];
extern const size_t health_routes_count;

#endif
