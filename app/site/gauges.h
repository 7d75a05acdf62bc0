/* The gauges of /metrics: what is true at this moment, unlike the counters of io/metrics.h. */
#ifndef HB_SITE_GAUGES_H
#define HB_SITE_GAUGES_H

#include "web/exchange.h"

/* Appends all gauges in the Prometheus text format. Reads from both stores; may block. For a store that does not answer
 * there is only the line hongbao_store_up. */
void gauges_print(struct exchange *x, struct buf *out);

#endif
