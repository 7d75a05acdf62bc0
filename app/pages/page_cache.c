/* A hash table of fixed size with chained buckets. Eviction is by the clock algorithm: the hand passes over slots that
 * were used since its last visit and clears their mark; it frees the first slot without a mark. */
#include "pages/page_cache.h"
#include "live/live.h"
#include "live/view.h"
#include "packet/grab.h"
#include "packet/receivers.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { NO_SLOT = UINT32_MAX };

struct slot {
    struct cached_page page;
    void *memory; /* rows and texts of the page; NULL: the slot is free */
    size_t bytes;
    uint32_t next; /* slot in the same bucket, or NO_SLOT */
    bool used;     /* used since the hand passed */
};

struct page_cache {
    struct slot *slots;
    uint32_t *buckets; /* pages_max items: the bucket's first slot, or NO_SLOT */
    size_t pages_max, bytes_max, bytes;
    uint32_t hand;
    unsigned generation; /* of the templates with which the rows were rendered */
    unsigned late_grabs; /* count of late grabs of packets small enough for the cache */
};

struct page_cache *page_cache_new(size_t pages_max, size_t bytes_max)
{
    assert(pages_max >= 1 && pages_max < NO_SLOT);
    struct page_cache *cache = calloc(1, sizeof *cache);
    if (cache == NULL)
        return NULL;
    *cache = (struct page_cache){ .pages_max = pages_max, .bytes_max = bytes_max };
    cache->slots = calloc(pages_max, sizeof *cache->slots);
    cache->buckets = calloc(pages_max, sizeof *cache->buckets);
    if (cache->slots == NULL || cache->buckets == NULL) {
        free(cache->slots);
        free(cache->buckets);
        free(cache);
        return NULL;
    }
    memset(cache->buckets, 0xff, pages_max * sizeof *cache->buckets);
    return cache;
}

/* ---- cacheable packets ---- */

static bool is_finished(const struct packet_view *view)
{
    return !view->busy && view->over && view->packet.state == PACKET_FINISHED;
}

static bool is_final(const struct packet_view *view)
{
    return is_finished(view) && view->final && view->row_count > 0;
}

bool page_cacheable(const struct packet_view *view)
{
    if (!is_final(view) || view->row_count != packet_share_total(&view->packet))
        return false;
    for (size_t i = 0; i < view->row_count; i++)
        if (!view->rows[i].settled)
            return false;
    return true;
}

bool page_rows_keepable(const struct packet_view *view)
{
    return is_finished(view) && view->row_count > 0 && view->rows[0].share_no == packet_share_total(&view->packet) - 1;
}

bool page_needs_all_rows(const struct packet_view *view)
{
    return (is_final(view) ? view->rows[0].settled : page_rows_keepable(view)) &&
           view->row_count < packet_share_total(&view->packet) && packet_share_total(&view->packet) <= LIVE_ROWS_MAX;
}

bool page_rows_fit(const struct cached_page *page, const struct packet_view *view)
{
    const struct packet *p = &view->packet, *q = &page->view.packet;
    return is_finished(view) && p->finished_ms == q->finished_ms && p->returned_count == q->returned_count &&
           p->thanks_count == q->thanks_count && str_equal(p->returned_shares, q->returned_shares);
}

bool page_outlives(const struct cached_page *page, const struct packet_view *view)
{
    return page->complete && !is_finished(view);
}

bool page_replaces(const struct cached_page *page, const struct cached_page *old)
{
    bool changed = !page_rows_fit(old, &page->view);
    return old->complete ? page->complete && changed : page->complete || changed;
}

/* ---- the hash table ---- */

/* The bucket of a packet. Ids of one process differ in few bits, so they are spread by a multiplication (Fibonacci
 * hashing). */
static uint32_t *bucket_of(const struct page_cache *cache, uint64_t packet_id)
{
    return &cache->buckets[(packet_id * 11400714819323198485ULL >> 32) % cache->pages_max];
}

