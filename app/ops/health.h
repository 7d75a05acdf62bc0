/* What a supervisor asks: is it alive, can it work, what does it count? */
#ifndef HB_OPS_HEALTH_H
#define HB_OPS_HEALTH_H

#include <stddef.h>

#include "web/router.h"

/* GET /healthz: 200 "ok". Asks nothing and nobody: the process answers. */
enum step health_alive(struct exchange *x);
/* GET /readyz: 200 "ok", or 503 with a line for each store that is away ("redis: unavailable") or still refuses grabs
 * because the settle worker has not looked at it since its start. In the page pool also
 * MySQL, and whether its tables have the version this program was built for. */
enum step health_ready(struct exchange *x);
/* GET /metrics: Prometheus text: the counters of all processes and the events waiting to be settled. Reachable from
 * private addresses only: nginx sees to that. */
enum step health_metrics(struct exchange *x);

extern const struct route ops_routes[];
extern const size_t ops_routes_count;

#endif
