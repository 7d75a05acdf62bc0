#include "pages/show.h"

#include "live/view.h"
#include "packet/faces.h"
#include "packet/grab.h"
#include "packet/receivers.h"
#include "packet/store.h"
#include "packet/thanks.h"
#include "packet/view.h"
#include "pages/looked.h"
#include "pages/show_model.h"
#include "pages/show_tag.h"
#include "web/field_types.h"
#include "web/respond.h"

/* Views of one answer: without rows, with rows, with all rows. A view that must be confirmed is read once more. */
enum { SHOW_STEPS_MAX = 3 };

const struct field show_fields[] = {
    { .name = "after",
      .type = &FIELD_NUMBER,
      .max = PACKET_NO_SHARE - 1,
      .says = "the `next` of the page before: earlier grabs" },
    { .name = NULL },
};

/* Reads ?after=N: the page starts with share N - 1; the list runs from the newest grab down to share 0. Without it the
 * page starts with the newest grab. False: malformed. */
static bool after_read(struct exchange *x, uint32_t *after)
{
    uint64_t number = PACKET_NO_SHARE;
    bool valid = query_read(x, show_fields, &number);
    *after = (uint32_t)number;
    return valid;
}

static void answer_view(struct exchange *x, const struct packet_view *view, const struct cached_rows *rows)
{
    struct model m;
    struct str tag = show_tag(x, view);
    respond_header(x, "X-Robots-Tag", STR("noindex"));
    if (respond_not_modified(x, tag))
        return;
    looked_remember(x, view);
    model_init(&m, x->arena);
    show_model(x, view, rows, &m);
    if (show_may_change(view, x->visitor.user_id))
        value_page_text(&m, &m.root, "refresh", tag);
    respond_model(x, 200, "pages/packet", &m);
}

/* ---- from the page cache ---- */

static const struct cached_page *page_find(struct exchange *x)
{
    struct page_cache *cache = x->app->page_cache;
    if (cache == NULL)
        return NULL;
    page_cache_generation_set(cache, x->app->templates.generation);
    return page_cache_find(cache, x->id);
}

const struct cached_page *show_cached(struct exchange *x)
{
    const struct cached_page *page = page_find(x);
    return page != NULL && page->complete ? page : NULL;
}

/* The first page of a view with all grabs, as a visitor without a share sees it. A view that has only its first page is
 * returned as it is. */
static struct packet_view first_page(const struct packet_view *view)
{
    const struct cached_page page = { .view = *view };
    return view->row_count == packet_share_total(&view->packet) ? cached_page_view(&page, 0, PACKET_NO_SHARE, SHOW_ROWS)
                                                                : *view;
}

/* Caches the packet: the complete entry when it never changes any more, before that its finished list. When several
 * requests of a batch show the packet, the first one does this. */
static void view_cache(struct exchange *x, const struct packet_view *view)
{
    const struct cached_page *old = page_find(x);
    struct cached_page page = { .view = *view, .complete = page_cacheable(view), .checked_ms = x->now_ms };
    if (x->app->page_cache == NULL || (old != NULL && !page_replaces(&page, old)) ||
        (!page.complete && !page_rows_keepable(view)))
        return;
    struct packet_view first = first_page(view);
    if (first.row_count <= SHOW_ROWS && show_rows(x, &first, &page.rows) == ST_OK)
        page_cache_put(x->app->page_cache, &page);
}

/* note: the sender's note, which a page for all visitors lacks; only the sender sees it. */
static void answer_cached(struct exchange *x, const struct cached_page *page, uint32_t after, struct str note)
{
    struct packet_view view = cached_page_view(page, x->visitor.user_id, after, SHOW_ROWS);
    view.packet.note = note;
    answer_view(x, &view, after >= packet_share_total(&view.packet) ? &page->rows : NULL);
}

/* ---- from Redis ---- */

static void view_queue(struct exchange *x, uint32_t after, uint32_t limit)
{
    redis_call_free(&x->call); /* of an earlier step */
    live_view_queue(&x->app->stores.live, &x->call, x->id, x->visitor.user_id, after, limit);
}

void show_probe_queue(struct exchange *x)
{
    view_queue(x, PACKET_NO_SHARE, LIVE_ROWS_MAX);
}

void show_probe_read(struct exchange *x)
{
    struct packet_view view;
    if (live_view_read(&x->call, x->arena, x->id, &view) == ST_OK && page_cacheable(&view))
        view_cache(x, &view);
}

void show_refused_queue(struct exchange *x)
{
    view_queue(x, PACKET_NO_SHARE, SHOW_ROWS);
}