static uint32_t slot_find(const struct page_cache *cache, uint64_t packet_id)
{
    uint32_t index = *bucket_of(cache, packet_id);
    while (index != NO_SLOT && cache->slots[index].page.view.packet.id != packet_id)
        index = cache->slots[index].next;
    return index;
}

static void slot_drop(struct page_cache *cache, uint32_t index)
{
    struct slot *s = &cache->slots[index];
    uint32_t *link = bucket_of(cache, s->page.view.packet.id);
    while (*link != index)
        link = &cache->slots[*link].next;
    *link = s->next;
    cache->bytes -= s->bytes;
    free(s->memory);
    *s = (struct slot){ 0 };
}

static void slots_clear(struct page_cache *cache)
{
    for (uint32_t index = 0; index < cache->pages_max; index++)
        if (cache->slots[index].memory != NULL)
            slot_drop(cache, index);
}

void page_cache_free(struct page_cache *cache)
{
    if (cache == NULL)
        return;
    slots_clear(cache);
    free(cache->slots);
    free(cache->buckets);
    free(cache);
}

void page_cache_generation_set(struct page_cache *cache, unsigned generation)
{
    if (cache->generation != generation)
        slots_clear(cache);
    cache->generation = generation;
}

bool page_cache_probe_due(struct page_cache *cache, uint32_t share_count)
{
    return share_count <= LIVE_ROWS_MAX && ++cache->late_grabs % PAGE_CACHE_PROBE_EVERY == 0;
}

/* Evicts pages until there is a free slot and room for bytes (at most bytes_max). Returns the slot. */
static uint32_t slot_make(struct page_cache *cache, size_t bytes)
{
    for (;; cache->hand = (uint32_t)((cache->hand + 1) % cache->pages_max)) {
        struct slot *s = &cache->slots[cache->hand];
        if (s->memory != NULL && !s->used)
            slot_drop(cache, cache->hand);
        s->used = false;
        if (s->memory == NULL && cache->bytes + bytes <= cache->bytes_max)
            return cache->hand;
    }
}

/* ---- copies ---- */

static void text_move(char **cursor, struct str *text)
{
    if (text->len > 0)
        memcpy(*cursor, text->ptr, text->len);
    text->ptr = *cursor;
    *cursor += text->len;
}

/* The text of a packet at index i of packet_members, if pages show it; else NULL. */
static struct str *page_text(struct packet *p, size_t i)
{
    return (packet_members[i].use & PACKET_USE_PAGE) != 0 ? packet_member_text(p, i) : NULL;
}

static size_t page_bytes(const struct cached_page *page)
{
    const struct packet_view *view = &page->view;
    struct packet packet = view->packet;
    size_t bytes = view->row_count * sizeof *view->rows + page->rows.json.len;
    for (size_t i = 0; i < PACKET_MEMBER_COUNT; i++) {
        const struct str *text = page_text(&packet, i);
        bytes += text != NULL ? text->len : 0;
    }
    for (int i = 0; i < LANGUAGES; i++)
        bytes += page->rows.html[i].len;
    for (size_t i = 0; i < view->row_count; i++)
        bytes += view->rows[i].nickname.len + view->rows[i].thanks.len;
    return bytes;
}

/* Copies the rows and texts of page into memory (page_bytes bytes) and makes page point there. Leaves out what only
 * some visitors may see. */
static void page_move(struct cached_page *page, void *memory)
{
    struct packet_view *view = &page->view;
    struct grab *rows = memory;
    char *cursor = (char *)(rows + view->row_count);
    memcpy(rows, view->rows, view->row_count * sizeof *rows);
    view->rows = rows;
    for (size_t i = 0; i < view->row_count; i++) {
        text_move(&cursor, &rows[i].nickname);
        text_move(&cursor, &rows[i].thanks);
    }
    for (size_t i = 0; i < PACKET_MEMBER_COUNT; i++) {
        struct str *text = packet_member_text(&view->packet, i);
        if (page_text(&view->packet, i) != NULL)
            text_move(&cursor, text);
        else if (text != NULL)
            *text = STR(""); /* not for all visitors */
    }
    for (int i = 0; i < LANGUAGES; i++)
        text_move(&cursor, &page->rows.html[i]);
    text_move(&cursor, &page->rows.json);
    view->has_mine = false;
    view->mine = (struct grab){ 0 };
    view->luckiest = NULL; /* it is among the rendered rows */
}

