#include "pages/send.h"

#include "io/metrics.h"
#include "ledger/ledger.h"
#include "packet/people.h"
#include "packet/rules.h"
#include "packet/store.h"
#include "pages/covers.h"
#include "pages/present.h"
#include "pages/send_form.h"
#include "pages/send_prefill.h"
#include "pages/send_receivers.h"
#include "settle/fund.h"
#include "user/store.h"
#include "web/respond.h"
#include "web/view.h"

static void limits_model(struct exchange *x, struct model *m)
{
    const struct config *c = x->app->stores.config;
    struct value *limits = value_object(m, &m->root, "limits");
    value_int(m, limits, "share_fen_max", c->share_fen_max);
    value_int(m, limits, "packet_fen_max", c->packet_fen_max);
    value_int(m, limits, "shares_max", c->packet_shares_max);
    value_int(m, limits, "greeting_max", c->greeting_graphemes_max);
    value_int(m, limits, "lifetime_ms", c->packet_lifetime_ms);
    value_page_text(m, limits, "share_text", present_limit(x->arena, c->share_fen_max));
    value_page_text(m, limits, "timezone", str_from(c->timezone));
}

/* The lifetimes of the setting; the default is an option of its own unless it is one of them. Exactly one is selected:
 * the typed one, else the default. */
static void lifetimes_model(struct exchange *x, struct model *m, struct str typed)
{
    const struct config *c = x->app->stores.config;
    struct str word, selected = STR("");
    int64_t ms;
    bool default_listed = false, typed_listed = false;
    for (size_t i = 0; rules_lifetime(c, i, &word, &ms); i++) {
        if (ms == c->packet_lifetime_ms)
            default_listed = true, selected = word;
        typed_listed = typed_listed || str_equal(word, typed);
    }
    if (typed_listed)
        selected = typed;
    struct value *list = value_list(m, &m->root, "lifetimes");
    for (size_t i = 0; rules_lifetime(c, i, &word, &ms); i++) {
        struct value *lifetime = value_add_object(m, list);
        value_text(m, lifetime, "lifetime", word);
        value_int(m, lifetime, "lifetime_ms", ms);
        view_span_model(m, lifetime, "span", ms, VIEW_SPAN_EXACT);
        value_page_bool(m, lifetime, "selected", str_equal(word, selected));
    }
    if (!default_listed)
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
    value_page_bool(m, &m->root, "split_double_average", split != SPLIT_UNIFORM && split != SPLIT_GAUSSIAN);
    value_page_bool(m, &m->root, "split_uniform", split == SPLIT_UNIFORM);
    value_page_bool(m, &m->root, "split_gaussian", split == SPLIT_GAUSSIAN);
}

static enum status people_model(struct exchange *x, struct model *m)
{
    struct people people;
    struct user *users = NULL;
    size_t count = 0;
    enum status st = people_recent(x->app->stores.db, x->arena, x->visitor.user_id, &people);
    if (st == ST_OK)
        st = user_find_all(x->app->stores.db, x->arena, people.ids, people.count, &users, &count);
    struct value *list = value_list(m, &m->root, "people");
    for (size_t i = 0; st == ST_OK && i < count; i++) {
        struct value *person = value_add_object(m, list);
        value_int(m, person, "id", (int64_t)users[i].id);
        value_text(m, person, "username", users[i].username);
        value_text(m, person, "nickname", users[i].nickname);
        view_avatar_model(m, person, users[i].id, users[i].nickname);
    }
    return st;
}

/* The model of pages/send: the typed texts, and the request key for the next attempt. */
static enum status send_model(struct exchange *x, struct model *m, struct str request_key, const struct form *typed)
{
    int64_t balance_fen;
    enum status st = ledger_balance(x->app->stores.db, x->arena, x->visitor.user_id, &balance_fen);
    if (st != ST_OK)
        return st == ST_NOT_FOUND ? ST_CORRUPT : st;
    model_init(m, x->arena);
    view_money_model(m, &m->root, "balance_fen", "balance_text", balance_fen);
    value_text(m, &m->root, "request_key", request_key);
    limits_model(x, m);
    lifetimes_model(x, m, form_get(typed, "lifetime", NULL));
    enum packet_cover cover = packet_cover_from(form_get(typed, "cover", NULL));
    covers_model(x, m, cover);
    value_page_text(m, &m->root, "greeting_default", cover_greeting(x, cover));
    struct value *form = value_page_object(m, &m->root, "form");
    form_typed_model(m, form, send_fields, typed);
    value_text(m, form, "request_key", request_key);
    choices_model(m, typed);
    value_page_bool(m, &m->root, "refused", x->method == METHOD_POST); /* shows the fields that few senders use */
    return people_model(x, m);
}

