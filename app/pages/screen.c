#include "pages/screen.h"

#include "base/link_key.h"
#include "live/view.h"
#include "packet/view.h"
#include "pages/present.h"
#include "pages/show.h"
#include "pages/show_model.h"
#include "pages/show_tag.h"
#include "web/field_types.h"
#include "web/qr.h"
#include "web/respond.h"
#include "web/security_log.h"
#include "web/view.h"

#define KEY_PURPOSE "hongbao screen v1"

enum { SCREEN_ROWS = 7, KEY_BYTES_MAX = 64 };

const struct field screen_fields[] = {
    { .name = "key", .type = &FIELD_LINK_KEY, .max = KEY_BYTES_MAX },
    { .name = NULL },
};

static struct key_pair keys_of(struct exchange *x)
{
    return keys_pair(&x->app->stores.config->keys, KEY_SCREENS);
}

struct str screen_path(struct exchange *x, uint64_t packet_id)
{
    struct str key = link_key(x->arena, keys_of(x).now, KEY_PURPOSE, packet_id);
    struct str path = present_packet_path(x, packet_id);
    if (key.ptr == NULL || path.ptr == NULL)
        return STR_NONE;
    return arena_printf(x->arena, "%.*s/screen?key=%.*s", STR_ARG(path), STR_ARG(key));
}

/* *with_key: the link has the right key. False: it has a wrong one. */
static bool key_read(struct exchange *x, bool *with_key)
{
    struct str key = STR("");
    bool valid = query_read(x, screen_fields, &key);
    const struct key_pair keys = keys_of(x);
    *with_key = valid && key.len > 0 &&
                (link_key_is(key, keys.now, KEY_PURPOSE, x->id) ||
                 (keys.before != NULL && link_key_is(key, keys.before, KEY_PURPOSE, x->id)));
    if (*with_key || (valid && key.len == 0))
        return true;
    security_log(x, SECURITY_ACCESS_REFUSED, x->visitor.user_id, NULL);
    return false;
}

/* Until the packet is finished, the largest of the shares that were not given back, the earlier one of equals; then its
 * best share, as on the packet's page. Called for the newest row first. */
static bool row_is_luckier(const struct packet *p, const struct grab *row, const struct grab *luckiest)
{
    if (p->state == PACKET_FINISHED)
        return row->share_no == p->best_share_no;
    return !row->returned && (luckiest == NULL || row->amount_fen >= luckiest->amount_fen);
}

/* NULL: the view has not all grabs, or there are none. */
static const struct grab *luckiest_find(const struct packet_view *view)
{
    const struct grab *luckiest = NULL;
    if (view->packet.kind != PACKET_LUCKY || view->row_count != view->packet.grabbed_count)
        return NULL;
    for (size_t i = 0; i < view->row_count; i++)
        if (row_is_luckier(&view->packet, &view->rows[i], luckiest))
            luckiest = &view->rows[i];
    return luckiest;
}

static void luckiest_model(struct model *m, const struct grab *luckiest)
{
    if (luckiest == NULL) {
        value_null(m, &m->root, "luckiest");
        return;
    }
    struct value *object = value_object(m, &m->root, "luckiest");
    present_person(m, object, "user", luckiest->user_id, luckiest->nickname);
    view_money_model(m, object, "amount_fen", "amount_text", luckiest->amount_fen);
}

static void screen_model(struct exchange *x, struct model *m, const struct packet_view *view, bool with_list)
{
    const struct packet *p = &view->packet;
    struct packet_view newest = *view;
    struct str url = present_packet_url(x, p->id);
    uint32_t shares = packet_share_total(p);
    show_packet_model(x, m, view);
    value_int(m, &m->root, "left_count", shares > p->grabbed_count ? shares - p->grabbed_count : 0);
    value_text(m, &m->root, "url", url);
    value_bool(m, &m->root, "with_list", with_list);
    luckiest_model(m, with_list ? luckiest_find(view) : NULL);
    struct value *grabs = value_list(m, &m->root, "grabs");
    if (newest.row_count > SCREEN_ROWS)
        newest.row_count = SCREEN_ROWS;
    if (with_list)
        show_grabs_model(m, grabs, &newest);
    value_page_text(m, &m->root, "html_qr", qr_svg(m->arena, url));
    value_page_text(m, &m->root, "address", x->target);
}

static enum step answer_screen(struct exchange *x, const struct packet_view *view, bool with_key)
{
    struct model m;
    const struct packet *p = &view->packet;
    if (p->kind == PACKET_EXCLUSIVE) {
        respond_problem(x, &PROBLEM_NOT_FOUND);
        return STEP_DONE;
    }
    struct str tag = show_tag(x, view);
    respond_header(x, "X-Robots-Tag", STR("noindex"));
    if (respond_not_modified(x, tag))
        return STEP_DONE;
    model_init(&m, x->arena);
    bool is_sender = x->visitor.user_id != 0 && x->visitor.user_id == p->sender_id;
    screen_model(x, &m, view, with_key || is_sender);
    if (p->state == PACKET_OPEN)
        value_page_text(&m, &m.root, "refresh", tag);
    respond_model(x, 200, "pages/screen", &m);
    return STEP_DONE;
}

enum step packet_screen_hot(struct exchange *x)
{
    struct packet_view view;
    bool with_key;
    if (!key_read(x, &with_key)) {
        respond_problem(x, &PROBLEM_NOT_FOUND);
        return STEP_DONE;
    }
    if (x->step == 0) {
        live_view_queue(&x->app->stores.live, &x->call, x->id, 0, PACKET_NO_SHARE, LIVE_ROWS_MAX);
        return STEP_WAIT;
    }
    enum status st = live_view_read(&x->call, x->arena, x->id, &view);
    return st == ST_OK ? answer_screen(x, &view, with_key) : show_view_failed(x, st);
}

enum step packet_screen_cold(struct exchange *x)
{
    struct packet_view view = { 0 };
    bool with_key;
    if (!key_read(x, &with_key)) {
        respond_problem(x, &PROBLEM_NOT_FOUND);
        return STEP_DONE;
    }
    enum status st = show_view_find(x, PACKET_NO_SHARE, LIVE_ROWS_MAX, &view);
    if (st == ST_OK)
        return answer_screen(x, &view, with_key);
    respond_status(x, st);
    return STEP_DONE;
}
