#include "pages/send.h"

#include <string.h>

#include "acts/fund.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/money.h"
#include "base/typed.h"
#include "base/utf8.h"
#include "io/metrics.h"
#include "ledger/ledger.h"
#include "packet/rules.h"
#include "packet/store.h"
#include "pages/covers.h"
#include "pages/people.h"
#include "pages/present.h"
#include "pages/send_caps.h"
#include "pages/send_confirm.h"
#include "pages/send_form.h"
#include "pages/send_prefill.h"
#include "pages/send_receivers.h"
#include "pages/send_types.h"
#include "user/cover_store.h"
#include "user/store.h"
#include "wallet/statement.h"
#include "web/kept_form.h"
#include "web/respond.h"
#include "web/text.h"
#include "web/view.h"

enum {
    MINUTE_MS = 60000,  /* the form's times have no seconds */
    FUND_TRIES_MAX = 3, /* tries to fund: money may arrive after each, or a day begin */
    FACES_MAX = 3       /* receivers that are named at the top of the form */
};

static void limits_model(struct exchange *x, struct model *m)
{
    const struct config *c = x->app->stores.config;
    struct value *limits = value_object(m, &m->root, "limits");
    value_int(m, limits, "share_fen_max", c->share_fen_max);
    value_int(m, limits, "packet_fen_max", c->packet_fen_max);
    value_int(m, limits, "shares_max", c->packet_shares_max);
    value_int(m, limits, "greeting_max", c->greeting_graphemes_max);
    value_int(m, limits, "lifetime_ms", c->packet_lifetime_ms);
    value_page_number(m, limits, "share_text", money_limit_text(x->arena, c->share_fen_max));
    value_page_number(m, limits, "total_text", money_limit_text(x->arena, c->packet_fen_max));
    value_page_text(m, limits, "timezone", str_from(c->timezone));
    const int64_t opens_ms = x->now_ms + RULES_OPENS_AHEAD_MAX_MS;
    value_page_text(m, limits, "opens_max", clock_zone_input(x->arena, opens_ms - opens_ms % MINUTE_MS));
}

/* Adds the lifetimes of the setting, and the default as an option of its own unless it is one of them. Exactly one is
 * selected: the typed one, else the default. */
static void lifetimes_model(struct exchange *x, struct model *m, struct str typed)
{
    const struct config *c = x->app->stores.config;
    struct str word, by_default = send_lifetime_word(c, c->packet_lifetime_ms), selected = by_default;
    int64_t ms;
    for (size_t i = 0; rules_lifetime(c, i, &word, &ms); i++)
        if (str_equal(word, typed))
            selected = typed;
    struct value *list = value_list(m, &m->root, "lifetimes");
    for (size_t i = 0; rules_lifetime(c, i, &word, &ms); i++) {
        struct value *lifetime = value_add_object(m, list);
        value_text(m, lifetime, "lifetime", word);
        value_int(m, lifetime, "lifetime_ms", ms);
        view_span_model(m, lifetime, "span", ms, VIEW_SPAN_EXACT);
        value_page_bool(m, lifetime, "selected", str_equal(word, selected));
    }
    if (by_default.len == 0)
        view_span_model(m, &m->root, "lifetime_default", c->packet_lifetime_ms, VIEW_SPAN_EXACT);
}

/* Exactly one radio button and one option are selected; unknown words select the default. */
static void choices_model(struct model *m, const struct form *typed)
{
    enum packet_kind kind = PACKET_LUCKY;
    enum split_method split = SPLIT_DOUBLE_AVERAGE;
    (void)packet_kind_from(form_get(typed, "kind", NULL), &kind);
    (void)split_method_from(form_get(typed, "split", NULL), &split);
    value_page_bool(m, &m->root, "kind_lucky", kind == PACKET_LUCKY);
    value_page_bool(m, &m->root, "kind_even", kind == PACKET_EVEN);
    value_page_bool(m, &m->root, "kind_exclusive", kind == PACKET_EXCLUSIVE);
    value_page_bool(m, &m->root, "amount_of_total", str_equal(form_get(typed, "amount_of", NULL), STR("total")));
    present_split(m, &m->root, split);
}

