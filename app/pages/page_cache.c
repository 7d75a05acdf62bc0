/* A table of fixed size with chained buckets. Room is made by the clock: the hand passes over what was asked for since
 * it last came by, and takes the first that was not. */
#include "pages/page_cache.h"
#include "live/live.h"
#include "live/view.h"
#include "packet/grab.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { NO_SLOT = UINT32_MAX };

struct slot {
    struct cached_page packet;
    void *memory; /* NULL: free. Holds the packet's rows and texts */
    size_t bytes;
    uint32_t next; /* in the bucket */
    bool asked;    /* since the hand came by */
};

struct page_cache {
    struct slot *slots;
    uint32_t *buckets; /* as many as slots: first slot */
    size_t packets_max, bytes_max, bytes;
    uint32_t hand;
    unsigned templates_made, losing;
};

struct page_cache *page_cache_new(size_t packets_max, size_t bytes_max)
{
    assert(packets_max >= 1 && packets_max < NO_SLOT);
    struct page_cache *f = calloc(1, sizeof *f);
    if (f == NULL)
        return NULL;
    *f = (struct page_cache){ .packets_max = packets_max, .bytes_max = bytes_max };
    f->slots = calloc(packets_max, sizeof *f->slots);
    f->buckets = calloc(packets_max, sizeof *f->buckets);
    if (f->slots == NULL || f->buckets == NULL) {
        free(f->slots);
        free(f->buckets);
        free(f);
        return NULL;
    }
    memset(f->buckets, 0xff, packets_max * sizeof *f->buckets);
    return f;
}

/* ---- which packets ---- */

static bool never_changes(const struct packet_view *view)
{
    return !view->busy && view->over && view->closed && view->packet.state == PACKET_FINISHED && view->row_count > 0;
}

bool page_cacheable(const struct packet_view *view)
{
    if (!never_changes(view) || view->row_count != view->packet.count)
        return false;
    for (size_t i = 0; i < view->row_count; i++)
        if (!view->rows[i].settled)
            return false;
    return true;
}

bool page_needs_all_rows(const struct packet_view *view)
{
    return never_changes(view) && view->rows[0].settled && view->row_count < view->packet.count &&
           view->packet.count <= LIVE_ROWS_MAX;
}

/* ---- the table ---- */

/* Ids of one process grow in their upper and lower bits; the multiplication (Fibonacci hashing) spreads them. */
static uint32_t *bucket_of(const struct page_cache *f, uint64_t packet_id)
{
    return &f->buckets[(packet_id * 11400714819323198485ULL >> 32) % f->packets_max];
}

static uint32_t slot_find(const struct page_cache *f, uint64_t packet_id)
{
    uint32_t at = *bucket_of(f, packet_id);
    while (at != NO_SLOT && f->slots[at].packet.view.packet.id != packet_id)
        at = f->slots[at].next;
    return at;
}

static void slot_drop(struct page_cache *f, uint32_t at)
{
    struct slot *s = &f->slots[at];
    uint32_t *link = bucket_of(f, s->packet.view.packet.id);
    while (*link != at)
        link = &f->slots[*link].next;
    *link = s->next;
    f->bytes -= s->bytes;
    free(s->memory);
    *s = (struct slot){ 0 };
}

static void slots_clear(struct page_cache *f)
{
    for (uint32_t at = 0; at < f->packets_max; at++)
        if (f->slots[at].memory != NULL)
            slot_drop(f, at);
}

void page_cache_free(struct page_cache *f)
{
    if (f == NULL)
        return;
    slots_clear(f);
    free(f->slots);
    free(f->buckets);
    free(f);
}

void page_cache_generation_set(struct page_cache *f, unsigned templates_made)
{
    if (f->templates_made != templates_made)
        slots_clear(f);
    f->templates_made = templates_made;
}

bool page_cache_probe_due(struct page_cache *f, uint32_t share_count)
{
    return share_count <= LIVE_ROWS_MAX && ++f->losing % PAGE_CACHE_PROBE_EVERY == 0;
}

/* A free slot, and room for so many bytes; bytes must not be over the limit. */
static uint32_t room_make(struct page_cache *f, size_t bytes)
{
    for (;; f->hand = (uint32_t)((f->hand + 1) % f->packets_max)) {
        struct slot *s = &f->slots[f->hand];
        if (s->memory != NULL && !s->asked)
            slot_drop(f, f->hand);
        s->asked = false;
        if (s->memory == NULL && f->bytes + bytes <= f->bytes_max)
            return f->hand;
    }
}

