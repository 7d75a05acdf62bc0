/* Finished packets in the memory of a hot process, so that late grabs of them need no Redis and views little of it. A
 * packet is cacheable when all of its shares are grabbed and settled: then its grabs never change, whatever happens to
 * Redis. (A packet with a dead letter is not closed, so it is not cacheable.) Such an entry is complete: it has all
 * grabs of its packet, so it also proves that a user has no share, and late grabs are answered from it alone. What can
 * still change are the marks on the rows: a share was given back, its receiver said thanks. So a view of a visitor
 * without a share uses an entry without Redis for at most PAGE_CACHE_CHECK_MS; for visitors with a share and for the
 * sender only the rendered rows are used (page_rows_fit). An entry with other marks is replaced.
 *
 * Between its last grab and the settlement of this grab, a finished packet is the same for all visitors without a
 * share, and its list is the same for all. Its entry is not complete: Redis may still lose grabs and give their shares
 * to other users. So late grabs do not use the entry; views use it as described above. A visitor with a share sees
 * whether that share is settled.
 * When the packet has more than LIVE_ROWS_MAX shares, everything except the rows is read from Redis for everyone,
 * because its entry can't prove that a user has none. */
#ifndef HB_PAGES_PAGE_CACHE_H
#define HB_PAGES_PAGE_CACHE_H

#include "live/grab.h"
#include "packet/view.h"
#include "web/language.h"

#define PAGE_CACHE_PAGES_MAX   1024               /* of one process */
#define PAGE_CACHE_BYTES_MAX   ((size_t)16 << 20) /* of one process, all pages together */
#define PAGE_CACHE_CHECK_MS    1000
#define PAGE_CACHE_PROBE_EVERY 16 /* one in this many late grabs and views probes whether its packet is cacheable */

/* The first SHOW_ROWS rows of the list of grabs, rendered. */
struct cached_rows {
    struct str html[LANGUAGES];
    struct str json;
};

struct cached_page {
    struct packet_view view; /* all grabs, or, of a packet with more than LIVE_ROWS_MAX, the first SHOW_ROWS; newest
                                first; of no visitor (has_mine is false) */
    struct cached_rows rows;
    bool complete;
    int64_t checked_ms; /* when Redis last confirmed the rows */
};

struct page_cache;
/* Makes a cache of at most pages_max (≥ 1) packets and bytes_max bytes together. Packets that were not used lately are
 * evicted first. NULL: no memory. */
struct page_cache *page_cache_new(size_t pages_max, size_t bytes_max);
void page_cache_free(struct page_cache *cache); /* NULL is allowed */

/* True when the packet's grabs never change and view (from Redis) has all of them. Pure. */
bool page_cacheable(const struct packet_view *view);
/* True when view has only some of the grabs that the cache needs, but one view can have all of them. Pure. */
bool page_needs_all_rows(const struct packet_view *view);

/* True when the rows of view, which has the newest ones, stay the same as long as the packet is finished. Pure. */
bool page_rows_keepable(const struct packet_view *view);
/* True when the packet of view (without rows) still has the rows of page, with the same marks: Redis may have lost
 * grabs and given their shares to other users, at a later time. Pure. */
bool page_rows_fit(const struct cached_page *page, const struct packet_view *view);
/* True when page is right and view is outdated: it shows an unfinished packet, so it comes from an older copy of Redis.
 * Pure. */
bool page_outlives(const struct cached_page *page, const struct packet_view *view);

/* True when page shows the packet to this user without Redis, at the time now_ms. Pure. */
bool page_serves(const struct cached_page *page, uint64_t user_id, int64_t now_ms);
/* Records that Redis confirmed the rows at now_ms. */
void page_cache_checked(struct page_cache *cache, uint64_t packet_id, int64_t now_ms);

/* True when page is better than old, an entry of the same packet: page is complete and old is not; or its marks differ;
 * or old is not complete and the rows differ, because Redis had lost grabs. Pure. */
bool page_replaces(const struct cached_page *page, const struct cached_page *old);
/* Stores a copy of page, whose view must be page_cacheable if it is complete. Does nothing when the cache has an entry
 * that page does not replace, when page is larger than bytes_max, or without memory. */
void page_cache_put(struct page_cache *cache, const struct cached_page *page);
/* Finds a packet. NULL: not cached. The result is valid until another function of this cache is called. */
const struct cached_page *page_cache_find(struct page_cache *cache, uint64_t packet_id);
/* Sets the generation of the templates in use (templates.generation). A new one empties the cache, because its rows
 * were rendered with the old templates. */
void page_cache_generation_set(struct page_cache *cache, unsigned generation);
/* Counts a late grab (answered LIVE_EMPTY) or a view of a packet with share_count shares. True for one in
 * PAGE_CACHE_PROBE_EVERY: the caller then probes whether the packet is cacheable. Always false for packets with too
 * many shares for one view. */
bool page_cache_probe_due(struct page_cache *cache, uint32_t share_count);

/* The result that the grab script would return for this user. */
struct live_grab cached_page_grab(const struct cached_page *page, uint64_t user_id);
/* The view that the view script would return; its rows point into page. user_id, after and limit: as for
 * live_view_queue. Reads only page->view, which must have all grabs. */
struct packet_view cached_page_view(const struct cached_page *page, uint64_t user_id, uint32_t after, uint32_t limit);

#endif
