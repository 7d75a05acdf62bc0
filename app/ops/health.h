/* Liveness, readiness and metrics, for a supervisor and for Prometheus. */
#ifndef HB_OPS_HEALTH_H
#define HB_OPS_HEALTH_H

#include <stddef.h>

#include "web/router.h"

/* GET /healthz: 200 "ok". Uses no store: it only shows that the process answers. */
enum step health_alive(struct exchange *x);
/* GET /readyz: 200 "ok", or 503 with a line for each problem: Redis unreachable ("redis: unavailable") or its fence
 * shut (live/fence.h); where the process has MySQL, MySQL unreachable or its schema not the one that this program's
 * migrations make. */
enum step health_ready(struct exchange *x);
/* GET /metrics: Prometheus text: the counters of all processes, the events that wait to be settled and the number of
 * dead letters. nginx allows it from private addresses only. */
enum step health_metrics(struct exchange *x);

extern const struct route ops_routes[];
extern const size_t ops_routes_count;

#endif
