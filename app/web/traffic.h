/* Counts the requests of a pool: how many, how many failed, how long they took and waited, and how busy its processes
 * are (docs/reference/metrics.md). No count is by path or by user. */
#ifndef HB_WEB_TRAFFIC_H
#define HB_WEB_TRAFFIC_H

#include "io/metrics.h"
#include "web/router.h"

enum metrics_role traffic_role(enum pool pool);

/* Call it when a request was read: counts how long it has waited since nginx passed it on (REQUEST_MSEC; the hot pool
 * has none). */
void traffic_begun(enum pool pool, const struct exchange *x);
/* An answer is written. */
void traffic_answered(enum pool pool, int status);
/* Call it when an answer was broken off in the middle: counts it as an error, too. */
void traffic_broken_off(enum pool pool);
/* Call it when a request has ended: counts its time in its class: `read`, `write`, `file` (answers in parts, which take
 * longer the larger they are), or `other` (a path that does not exist, /readyz, /metrics). */
void traffic_finished(enum pool pool, const struct exchange *x);
/* A batch of count requests has taken this time. */
void traffic_batch(enum pool pool, size_t count, int64_t us);

#endif