/* ---- parts that are folded away ---- */

/* A folded part of the form is open when one of its fields was refused, was changed, or must be typed again. The part
 * of the receivers may stay folded when their faces are shown. */
static void folds_model(struct exchange *x, struct model *m, const struct form *typed, const struct form_errors *errors,
                        const struct prefill *prefill, bool faces_shown)
{
    bool open[SEND_FOLDS] = {
        [SEND_FOLD_TO] = prefill->lacks_to,
        [SEND_FOLD_MORE] = prefill->lacks_phrase || prefill->lacks_note || prefill->lacks_opening,
    };
    for (const struct field *field = send_fields; field->name != NULL; field++)
        if (field->fold != 0 && (form_failed(errors, field->name) ||
                                 field_unfolds(field, x->app->stores.config, form_get(typed, field->name, NULL))))
            open[field->fold] = true;
    if (faces_shown)
        open[SEND_FOLD_TO] = form_failed(errors, "to");
    value_page_bool(m, &m->root, "to_open", open[SEND_FOLD_TO]);
    value_page_bool(m, &m->root, "more_open", open[SEND_FOLD_MORE]);
}

/* The fields that the earlier packet or the form had and that the sender must enter again. */
static void retype_model(struct model *m, const struct prefill *prefill)
{
    if (!prefill->lacks_phrase && !prefill->lacks_note && !prefill->lacks_opening && !prefill->lacks_to)
        return;
    struct value *retype = value_page_object(m, &m->root, "retype");
    value_page_bool(m, retype, "phrase", prefill->lacks_phrase);
    value_page_bool(m, retype, "note", prefill->lacks_note);
    value_page_bool(m, retype, "opens_at", prefill->lacks_opening);
    value_page_bool(m, retype, "to", prefill->lacks_to);
}

/* ---- receivers with faces ---- */

static const struct user *user_with_name(const struct people_known *people, struct str username)
{
    for (size_t i = 0; i < people->count; i++)
        if (str_equal(people->users[i].username, username))
            return &people->users[i];
    return NULL;
}

/* The visitor's people, and the receivers that are not among them. */
static enum status faces_model(struct model *m, const struct people_known *people, const struct people_known *receivers)
{
    struct people_known all = { arena_array(m->arena, people->count + receivers->count + 1, sizeof *all.users), 0 };
    if (all.users == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < people->count; i++)
        all.users[all.count++] = people->users[i];
    for (size_t i = 0; i < receivers->count; i++)
        if (user_with_name(people, receivers->users[i].username) == NULL)
            all.users[all.count++] = receivers->users[i];
    people_model(m, value_list(m, &m->root, "people"), people, &all);
    const struct people_known more = { all.users + people->count, all.count - people->count };
    people_model(m, value_page_list(m, &m->root, "people_more"), &more, &all);
    return ST_OK;
}

/* Adds the typed receivers as people, if all of them are known. *all: there are receivers, and all of them are
 * known. */
static enum status named_model(struct exchange *x, struct model *m, const struct form *typed,
                               const struct people_known *people, const struct people_known *receivers, bool *all)
{
    struct str rest;
    size_t count = 0;
    struct user *named = arena_array(x->arena, FACES_MAX, sizeof *named);
    enum status st = named == NULL ? ST_NO_MEMORY : utf8_fold_pasted(x->arena, form_get(typed, "to", NULL), &rest);
    *all = false;
    if (st != ST_OK)
        return st == ST_INVALID ? ST_OK : st;
    for (struct str part; (part = typed_names_next(&rest)).len > 0; count++) {
        const struct str name = typed_name(x->arena, part);
        const struct user *user = user_with_name(people, name);
        if (user == NULL)
            user = user_with_name(receivers, name);
        if (user == NULL)
            return ST_OK;
        if (count < FACES_MAX)
            named[count] = *user;
    }
    *all = count > 0;
    if (!*all)
        return ST_OK;
    struct value *object = value_page_object(m, &m->root, "named");
    struct value *list = value_page_list(m, object, "some");
    size_t i = 0;
    for (; i < count && i < FACES_MAX; i++) {
        struct value *one = value_add_object(m, list);
        value_page_text(m, one, "nickname", named[i].nickname);
        value_page_bool(m, one, "first", i == 0);
        view_avatar_model(m, one, named[i].id, named[i].nickname, &named[i].face);
    }
    if (count > i)
        view_count_model(m, value_page_object(m, object, "more"), "more_count", "more_one", (int64_t)(count - i));
    return ST_OK;
}

