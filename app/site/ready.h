/* Readiness: of one pool, for a load balancer; and of the whole site, for a person and a monitor. */
#ifndef HB_SITE_READY_H
#define HB_SITE_READY_H

#include "web/router.h"

/* GET /readyz/POOL: can this pool serve? 200 "ok", or 503 with a line for each part of enum ready_part that fails:
 * Redis, its fence (live/fence.h), and where the pool has MySQL, MySQL and its schema. A store counts as failed also
 * when it refuses a write (site/write_probe.h). A store that only other processes need does not count: it would not
 * help if the balancer stopped sending requests. The hot and the page pool write packets, the other pools do not. The
 * money pool needs MySQL alone, and writes there by routines, so of a refused write it knows read_only only. */
enum step ready_packet_pool(struct exchange *x);
enum step ready_other_pool(struct exchange *x);
enum step ready_sso_pool(struct exchange *x);
enum step ready_money_pool(struct exchange *x);
/* GET /readyz, page pool: is the whole site well? Text with a line for each part, or JSON. 503 when one of them fails.
 * A part is unknown, and does not count, when the store that knows it is unreachable. */
enum step ready_site(struct exchange *x);

#endif