enum step send_form_get(struct exchange *x)
{
    struct model m;
    struct form typed;
    struct str request_key = request_key_new(x->arena);
    enum status st = request_key.ptr == NULL ? ST_NO_MEMORY : send_prefill(x, &typed);
    if (st == ST_OK)
        st = send_model(x, &m, request_key, &typed);
    if (st != ST_OK) {
        respond_status(x, st);
        return STEP_DONE;
    }
    respond_model(x, 200, "pages/send", &m);
    return STEP_DONE;
}

/* A scheduled opening is in the future. An order that was carried out before it is repeated all the same, so that its
 * sender finds the packet. ST_INVALID: a message is in errors. */
static enum status opens_check(struct exchange *x, const struct send_order *order, struct form_errors *errors)
{
    struct packet earlier;
    if (order->opens_ms == 0 || order->opens_ms > x->now_ms)
        return ST_OK;
    enum status st = packet_find_by_key(x->app->stores.db, x->arena, x->visitor.user_id, order->request_key, &earlier);
    if (st != ST_NOT_FOUND)
        return st;
    form_fail(errors, "opens_at", "text/opens_past");
    return ST_INVALID;
}

/* Reads the order, looks up the receivers and sends. ST_INVALID with messages in errors: mistakes that the sender can
 * correct. */
static enum status send_run(struct exchange *x, struct send_order *order, struct send_result *result,
                            struct form_errors *errors)
{
    struct receivers receivers;
    enum status st = send_order_read(x, order, errors);
    if (st == ST_OK)
        st = send_receivers_find(x, &order->to, &receivers, errors);
    if (st == ST_OK)
        st = opens_check(x, order, errors);
    if (st != ST_OK)
        return st;
    struct send_party sender = { .id = x->visitor.user_id, .name = x->visitor.nickname };
    st = fund_packet(&x->app->stores, x->arena, sender, &receivers, order, x->now_ms, result);
    if (st == ST_INVALID) {
        form_fail(errors, "amount", "text/balance_short");
    } else if (st == ST_EXISTS) {
        form_fail(errors, "request_key", "text/request_key_used");
        st = ST_INVALID;
    }
    return st;
}

/* Shows the form again; a refused request key is replaced by a new one. */
static enum step answer_refused(struct exchange *x, struct str request_key, const struct form_errors *errors)
{
    struct model m;
    if (form_failed(errors, "request_key"))
        request_key = request_key_new(x->arena);
    enum status st = request_key.ptr == NULL ? ST_NO_MEMORY : send_model(x, &m, request_key, &x->form);
    if (st != ST_OK) {
        respond_status(x, st);
        return STEP_DONE;
    }
    value_page_bool(&m, &m.root, "luck_open", form_failed(errors, "split") || form_failed(errors, "share_min"));
    respond_form_errors(x, "pages/send", &m, errors);
    return STEP_DONE;
}

static enum step answer_sent(struct exchange *x, const struct packet *p)
{
    struct str id = present_packet_id(x, p->id);
    struct str path = present_packet_path(x, p->id);
    x->fallback_problem = &PROBLEM_UNKNOWN; /* the packet is paid for; a repeat with the same request_key finds it */
    if (!x->wants_json) {
        respond_see_other(x, path);
        return STEP_DONE;
    }
    struct model m;
    model_init(&m, x->arena);
    value_text(&m, &m.root, "id", id);
    value_text(&m, &m.root, "url", arena_printf(x->arena, "%s%.*s", x->app->stores.config->base_url, STR_ARG(path)));
    value_text(&m, &m.root, "commitment", present_hex(x->arena, p->commitment, sizeof p->commitment));
    respond_model(x, 201, "pages/send", &m);
    respond_header(x, "Location", path);
    return STEP_DONE;
}

enum step send_form_post(struct exchange *x)
{
    struct send_order order;
    struct form_errors errors;
    struct send_result result;
    enum status st = send_run(x, &order, &result, &errors);
    if (st == ST_OK) {
        metrics_add(METRIC_SENT, result.repeated ? 0 : 1);
        return answer_sent(x, &result.packet);
    }
    if (st == ST_INVALID && errors.count > 0)
        return answer_refused(x, order.request_key, &errors);
    respond_status(x, st);
    return STEP_DONE;
}
