#include "pages/screen.h"

#include <string.h>

#include "base/array.h"
#include "base/link_key.h"
#include "live/view.h"
#include "packet/store.h"
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

enum {
    SCREEN_ROWS = 8,
    SCREEN_TOP = 3,
    SCREEN_SHARES_MAX = 2000, /* a packet with more shares shows no luckiest grabs: each hundred shares cost a view */
    SCREEN_STEPS_MAX = SCREEN_SHARES_MAX / LIVE_ROWS_MAX,
    KEY_BYTES_MAX = 64
};

/* The content of one answer; several views collect the luckiest grabs. */
struct screen {
    struct packet_view view; /* the newest grabs */
    struct grab top[SCREEN_TOP];
    size_t top_count;
    bool with_list; /* names and amounts are shown */
    struct str tag;
};

const struct field screen_fields[] = {
    { .name = "key",
      .type = &FIELD_LINK_KEY,
      .max = KEY_BYTES_MAX,
      .says = "of the packet's screen_url, which only the sender gets: names and amounts are shown" },
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

/* Reads the key of the link. *with_key: the link has the right key. False: it has a wrong one. */
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

/* ---- the luckiest ---- */

/* Orders the luckiest grabs, the best first. Until the packet is finished: by amount, earlier before later, without
 * shares that were given back. Then the draw's best share is the first, as on the packet's page, also if it was given
 * back. */
static bool row_is_luckier(const struct packet *p, const struct grab *row, const struct grab *other)
{
    if (p->state == PACKET_FINISHED && p->best_share_no != PACKET_NO_SHARE &&
        (row->share_no == p->best_share_no || other->share_no == p->best_share_no))
        return row->share_no == p->best_share_no;
    return row->amount_fen != other->amount_fen ? row->amount_fen > other->amount_fen : row->share_no < other->share_no;
}

/* Puts the row into its place among the luckiest, its name in the arena. */
static void top_put(struct arena *a, struct screen *s, const struct grab *row)
{
    const struct packet *p = &s->view.packet;
    size_t at = s->top_count;
    if (row->returned && !(p->state == PACKET_FINISHED && row->share_no == p->best_share_no))
        return;
    while (at > 0 && row_is_luckier(p, row, &s->top[at - 1]))
        at--;
    if (at == SCREEN_TOP)
        return;
    if (s->top_count < SCREEN_TOP)
        s->top_count++;
    memmove(&s->top[at + 1], &s->top[at], (s->top_count - 1 - at) * sizeof s->top[0]);
    s->top[at] = *row;
    s->top[at].nickname = arena_str(a, row->nickname);
}

static void top_add(struct arena *a, struct screen *s, const struct packet_view *view)
{
    for (size_t i = 0; i < view->row_count; i++)
        top_put(a, s, &view->rows[i]);
}

static bool top_wanted(const struct screen *s)
{
    const struct packet *p = &s->view.packet;
    return s->with_list && p->kind == PACKET_LUCKY && packet_share_total(p) <= SCREEN_SHARES_MAX;
}

static void lucky_model(struct model *m, struct value *object, const struct grab *row)
{
    present_person(m, object, "user", row->user_id, row->nickname, &row->face);
    view_money_model(m, object, "amount_fen", "amount_text", row->amount_fen);
}

static void top_model(struct model *m, const struct screen *s)
{
    struct value *list = value_list(m, &m->root, "top");
    for (size_t i = 0; i < s->top_count; i++) {
        struct value *object = value_add_object(m, list);
        lucky_model(m, object, &s->top[i]);
        value_page_int(m, object, "place", (int64_t)i + 1);
    }
    if (s->top_count > 0)
        lucky_model(m, value_object(m, &m->root, "luckiest"), &s->top[0]);
    else
        value_null(m, &m->root, "luckiest");
}

/* ---- the page ---- */

static bool on_podium(const struct screen *s, const struct grab *row)
{
    for (size_t i = 0; i < s->top_count; i++)
        if (s->top[i].share_no == row->share_no)
            return true;
    return false;
}

/* Adds the newest grabs that are not on the podium: the page shows each person once. */
static void crowd_model(struct model *m, const struct screen *s)
{
    struct value *list = value_page_list(m, &m->root, "crowd");
    struct packet_view rest = s->view;
    rest.rows = arena_alloc(m->arena, SCREEN_ROWS * sizeof *rest.rows);
    rest.row_count = 0;
    if (rest.rows == NULL)
        m->failed = true;
    for (size_t i = 0; i < s->view.row_count && rest.row_count < SCREEN_ROWS && !m->failed; i++)
        if (!on_podium(s, &s->view.rows[i]))
            rest.rows[rest.row_count++] = s->view.rows[i];
    value_page_bool(m, &m->root, "with_crowd", rest.row_count > 0);
    show_grabs_model(m, list, &rest);
}

static void screen_model(struct exchange *x, struct model *m, const struct screen *s)
{
    const struct packet_view *view = &s->view;
    const struct packet *p = &view->packet;
    struct packet_view newest = *view;
    struct str url = present_packet_url(x, p->id);
    uint32_t shares = packet_share_total(p);
    show_packet_model(x, m, view);
    value_int(m, &m->root, "left_count", shares > p->grabbed_count ? shares - p->grabbed_count : 0);
    value_page_bool(m, &m->root, "untouched", p->state == PACKET_OPEN && p->grabbed_count == 0);
    value_page_bool(m, &m->root, "none_taken", p->state != PACKET_OPEN && p->grabbed_count == 0);
    value_text(m, &m->root, "url", url);
    value_bool(m, &m->root, "with_list", s->with_list);
    top_model(m, s);
    struct value *grabs = value_list(m, &m->root, "grabs");
    if (newest.row_count > SCREEN_ROWS)
        newest.row_count = SCREEN_ROWS;
    if (s->with_list) {
        show_grabs_model(m, grabs, &newest);
        crowd_model(m, s);
    }
    value_page_text(m, &m->root, "html_qr", qr_svg(m->arena, url));
    value_page_text(m, &m->root, "address", x->target);
}

static void answer_screen(struct exchange *x, const struct screen *s)
{
    struct model m;
    model_init(&m, x->arena);
    screen_model(x, &m, s);
    if (s->view.packet.state == PACKET_OPEN)
        value_page_text(&m, &m.root, "refresh", s->tag);
    respond_model(x, 200, "pages/screen", &m);
}

/* Takes the first view of the packet. True: the request is answered. */
static bool screen_begin(struct exchange *x, struct screen *s, bool with_key)
{
    const struct packet *p = &s->view.packet;
    if (p->kind == PACKET_EXCLUSIVE) {
        respond_problem(x, &PROBLEM_NOT_FOUND);
        return true;
    }
    s->with_list = with_key || (x->visitor.user_id != 0 && x->visitor.user_id == p->sender_id);
    s->tag = show_tag(x, &s->view);
    respond_header(x, "X-Robots-Tag", STR("noindex"));
    return respond_not_modified(x, s->tag);
}

/* ---- from Redis ---- */

static void text_keep(struct arena *a, struct str *text)
{
    if (text->len > 0)
        *text = arena_str(a, *text);
}

/* Copies what the screen shows of the view: its texts are slices of the reply, which the next reply replaces. */
static void view_keep(struct arena *a, struct packet_view *view)
{
    struct packet *p = &view->packet;
    for (size_t i = 0; i < PACKET_MEMBER_COUNT; i++)
        if (packet_member_text(p, i) != NULL)
            text_keep(a, packet_member_text(p, i));
    if (view->row_count > SCREEN_ROWS + SCREEN_TOP)
        view->row_count = SCREEN_ROWS + SCREEN_TOP; /* the page leaves out rows that are on the podium */
    view->luckiest = NULL;                          /* points into the reply; the screen does not show it */
    for (size_t i = 0; i < view->row_count; i++) {
        text_keep(a, &view->rows[i].nickname);
        text_keep(a, &view->rows[i].thanks);
    }
}

static handler_fn screen_more;

/* Queues a view of the grabs below `after`, to find the luckiest. */
static enum step rows_queue(struct exchange *x, uint32_t after)
{
    redis_call_free(&x->call);
    live_view_queue(&x->app->stores.live, &x->call, x->id, 0, after, LIVE_ROWS_MAX);
    return exchange_then(x, screen_more);
}

static enum step screen_read(struct exchange *x)
{
    bool with_key;
    struct screen *s = x->state = arena_alloc(x->arena, sizeof *s);
    if (s == NULL) {
        respond_status(x, ST_NO_MEMORY);
        return STEP_DONE;
    }
    (void)key_read(x, &with_key); /* the key was right in the step before */
    enum status st = live_view_read(&x->call, x->arena, x->id, &s->view);
    if (st != ST_OK)
        return show_view_failed(x, st);
    if (screen_begin(x, s, with_key))
        return STEP_DONE;
    uint32_t next = s->view.next;
    if (top_wanted(s)) {
        top_add(x->arena, s, &s->view);
        if (next > 0) {
            view_keep(x->arena, &s->view);
            return rows_queue(x, next);
        }
    }
    answer_screen(x, s);
    return STEP_DONE;
}

/* Earlier grabs never change, so the views of one screen fit each other. */
static enum step screen_more(struct exchange *x)
{
    struct screen *s = x->state;
    struct packet_view view;
    enum status st = live_view_read(&x->call, x->arena, x->id, &view);
    if (st != ST_OK)
        return show_view_failed(x, st);
    top_add(x->arena, s, &view);
    if (view.next > 0 && x->step < SCREEN_STEPS_MAX)
        return rows_queue(x, view.next);
    answer_screen(x, s);
    return STEP_DONE;
}

enum step packet_screen_hot(struct exchange *x)
{
    bool with_key;
    if (!key_read(x, &with_key)) {
        respond_problem(x, &PROBLEM_NOT_FOUND);
        return STEP_DONE;
    }
    live_view_queue(&x->app->stores.live, &x->call, x->id, 0, PACKET_NO_SHARE, LIVE_ROWS_MAX);
    return exchange_then(x, screen_read);
}

/* ---- from MySQL ---- */

enum step packet_screen_cold(struct exchange *x)
{
    struct screen s = { 0 };
    bool with_key;
    if (!key_read(x, &with_key)) {
        respond_problem(x, &PROBLEM_NOT_FOUND);
        return STEP_DONE;
    }
    enum status st = show_view_find(x, PACKET_NO_SHARE, LIVE_ROWS_MAX, &s.view);
    if (st == ST_OK && screen_begin(x, &s, with_key))
        return STEP_DONE;
    if (st == ST_OK && top_wanted(&s)) {
        struct packet_view rest = { .next = s.view.next };
        top_add(x->arena, &s, &s.view);
        if (rest.next > 0)
            st = packet_grabs(x->app->stores.db, x->arena, x->id, rest.next, SCREEN_SHARES_MAX, &rest.rows,
                              &rest.row_count);
        top_add(x->arena, &s, &rest);
    }
    if (st == ST_OK)
        answer_screen(x, &s);
    else
        respond_status(x, st);
    return STEP_DONE;
}