/* The model of pages/send: the typed texts, and the request key for the next attempt. prefill NULL: the form was
 * posted. */
static enum status send_model(struct exchange *x, struct model *m, struct str request_key, const struct form *typed,
                              const struct form_errors *errors, const struct prefill *prefill)
{
    static const struct prefill posted = { .lacks_to = false };
    bool faces_shown = false;
    if (prefill == NULL)
        prefill = &posted;

    int64_t balance_fen;
    struct str_list own = { NULL, 0 };
    enum status st = ledger_balance(x->app->stores.db, x->arena, x->visitor.user_id, &balance_fen);
    if (st == ST_OK)
        st = covers_find(x->app->stores.db, x->arena, x->visitor.user_id, &own);
    if (st != ST_OK)
        return st == ST_NOT_FOUND ? ST_CORRUPT : st;
    model_init(m, x->arena);
    view_money_model(m, &m->root, "balance_fen", "balance_text", balance_fen);
    value_text(m, &m->root, "request_key", request_key);
    value_bool(m, &m->root, "sending", x->app->stores.config->sending);
    st = send_day_model(x, m);
    if (st != ST_OK)
        return st;
    limits_model(x, m);
    lifetimes_model(x, m, form_get(typed, "lifetime", NULL));
    const struct str cover = form_get(typed, "cover", NULL);
    covers_model(x, m, cover, &own);
    value_page_text(m, &m->root, "greeting_default", cover_greeting(x, packet_cover_from(cover)));
    struct value *form = value_page_object(m, &m->root, "form");
    form_typed_model(m, form, send_fields, typed);
    value_text(m, form, "request_key", request_key);
    choices_model(m, typed);
    struct people_known people;
    st = people_find(x, &people);
    if (st == ST_OK)
        st = faces_model(m, &people, &prefill->receivers);
    if (st == ST_OK)
        st = named_model(x, m, typed, &people, &prefill->receivers, &faces_shown);
    value_page_bool(m, &m->root, "back", prefill->back);
    if (prefill->receivers.count > 0 && !str_equal(form_get(typed, "kind", NULL), packet_kind_name(PACKET_EXCLUSIVE)))
        value_page_text(m, &m->root, "confirmed", form_get(typed, "to", NULL));
    folds_model(x, m, typed, errors, prefill, faces_shown);
    return st;
}

enum step send_form_get(struct exchange *x)
{
    struct model m;
    struct prefill prefill;
    struct form_errors none = { .count = 0 };
    struct str request_key = request_key_new(x->arena);
    enum status st = request_key.ptr == NULL ? ST_NO_MEMORY : send_prefill(x, &prefill);
    if (st == ST_OK)
        st = send_model(x, &m, request_key, &prefill.form, &none, &prefill);
    if (st != ST_OK) {
        respond_status(x, st);
        return STEP_DONE;
    }
    retype_model(&m, &prefill);
    deposited_model(x, &m);
    respond_model(x, 200, "pages/send", &m);
    return STEP_DONE;
}