void page_cache_put(struct page_cache *cache, const struct cached_page *page)
{
    assert(!page->complete || page_cacheable(&page->view));
    size_t bytes = page_bytes(page);
    uint32_t old = slot_find(cache, page->view.packet.id);
    if (bytes > cache->bytes_max || (old != NO_SLOT && !page_replaces(page, &cache->slots[old].page)))
        return;
    if (old != NO_SLOT)
        slot_drop(cache, old);
    void *memory = malloc(bytes);
    if (memory == NULL)
        return;
    uint32_t index = slot_make(cache, bytes);
    struct slot *s = &cache->slots[index];
    uint32_t *bucket = bucket_of(cache, page->view.packet.id);
    *s = (struct slot){ .page = *page, .memory = memory, .bytes = bytes, .next = *bucket, .used = true };
    page_move(&s->page, memory);
    *bucket = index;
    cache->bytes += bytes;
}

const struct cached_page *page_cache_find(struct page_cache *cache, uint64_t packet_id)
{
    uint32_t index = slot_find(cache, packet_id);
    if (index == NO_SLOT)
        return NULL;
    cache->slots[index].used = true;
    return &cache->slots[index].page;
}

/* ---- answers ---- */

static const struct grab *row_find(const struct packet_view *view, uint64_t user_id)
{
    for (size_t i = 0; user_id != 0 && i < view->row_count; i++)
        if (view->rows[i].user_id == user_id)
            return &view->rows[i];
    return NULL;
}

bool page_serves(const struct cached_page *page, uint64_t user_id, int64_t now_ms)
{
    const struct packet *p = &page->view.packet;
    int64_t age_ms = now_ms - page->checked_ms;
    return page->view.row_count == packet_share_total(p) && age_ms >= 0 && age_ms < PAGE_CACHE_CHECK_MS &&
           user_id != p->sender_id && row_find(&page->view, user_id) == NULL;
}

void page_cache_checked(struct page_cache *cache, uint64_t packet_id, int64_t now_ms)
{
    uint32_t index = slot_find(cache, packet_id);
    if (index != NO_SLOT)
        cache->slots[index].page.checked_ms = now_ms;
}

struct live_grab cached_page_grab(const struct cached_page *page, uint64_t user_id)
{
    const struct packet *p = &page->view.packet;
    const struct grab *mine = row_find(&page->view, user_id);
    if (mine != NULL)
        return (struct live_grab){
            .code = LIVE_ALREADY, .share_no = mine->share_no, .amount_fen = mine->amount_fen, .returned = mine->returned
        };
    return (struct live_grab){ .code = packet_is_for(p, user_id) ? LIVE_EMPTY : LIVE_NOT_FOR_YOU,
                               .count = packet_share_total(p) };
}

struct packet_view cached_page_view(const struct cached_page *page, uint64_t user_id, uint32_t after, uint32_t limit)
{
    struct packet_view view = page->view;
    const struct grab *mine = row_find(&view, user_id);
    view.has_mine = mine != NULL;
    if (mine != NULL)
        view.mine = *mine;
    uint32_t count = (uint32_t)view.row_count, stop = after < count ? after : count;
    view.rows += count - stop;
    view.row_count = stop < limit ? stop : limit;
    view.next = stop - (uint32_t)view.row_count;
    uint32_t best = view.packet.best_share_no;
    view.luckiest = stop == count && best < view.next ? &page->view.rows[count - 1 - best] : NULL;
    return view;
}
