#include "pages/send.h"

#include <string.h>

#include "ledger/ledger.h"
#include "pages/present.h"
#include "pages/rules.h"
#include "settle/fund.h"
#include "user/account.h"
#include "user/store.h"
#include "web/respond.h"
#include "web/text.h"
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
    int64_t hours = (c->packet_lifetime_ms + 3599999) / 3600000;
    value_page_text(m, limits, "share_text", rules_yuan_short(x->arena, c->share_fen_max));
    value_page_text(m, limits, "hours_text", arena_printf(x->arena, "%lld", (long long)hours));
    value_page_bool(m, limits, "hours_one", hours == 1);
}

/* Exactly one radio button and one option are chosen, whatever was typed. */
static void choices_model(struct model *m, const struct send_form *form)
{
    enum packet_kind kind = PACKET_LUCKY;
    enum split_method split = SPLIT_DOUBLE_AVERAGE;
    (void)packet_kind_from(form->kind, &kind);
    (void)split_method_from(form->split, &split);
    value_page_bool(m, &m->root, "kind_lucky", kind == PACKET_LUCKY);
    value_page_bool(m, &m->root, "kind_even", kind == PACKET_EVEN);
    value_page_bool(m, &m->root, "kind_exclusive", kind == PACKET_EXCLUSIVE);
    value_page_bool(m, &m->root, "split_double_average", split != SPLIT_UNIFORM && split != SPLIT_GAUSSIAN);
    value_page_bool(m, &m->root, "split_uniform", split == SPLIT_UNIFORM);
    value_page_bool(m, &m->root, "split_gaussian", split == SPLIT_GAUSSIAN);
}

/* The model of pages/send: what was typed, and the key of the next attempt. */
static enum status send_model(struct exchange *x, struct model *m, const struct send_form *form, struct str request_key)
{
    int64_t balance_fen;
    enum status st = ledger_balance(x->app->stores.db, x->arena, x->visitor.user_id, &balance_fen);
    if (st != ST_OK)
        return st == ST_NOT_FOUND ? ST_CORRUPT : st;
    model_init(m, x->arena);
    view_money_model(m, &m->root, "balance_fen", "balance_text", balance_fen);
    value_text(m, &m->root, "request_key", request_key);
    limits_model(x, m);
    value_page_text(m, &m->root, "greeting_default", form->greeting_default);
    struct value *typed = value_page_object(m, &m->root, "form");
    value_text(m, typed, "kind", form->kind);
    value_text(m, typed, "amount", form->amount);
    value_text(m, typed, "count", form->count);
    value_text(m, typed, "greeting", form->greeting);
    value_text(m, typed, "to", form->to);
    value_text(m, typed, "split", form->split);
    value_text(m, typed, "request_key", request_key);
    choices_model(m, form);
    return ST_OK;
}

static struct send_form form_read(struct exchange *x)
{
    return (struct send_form){ .kind = form_get(&x->form, "kind", NULL),
                               .amount = form_get(&x->form, "amount", NULL),
                               .count = form_get(&x->form, "count", NULL),
                               .greeting = form_get(&x->form, "greeting", NULL),
                               .to = form_get(&x->form, "to", NULL),
                               .split = form_get(&x->form, "split", NULL),
                               .request_key = form_get(&x->form, "request_key", NULL),
                               .greeting_default = text_of(x, "text/greeting_default") };
}

enum step send_form_get(struct exchange *x)
{
    struct send_form empty = form_read(x);
    struct model m;
    struct str request_key = request_key_new(x->arena);
    enum status st = request_key.ptr == NULL ? ST_NO_MEMORY : send_model(x, &m, &empty, request_key);
    if (st != ST_OK) {
        respond_status(x, st);
        return STEP_DONE;
    }
    respond_model(x, 200, "pages/send", &m);
    return STEP_DONE;
}

/* Looks up who may open an exclusive packet. ST_INVALID: told in errors. */
static enum status receiver_find(struct exchange *x, const struct send_order *order, struct send_party *out,
                                 struct form_errors *errors)
{
    *out = (struct send_party){ 0 };
    if (order->kind != PACKET_EXCLUSIVE)
        return ST_OK;
    struct user user;
    struct str name = username_fold(x->arena, order->to);
    if (name.ptr == NULL)
        return ST_NO_MEMORY;
    enum status st = username_valid(name) ? user_find_by_name(x->app->stores.db, x->arena, name, &user) : ST_NOT_FOUND;
    if (st == ST_OK && user.id != x->visitor.user_id) {
        *out = (struct send_party){ .id = user.id, .name = user.nickname };
        return ST_OK;
    }
    if (st != ST_OK && st != ST_NOT_FOUND)
        return st;
    form_fail(errors, "to", st == ST_OK ? RULES_TEXT_SELF : RULES_TEXT_NO_RECEIVER);
    return ST_INVALID;
}

/* Everything a send needs, in turn; what the sender can mend is told in errors (then ST_INVALID). */
static enum status send_run(struct exchange *x, const struct send_form *form, struct send_result *result,
                            struct form_errors *errors)
{
    struct send_order order;
    struct send_party receiver;
    enum status st = rules_send(x->arena, x->app->stores.config, form, &order, errors);
    if (st == ST_OK)
        st = receiver_find(x, &order, &receiver, errors);
    if (st == ST_OK && order.request_key.len == 0) {
        order.request_key = request_key_new(x->arena);
        st = order.request_key.ptr == NULL ? ST_NO_MEMORY : ST_OK;
    }
    if (st != ST_OK)
        return st;
    struct send_party sender = { .id = x->visitor.user_id, .name = x->visitor.nickname };
    st = packet_send(&x->app->stores, x->arena, sender, receiver, &order, x->now_ms, result);
    if (st == ST_INVALID) {
        form_fail(errors, "amount", RULES_TEXT_BALANCE);
    } else if (st == ST_EXISTS) {
        form_fail(errors, "request_key", RULES_TEXT_OTHER_PACKET);
        st = ST_INVALID;
    }
    return st;
}

static bool failed_on(const struct form_errors *errors, const char *field)
{
    for (size_t i = 0; i < errors->count; i++)
        if (strcmp(errors->items[i].field, field) == 0)
            return true;
    return false;
}

static enum step answer_refused(struct exchange *x, const struct send_form *form, const struct form_errors *errors)
{
    bool fresh = form->request_key.len == 0 || failed_on(errors, "request_key");
    struct str request_key = fresh ? request_key_new(x->arena) : form->request_key;
    struct model m;
    enum status st = request_key.ptr == NULL ? ST_NO_MEMORY : send_model(x, &m, form, request_key);
    if (st != ST_OK) {
        respond_status(x, st);
        return STEP_DONE;
    }
    respond_form_errors(x, "pages/send", &m, errors);
    return STEP_DONE;
}

static enum step answer_sent(struct exchange *x, const struct packet *p)
{
    struct str id = present_packet_id(x, p->id);
    struct str path = present_packet_path(x, p->id);
    x->if_lost = &PROBLEM_UNKNOWN; /* it is paid for: the same request_key finds it */
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
    struct send_form form = form_read(x);
    struct form_errors errors = { .count = 0 };
    struct send_result result;
    enum status st = send_run(x, &form, &result, &errors);
    if (st == ST_OK)
        return answer_sent(x, &result.packet);
    if (st == ST_INVALID && errors.count > 0)
        return answer_refused(x, &form, &errors);
    respond_status(x, st);
    return STEP_DONE;
}