/* True when the cover is one of the drawn ones, or the sender's own picture. */
static enum status cover_find(struct exchange *x, const struct send_order *order, bool *found)
{
    const struct str hash = packet_cover_hash(order->packet.cover);
    struct str_list own = { NULL, 0 };
    enum status st = hash.ptr == NULL ? ST_OK : covers_find(x->app->stores.db, x->arena, x->visitor.user_id, &own);
    *found = hash.ptr == NULL;
    for (size_t i = 0; st == ST_OK && i < own.count; i++)
        *found = *found || str_equal(own.items[i], hash);
    return st;
}

/* Checks that a scheduled opening is in the future, and that the cover is drawn or the sender's. An order that was
 * carried out while this was still true is repeated all the same, so that its sender finds the packet. ST_INVALID: a
 * message is in errors. */
static enum status present_check(struct exchange *x, const struct send_order *order, struct form_errors *errors)
{
    struct packet earlier;
    bool cover_found;
    const bool opens_past = order->packet.opens_ms != 0 && order->packet.opens_ms <= x->now_ms;
    enum status st = cover_find(x, order, &cover_found);
    if (st != ST_OK || (cover_found && !opens_past))
        return st;
    st = packet_find_by_key(x->app->stores.db, x->arena, x->visitor.user_id, order->packet.request_key, &earlier);
    if (st != ST_NOT_FOUND)
        return st;
    if (opens_past)
        form_fail(errors, "opens_at", "text/opens_past");
    if (!cover_found)
        form_fail(errors, "cover", "text/cover_gone");
    return ST_INVALID;
}

/* Checks the balance. ST_OK: also when it is too low, then a message in errors says what is missing · else the store's
 * status. */
static enum status balance_check(struct exchange *x, const struct send_order *order, struct form_errors *errors)
{
    int64_t balance_fen;
    enum status st = ledger_balance(x->app->stores.db, x->arena, x->visitor.user_id, &balance_fen);
    if (st == ST_OK && balance_fen < order->packet.amount_fen) {
        struct str missing = money_text(x->arena, order->packet.amount_fen - balance_fen);
        form_fail_with(errors, "amount", "text/balance_short", text_number(x, missing));
    }
    return st == ST_NOT_FOUND ? ST_CORRUPT : st;
}

/* Finds why the sender can't send this new order now: a message in errors says how much is missing, or how much may
 * still be sent today. ST_OK: also without a message, when that has changed meanwhile. */
static enum status refusal_find(struct exchange *x, const struct send_order *order, struct form_errors *errors)
{
    enum status st = balance_check(x, order, errors);
    return st == ST_OK ? send_caps_check(x, order, errors) : st;
}

/* Calls fund_packet. When it is refused, adds why; when the reason is gone meanwhile, tries again. */
static enum status fund(struct exchange *x, const struct send_order *order, struct receivers *receivers,
                        struct fund_packet *funded, struct form_errors *errors)
{
    struct send_party sender = { .id = x->visitor.user_id, .name = x->visitor.nickname, .face = x->visitor.face };

    for (int tries = 0; tries < FUND_TRIES_MAX; tries++) {
        enum status st = fund_packet(&x->app->stores, x->arena, sender, receivers, order, x->now_ms, funded);
        if (st != ST_OK || funded->result != FUND_REFUSED)
            return st;
        st = refusal_find(x, order, errors);
        if (st != ST_OK || errors->count > 0)
            return st;
    }
    return ST_CONFLICT;
}

/* Asks the sender to confirm first. Why a new order would be refused is reported at once instead. */
static enum status ask_first(struct exchange *x, const struct send_order *order, const struct receivers *receivers,
                             struct form_errors *errors, bool *answered)
{
    struct packet earlier;
    enum status st =
        packet_find_by_key(x->app->stores.db, x->arena, x->visitor.user_id, order->packet.request_key, &earlier);
    if (st == ST_NOT_FOUND)
        st = refusal_find(x, order, errors);
    if (st != ST_OK || errors->count > 0)
        return st == ST_OK ? ST_INVALID : st;
    send_confirm(x, order, receivers);
    *answered = true;
    return ST_OK;
}