void show_refused(struct exchange *x, int status, const struct form_errors *errors, const char *field,
                  const char *typed)
{
    struct packet_view view;
    struct model m;
    enum status st = live_view_read(&x->call, x->arena, x->id, &view);
    if (st != ST_OK) {
        respond_status(x, st == ST_NOT_FOUND ? ST_UNAVAILABLE : status_idempotent(st));
        return;
    }
    respond_header(x, "X-Robots-Tag", STR("noindex"));
    model_init(&m, x->arena);
    show_model(x, &view, NULL, &m);
    value_page_text(&m, &m.root, typed, form_get(&x->form, field, NULL));
    respond_page_errors(x, status, "pages/packet", &m, errors);
}

/* True when the cache lacks the packet and needs all of its grabs. Before the settlement only some views read all
 * grabs: an entry is useful only for a moment then, and with more packets than the cache holds, every view would make
 * an entry in vain. */
static bool probe_needed(struct exchange *x, const struct packet_view *view)
{
    struct page_cache *cache = x->app->page_cache;
    const struct cached_page *old = page_find(x);
    if (cache == NULL || !page_needs_all_rows(view))
        return false;
    if (view->final)
        return old == NULL || !old->complete || !page_rows_fit(old, view);
    return old == NULL && page_cache_probe_due(cache, packet_share_total(&view->packet));
}

/* Answers from a view that was read without rows, with the rows of the cache. False: the cache has no rows of this
 * list. */
static bool answer_with_cached_rows(struct exchange *x, struct packet_view *view)
{
    const struct cached_page *page = page_find(x);
    if (page == NULL || !page_rows_fit(page, view))
        return false;
    const struct packet_view first = first_page(&page->view);
    view->rows = first.rows;
    view->row_count = first.row_count;
    view->next = first.next;
    answer_view(x, view, &page->rows);
    page_cache_checked(x->app->page_cache, x->id, x->now_ms);
    return true;
}

enum step show_view_failed(struct exchange *x, enum status st)
{
    if (st == ST_NOT_FOUND)
        respond_to_page_pool(x);
    else
        respond_status(x, status_idempotent(st)); /* a view changes nothing, so it can be repeated */
    return STEP_DONE;
}

static enum step answer_hot(struct exchange *x, struct packet_view *view, uint32_t after)
{
    bool may_wait = x->step < SHOW_STEPS_MAX;
    /* Redis sends no rows of an open packet to a visitor who may not see its list. For a finished packet each visitor,
     * also one without a session, confirms the rows of the cache, so that the next visitors need no Redis. */
    const bool has_list =
        view->packet.state != PACKET_OPEN || show_list_allowed(&view->packet, view->has_mine, x->visitor.user_id);
    /* Read without rows. */
    if (may_wait && has_list && view->row_count == 0 && view->packet.grabbed_count > 0 && after > 0) {
        /* From now on its grabs never change. */
        bool completes = view->final && packet_share_total(&view->packet) <= LIVE_ROWS_MAX && show_cached(x) == NULL;
        if (!completes && answer_with_cached_rows(x, view))
            return STEP_DONE;
        view_queue(x, after, SHOW_ROWS);
        return STEP_WAIT;
    }
    if (may_wait && probe_needed(x, view)) {
        show_probe_queue(x);
        return STEP_WAIT;
    }
    uint32_t total = packet_share_total(&view->packet);
    bool whole = view->row_count == total;
    if (whole || (after == PACKET_NO_SHARE && total > LIVE_ROWS_MAX))
        view_cache(x, view);
    if (whole) /* a probe, or a packet that fits a page: the page is cut out of all grabs */
        *view = cached_page_view(&(struct cached_page){ .view = *view }, x->visitor.user_id, after, SHOW_ROWS);
    answer_view(x, view, NULL);
    return STEP_DONE;
}

/* True when the view shows the visitor a share that a failover may still take back: it is not settled, and the replicas
 * may lack it. */
static bool share_is_unconfirmed(const struct exchange *x, const struct packet_view *view)
{
    return view->has_mine && !view->mine.settled && redis_confirms(x->app->stores.redis) && !x->call.confirmed;
}

/* Reads the view again, confirmed by the replicas. */
static enum step view_confirm(struct exchange *x, uint32_t after)
{
    redis_call_free(&x->call);
    live_view_queue_confirmed(&x->app->stores.live, &x->call, x->id, x->visitor.user_id, after, SHOW_ROWS);
    return STEP_WAIT;
}

