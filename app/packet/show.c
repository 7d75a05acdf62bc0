#include "packet/show.h"

#include "packet/live.h"
#include "packet/show_model.h"
#include "packet/store.h"
#include "web/respond.h"

/* ?after=N: rows below share N follow. Absent: from the newest. */
static bool after_read(const struct exchange *x, uint32_t *after)
{
    bool present;
    uint64_t number;
    struct str text = form_get(&x->query, "after", &present);
    *after = PACKET_NO_SHARE;
    if (!present)
        return true;
    if (!str_to_u64(text, &number) || number >= PACKET_NO_SHARE)
        return false;
    *after = (uint32_t)number;
    return true;
}

static void answer_view(struct exchange *x, const struct live_view *view)
{
    struct model m;
    model_init(&m, x->arena);
    respond_header(x, "X-Robots-Tag", STR("noindex"));
    show_model(x, view, &m);
    respond_model(x, 200, "pages/packet", &m);
}

enum step packet_show_hot(struct exchange *x)
{
    if (x->step == 0) {
        struct live live;
        uint32_t after;
        if (!after_read(x, &after)) {
            respond_problem(x, &PROBLEM_BAD_REQUEST);
            return STEP_DONE;
        }
        enum status st = live_init(&live, x->app->redis, x->app->scripts, x->app->config);
        if (st != ST_OK) {
            respond_status(x, st);
            return STEP_DONE;
        }
        live_view_queue(&live, &x->calls[0], x->packet_id, x->visitor.user_id, after, SHOW_ROWS);
        return STEP_WAIT;
    }

    struct live_view view;
    enum status st = live_view_read(&x->calls[0], x->arena, x->packet_id, &view);
    if (st == ST_OK)
        answer_view(x, &view);
    else if (st == ST_NOT_FOUND)
        respond_to_page_pool(x);
    else
        respond_status(x, st == ST_UNKNOWN ? ST_UNAVAILABLE : st); /* a view changes nothing: it is merely away */
    return STEP_DONE;
}

/* ---- from MySQL ---- */

static struct live_row row_from(const struct grab_row *grab)
{
    return (struct live_row){ .share_no = grab->share_no,
                              .user_id = grab->user_id,
                              .nickname = grab->nickname,
                              .amount_fen = grab->amount_fen,
                              .event = { .ms = (uint64_t)grab->grabbed_ms },
                              .settled = true };
}

static enum status view_rows_find(struct exchange *x, uint32_t after, struct live_view *view)
{
    struct grab_row *grabs;
    size_t count;
    enum status st = packet_grabs(x->app->db, x->arena, x->packet_id, after, SHOW_ROWS, &grabs, &count);
    if (st != ST_OK)
        return st;
    view->rows = arena_array(x->arena, count + 1, sizeof *view->rows);
    if (view->rows == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        view->rows[i] = row_from(&grabs[i]);
    view->row_count = count;
    view->next = count == SHOW_ROWS ? grabs[count - 1].share_no : 0;
    return ST_OK;
}

static enum status view_find(struct exchange *x, uint32_t after, struct live_view *view)
{
    struct grab_row grab;
    enum status st = packet_find(x->app->db, x->arena, x->packet_id, &view->packet);
    if (st != ST_OK)
        return st;
    view->now_ms = x->now_ms;
    /* MySQL says open, Redis does not know it: the settle worker is about to load or rebuild it. */
    view->busy = view->packet.state == PACKET_OPEN || view->packet.state == PACKET_FUNDING;
    view->over = packet_is_over(&view->packet);
    view->packet.state = packet_state_shown(&view->packet, x->now_ms);
    if (x->visitor.user_id != 0) {
        st = packet_grab_of(x->app->db, x->arena, x->packet_id, x->visitor.user_id, &grab);
        if (st != ST_OK && st != ST_NOT_FOUND)
            return st;
        view->has_mine = st == ST_OK;
        if (view->has_mine)
            view->mine = row_from(&grab);
    }
    return view_rows_find(x, after, view);
}

enum step packet_show_cold(struct exchange *x)
{
    struct live_view view = { 0 };
    uint32_t after;
    if (!after_read(x, &after)) {
        respond_problem(x, &PROBLEM_BAD_REQUEST);
        return STEP_DONE;
    }
    enum status st = view_find(x, after, &view);
    if (st == ST_OK)
        answer_view(x, &view);
    else
        respond_status(x, st);
    return STEP_DONE;
}