/* Adds the link to the page where the missing money can be had, with the way back to this form. */
static void deposit_url_model(struct exchange *x, struct model *m, const struct form_errors *errors)
{
    struct str url = kept_form_url(x);
    for (size_t i = 0; i < errors->count; i++)
        if (strcmp(errors->items[i].text, "text/balance_short") == 0)
            value_page_text(m, &m->root, "deposit_url",
                            arena_printf(x->arena, "/wallet?amount=%.*s&next=%.*s", STR_ARG(errors->items[i].value),
                                         STR_ARG(str_or_empty(form_encode(x->arena, str_or_empty(url))))));
}

/* Reads the order, looks up the receivers and sends. *answered: the sender must confirm first, or the limits refused so
 * many names; nothing was sent. ST_INVALID with messages in errors: mistakes that the sender can correct. */
static enum status send_run(struct exchange *x, struct send_order *order, struct fund_packet *funded,
                            struct form_errors *errors, bool *answered)
{
    struct receivers receivers;
    enum status st = send_order_read(x, order, errors);
    if (st == ST_OK || (st == ST_INVALID && !form_failed(errors, "to"))) {
        *answered = !names_take(x, order->to.count);
        if (*answered)
            return ST_OK;
        enum status found = send_receivers_find(x, &order->to, &receivers, errors);
        st = found == ST_OK ? st : found;
    }
    bool asks = false;
    if (st == ST_OK)
        st = present_check(x, order, errors);
    if (st == ST_OK)
        st = send_confirm_needed(x, order, &receivers, &asks);
    if (st != ST_OK)
        return st;
    if (asks)
        return ask_first(x, order, &receivers, errors, answered);
    st = fund(x, order, &receivers, funded, errors);
    if (st == ST_OK && funded->result == FUND_OTHER_ORDER)
        form_fail(errors, "request_key", "text/request_key_used");
    return st == ST_OK && errors->count > 0 ? ST_INVALID : st;
}

/* The packet that this form has sent before. The page shows it above the form, which has a new key and can send one
 * more. */
static void already_model(struct exchange *x, struct model *m, const struct fund_packet *funded)
{
    struct value *already = value_page_object(m, &m->root, "already");
    value_page_text(m, already, "path", present_packet_path(x, funded->packet.id));
    value_page_bool(m, already, "same", funded->result == FUND_REPEATED);
}

/* Puts the messages of a page into the order of its fields. */
static void errors_sort(struct form_errors *errors, bool exclusive)
{
    static const char *const ORDER[] = {
        "kind",     "amount", "count", "greeting",  "cover",     "to",       "phrase",
        "opens_at", "note",   "split", "share_min", "amount_of", "lifetime",
    };
    size_t sorted = 0;
    for (size_t i = 0; i < ARRAY_LEN(ORDER) + exclusive; i++) {
        /* the receiver of an exclusive packet comes after its kind */
        const char *name = !exclusive || i == 0 ? ORDER[i] : i == 1 ? "to" : ORDER[i - 1];
        for (size_t j = sorted; j < errors->count; j++) {
            if (strcmp(errors->items[j].field, name) != 0)
                continue;
            const struct form_error found = errors->items[j];
            memmove(&errors->items[sorted + 1], &errors->items[sorted], (j - sorted) * sizeof found);
            errors->items[sorted++] = found;
            break;
        }
    }
}

/* Shows the form again; a refused request key is replaced by a new one. */
static enum step answer_refused(struct exchange *x, struct str request_key, const struct fund_packet *funded,
                                struct form_errors *errors)
{
    struct model m, problem;
    if (!x->wants_json)
        errors_sort(errors, str_equal(form_get(&x->form, "kind", NULL), packet_kind_name(PACKET_EXCLUSIVE)));
    bool key_used = funded->result == FUND_OTHER_ORDER;
    model_init(&problem, x->arena);
    if (key_used)
        value_text(&problem, &problem.root, "order", arena_printf(x->arena, "/orders/%.*s", STR_ARG(request_key)));
    if (form_failed(errors, "request_key"))
        request_key = request_key_new(x->arena);
    send_caps_problem(x, errors, &problem);
    enum status st = request_key.ptr == NULL ? ST_NO_MEMORY : send_model(x, &m, request_key, &x->form, errors, NULL);
    if (st != ST_OK) {
        respond_status(x, st);
        return STEP_DONE;
    }
    deposit_url_model(x, &m, errors);
    if (key_used)
        already_model(x, &m, funded);
    respond_form_errors_with(x, "pages/send", &m, errors, &problem);
    return STEP_DONE;
}

