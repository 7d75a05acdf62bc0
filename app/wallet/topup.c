#include "wallet/topup.h"

#include <inttypes.h>

#include "base/log.h"
#include "ledger/channel.h"
#include "ledger/topup.h"
#include "mysql/db_durable.h"
#include "wallet/topup_model.h"
#include "web/field_types.h"
#include "web/respond.h"

enum { ORDERS_SHOWN = 5 };

static const struct problem TOPUP_UNKNOWN = { 503, "unknown", "text/topup_unknown", "text/topup_unknown_detail", 1 };

const struct field topup_fields[] = {
    { .name = "amount",
      .type = &FIELD_AMOUNT,
      .member = offsetof(struct topup_form, amount_fen),
      .required = true,
      .kept = KEPT,
      .min = 1,
      .max = TOPUP_FEN_MAX,
      .missing = "text/deposit_missing",
      .malformed = "text/deposit_not_money",
      .low = "text/deposit_zero",
      .high = "text/deposit_max",
      .says = "an amount",
      .example = "100" },
    { .name = "channel",
      .type = &FIELD_TEXT,
      .member = offsetof(struct topup_form, channel),
      .kept = KEPT,
      .max = CHANNEL_NAME_MAX,
      .high = "text/topup_channel_unknown",
      .says = "the name of a channel that takes payments; needed when there are several" },
    { .name = "request_key",
      .type = &FIELD_REQUEST_KEY,
      .member = offsetof(struct topup_form, request_key),
      .no_echo = true,
      .malformed = "text/form_stale",
      .says = "your own key: a repeat with it gets the same order",
      .example = "order-1" },
    { .name = NULL },
};

/* ---- the form ---- */

/* The channels that take payments. */
struct offer {
    struct topup_channel *channels;
    size_t count;
};

/* False: there is none, or it is not known; the request is answered. */
static bool offer_find(struct exchange *x, struct offer *out)
{
    enum status st = topup_channels_find(x->app->stores.db, x->arena, &out->channels, &out->count);
    if (st == ST_OK && out->count > 0)
        return true;
    if (st == ST_OK)
        respond_problem(x, &PROBLEM_NOT_FOUND);
    else
        respond_status(x, st);
    return false;
}

/* What the form shows. */
struct typed {
    struct str amount, channel, request_key;
};

static void form_model(struct model *m, const struct offer *offer, const struct typed *typed)
{
    struct value *list = value_list(m, &m->root, "channels");
    for (size_t i = 0; i < offer->count; i++) {
        const struct topup_channel *c = &offer->channels[i];
        struct value *row = value_add_object(m, list);
        value_text(m, row, "name", c->name);
        value_text(m, row, "note", c->note);
        value_page_text(m, row, "text", c->note.len > 0 ? c->note : c->name);
        value_page_bool(m, row, "chosen", str_equal(c->name, typed->channel));
    }
    value_page_bool(m, &m->root, "several", offer->count > 1);
    struct value *form = value_page_object(m, &m->root, "form");
    value_page_text(m, form, "amount", typed->amount);
    value_page_text(m, form, "request_key", typed->request_key);
}

static enum status orders_model(struct exchange *x, struct model *m)
{
    struct topup *orders = NULL;
    size_t count = 0;
    enum status st = topup_list(x->app->stores.db, x->arena, x->visitor.user_id, 0, ORDERS_SHOWN, &orders, &count);
    if (st != ST_OK)
        return st;
    struct value *list = value_list(m, &m->root, "orders");
    for (size_t i = 0; i < count; i++)
        topup_model(x, m, value_add_object(m, list), &orders[i]);
    value_page_bool(m, &m->root, "has_orders", count > 0);
    return ST_OK;
}

static const struct field prefill_fields[] = {
    { .name = "amount", .type = &FIELD_TEXT, .member = offsetof(struct typed, amount) },
    { .name = "channel", .type = &FIELD_TEXT, .member = offsetof(struct typed, channel) },
    { .name = NULL },
};

enum step topup_form_get(struct exchange *x)
{
    struct offer offer;
    struct typed typed = { STR(""), STR(""), request_key_new(x->arena) };
    struct model m;
    if (!offer_find(x, &offer))
        return STEP_DONE;
    (void)query_read(x, prefill_fields, &typed); /* an empty field counts as none */
    model_init(&m, x->arena);
    form_model(&m, &offer, &typed);
    enum status st = orders_model(x, &m);
    if (st == ST_OK)
        respond_model(x, 200, "pages/topup", &m);
    else
        respond_status(x, st);
    return STEP_DONE;
}

/* Shows the form again; a refused request key is replaced by a new one. */
static enum step form_refuse(struct exchange *x, const struct offer *offer, const struct topup_form *form,
                             const struct form_errors *e)
{
    struct typed typed = { form_get(&x->form, "amount", NULL), form_get(&x->form, "channel", NULL), form->request_key };
    struct model m;
    enum status st = ST_OK;
    if (form_failed(e, "request_key"))
        typed.request_key = request_key_new(x->arena);
    model_init(&m, x->arena);
    if (!x->wants_json) {
        form_model(&m, offer, &typed);
        st = orders_model(x, &m);
    }
    if (st == ST_OK)
        respond_form_errors(x, "pages/topup", &m, e);
    else
        respond_status(x, st);
    return STEP_DONE;
}

