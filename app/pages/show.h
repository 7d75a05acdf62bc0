/* GET /p/ID: the envelope, the result or the list of grabs, depending on the visitor and the packet's state. Model:
 * pages/show_model.h. */
#ifndef HB_PAGES_SHOW_H
#define HB_PAGES_SHOW_H

#include "packet/view.h"
#include "pages/page_cache.h"
#include "web/exchange.h"
#include "web/fields.h"

/* Hot pool: answers from Redis or the page cache. When Redis does not have the packet, the request is passed to the
 * page pool. */
enum step packet_show_hot(struct exchange *x);
/* Answers when live_view_read returned st, not ST_OK: a packet that Redis does not have is passed to the page pool. */
enum step show_view_failed(struct exchange *x, enum status st);
/* The request's packet in the page cache. NULL: not cached, or this process has no cache (it is not of the hot
 * pool). */
const struct cached_page *show_cached(struct exchange *x);
/* The probe: show_probe_queue queues a view of all grabs into x->call. After the round, show_probe_read caches the
 * packet if its grabs never change. */
void show_probe_queue(struct exchange *x);
void show_probe_read(struct exchange *x);
/* The view of the request's packet from MySQL, with at most limit grabs with share_no < after (PACKET_NO_SHARE: from
 * the newest). ST_OK · ST_NOT_FOUND · ST_UNAVAILABLE · ST_NO_MEMORY. *view must be zeroed. */
enum status show_view_find(struct exchange *x, uint32_t after, size_t limit, struct packet_view *view);
/* Answers a refused form of the packet's page with this page: show_refused_queue queues its view into x->call; after
 * the round, show_refused answers with the status, the messages, and what was typed into field as the model's member
 * typed. A packet that Redis does not have is a 503. */
void show_refused_queue(struct exchange *x);
void show_refused(struct exchange *x, int status, const struct form_errors *errors, const char *field,
                  const char *typed);
/* Page pool: the same page from MySQL, for packets that Redis does not have. */
enum step packet_show_cold(struct exchange *x);

/* The query of /p/ID. */
extern const struct field show_fields[];

#endif
