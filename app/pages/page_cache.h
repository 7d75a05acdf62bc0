/* Finished packets in the memory of a process. Once every share of a packet is grabbed and settled nothing of it ever
 * changes, whatever becomes of Redis (one with a dead letter is not closed, so it is not kept). So both who comes too
 * late and who looks at the list are answered without asking it. Only packets whose grabs are all known are kept: that
 * a user has no share is as certain as which one he has. */
#ifndef HB_PAGES_PAGE_CACHE_H
#define HB_PAGES_PAGE_CACHE_H

#include "live/grab.h"
#include "packet/view.h"
#include "web/language.h"

#define PAGE_CACHE_PAGES_MAX   1024               /* in one process */
#define PAGE_CACHE_BYTES_MAX   ((size_t)16 << 20) /* of them all */
#define PAGE_CACHE_PROBE_EVERY 16                 /* one of so many losing grabs looks whether the packet can be kept */

/* The first page of the list, ready made. */
struct cached_rows {
    struct str html[LANGUAGES];
    struct str json;
};

struct cached_page {
    struct packet_view view; /* every grab, newest first; nobody's: has_mine is false */
    struct cached_rows rows;
};

struct page_cache;
/* At most packets_max (≥ 1) packets of bytes_max bytes together; what was not asked for lately goes first. NULL:
 * no memory. */
struct page_cache *page_cache_new(size_t packets_max, size_t bytes_max);
void page_cache_free(struct page_cache *f); /* NULL is fine */

/* True when a packet as Redis shows it will never change and view has all of its grabs. Pure. */
bool page_cacheable(const struct packet_view *view);
/* True when it will never change, but view has only some of the grabs, and all of them would fit one view. Pure. */
bool page_needs_all_rows(const struct packet_view *view);

/* Keeps a copy; view must be page_cacheable. Does nothing when the packet is there, too large, or without memory. */
void page_cache_keep(struct page_cache *f, const struct cached_page *packet);
/* NULL: not kept. Valid until another function of this table is called. */
const struct cached_page *page_cache_find(struct page_cache *f, uint64_t packet_id);
/* Says which templates are in use (services.templates.made): rows that others made are forgotten. */
void page_cache_generation_set(struct page_cache *f, unsigned templates_made);
/* True for one losing grab in PAGE_CACHE_PROBE_EVERY of packets that could be kept: it looks whether it is time. */
bool page_cache_probe_due(struct page_cache *f, uint32_t share_count);

/* What the grab script would answer. */
struct live_grab cached_page_grab(const struct cached_page *packet, uint64_t user_id);
/* What the view script would show; rows point into packet. user_id, after and limit as for live_view_queue. Of packet
 * only the view is read, and all it needs is every grab. */
struct packet_view cached_page_view(const struct cached_page *packet, uint64_t user_id, uint32_t after, uint32_t limit);

#endif
