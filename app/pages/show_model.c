#include "pages/show_model.h"

#include "account/passkey_page.h"
#include "base/money.h"
#include "packet/grab.h"
#include "packet/phrase.h"
#include "packet/receivers.h"
#include "packet/returns.h"
#include "pages/covers.h"
#include "pages/present.h"
#include "pages/screen.h"
#include "user/known_device.h"
#include "web/assets.h"
#include "web/qr.h"
#include "web/view.h"

/* The length of a clause, in Chinese characters, that fits on a line of an envelope, in large and in smaller
 * letters. */
enum { CLAUSE_LARGE = 8, CLAUSE_MAX = 12 };

bool show_list_allowed(const struct packet *p, bool has_mine, uint64_t visitor_id)
{
    if (visitor_id == 0)
        return false;
    bool party = visitor_id == p->sender_id || has_mine;
    return party || (p->state != PACKET_OPEN && packet_is_for(p, visitor_id));
}

bool show_may_change(const struct packet_view *view, uint64_t visitor_id)
{
    const struct packet *p = &view->packet;
    if (!show_list_allowed(p, view->has_mine, visitor_id))
        return false;
    bool settling = view->has_mine && !view->mine.settled;
    bool refunding = p->state == PACKET_EXPIRED && visitor_id == p->sender_id && packet_taken_fen(p) < p->amount_fen &&
                     p->refund_fen == 0;
    return p->state == PACKET_OPEN || settling || refunding;
}

/* 手气最佳 is shown only when the packet is finished. */
static bool row_is_best(const struct packet *p, const struct grab *row)
{
    return p->kind == PACKET_LUCKY && p->state == PACKET_FINISHED && row->share_no == p->best_share_no;
}

static void row_model(struct model *m, struct value *object, const struct packet *p, const struct grab *row)
{
    value_int(m, object, "share_no", row->share_no);
    view_money_model(m, object, "amount_fen", "amount_text", row->amount_fen);
    view_time_model(m, object, "grabbed_at", "time_text", row->grabbed_ms);
    value_bool(m, object, "best", row_is_best(p, row));
    if (row->thanks.len > 0)
        value_text(m, object, "thanks", row->thanks);
    else
        value_null(m, object, "thanks");
    value_bool(m, object, "returned", row->returned);
}

static void mine_model(struct model *m, const struct packet_view *view)
{
    if (!view->has_mine) {
        value_null(m, &m->root, "mine");
        return;
    }
    struct value *mine = value_object(m, &m->root, "mine");
    row_model(m, mine, &view->packet, &view->mine);
    view_size_model(m, mine, view->mine.amount_fen);
    value_bool(m, mine, "settled", view->mine.settled);
}

static void grab_model(struct model *m, struct value *object, const struct packet *p, const struct grab *row)
{
    present_person(m, object, "user", row->user_id, row->nickname, &row->face);
    row_model(m, object, p, row);
    value_page_bool(m, object, "of_sender", row->user_id == p->sender_id);
}

void show_grabs_model(struct model *m, struct value *grabs, const struct packet_view *view)
{
    for (size_t i = 0; i < view->row_count; i++)
        grab_model(m, value_add_object(m, grabs), &view->packet, &view->rows[i]);
}

static void luckiest_model(struct model *m, const struct packet_view *view)
{
    if (view->luckiest == NULL || !row_is_best(&view->packet, view->luckiest))
        return;
    struct grab luckiest = *view->luckiest;
    /* Redis sends no thanks for this row, so views from MySQL and the cache leave them out, too */
    luckiest.thanks = STR_NONE;
    grab_model(m, value_page_object(m, &m->root, "luckiest"), &view->packet, &luckiest);
}

/* Renders the rows. In the request's arena; STR_NONE without memory or template. */
static struct str rows_html(struct exchange *x, enum language language, const struct value *root)
{
    const struct mustache *rows = templates_find(&x->app->templates, language, STR("partials/packet_rows"));
    struct buf html = BUF_EMPTY;
    struct str copy = STR_NONE;
    /* Trimmed, because the page puts {{{html_rows}}} on a line of its own. */
    if (rows != NULL && mustache_render(rows, root, &html) == ST_OK)
        copy = arena_str(x->arena, str_trim(buf_view(&html)));
    buf_free(&html);
    return copy;
}

