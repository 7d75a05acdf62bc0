/* The gauges of /metrics: what is true at this moment, unlike the counters of io/metrics.h. */
#ifndef HB_SITE_GAUGES_H
#define HB_SITE_GAUGES_H

#include "web/exchange.h"

/* Appends all gauges in the Prometheus text format. Asks both stores; may block. Of a store that does not answer there
 * are no lines but hongbao_store_up. */
void gauges_print(struct exchange *x, struct buf *out);

#endif