/* True when a browser sends a form again whose packet it sent some time ago. */
static bool sent_before(const struct exchange *x, const struct fund_packet *funded)
{
    return funded->result == FUND_REPEATED && !x->wants_json &&
           x->now_ms - funded->packet.created_ms > REQUEST_PRESSED_MS;
}

static enum step answer_sent_before(struct exchange *x, const struct fund_packet *funded)
{
    struct model m;
    struct form_errors none = { .count = 0 };
    struct str request_key = request_key_new(x->arena);
    enum status st = request_key.ptr == NULL ? ST_NO_MEMORY : send_model(x, &m, request_key, &x->form, &none, NULL);
    if (st != ST_OK) {
        respond_status(x, st);
        return STEP_DONE;
    }
    already_model(x, &m, funded);
    respond_model(x, 200, "pages/send", &m);
    return STEP_DONE;
}

static enum step answer_sent(struct exchange *x, const struct packet *p)
{
    struct str path = present_packet_path(x, p->id);
    x->fallback_problem = &PROBLEM_UNKNOWN; /* the packet is paid for; a repeat with the same request_key finds it */
    if (!x->wants_json) {
        respond_see_other(x, path);
        return STEP_DONE;
    }
    struct model m;
    model_init(&m, x->arena);
    value_text(&m, &m.root, "id", present_packet_id(x, p->id));
    value_text(&m, &m.root, "url", present_packet_url(x, p->id));
    value_text(&m, &m.root, "commitment", present_hex(x->arena, p->commitment, sizeof p->commitment));
    respond_model(x, 201, "pages/send", &m);
    respond_header(x, "Location", path);
    return STEP_DONE;
}

/* The page then loads the order by itself, which shows whether the packet was paid for. */
static void answer_unknown(struct exchange *x, struct str request_key)
{
    struct model m;
    model_init(&m, x->arena);
    value_page_text(&m, &m.root, "page_url", arena_printf(x->arena, "/orders/%.*s", STR_ARG(request_key)));
    respond_problem_with(x, &PROBLEM_UNKNOWN, &m);
}

/* True for the button "own picture": it leads to the page of covers and, with the filled fields, back. */
static bool goes_to_covers(struct exchange *x)
{
    if (x->wants_json || form_get(&x->form, "covers", NULL).len == 0)
        return false;
    struct str next = form_encode(x->arena, str_or_empty(kept_form_url(x)));
    respond_see_other(x, arena_printf(x->arena, "/covers?next=%.*s", STR_ARG(str_or_empty(next))));
    return true;
}

enum step send_form_post(struct exchange *x)
{
    struct send_order order;
    struct form_errors errors;
    struct fund_packet funded = { .result = FUND_DONE };
    bool answered = goes_to_covers(x) || send_paused(x);
    enum status st = answered ? ST_OK : send_run(x, &order, &funded, &errors, &answered);
    if (answered)
        return STEP_DONE;
    if (st == ST_OK) {
        metrics_add(METRIC_SENT, funded.result == FUND_DONE ? 1 : 0);
        return sent_before(x, &funded) ? answer_sent_before(x, &funded) : answer_sent(x, &funded.packet);
    }
    if (st == ST_INVALID && errors.count > 0)
        return answer_refused(x, order.packet.request_key, &funded, &errors);
    if (st == ST_UNKNOWN)
        answer_unknown(x, order.packet.request_key);
    else
        respond_status(x, st);
    return STEP_DONE;
}
