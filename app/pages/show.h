/* GET /p/ID: the envelope, the result or the list of grabs, by who looks and in which state the packet is. */
#ifndef HB_PAGES_SHOW_H
#define HB_PAGES_SHOW_H

#include "pages/page_cache.h"
#include "web/exchange.h"

/* Hot pool: from Redis alone. A packet that Redis does not know is handed on to the page pool. */
enum step packet_show_hot(struct exchange *x);
/* The packet as kept in this process; NULL: it is not, or this is no hot pool. */
const struct cached_page *cache_find(struct exchange *x);
/* Queues a look at all of the packet's grabs, into x->call. After the round the second one keeps the packet, if it
 * will never change. */
void cache_probe_queue(struct exchange *x);
void cache_probe_read(struct exchange *x);
/* Page pool: the same page from MySQL, for packets whose live keys are gone. */
enum step packet_show_cold(struct exchange *x);

#endif