/* Finds the channel of the form. ST_INVALID: it is none; the message is added. */
static enum status channel_choose(const struct offer *offer, struct str name, struct topup_channel *out,
                                  struct form_errors *e)
{
    for (size_t i = 0; i < offer->count; i++) {
        if (!str_equal(offer->channels[i].name, name) && (name.len > 0 || offer->count > 1))
            continue;
        *out = offer->channels[i];
        return ST_OK;
    }
    form_fail(e, "channel", name.len == 0 ? "text/topup_channel_missing" : "text/topup_channel_unknown");
    return ST_INVALID;
}

/* A routine that refused a form that is right. */
static enum status refusal_read(enum status st, struct form_errors *e)
{
    if (st == ST_EXISTS)
        form_fail(e, "request_key", "text/topup_key_used");
    else if (st == ST_INVALID)
        form_fail(e, "amount", "text/topup_many");
    else if (st == ST_NOT_FOUND)
        form_fail(e, "channel", "text/topup_channel_unknown");
    else
        return st;
    return ST_INVALID;
}

static enum step order_answer(struct exchange *x, const struct topup *order)
{
    struct model m;
    x->fallback_problem = &TOPUP_UNKNOWN;
    if (!x->wants_json) {
        respond_see_other(x, topup_path(x->arena, order->id));
        return STEP_DONE;
    }
    model_init(&m, x->arena);
    topup_model(x, &m, &m.root, order);
    topup_payments_model(&m, &m.root, order);
    respond_model(x, 201, NULL, &m);
    return STEP_DONE;
}

/* Reads the form. ST_INVALID: *e has a message · ST_EXISTS: it repeats *order, which is found also when its channel
 * takes no payments any more. */
static enum status form_take(struct exchange *x, struct topup_form *form, struct topup *order, struct form_errors *e)
{
    enum status st = form_read(x, topup_fields, form, e);
    if (st != ST_OK)
        return st;
    st = topup_ordered(x->app->stores.db, x->arena, x->visitor.user_id, form->request_key, order);
    if (st == ST_NOT_FOUND)
        return ST_OK;
    if (st != ST_OK)
        return status_idempotent(st);
    if (order->amount_fen == form->amount_fen &&
        (form->channel.len == 0 || str_equal(form->channel, order->channel.name))) {
        st = db_durable(x->app->stores.db, db_connections(x->app->stores.db));
        return st == ST_OK ? ST_EXISTS : st;
    }
    form_fail(e, "request_key", "text/topup_key_used");
    return ST_INVALID;
}

/* Makes the order of a form. ST_INVALID: *e has a message. */
static enum status order_make(struct exchange *x, const struct offer *offer, const struct topup_form *form,
                              struct topup *order, bool *repeated, struct form_errors *e)
{
    *order = (struct topup){ .user_id = x->visitor.user_id,
                             .amount_fen = form->amount_fen,
                             .request_key = form->request_key };
    enum status st = channel_choose(offer, form->channel, &order->channel, e);
    return st == ST_OK ? refusal_read(topup_open(x->app->stores.db, x->arena, order, repeated, x->now_ms), e) : st;
}

enum step topup_form_post(struct exchange *x)
{
    struct offer offer;
    struct topup_form form = { .channel = STR("") };
    struct topup order;
    struct form_errors e;
    enum status st = form_take(x, &form, &order, &e);
    bool repeated = st == ST_EXISTS;
    if (st == ST_OK || st == ST_INVALID) {
        if (!offer_find(x, &offer))
            return STEP_DONE;
        if (st == ST_OK)
            st = order_make(x, &offer, &form, &order, &repeated, &e);
    }
    if (st == ST_INVALID)
        return form_refuse(x, &offer, &form, &e);
    if (st != ST_OK && st != ST_EXISTS) {
        if (st == ST_UNKNOWN)
            respond_problem(x, &TOPUP_UNKNOWN);
        else
            respond_status(x, st);
        return STEP_DONE;
    }
    log_info("topup", "user_id=%" PRIu64 " topup_id=%" PRIu64 " channel=%.*s amount_fen=%" PRId64 " repeated=%d",
             order.user_id, order.id, STR_ARG(order.channel.name), order.amount_fen, repeated);
    return order_answer(x, &order);
}

/* ---- an order ---- */

enum step topup_show(struct exchange *x)
{
    struct topup order;
    struct model m;
    uint64_t id = 0;
    enum status st = str_to_u64(x->params.key, &id) && id <= INT64_MAX ? ST_OK : ST_NOT_FOUND;
    if (st == ST_OK)
        st = topup_find(x->app->stores.db, x->arena, x->visitor.user_id, id, &order);
    if (st != ST_OK) {
        respond_status(x, st);
        return STEP_DONE;
    }
    model_init(&m, x->arena);
    topup_model(x, &m, &m.root, &order);
    topup_payments_model(&m, &m.root, &order);
    respond_model(x, 200, "pages/topup_order", &m);
    return STEP_DONE;
}