/* ---- copying ---- */

static void text_move(char **to, struct str *text)
{
    if (text->len > 0)
        memcpy(*to, text->ptr, text->len);
    text->ptr = *to;
    *to += text->len;
}

static size_t packet_bytes(const struct cached_page *packet)
{
    const struct packet_view *view = &packet->view;
    size_t bytes = view->row_count * sizeof *view->rows + packet->rows.json.len + view->packet.sender_name.len +
                   view->packet.receiver_name.len + view->packet.greeting.len;
    for (int i = 0; i < LANGUAGES; i++)
        bytes += packet->rows.html[i].len;
    for (size_t i = 0; i < view->row_count; i++)
        bytes += view->rows[i].nickname.len;
    return bytes;
}

/* Moves what packet points to into memory, packet_bytes long. */
static void packet_move(struct cached_page *packet, void *memory)
{
    struct packet_view *view = &packet->view;
    struct grab *rows = memory;
    char *to = (char *)(rows + view->row_count);
    memcpy(rows, view->rows, view->row_count * sizeof *rows);
    view->rows = rows;
    for (size_t i = 0; i < view->row_count; i++)
        text_move(&to, &rows[i].nickname);
    text_move(&to, &view->packet.sender_name);
    text_move(&to, &view->packet.receiver_name);
    text_move(&to, &view->packet.greeting);
    for (int i = 0; i < LANGUAGES; i++)
        text_move(&to, &packet->rows.html[i]);
    text_move(&to, &packet->rows.json);
    view->packet.request_key = STR("");
    view->has_mine = false;
    view->mine = (struct grab){ 0 };
    view->next = 0;
}

void page_cache_keep(struct page_cache *f, const struct cached_page *packet)
{
    assert(page_cacheable(&packet->view));
    size_t bytes = packet_bytes(packet);
    if (bytes > f->bytes_max || slot_find(f, packet->view.packet.id) != NO_SLOT)
        return;
    void *memory = malloc(bytes);
    if (memory == NULL)
        return;
    uint32_t at = room_make(f, bytes);
    struct slot *s = &f->slots[at];
    uint32_t *bucket = bucket_of(f, packet->view.packet.id);
    *s = (struct slot){ .packet = *packet, .memory = memory, .bytes = bytes, .next = *bucket, .asked = true };
    packet_move(&s->packet, memory);
    *bucket = at;
    f->bytes += bytes;
}

const struct cached_page *page_cache_find(struct page_cache *f, uint64_t packet_id)
{
    uint32_t at = slot_find(f, packet_id);
    if (at == NO_SLOT)
        return NULL;
    f->slots[at].asked = true;
    return &f->slots[at].packet;
}

/* ---- answers ---- */

static const struct grab *row_of(const struct packet_view *view, uint64_t user_id)
{
    for (size_t i = 0; user_id != 0 && i < view->row_count; i++)
        if (view->rows[i].user_id == user_id)
            return &view->rows[i];
    return NULL;
}

struct live_grab cached_page_grab(const struct cached_page *packet, uint64_t user_id)
{
    const struct packet *p = &packet->view.packet;
    const struct grab *mine = row_of(&packet->view, user_id);
    if (mine != NULL)
        return (struct live_grab){ .code = LIVE_ALREADY, .share_no = mine->share_no, .amount_fen = mine->amount_fen };
    bool meant = p->kind != PACKET_EXCLUSIVE || p->receiver_id == user_id;
    return (struct live_grab){ .code = meant ? LIVE_EMPTY : LIVE_NOT_FOR_YOU, .count = p->count };
}

struct packet_view cached_page_view(const struct cached_page *packet, uint64_t user_id, uint32_t after, uint32_t limit)
{
    struct packet_view view = packet->view;
    const struct grab *mine = row_of(&view, user_id);
    view.has_mine = mine != NULL;
    if (mine != NULL)
        view.mine = *mine;
    uint32_t count = (uint32_t)view.row_count, stop = after < count ? after : count;
    view.rows += count - stop;
    view.row_count = stop < limit ? stop : limit;
    view.next = stop - (uint32_t)view.row_count;
    return view;
}