enum status show_rows(struct exchange *x, const struct packet_view *view, struct cached_rows *out)
{
    struct buf json = BUF_EMPTY;
    struct model m;
    model_init(&m, x->arena);
    struct value *grabs = value_list(&m, &m.root, "grabs");
    show_grabs_model(&m, grabs, view);
    luckiest_model(&m, view);
    value_json(&json, grabs);
    assets_model(x->app->assets, &m, value_page_object(&m, &m.root, "site"));
    out->json = arena_str(x->arena, buf_view(&json));
    bool ok = !m.failed && !json.failed && out->json.ptr != NULL;
    buf_free(&json);
    for (int i = 0; i < LANGUAGES && ok; i++) {
        out->html[i] = rows_html(x, (enum language)i, &m.root);
        ok = out->html[i].ptr != NULL;
    }
    return ok ? ST_OK : ST_NO_MEMORY;
}

static void rows_model(struct exchange *x, struct model *m, const struct packet_view *view,
                       const struct cached_rows *cached, bool allowed, struct str path)
{
    if (allowed && cached != NULL) {
        value_ready_json(m, &m->root, "grabs", cached->json);
        value_page_text(m, &m->root, "html_rows", cached->html[x->language]);
    } else {
        struct value *grabs = value_list(m, &m->root, "grabs");
        if (allowed) {
            show_grabs_model(m, grabs, view);
            luckiest_model(m, view);
        }
    }
    if (allowed && view->next != 0) {
        value_text(m, &m->root, "next", arena_printf(m->arena, "%u", view->next));
        value_page_text(m, &m->root, "next_url", arena_printf(m->arena, "%.*s?after=%u", STR_ARG(path), view->next));
    } else {
        value_null(m, &m->root, "next");
    }
}

/* Adds the receivers of the packet: some names, and the number of the others. The name of a deleted user is empty. */
static void receivers_model(struct model *m, const struct packet *p)
{
    bool one_receiver = p->kind == PACKET_EXCLUSIVE;
    struct str rest = one_receiver ? p->receiver_name : p->receiver_names;
    int64_t unnamed = one_receiver ? 1 : p->receiver_count;
    if (unnamed == 0) {
        value_null(m, &m->root, "receivers");
        return;
    }
    struct value *receivers = value_object(m, &m->root, "receivers");
    struct value *names = value_list(m, receivers, "named");
    value_int(m, receivers, "count", unnamed);
    for (bool first = true; rest.len > 0 || (first && one_receiver); first = false, unnamed--) {
        struct value *one = value_add_object(m, names);
        value_text(m, one, "nickname", str_cut(rest, '\n', &rest));
        value_page_bool(m, one, "first", first);
    }
    if (unnamed > 0) {
        struct value *more = value_page_object(m, receivers, "more");
        view_count_model(m, more, "more_count", "more_one", unnamed);
    }
}

/* Adds when the packet ended or will end. A packet whose last share was taken just before its sender ended it is
 * finished. */
static void end_model(struct model *m, const struct packet *p)
{
    view_time_model(m, &m->root, "expires_at", "expires_text", p->expires_ms);
    view_moment_model(m, &m->root, "finished_at", p->state == PACKET_FINISHED ? p->finished_ms : 0);
    view_moment_model(m, &m->root, "ended_at", p->state == PACKET_EXPIRED ? p->ended_ms : 0);
    if (p->state == PACKET_FINISHED)
        view_span_model(m, &m->root, "duration", p->finished_ms - packet_start_ms(p), VIEW_SPAN_ROUGH);
    if (p->state == PACKET_EXPIRED && p->ended_ms == 0)
        view_span_model(m, &m->root, "lifetime", packet_lifetime_ms(p), VIEW_SPAN_EXACT);
}