/* Answers with the view that was queued, or queues a further view; then the next step calls this function again. */
static enum step show_read(struct exchange *x)
{
    struct packet_view view;
    uint32_t after;
    (void)after_read(x, &after); /* it was valid in the step before */
    enum status st = live_view_read(&x->call, x->arena, x->id, &view);
    const struct cached_page *page = page_find(x);
    if (st == ST_OK && page != NULL && page_outlives(page, &view)) {
        answer_cached(x, page, after, view.packet.note);
        return STEP_DONE;
    }
    if (st == ST_OK && share_is_unconfirmed(x, &view))
        return view_confirm(x, after);
    return st == ST_OK ? answer_hot(x, &view, after) : show_view_failed(x, st);
}

enum step packet_show_hot(struct exchange *x)
{
    uint32_t after;
    if (!after_read(x, &after)) {
        respond_problem(x, &PROBLEM_BAD_REQUEST);
        return STEP_DONE;
    }
    const struct cached_page *page = page_find(x);
    if (page != NULL && page_serves(page, x->visitor.user_id, x->now_ms)) {
        answer_cached(x, page, after, STR("")); /* a cached page is not used for the sender */
        return STEP_DONE;
    }
    view_queue(x, after, page != NULL && after == PACKET_NO_SHARE ? 0 : SHOW_ROWS);
    return exchange_then(x, show_read);
}

/* ---- from MySQL ---- */

static enum status view_rows_find(struct exchange *x, uint32_t after, size_t limit, struct packet_view *view)
{
    enum status st = packet_grabs(x->app->stores.db, x->arena, x->id, after, limit, &view->rows, &view->row_count);
    if (st == ST_OK)
        view->next = view->row_count == limit ? view->rows[limit - 1].share_no : 0;
    return st;
}

/* Finds the luckiest draw when it is not among the newest rows: only the page shows it. */
static enum status view_luckiest_find(struct exchange *x, uint32_t after, struct packet_view *view)
{
    const struct packet *p = &view->packet;
    struct grab *luckiest;
    size_t count;
    if (x->wants_json || !show_list_allowed(p, view->has_mine, x->visitor.user_id) || p->state != PACKET_FINISHED ||
        after < packet_share_total(p) || p->best_share_no >= view->next)
        return ST_OK;
    enum status st = packet_grabs(x->app->stores.db, x->arena, x->id, p->best_share_no + 1, 1, &luckiest, &count);
    if (st == ST_OK && count == 1) {
        st = faces_find(x->app->stores.db, x->arena, &view->packet, luckiest, 1);
        view->luckiest = luckiest;
    }
    return st;
}

static enum status view_thanks_find(struct exchange *x, struct packet_view *view)
{
    enum status st = thanks_find_all(x->app->stores.db, x->arena, x->id, view->rows, view->row_count);
    return st == ST_OK && view->has_mine ? thanks_find_all(x->app->stores.db, x->arena, x->id, &view->mine, 1) : st;
}

enum status show_view_find(struct exchange *x, uint32_t after, size_t limit, struct packet_view *view)
{
    enum status st = packet_find(x->app->stores.db, x->arena, x->id, &view->packet);
    if (st == ST_OK)
        st = receivers_find(x->app->stores.db, x->arena, &view->packet);
    if (st != ST_OK)
        return st;
    view->now_ms = x->now_ms;
    /* A packet that is open in MySQL but not in Redis: the settle worker is about to load or rebuild it. */
    view->busy = view->packet.state == PACKET_OPEN || view->packet.state == PACKET_FUNDING;
    view->over = packet_is_over(&view->packet);
    view->packet.state = packet_state_shown(&view->packet, x->now_ms);
    if (x->visitor.user_id != 0) {
        st = packet_grab_of(x->app->stores.db, x->arena, x->id, x->visitor.user_id, &view->mine);
        if (st != ST_OK && st != ST_NOT_FOUND)
            return st;
        view->has_mine = st == ST_OK;
    }
    st = view_rows_find(x, after, limit, view);
    if (st == ST_OK)
        st = faces_find(x->app->stores.db, x->arena, &view->packet, view->rows, view->row_count);
    if (st == ST_OK)
        st = view_luckiest_find(x, after, view);
    return st == ST_OK && view->packet.thanks_count > 0 ? view_thanks_find(x, view) : st;
}

enum step packet_show_cold(struct exchange *x)
{
    struct packet_view view = { 0 };
    uint32_t after;
    if (!after_read(x, &after)) {
        respond_problem(x, &PROBLEM_BAD_REQUEST);
        return STEP_DONE;
    }
    enum status st = show_view_find(x, after, SHOW_ROWS, &view);
    if (st == ST_OK)
        answer_view(x, &view, NULL);
    else
        respond_status(x, st);
    return STEP_DONE;
}
