/* GET /p/ID: the envelope, the result or the list of grabs, depending on the visitor and the packet's state. Model:
 * pages/show_model.h. */
#ifndef HB_PAGES_SHOW_H
#define HB_PAGES_SHOW_H

#include "pages/page_cache.h"
#include "web/exchange.h"
#include "web/fields.h"

/* Hot pool: answers from Redis or the page cache. When Redis does not have the packet, the request is passed to the
 * page pool. */
enum step packet_show_hot(struct exchange *x);
/* The request's packet in the page cache. NULL: not cached, or this process has no cache (it is not of the hot
 * pool). */
const struct cached_page *show_cached(struct exchange *x);
/* The probe: show_probe_queue queues a view of all grabs into x->call. After the round, show_probe_read caches the
 * packet if its grabs never change. */
void show_probe_queue(struct exchange *x);
void show_probe_read(struct exchange *x);
/* Page pool: the same page from MySQL, for packets that Redis does not have. */
enum step packet_show_cold(struct exchange *x);

/* The query of /p/ID. */
extern const struct field show_fields[];

#endif