/* Adds the conditions for opening the packet: time, phrase, receivers. */
static void opening_model(struct model *m, const struct packet_view *view)
{
    const struct packet *p = &view->packet;
    struct value *root = &m->root;
    if (p->opens_ms != 0)
        view_time_model(m, root, "opens_at", "opens_text", p->opens_ms);
    else
        value_null(m, root, "opens_at");
    if (packet_is_waiting(p, view->now_ms))
        value_page_int(m, value_page_object(m, root, "waiting"), "left_ms", p->opens_ms - view->now_ms);
    value_bool(m, root, "needs_phrase", p->phrase_hash.len > 0);
    receivers_model(m, p);
}

/* Adds the commitment, and the seed once no share can be taken any more. */
static void draw_model(struct model *m, const struct packet_view *view)
{
    const struct packet *p = &view->packet;
    value_text(m, &m->root, "commitment", present_hex(m->arena, p->commitment, sizeof p->commitment));
    if (view->over)
        value_text(m, &m->root, "seed", present_hex(m->arena, p->seed, sizeof p->seed));
    else
        value_null(m, &m->root, "seed");
}

/* Chooses the class by the longest clause. Works on bytes: U+3000–DFFF begin with E3–ED, and among them the Chinese
 * characters U+4000–9FFF with E4–E9. */
static struct str greeting_class(struct str text)
{
    int run = 0, longest = 0;
    bool wide = false;
    for (size_t i = 0; i < text.len && run <= CLAUSE_MAX; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if ((c >= 0xE4 && c <= 0xE9) || (c >= '0' && c <= '9'))
            run++;
        else if ((c & 0xC0) != 0x80) /* a character of another script begins */
            run = 0;
        wide = wide || (c >= 0xE3 && c <= 0xED);
        longest = run > longest ? run : longest;
    }
    if (longest > CLAUSE_MAX)
        return STR(" run");
    if (!wide)
        return STR(" latin");
    return longest > CLAUSE_LARGE ? STR(" long") : STR_NONE;
}

void show_greeting_class(struct model *m, struct str greeting)
{
    struct str class = greeting_class(greeting);
    if (class.len > 0)
        value_page_text(m, &m->root, "greeting_class", class);
}

/* Only the sender and the receiver read the greeting of an exclusive packet. */
static void greeting_model(struct model *m, const struct packet *p, uint64_t visitor_id)
{
    if (p->kind != PACKET_EXCLUSIVE || visitor_id == p->sender_id || packet_is_for(p, visitor_id)) {
        value_text(m, &m->root, "greeting", p->greeting);
        show_greeting_class(m, p->greeting);
    } else {
        value_null(m, &m->root, "greeting");
    }
}

/* Adds the members of the packet for all visitors. */
void show_packet_model(struct exchange *x, struct model *m, const struct packet_view *view)
{
    const struct packet *p = &view->packet;
    struct value *root = &m->root;
    value_text(m, root, "id", present_packet_id(x, p->id));
    value_text(m, root, "kind", packet_kind_name(p->kind));
    present_person(m, root, "sender", p->sender_id, p->sender_name, &p->sender_face);
    greeting_model(m, p, x->visitor.user_id);
    cover_model(m, root, p->cover);
    value_page_text(m, root, "flap_url", cover_flap(x, p->cover));
    value_text(m, root, "state", packet_state_name(p->state));
    view_count_model(m, root, "count", "count_one", p->count);
    value_int(m, root, "grabbed_count", packet_taken_count(p));
    end_model(m, p);
    draw_model(m, view);
    opening_model(m, view);
    value_page_bool(m, root, "is_open", p->state == PACKET_OPEN);
    value_page_bool(m, root, "is_finished", p->state == PACKET_FINISHED);
    value_page_bool(m, root, "is_expired", p->state == PACKET_EXPIRED);
    value_page_bool(m, root, "is_lucky", p->kind == PACKET_LUCKY);
    value_page_bool(m, root, "is_even", p->kind == PACKET_EVEN);
    value_page_bool(m, root, "is_exclusive", p->kind == PACKET_EXCLUSIVE);
}

/* Adds the members for the sender only. */
static void sender_model(struct exchange *x, struct model *m, const struct packet *p, struct str url)
{
    struct value *root = &m->root;
    view_money_model(m, root, "amount_fen", "amount_text", p->amount_fen);
    view_money_model(m, root, "grabbed_fen", "grabbed_text", packet_taken_fen(p));
    if (p->state == PACKET_EXPIRED && p->refund_fen > 0) {
        value_page_number(m, root, "refund_text", money_text(m->arena, p->refund_fen));
        view_size_model(m, root, p->refund_fen);
    }
    if (p->state == PACKET_OPEN)
        value_page_text(m, root, "html_qr", qr_svg(m->arena, url));
    if (p->kind != PACKET_EXCLUSIVE)
        value_text(m, root, "screen_url", screen_path(x, p->id));
    else
        value_null(m, root, "screen_url");
    if (p->phrase_sealed.len > 0)
        value_text(m, root, "phrase",
                   str_or_empty(phrase_unseal(m->arena, keys_pair(&x->app->stores.config->keys, KEY_PHRASE_SEAL), p->id,
                                              p->phrase_sealed)));
    else
        value_null(m, root, "phrase");
    value_text_or_null(m, root, "note", p->note);
}

/* Adds the members about what this visitor can do. */
static void visitor_model(struct model *m, const struct packet_view *view, uint64_t visitor_id, bool is_sender)
{
    const struct packet *p = &view->packet;
    struct value *root = &m->root;
    bool may_open = packet_is_for(p, visitor_id);
    bool open = p->state == PACKET_OPEN && !view->has_mine;
    bool sender_gone = p->sender_name.len == 0; /* the sender has deleted the account */
    bool may_thank = view->has_mine && !view->mine.returned && view->mine.thanks.len == 0 && !is_sender && !sender_gone;
    value_page_bool(m, root, "is_sender", is_sender);
    value_page_bool(m, root, "busy", view->busy);
    value_page_bool(m, root, "can_open", open && visitor_id != 0 && may_open);
    value_page_bool(m, root, "needs_login", open && visitor_id == 0);
    value_page_bool(m, root, "not_for_you", visitor_id != 0 && !may_open && !is_sender);
    value_page_bool(m, root, "sold_out", p->state == PACKET_FINISHED && !view->has_mine && may_open);
    value_page_bool(m, root, "late", p->state == PACKET_EXPIRED && !view->has_mine && may_open);
    value_page_bool(m, root, "may_thank", may_thank);
    value_page_bool(m, root, "can_thank", may_thank && view->mine.settled);
    enum return_way way = return_way(p, p->state == PACKET_OPEN, visitor_id);
    value_page_bool(m, root, "can_return",
                    view->has_mine && !view->mine.returned &&
                        (way == RETURN_TO_PACKET || (way == RETURN_TO_SENDER && !sender_gone)));
    value_page_bool(m, root, "return_to_packet", way == RETURN_TO_PACKET || way == RETURN_TOO_MANY);
    value_page_bool(m, root, "can_end", p->state == PACKET_OPEN && is_sender);
}

void show_model(struct exchange *x, const struct packet_view *view, const struct cached_rows *cached, struct model *m)
{
    const struct packet *p = &view->packet;
    struct arena *a = m->arena;
    struct str path = present_packet_path(x, p->id);
    struct str url = present_packet_url(x, p->id);
    bool is_sender = x->visitor.user_id != 0 && x->visitor.user_id == p->sender_id;
    bool list_allowed = show_list_allowed(p, view->has_mine, x->visitor.user_id);

    show_packet_model(x, m, view);
    if (is_sender)
        sender_model(x, m, p, url);
    mine_model(m, view);
    rows_model(x, m, view, cached, list_allowed, path);
    visitor_model(m, view, x->visitor.user_id, is_sender);
    value_page_bool(m, &m->root, "login_first", known_device_login_first(x));
    value_page_bool(m, &m->root, "passkey_offer", view->has_mine && passkey_offer_waits(x));
    value_page_bool(m, &m->root, "show_list", list_allowed);
    value_page_text(m, &m->root, "path", path);
    value_page_text(m, &m->root, "url", url);
    value_page_text(m, &m->root, "register_url", arena_printf(a, "/register?next=%.*s", STR_ARG(path)));
    value_page_text(m, &m->root, "login_url", arena_printf(a, "/login?next=%.*s", STR_ARG(path)));
}
